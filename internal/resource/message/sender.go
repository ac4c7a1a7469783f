package message

import (
	"context"
	"errors"
	"net/mail"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/mailhost"
)

const senderIssue = `Write it like name@example.com, or like "Business name" <name@example.com>`

// splitSender separates an address from the name before it. issue says what is
// wrong, for the caller. It refuses a name with invisible characters, or one
// that could be read as another address: both would deceive the recipient.
func splitSender(s string) (name *string, address, issue string) {
	if op.IsEmailAddress(s) {
		return nil, s, ""
	}
	a, err := mail.ParseAddress(s)
	switch {
	case err != nil || !op.IsEmailAddress(a.Address):
		return nil, "", senderIssue
	case utf8.RuneCountInString(a.Name) > business.MaxSenderName:
		return nil, "", "The name is too long: expected at most 100 characters"
	case strings.ContainsAny(a.Name, "@<>"):
		return nil, "", "The name must not look like an address: leave out @, < and >"
	case strings.ContainsFunc(a.Name, business.IsHiddenRune):
		return nil, "", "The name contains characters that nobody sees; leave them out"
	case strings.TrimSpace(a.Name) == "":
		return nil, a.Address, ""
	}
	clean := strings.TrimSpace(a.Name)
	return &clean, a.Address, ""
}

// setBusiness sets the business that a message is written for. Its name is used as
// the sender's name unless the message has one, and its letterhead around the
// HTML. An empty ref means the organization's oldest business.
func (v *Message) setBusiness(ctx context.Context, tx *db.Tx, ref id.ID) (err error) {
	if ref == "" {
		if ref, err = account.OldestBusiness(ctx, tx, v.OrganizationID); errors.Is(err, db.ErrNoRow) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	v.BusinessID = &ref
	return v.fillSenderName(ctx, tx)
}

// fillSenderName fills in the sender's name of a message that has none: the name of
// its business.
func (v *Message) fillSenderName(ctx context.Context, tx *db.Tx) error {
	if v.FromName != nil || v.BusinessID == nil {
		return nil
	}
	b, err := account.LoadBusinessEvenDeleted(ctx, tx, v.OrganizationID, *v.BusinessID)
	if errors.Is(err, db.ErrNoRow) {
		return nil
	}
	if err == nil {
		v.FromName = business.SenderName(b.Name)
	}
	return err
}

// enforceSharedName replaces the sender's name of a message from the address that all
// organizations share. Only the name that mailhost makes of the business's is
// allowed there; otherwise anybody could write from it under any name.
func (m *Messages) enforceSharedName(ctx context.Context, tx *db.Tx, v *Message) error {
	if !m.hosts.IsDefault(v.From) {
		return nil
	}
	bare := Message{Record: v.Record, BusinessID: v.BusinessID}
	if err := bare.fillSenderName(ctx, tx); err != nil {
		return err
	}
	v.FromName = m.hosts.SenderName(bare.FromName)
	return nil
}

// formatFromHeader is the value of From (RFC 5322 §3.4): a quoted name, or encoded
// words if the name is not all ASCII. Encoded words must not be quoted (RFC 2047
// §5).
func (v *Message) formatFromHeader() string {
	address := (&mail.Address{Address: mailhost.ToASCII(v.From)}).String()
	if v.FromName == nil {
		return address
	}
	if words := encodeHeaderWords(*v.FromName); words != "" {
		return words + "\r\n " + address
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(*v.FromName) + "\"\r\n " + address
}

package mailhost

import (
	"context"
	"errors"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Why nobody receives mail at an address.
var (
	ErrNotHosted = errors.New("mailhost: the domain is not hosted here")
	ErrNobody    = errors.New("mailhost: nobody has this address")
)

// The addresses of the service's domain that belong to one message.
const (
	noReply      = "no-reply"
	replyPrefix  = "reply+"
	bouncePrefix = "bounce+"
)

// maxAddress is the longest address (RFC 5321 §4.5.3.1, erratum 1690).
const maxAddress = 254

// Target is whom mail to an address is for, as far as the address shows.
type Target struct {
	// Organization is empty for addresses that name a message, and for the one
	// that all organizations send from: the message says whose the mail is.
	Organization id.ID
	// MessageID is the local part of the Message-ID that the mail answers.
	MessageID string
	// Recipient is the one for whom the address was created: reports that a
	// mail did not reach that recipient come there.
	Recipient id.ID
}

// BounceAddress is where a mail comes back to. Nobody else learns the id of a
// recipient, so a report that comes there is from a system that had the mail.
func BounceAddress(recipient id.ID, domain string) string {
	return bouncePrefix + string(recipient) + "@" + domain
}

// NamesMessage reports whether an address looks like one that belongs to a
// single message, for its answers or reports, and so says nothing about people.
func NamesMessage(address string) bool {
	return strings.HasPrefix(address, replyPrefix) || strings.HasPrefix(address, bouncePrefix)
}

// Target finds whom mail to an address is for. ErrNotHosted means that the
// domain is somebody else's, ErrNobody that it is hosted here and nobody has
// the address.
func (s *Service) Target(ctx context.Context, tx *db.Tx, address string) (Target, error) {
	address = ToASCII(address)
	at := strings.LastIndexByte(address, '@')
	if at < 1 || len(address) > maxAddress {
		return Target{}, ErrNotHosted
	}
	local, name := strings.ToLower(address[:at]), DomainOf(address)
	if name == s.domain {
		return s.ownTarget(ctx, tx, local)
	}
	// Every address of an organization's domain belongs to the organization. A
	// domain that only sends is hosted, and nobody has an address there.
	org, receives, err := s.email.Receiver(ctx, tx, name)
	switch {
	case err != nil:
		return Target{}, err
	case org == "":
		return Target{}, ErrNotHosted
	case !receives:
		return Target{}, ErrNobody
	}
	recipient, _ := recipientOf(local)
	return Target{Organization: org, Recipient: recipient}, nil
}

// ownTarget knows the four kinds of addresses of the service's domain: one for
// each message, for answers; one for each recipient, for reports; one for each
// business, its id; and the one that everybody sends from. Ids are unique
// across organizations, and cannot be guessed.
func (s *Service) ownTarget(ctx context.Context, tx *db.Tx, local string) (Target, error) {
	if local == noReply {
		return Target{}, nil
	}
	if messageID, ok := strings.CutPrefix(local, replyPrefix); ok && messageID != "" {
		return Target{MessageID: messageID}, nil
	}
	if recipient, ok := recipientOf(local); ok {
		return Target{Recipient: recipient}, nil
	}
	business, ok := id.Parse(local)
	if !ok {
		return Target{}, ErrNobody
	}
	org, err := account.BusinessOwner(ctx, tx, business)
	if errors.Is(err, db.ErrNone) {
		return Target{}, ErrNobody
	}
	return Target{Organization: org}, err
}

// recipientOf is the recipient that a bounce address was created for.
func recipientOf(local string) (id.ID, bool) {
	text, ok := strings.CutPrefix(local, bouncePrefix)
	if !ok {
		return "", false
	}
	return id.Parse(text)
}

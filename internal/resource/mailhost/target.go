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

// The local parts of the service's own addresses: the one that everybody sends from, and the
// beginnings of those for the answers to a message and for the bounces of a recipient.
const (
	noReply      = "no-reply"
	replyPrefix  = "reply+"
	bouncePrefix = "bounce+"
)

// maxAddressLength is the longest address (RFC 5321 §4.5.3.1, erratum 1690).
const maxAddressLength = 254

// Target is whom mail to an address is for, as far as the address shows.
type Target struct {
	// Organization is empty for the addresses of the service's domain that name
	// a message or a recipient, and for the one that all organizations send
	// from. There the message that the mail answers says whose it is.
	Organization id.ID
	// MessageID is the local part of the Message-ID that the mail answers.
	MessageID string
	// Recipient is whom the bounced mail was for. Each recipient of a mail has
	// a bounce address of its own.
	Recipient id.ID
}

// BounceAddress is where a mail to a recipient comes back to if it cannot be delivered. Nobody
// else learns the id of a recipient, so a report that comes there is from a system that had
// the mail.
func BounceAddress(recipient id.ID, domain string) string {
	return bouncePrefix + string(recipient) + "@" + domain
}

// IsMessageAddress reports whether an address looks like one for the answers or bounces of a
// single message. Such an address is nobody's contact address.
func IsMessageAddress(address string) bool {
	return strings.HasPrefix(address, replyPrefix) || strings.HasPrefix(address, bouncePrefix)
}

// FindTarget finds whom mail to an address is for. ErrNotHosted means that the domain is somebody
// else's, ErrNobody that it is hosted here and nobody has the address.
func (s *Service) FindTarget(ctx context.Context, tx *db.Tx, address string) (Target, error) {
	address = ToASCII(address)
	at := strings.LastIndexByte(address, '@')
	if at < 1 || len(address) > maxAddressLength {
		return Target{}, ErrNotHosted
	}
	local, name := strings.ToLower(address[:at]), DomainOf(address)
	if name == s.domain {
		return s.findOwnTarget(ctx, tx, local)
	}
	// Every address of an organization's domain belongs to the organization. A
	// domain whose purpose is only to send is hosted, and nobody has an address
	// there. One with hosted email in the mode sending has its mail elsewhere, and
	// so is not hosted here.
	org, receives, err := s.email.FindReceiver(ctx, tx, name)
	switch {
	case err != nil:
		return Target{}, err
	case org == "":
		return Target{}, ErrNotHosted
	case !receives:
		return Target{}, ErrNobody
	}
	recipient, _ := parseBounceRecipient(local)
	return Target{Organization: org, Recipient: recipient}, nil
}

// findOwnTarget knows the four kinds of addresses of the service's domain: one for
// each message, for answers; one for each recipient, for reports; one for each
// business, its id; and the one that everybody sends from. Ids are unique
// across organizations, and cannot be guessed.
func (s *Service) findOwnTarget(ctx context.Context, tx *db.Tx, local string) (Target, error) {
	if local == noReply {
		return Target{}, nil
	}
	if messageID, ok := strings.CutPrefix(local, replyPrefix); ok && messageID != "" {
		return Target{MessageID: messageID}, nil
	}
	if recipient, ok := parseBounceRecipient(local); ok {
		return Target{Recipient: recipient}, nil
	}
	business, ok := id.Parse(local)
	if !ok {
		return Target{}, ErrNobody
	}
	org, err := account.OrganizationOfBusiness(ctx, tx, business)
	if errors.Is(err, db.ErrNoRow) {
		return Target{}, ErrNobody
	}
	return Target{Organization: org}, err
}

// parseBounceRecipient is the recipient that a bounce address was created for.
func parseBounceRecipient(local string) (id.ID, bool) {
	text, ok := strings.CutPrefix(local, bouncePrefix)
	if !ok {
		return "", false
	}
	return id.Parse(text)
}

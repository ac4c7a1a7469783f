package message

import (
	"context"
	"errors"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Why mail is not taken.
var (
	ErrNotHosted = errors.New("message: the domain is not hosted here")
	ErrNobody    = errors.New("message: nobody has this address")
	ErrClosed    = errors.New("message: the organization is disabled")
	ErrFull      = errors.New("message: the organization has no room for more mail")
)

// Hosts knows who receives mail for the domains that it hosts.
type Hosts interface {
	// Host tells who receives mail at an address, whose domain is lower-case
	// ASCII. ErrNotHosted says that the domain is somebody else's; ErrNobody
	// that it is hosted here, and nobody has the address.
	Host(ctx context.Context, tx *db.Tx, local, domain string) (Mailbox, error)
}

// Mailbox is where mail for an address goes.
type Mailbox struct {
	// Organization is empty for an address that all organizations send from:
	// then the message that a mail answers tells whose it is.
	Organization id.ID
	// Answers is the message whose own address it is.
	Answers *id.ID
	// Returned is the recipient of that message for whom alone the address was
	// made: reports that it did not arrive come there.
	Returned *id.ID
}

var _ Hosts = (*Home)(nil)

const (
	replyPrefix  = "reply+"
	bouncePrefix = "bounce+"
)

// Answers is an address of the message's own: the one that everybody sends
// from does not tell whose it is.
func (h *Home) Answers(_ context.Context, _ *db.Tx, _ id.ID, _, internetID string) (address, returns string, err error) {
	if !h.TakesMail {
		return "", "", nil
	}
	local, _, _ := strings.Cut(internetID, "@")
	return replyPrefix + local + "@" + h.domain, h.domain, nil
}

// returnPath is where a mail comes back to. The id of a recipient is shown to
// nobody else, so a report that comes there is of somebody who had the mail.
func returnPath(recipient id.ID, domain string) string {
	return bouncePrefix + string(recipient) + "@" + domain
}

// returned is the message that a return path was made for, or ErrNobody.
func returned(ctx context.Context, tx *db.Tx, local string) (Mailbox, error) {
	text, ok := strings.CutPrefix(strings.ToLower(local), bouncePrefix)
	ref, isID := id.Parse(text)
	if !ok || !isID {
		return Mailbox{}, ErrNobody
	}
	type row struct {
		Organization id.ID `db:"organization_id"`
		Message      id.ID `db:"message_id"`
	}
	r, err := db.One[row](ctx, tx, "SELECT organization_id, message_id FROM message_recipients WHERE id = $1", ref)
	if errors.Is(err, db.ErrNone) {
		return Mailbox{}, ErrNobody
	}
	return Mailbox{Organization: r.Organization, Answers: &r.Message, Returned: &ref}, err
}

// Host knows four kinds of addresses: one for each message, which answers to
// it go to; one for each recipient, which reports go to; one for each
// business, its id; and the one that everybody sends from, where only what
// answers a message arrives. Ids are unique over all organizations, and nobody
// guesses one.
func (h *Home) Host(ctx context.Context, tx *db.Tx, local, domain string) (Mailbox, error) {
	if domain != DomainOf(onTheWire(h.Default())) {
		return Mailbox{}, ErrNotHosted
	}
	local = strings.ToLower(local)
	if local+"@"+h.domain == h.Default() {
		return Mailbox{}, nil
	}
	if text, ok := strings.CutPrefix(local, replyPrefix); ok {
		if ref, ok := idOf(text); ok {
			org, err := owner(ctx, tx, "SELECT organization_id FROM messages WHERE id = $1 AND direction = 'outbound' AND substr(internet_id, 1, length(CAST($2 AS text))) = $2", ref, text+"@")
			return Mailbox{Organization: org, Answers: &ref}, err
		}
		return Mailbox{}, ErrNobody
	}
	if strings.HasPrefix(local, bouncePrefix) {
		return returned(ctx, tx, local)
	}
	ref, ok := id.Parse(local)
	if !ok {
		return Mailbox{}, ErrNobody
	}
	org, err := owner(ctx, tx, "SELECT organization_id FROM businesses WHERE id = $1 AND deleted_at IS NULL", ref)
	return Mailbox{Organization: org}, err
}

func owner(ctx context.Context, tx *db.Tx, query string, args ...any) (id.ID, error) {
	org, err := db.One[id.ID](ctx, tx, query, args...)
	if errors.Is(err, db.ErrNone) {
		return "", ErrNobody
	}
	return org, err
}

// open refuses an organization that is disabled. Mail to it waits with the
// sender, who tries for some days, and mail of it waits here.
func open(ctx context.Context, tx *db.Tx, org id.ID) error {
	status, err := db.One[string](ctx, tx, "SELECT status FROM organizations WHERE id = $1", org)
	if err == nil && status != "active" {
		return ErrClosed
	}
	return err
}

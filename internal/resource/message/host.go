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
	// Answers is the message that was sent from this very address.
	Answers *id.ID
}

var _ Hosts = (*Home)(nil)

const replyPrefix = "reply+"

// Answers is an address of the message's own: the one that everybody sends
// from does not tell whose it is.
func (h *Home) Answers(_ context.Context, _ *db.Tx, _ id.ID, _ string, message id.ID) (string, error) {
	if !h.TakesMail {
		return "", nil
	}
	return replyPrefix + string(message) + "@" + h.domain, nil
}

// Host knows three kinds of addresses: one for each message, which answers to
// it go to; one for each business, its id; and the one that everybody sends
// from, where only what answers a message arrives. Ids are unique over all
// organizations, and nobody guesses one.
func (h *Home) Host(ctx context.Context, tx *db.Tx, local, domain string) (Mailbox, error) {
	if domain != DomainOf(onTheWire(h.Default())) {
		return Mailbox{}, ErrNotHosted
	}
	local = strings.ToLower(local)
	if local+"@"+h.domain == h.Default() {
		return Mailbox{}, nil
	}
	if text, ok := strings.CutPrefix(local, replyPrefix); ok {
		if ref, ok := id.Parse(text); ok {
			org, err := owner(ctx, tx, "SELECT organization_id FROM messages WHERE id = $1 AND direction = 'outbound'", ref)
			return Mailbox{Organization: org, Answers: &ref}, err
		}
		return Mailbox{}, ErrNobody
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

// open refuses an organization that is disabled. Its mail waits with the
// sender, who tries for some days.
func open(ctx context.Context, tx *db.Tx, org id.ID) error {
	status, err := db.One[string](ctx, tx, "SELECT status FROM organizations WHERE id = $1", org)
	if err == nil && status != "active" {
		return ErrClosed
	}
	return err
}

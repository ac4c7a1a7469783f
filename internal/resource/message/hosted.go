package message

import (
	"context"
	"errors"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
)

// Hosted knows the domains of organizations: they send from the active ones,
// and take mail for those with hosted email. Whatever it does not know, the
// service's own domain may.
type Hosted struct {
	*Home
	email *domain.Email
}

var (
	_ Senders = (*Hosted)(nil)
	_ Hosts   = (*Hosted)(nil)
)

// NewHosted knows the organizations' domains beside the service's own.
func NewHosted(home *Home, email *domain.Email) *Hosted { return &Hosted{home, email} }

// MaySend reports whether the address is on an active domain of the
// organization's, or everybody's.
func (h *Hosted) MaySend(ctx context.Context, tx *db.Tx, org id.ID, address string) (bool, error) {
	sends, _, err := h.email.Sends(ctx, tx, org, DomainOf(onTheWire(address)))
	if err != nil || sends {
		return sends, err
	}
	return h.Home.MaySend(ctx, tx, org, address)
}

// Answers to a domain that takes mail go to the address itself.
func (h *Hosted) Answers(ctx context.Context, tx *db.Tx, org id.ID, from, internetID string) (address, returns string, err error) {
	name := DomainOf(onTheWire(from))
	_, receives, err := h.email.Sends(ctx, tx, org, name)
	if err != nil || receives {
		return "", name, err
	}
	return h.Home.Answers(ctx, tx, org, from, internetID)
}

// Keys are those of the domain that the address is on, or the service's own
// where its email is not hosted here. A domain that is not active any more
// sends nothing, not even what was written before.
func (h *Hosted) Keys(ctx context.Context, org id.ID, address string) ([]Key, error) {
	name := DomainOf(onTheWire(address))
	if name == DomainOf(h.Default()) {
		return h.Home.Keys(ctx, org, address)
	}
	signers, err := h.email.Signers(ctx, org, name)
	switch {
	case errors.Is(err, domain.ErrNotSending):
		return nil, &Refusal{Reason: fmt.Sprintf("%s is not active, so nothing is sent from it. "+
			"Verify or renew the domain, and send the message again.", name)}
	case err == nil && len(signers) == 0:
		return h.Home.Keys(ctx, org, address)
	}
	var keys []Key
	for _, s := range signers {
		keys = append(keys, Key{name, s.Selector, s.Key})
	}
	return keys, err
}

// Host knows who has a domain, every address of which is theirs. One that only
// sends is hosted, and nobody has an address there.
func (h *Hosted) Host(ctx context.Context, tx *db.Tx, local, name string) (Mailbox, error) {
	org, receives, err := h.email.Receiver(ctx, tx, name)
	switch {
	case err != nil:
		return Mailbox{}, err
	case org == "":
		return Mailbox{}, ErrNotHosted
	case !receives:
		return Mailbox{}, ErrNobody
	}
	box, err := returned(ctx, tx, local)
	if errors.Is(err, ErrNobody) || err == nil && box.Organization != org {
		return Mailbox{Organization: org}, nil
	}
	return box, err
}

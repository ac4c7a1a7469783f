package message

import (
	"context"
	"crypto"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Senders knows which addresses an organization may send from, and what signs
// their mail.
type Senders interface {
	// Default is the address of an organization that names none.
	Default() string
	// MaySend reports whether an organization may send from an address.
	MaySend(ctx context.Context, tx *db.Tx, org id.ID, address string) (bool, error)
	// Answers is where answers to a message with this Message-ID go, when that
	// is not the address that it is sent from; else it is empty. returns is the
	// domain where reports come back to that it did not arrive, or empty when
	// nobody takes any.
	Answers(ctx context.Context, tx *db.Tx, org id.ID, from, internetID string) (address, returns string, err error)
	// Keys are what signs the mail of an address. A *Refusal says that the
	// organization may not send from it, or no longer. It is called outside of
	// every transaction.
	Keys(ctx context.Context, org id.ID, address string) ([]Key, error)
}

// Key signs the mail of a domain (RFC 6376).
type Key struct {
	Domain, Selector string
	Signer           crypto.Signer // RSA or Ed25519
}

// maySend fills in the address of a message that names none, and refuses one
// that the organization may not send from.
func (m *Messages) maySend(ctx context.Context, tx *db.Tx, v *Message) error {
	if v.From == "" {
		v.From = m.senders.Default()
	}
	ok, err := m.senders.MaySend(ctx, tx, v.OrganizationID, v.From)
	if err == nil && !ok {
		return fault.Field("from", fmt.Sprintf("The organization cannot send from this address; "+
			"use one on an active domain of its own, or %s", m.senders.Default()))
	}
	return err
}

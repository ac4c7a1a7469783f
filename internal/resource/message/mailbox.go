package message

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message/incoming"
)

// Why an organization accepts no mail for now. The errors of mailhost say why
// an address accepts none at all.
var (
	ErrDisabled = errors.New("message: the organization is disabled")
	ErrFull     = errors.New("message: the organization has no room for more mail")
)

// Mailbox is where mail for one address goes.
type Mailbox struct {
	Address string
	// Organization is empty for the address that all organizations send from:
	// then the message that a mail answers says whose it is.
	Organization id.ID
	// Answers is the message that the address belongs to.
	Answers *id.ID
	// Bounced is the recipient of that message for whom the address was
	// created: reports that the mail did not arrive come there.
	Bounced *id.ID
}

// Mailbox finds who receives mail at an address. mailhost.ErrNotHosted,
// mailhost.ErrNobody, ErrDisabled and ErrFull say why nobody does.
func (m *Messages) Mailbox(ctx context.Context, address string) (box Mailbox, err error) {
	err = m.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		box, err = m.findMailbox(ctx, tx, address)
		return err
	})
	if err != nil || box.Organization == "" {
		return box, err
	}
	return box, asFull(m.files.Room(ctx, box.Organization))
}

// asFull turns a full storage into ErrFull.
func asFull(err error) error {
	if fault.Has(err, file.LimitReached) {
		return ErrFull
	}
	return err
}

func (m *Messages) findMailbox(ctx context.Context, tx *db.Tx, address string) (Mailbox, error) {
	to, err := m.hosts.Target(ctx, tx, address)
	if err != nil {
		return Mailbox{}, err
	}
	box := Mailbox{Address: address, Organization: to.Organization}
	switch {
	case to.MessageID != "":
		err = box.findMessage(ctx, tx, to.MessageID)
	case to.Recipient != "":
		err = box.findRecipient(ctx, tx, to.Recipient)
	}
	if err != nil || box.Organization == "" {
		return box, err
	}
	return box, checkActive(ctx, tx, box.Organization)
}

// findMessage finds the message whose Message-ID begins with a local part.
func (b *Mailbox) findMessage(ctx context.Context, tx *db.Tx, local string) error {
	ref, ok := idOf(local)
	if !ok {
		return mailhost.ErrNobody
	}
	org, err := db.One[id.ID](ctx, tx, `
		SELECT organization_id FROM messages
		WHERE id = $1 AND direction = 'outbound' AND substr(internet_id, 1, length(CAST($2 AS text))) = $2`,
		ref, local+"@")
	if errors.Is(err, db.ErrNone) {
		return mailhost.ErrNobody
	}
	b.Organization, b.Answers = org, &ref
	return err
}

// findRecipient finds the message that came back. Where every address is the
// organization's, one that is not a bounce address of its own is an ordinary
// one.
func (b *Mailbox) findRecipient(ctx context.Context, tx *db.Tx, ref id.ID) error {
	type row struct {
		Organization id.ID `db:"organization_id"`
		Message      id.ID `db:"message_id"`
	}
	r, err := db.One[row](ctx, tx, "SELECT organization_id, message_id FROM message_recipients WHERE id = $1", ref)
	switch {
	case errors.Is(err, db.ErrNone) && b.Organization == "":
		return mailhost.ErrNobody
	case errors.Is(err, db.ErrNone), err == nil && b.Organization != "" && r.Organization != b.Organization:
		return nil
	}
	b.Organization, b.Answers, b.Bounced = r.Organization, &r.Message, &ref
	return err
}

// findByReferences finds who wrote the message that a mail answers. Our
// Message-IDs begin with the message's id, which is unique across
// organizations.
func (b *Mailbox) findByReferences(ctx context.Context, tx *db.Tx, l *incoming.Letter) error {
	for _, name := range l.References {
		ref, ok := idOf(name)
		if !ok {
			continue
		}
		org, err := db.One[id.ID](ctx, tx, `
			SELECT organization_id FROM messages
			WHERE id = $1 AND internet_id = $2 AND direction = 'outbound'`,
			ref, name)
		if errors.Is(err, db.ErrNone) {
			continue
		}
		if err != nil {
			return err
		}
		b.Organization, b.Answers = org, &ref
		return checkActive(ctx, tx, org)
	}
	return mailhost.ErrNobody
}

// checkActive refuses a disabled organization. Mail to it waits with the
// sender, who tries for some days, and mail from it waits here.
func checkActive(ctx context.Context, tx *db.Tx, org id.ID) error {
	o, err := account.OrganizationOf(ctx, tx, org)
	if err == nil && o.Status != account.Active {
		return ErrDisabled
	}
	return err
}

// InternetID is a message's Message-ID in mail programs.
func InternetID(ctx context.Context, tx *db.Tx, org, message id.ID) (string, error) {
	return db.One[string](ctx, tx, "SELECT internet_id FROM messages WHERE organization_id = $1 AND id = $2", org,
		message)
}

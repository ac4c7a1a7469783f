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

// Mailbox is where mail for one address goes. Messages.FindMailbox makes it when
// a peer names a recipient, before the mail itself is transmitted.
type Mailbox struct {
	Address string
	// Organization is empty for the address that all organizations send from.
	// Whose mail it is then follows from the message that the mail answers, once
	// its headers are known.
	Organization id.ID
	// Answers is the message whose own reply or bounce address this is, or, for
	// the shared address, the message that the mail answers; nil if neither.
	Answers *id.ID
	// Bounced is set for a bounce address: the recipient row it was made for.
	// Reports that the mail did not arrive come there.
	Bounced *id.ID
}

// FindMailbox finds who receives mail at an address. mailhost.ErrNotHosted,
// mailhost.ErrNobody, ErrDisabled and ErrFull say why nobody does.
func (m *Messages) FindMailbox(ctx context.Context, address string) (box Mailbox, err error) {
	err = m.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		box, err = m.resolveMailbox(ctx, tx, address)
		return err
	})
	if err != nil || box.Organization == "" {
		return box, err
	}
	return box, asErrFull(m.files.CheckRoom(ctx, box.Organization))
}

// asErrFull turns the fault of a full storage into ErrFull.
func asErrFull(err error) error {
	if fault.IsKind(err, file.LimitReached) {
		return ErrFull
	}
	return err
}

// resolveMailbox asks mailhost what kind of address it is, and then finds the message or
// recipient that a reply or bounce address was made for.
func (m *Messages) resolveMailbox(ctx context.Context, tx *db.Tx, address string) (Mailbox, error) {
	to, err := m.hosts.FindTarget(ctx, tx, address)
	if err != nil {
		return Mailbox{}, err
	}
	box := Mailbox{Address: address, Organization: to.Organization}
	switch {
	case to.MessageID != "":
		err = box.findByMessageID(ctx, tx, to.MessageID)
	case to.Recipient != "":
		err = box.findByRecipient(ctx, tx, to.Recipient)
	}
	if err != nil || box.Organization == "" {
		return box, err
	}
	return box, checkOrganizationActive(ctx, tx, box.Organization)
}

// findByMessageID finds the message that a reply address was made for: its local
// part is that of the message's Message-ID. The random part must match as well,
// or anybody who knows a message's id could answer it.
func (b *Mailbox) findByMessageID(ctx context.Context, tx *db.Tx, local string) error {
	ref, ok := parseInternetID(local)
	if !ok {
		return mailhost.ErrNobody
	}
	org, err := db.QueryOne[id.ID](ctx, tx, `
		SELECT organization_id FROM messages
		WHERE id = $1 AND direction = 'outbound' AND substr(internet_id, 1, length(CAST($2 AS text))) = $2`,
		ref, local+"@")
	if errors.Is(err, db.ErrNoRow) {
		return mailhost.ErrNobody
	}
	b.Organization, b.Answers = org, &ref
	return err
}

// findByRecipient finds the message that a bounce address was made for. On a
// domain where every address belongs to one organization, an address that looks
// like a bounce address, but is none of that organization's, is an ordinary one.
func (b *Mailbox) findByRecipient(ctx context.Context, tx *db.Tx, ref id.ID) error {
	type row struct {
		Organization id.ID `db:"organization_id"`
		Message      id.ID `db:"message_id"`
	}
	r, err := db.QueryOne[row](ctx, tx, "SELECT organization_id, message_id FROM message_recipients WHERE id = $1", ref)
	switch {
	case errors.Is(err, db.ErrNoRow) && b.Organization == "":
		return mailhost.ErrNobody
	case errors.Is(err, db.ErrNoRow), err == nil && b.Organization != "" && r.Organization != b.Organization:
		return nil
	}
	b.Organization, b.Answers, b.Bounced = r.Organization, &r.Message, &ref
	return err
}

// findByReferences finds the organization that wrote the message a mail answers.
// The Message-IDs made here begin with the message's id, which is unique across
// organizations, so the lookup needs no organization.
func (b *Mailbox) findByReferences(ctx context.Context, tx *db.Tx, l *incoming.Letter) error {
	for _, name := range l.References {
		ref, ok := parseInternetID(name)
		if !ok {
			continue
		}
		org, err := db.QueryOne[id.ID](ctx, tx, `
			SELECT organization_id FROM messages
			WHERE id = $1 AND internet_id = $2 AND direction = 'outbound'`,
			ref, name)
		if errors.Is(err, db.ErrNoRow) {
			continue
		}
		if err != nil {
			return err
		}
		b.Organization, b.Answers = org, &ref
		return checkOrganizationActive(ctx, tx, org)
	}
	return mailhost.ErrNobody
}

// checkOrganizationActive refuses a disabled organization. Mail to it waits with the sending
// server, which retries for some days; mail from it waits in the job queue.
func checkOrganizationActive(ctx context.Context, tx *db.Tx, org id.ID) error {
	o, err := account.LoadOrganization(ctx, tx, org)
	if err == nil && o.Status != account.Active {
		return ErrDisabled
	}
	return err
}

// LoadInternetID loads the Message-ID of a message, as mail programs see it.
func LoadInternetID(ctx context.Context, tx *db.Tx, org, message id.ID) (string, error) {
	return db.QueryOne[string](ctx, tx, "SELECT internet_id FROM messages WHERE organization_id = $1 AND id = $2", org,
		message)
}

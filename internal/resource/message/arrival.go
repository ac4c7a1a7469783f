package message

import (
	"bytes"
	"context"
	"io"
	"net/mail"
	"slices"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message/incoming"
)

// storeIfNew keeps the mail as a message, unless it is a report about a message of
// this organization, which is recorded there, or a mail that came before.
func (a *arrival) storeIfNew(ctx context.Context) error {
	if a.letter.Report != nil {
		if known, err := a.recordBounce(ctx); err != nil || known {
			return err
		}
	}
	// Most repetitions are noticed here, before any file is stored. Two copies
	// that arrive at once are told apart in the transaction of insertMessage.
	seen := 0
	err := a.messages.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		seen, err = db.QueryOne[int](ctx, tx, `
			SELECT count(*) FROM received_mails
			WHERE organization_id = $1 AND digest = $2`,
			a.organization, a.digest)
		return err
	})
	if err != nil || seen > 0 {
		return err
	}
	var saved []*file.Saved
	defer func() {
		for _, s := range saved {
			s.Discard(ctx) // does nothing if the transaction made it a file
		}
	}()
	keep := func(name string, r io.Reader) error {
		s, err := a.messages.files.Save(ctx, a.organization, name, r)
		if err == nil {
			saved = append(saved, s)
		}
		return err
	}
	for i := range a.letter.Attachments {
		f := &a.letter.Attachments[i]
		if err := keep(f.Name, bytes.NewReader(f.Content)); err != nil {
			return err
		}
	}
	if a.letter.Unread != "" {
		if _, err := a.mail.Content.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := keep(incoming.OriginalName, a.mail.Content); err != nil {
			return err
		}
	}
	return a.messages.db.Write(ctx, func(ctx context.Context,
		tx *db.Tx) error {
		return a.insertMessage(ctx, tx, saved)
	})
}

// insertMessage writes the message and everything that came with it, unless the same
// mail was stored already.
func (a *arrival) insertMessage(ctx context.Context, tx *db.Tx, saved []*file.Saved) error {
	now, org := a.messages.clock.Now(), a.organization
	if err := checkOrganizationActive(ctx, tx,
		org); err != nil { // it may have been disabled since the address was accepted
		return err
	}
	v := a.buildMessage(now)
	// A sender whose connection broke before it read our answer sends the same mail again.
	n, err := db.Exec(ctx, tx, `
		INSERT INTO received_mails (organization_id, created_at, digest, message_id)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (organization_id, digest) DO NOTHING`,
		org, now, a.digest, v.ID)
	if err != nil || n == 0 {
		return err
	}
	if err := a.joinParentThread(ctx, tx, v); err != nil {
		return err
	}
	v.Attachments, v.Search, v.Size, v.FileIDs = len(saved), v.buildSearchText(), v.contentBytes(), []id.ID{}
	if err := a.messages.files.ChargeBytes(tx, org, v.Size); err != nil {
		return err
	}
	if err := messages.Insert(ctx, tx, v); err != nil {
		return err
	}
	for _, s := range saved {
		f, err := s.Insert(ctx, tx, now, nil)
		if err != nil {
			return err
		}
		if err := messageAttachments.Rows.Insert(ctx, tx, newAttachment(v, f)); err != nil {
			return err
		}
		v.FileIDs = append(v.FileIDs, f.ID)
	}
	with, err := linkContacts(ctx, tx, v)
	if err != nil {
		return err
	}
	t, reopened, err := v.addToThread(ctx, tx, with)
	if err != nil {
		return err
	}
	cause := event.Event{Organization: org, At: now, Chain: []id.ID{v.ID}}.BySystem() // the mail starts the chain
	if reopened {
		if err := a.messages.appendEvent(ctx, tx, cause.About(threadUpdatedEvent, t.ID), t); err != nil {
			return err
		}
	}
	return a.messages.appendEvent(ctx, tx, cause.About("message.received", v.ID), v)
}

// joinParentThread puts the message into the thread of the one it answers: by its
// headers, or else by the address it came to. Nothing is guessed from the
// subject. Whoever names a Message-ID with our random part has seen that mail,
// and may answer from an address it did not go to. The Message-ID of a mail from
// outside is no secret, so only addresses that take part in its thread join it;
// otherwise anybody could plant mail in a conversation.
func (a *arrival) joinParentThread(ctx context.Context, tx *db.Tx, v *Message) error {
	v.ThreadID, v.References = id.New(), []string{}
	parent, err := findAnsweredMessage(ctx, tx, v.OrganizationID, a.letter.References)
	if fault.IsKind(err, fault.NotFound) && a.answers != nil {
		parent, err = messages.Get(ctx, tx, v.OrganizationID, *a.answers)
	}
	if fault.IsKind(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !hasSecretID(parent) || a.letter.Report != nil {
		if ok, err := isParticipant(ctx, tx, parent, v.From); err != nil || !ok {
			return err
		}
	}
	v.becomeAnswerTo(parent)
	v.CustomerID = parent.CustomerID
	return nil
}

// buildMessage makes the row that the mail becomes.
func (a *arrival) buildMessage(now clock.Time) *Message {
	l := a.letter
	v := &Message{
		Record:        op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: a.organization},
		Direction:     Inbound,
		Status:        Received,
		Purpose:       Transactional,
		From:          a.mail.Sender,
		To:            bareAddresses(l.To),
		CC:            bareAddresses(l.Cc),
		BCC:           []string{},
		Subject:       l.Subject,
		InternetID:    l.MessageID,
		SentAt:        a.plausibleSentAt(now),
		AutoSubmitted: l.Automatic || l.Report != nil || a.mail.Sender == "",

		Authentication: &a.authentication,
	}
	if l.From != nil {
		v.From = l.From.Address
	}
	if l.ReplyTo != nil {
		v.ReplyTo = &l.ReplyTo.Address
	}
	if l.Text != "" {
		v.Text = &l.Text
	}
	if l.HTML != "" {
		v.HTML = &l.HTML
	}
	if v.InternetID == "" {
		v.InternetID = string(v.ID) // an empty one would match every other mail without a Message-ID
	}
	// Recipients that the headers do not name were in Bcc.
	named := slices.Concat(v.To, v.CC)
	for _, address := range a.recipients {
		same := func(s string) bool { return db.FoldText(s) == db.FoldText(address) }
		if !slices.ContainsFunc(named, same) && !slices.ContainsFunc(v.BCC, same) {
			v.BCC = append(v.BCC, address)
		}
	}
	return v
}

// bareAddresses drops the names beside addresses.
func bareAddresses(list []*mail.Address) []string {
	out := []string{}
	for _, a := range list {
		out = append(out, a.Address)
	}
	return out
}

// Which dates a mail may claim: not before the first mail was ever sent, and not
// more than a day ahead, which is as wrong as clocks get.
var earliestDate = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)

const maxClockError = 24 * time.Hour

// plausibleSentAt is the date that the mail claims if it is plausible, or else the time
// of its arrival.
func (a *arrival) plausibleSentAt(now clock.Time) *clock.Time {
	if d := a.letter.Date; d.After(earliestDate) && d.Before(now.Std().Add(maxClockError)) {
		now = clock.FromStd(d)
	}
	return &now
}

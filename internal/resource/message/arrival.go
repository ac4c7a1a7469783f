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

// arrival is one mail on its way to one organization.
type arrival struct {
	*Inbox
	destination
	mail   *Arrived
	letter *incoming.Letter
	digest string // of the whole mail
}

func (a *arrival) store(ctx context.Context) error {
	if a.letter.Report != nil {
		if known, err := a.bounce(ctx); err != nil || known {
			return err
		}
	}
	// Most repetitions are noticed before anything is stored; two at once by the transaction.
	seen := 0
	err := a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		seen, err = db.One[int](ctx, tx, "SELECT count(*) FROM received_mails WHERE organization_id = $1 AND digest = $2", a.Organization, a.digest)
		return err
	})
	if err != nil || seen > 0 {
		return err
	}
	var saved []*file.Saved
	defer func() {
		for _, s := range saved {
			s.Discard(ctx) // does nothing to what became a file
		}
	}()
	keep := func(name string, r io.Reader) error {
		s, err := a.files.Save(ctx, a.Organization, name, r)
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
	return a.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return a.insert(ctx, tx, saved) })
}

// insert writes the message and all that came with it.
func (a *arrival) insert(ctx context.Context, tx *db.Tx, saved []*file.Saved) error {
	now, org := a.clock.Now(), a.Organization
	v := a.message(now)
	// The same mail again is one whose 250 got lost.
	n, err := db.Exec(ctx, tx, `INSERT INTO received_mails (organization_id, created_at, digest, message_id) VALUES ($1, $2, $3, $4)
		ON CONFLICT (organization_id, digest) DO NOTHING`, org, now, a.digest, v.ID)
	if err != nil || n == 0 {
		return err
	}
	if err := a.follow(ctx, tx, v); err != nil {
		return err
	}
	v.Attachments, v.Search, v.Size, v.FileIDs = len(saved), v.words(), v.size(), []id.ID{}
	if err := a.files.Charge(tx, org, v.Size); err != nil {
		return err
	}
	if err := messages.Insert(ctx, tx, v); err != nil {
		return err
	}
	db.Index(tx, messages.Name(), v.Seq, v.Search)
	for _, s := range saved {
		f, err := s.Insert(ctx, tx, now, nil)
		if err != nil {
			return err
		}
		if err := Attach(ctx, tx, v, f); err != nil {
			return err
		}
		v.FileIDs = append(v.FileIDs, f.ID)
	}
	if err := Link(ctx, tx, v); err != nil {
		return err
	}
	return a.Tell(ctx, tx, event.Event{Organization: org, At: now, Chain: v.began()}.BySystem(), "message.received", v)
}

// follow puts the message into the thread of the one that it answers: by its
// headers, or else by the address that it came to. Nothing is guessed by the
// subject. Who names a mail of ours has seen it, and may answer from another
// address than it went to; the Message-ID of a mail from outside is no secret,
// so only who takes part in its thread joins it.
func (a *arrival) follow(ctx context.Context, tx *db.Tx, v *Message) error {
	v.ThreadID, v.References = id.New(), []string{}
	parent, err := Answered(ctx, tx, v.OrganizationID, a.letter.References)
	if fault.Has(err, fault.NotFound) && a.Answers != nil {
		parent, err = messages.Get(ctx, tx, v.OrganizationID, *a.Answers)
	}
	if fault.Has(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !isSecret(parent) || a.letter.Report != nil {
		if ok, err := takesPart(ctx, tx, parent, v.From); err != nil || !ok {
			return err
		}
	}
	v.Follow(parent)
	v.CustomerID = parent.CustomerID
	return nil
}

// message is the row that the mail becomes. Two copies of a mail to one
// organization are two messages only when they differ.
func (a *arrival) message(now clock.Time) *Message {
	l := a.letter
	v := &Message{Record: op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: a.Organization},
		Direction: Inbound, Status: Received, Purpose: Transactional, From: a.mail.Sender, To: bare(l.To), CC: bare(l.Cc), BCC: []string{},
		Subject: l.Subject, InternetID: l.MessageID, SentAt: a.sentAt(now), AutoSubmitted: l.Automatic || l.Report != nil || a.mail.Sender == ""}
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
		v.InternetID = string(v.ID) // nobody can name it, and an empty one would be everybody's
	}
	// Whom the headers do not name was written to in secret.
	named := slices.Concat(v.To, v.CC)
	for _, address := range a.recipients {
		same := func(s string) bool { return db.Fold(s) == db.Fold(address) }
		if !slices.ContainsFunc(named, same) && !slices.ContainsFunc(v.BCC, same) {
			v.BCC = append(v.BCC, address)
		}
	}
	return v
}

// bare is addresses without names.
func bare(list []*mail.Address) []string {
	out := []string{}
	for _, a := range list {
		out = append(out, a.Address)
	}
	return out
}

// What a mail may say about when it was sent: nobody wrote one before there
// was mail, and clocks are not wrong by more than a day.
var firstMail = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)

const clocksDiffer = 24 * time.Hour

// sentAt is the mail's date, or when it came.
func (a *arrival) sentAt(now clock.Time) *clock.Time {
	if d := a.letter.Date; d.After(firstMail) && d.Before(now.Std().Add(clocksDiffer)) {
		now = clock.Of(d)
	}
	return &now
}

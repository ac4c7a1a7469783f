package message

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/optin"
)

const deliverKind = "message.deliver"

// delivery names a message that is to leave.
type delivery struct {
	Organization id.ID `json:"organization"`
	Message      id.ID `json:"message"`
}

// How hard a message is tried: at first again after seconds, then hours long
// once an hour, and for a day and a half.
const (
	attempts    = 44
	deliverTime = 5 * time.Minute // and so long a message waits on PostgreSQL when its server died
	closedTime  = 5 * time.Minute // before another look at an organization that is disabled
	workers     = 4               // letters in memory at a time
)

// deliverShare is the part of deliverTime after which a long list makes room
// for others. Tests have less time.
var deliverShare = 2 * time.Minute

// Handle declares the job that sends. Mail has a lane of its own: a relay that
// is slow holds up nothing else.
func (m *Messages) Handle(q *job.Queue) {
	job.HandleFlow(q, deliverKind, m.deliver, job.Lane("mail", workers), job.Timeout(deliverTime), job.Attempts(attempts))
}

// recipient is one address of a message that is being sent, and what came of it.
type recipient struct {
	ID             id.ID       `db:"id"`
	OrganizationID id.ID       `db:"organization_id"`
	MessageID      id.ID       `db:"message_id"`
	Address        string      `db:"address"`
	Status         string      `db:"status"`
	ErrorMessage   *string     `db:"error_message"`
	AnsweredAt     *clock.Time `db:"answered_at"`
}

// What a recipient can be, beside Sent, Bounced and Failed.
const waiting = "waiting"

// deliver makes one attempt at a message. Everything that must be known after
// a crash is committed before the mail system is called: the recipients and
// the Message-ID. What it answers is committed at once. A recipient without an
// answer is tried again, so one who was taken while the process died before
// the commit gets the mail twice, with the same Message-ID; no protocol tells
// more. A mail system that knows keys, like the embedded mailbox, takes it once.
func (m *Messages) deliver(ctx context.Context, j job.Job, args delivery) (job.Outcome, error) {
	started := m.clock.Now()
	letters, v, err := m.begin(ctx, j, args)
	if errors.Is(err, ErrClosed) {
		return nil, job.Later(closedTime)
	}
	if err != nil || v == nil {
		return nil, err
	}
	keys, err := m.senders.Keys(ctx, args.Organization, v.From)
	var no *Refusal
	if errors.As(err, &no) && !no.Temporary {
		return m.failAll(ctx, j, args, letters, no.Reason)
	}
	if err != nil {
		return m.outcome(args, j.Last(), reason(err)), err
	}
	var last error
	moves := false
	for i, l := range inTurn(letters, j.Attempt) {
		if i > 0 && m.clock.Now().Sub(started) > deliverShare {
			if !moves {
				break // the mail system is to be left alone for a while, as after any failure
			}
			return m.outcome(args, false, ""), job.Later(0)
		}
		l.keys = keys
		rows, err := m.hand(ctx, l)
		if err != nil {
			last = err
		}
		if err := m.record(ctx, j, rows); err != nil {
			return nil, err
		}
		moves = moves || slices.ContainsFunc(rows, func(r recipient) bool { return r.Status != waiting })
	}
	if last != nil && !j.Last() {
		return m.outcome(args, false, reason(last)), last
	}
	return m.outcome(args, j.Last(), reason(last)), nil
}

// failAll ends a message that may not leave any more for those who wait for it.
func (m *Messages) failAll(
	ctx context.Context, j job.Job, args delivery, letters []*envelope, reason string,
) (job.Outcome, error) {
	for _, l := range letters {
		if err := m.record(ctx, j, l.all(Failed, reason, m.clock.Now())); err != nil {
			return nil, err
		}
	}
	return m.outcome(args, false, ""), nil
}

// inTurn begins each attempt with another letter, so that those who hold a
// list up do not keep the rest from being tried.
func inTurn(letters []*envelope, attempt int) []*envelope {
	if len(letters) == 0 {
		return nil
	}
	first := (attempt - 1) % len(letters)
	return slices.Concat(letters[first:], letters[:first])
}

// reason is what a caller may know of an error: the mail system's words to us.
// Whatever else went wrong is the operator's, and in the log.
func reason(err error) string {
	var refused *Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refused.Reason
	}
	return "The mail system could not be reached."
}

// envelope is a letter and those of its recipients who wait.
type envelope struct {
	letter
	to []recipient
}

// begin says that the message is being sent, and makes its letters: one for
// all, or for marketing one for each. No message means that it is not to be
// sent any more.
func (m *Messages) begin(ctx context.Context, j job.Job, args delivery) (out []*envelope, v *Message, err error) {
	err = m.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		out, v = nil, nil
		if err := j.Keep(ctx, tx); err != nil {
			return err
		}
		now := m.clock.Now()
		found, err := messages.Lock(ctx, tx, args.Organization, args.Message)
		if fault.Has(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if found.Status != Queued && found.Status != Scheduled && found.Status != Sending {
			return nil
		}
		if err := open(ctx, tx, args.Organization); err != nil {
			return err
		}
		found.Status, found.UpdatedAt = Sending, now
		if err := messages.Save(ctx, tx, found); err != nil {
			return err
		}
		to, err := m.waitingFor(ctx, tx, found, now)
		if err != nil {
			return err
		}
		attached, err := AttachmentsOf(ctx, tx, args.Organization, args.Message)
		if err != nil {
			return err
		}
		v = found
		one := letter{message: v, attachments: attached, now: now}
		if one.answers, one.returns, err = m.senders.Answers(ctx, tx, args.Organization, v.From, v.InternetID); err != nil {
			return err
		}
		if v.Purpose != Marketing {
			if len(to) > 0 {
				out = append(out, &envelope{one, to})
			}
			return nil
		}
		for i := range to {
			alone := one
			alone.only = to[i].Address
			if alone.unsubscribe, err = m.links.Link(ctx, tx, args.Organization, to[i].Address); err != nil {
				return err
			}
			out = append(out, &envelope{alone, to[i : i+1]})
		}
		return nil
	})
	return out, v, err
}

// waitingFor are the recipients who have not got the message. Those whose yes
// to marketing mail is gone since it was written never do.
func (m *Messages) waitingFor(ctx context.Context, tx *db.Tx, v *Message, now clock.Time) ([]recipient, error) {
	for _, a := range v.recipients() {
		_, err := db.Exec(ctx, tx, `INSERT INTO message_recipients (id, organization_id, message_id, address, address_folded, status) VALUES ($1, $2, $3, $4, $5, 'waiting')
			ON CONFLICT (organization_id, message_id, address_folded) DO NOTHING`, id.New(), v.OrganizationID, v.ID, a, db.Fold(a))
		if err != nil {
			return nil, err
		}
	}
	rows, err := db.All[recipient](ctx, tx, "SELECT "+recipientColumns+" FROM message_recipients WHERE organization_id = $1 AND message_id = $2 AND status = 'waiting' ORDER BY seq", v.OrganizationID, v.ID)
	if err != nil || v.Purpose != Marketing {
		return rows, err
	}
	var list []string
	for _, r := range rows {
		list = append(list, r.Address)
	}
	refused, err := optin.Refused(ctx, tx, v.OrganizationID, list)
	if err != nil {
		return nil, err
	}
	no := map[string]bool{}
	for _, a := range refused {
		no[a] = true
	}
	var wanted []recipient
	for _, r := range rows {
		if !no[r.Address] {
			wanted = append(wanted, r)
			continue
		}
		r.end(Failed, "The address is no longer opted in.", now)
		if err := r.save(ctx, tx); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

const recipientColumns = "id, organization_id, message_id, address, status, error_message, answered_at"

func (r *recipient) end(status, reason string, now clock.Time) {
	r.Status, r.ErrorMessage, r.AnsweredAt = status, nil, &now
	if reason != "" {
		r.ErrorMessage = &reason
	}
}

// save writes what came of a recipient. A mail that came back stays so.
func (r *recipient) save(ctx context.Context, tx *db.Tx) error {
	_, err := db.Exec(ctx, tx, "UPDATE message_recipients SET status = $3, error_message = $4, answered_at = $5 WHERE organization_id = $1 AND id = $2 AND status <> 'bounced'",
		r.OrganizationID, r.ID, r.Status, r.ErrorMessage, r.AnsweredAt)
	return err
}

// hand gives a letter to the mail system and says what came of each recipient.
// An error means that some of them are to be tried again.
func (m *Messages) hand(ctx context.Context, l *envelope) ([]recipient, error) {
	content, err := l.content(ctx, m.files)
	var gone *goneError
	if errors.As(err, &gone) {
		return l.all(Failed, gone.Error(), m.clock.Now()), nil
	}
	if err != nil {
		return nil, err
	}
	mail := &Mail{Key: string(l.to[0].ID), Organization: l.message.OrganizationID, Message: l.message.ID, From: onTheWire(l.message.From), Content: content}
	if l.returns != "" {
		mail.From = returnPath(l.to[0].ID, l.returns)
	}
	at := map[string]int{}
	for i, r := range l.to {
		mail.To = append(mail.To, onTheWire(r.Address))
		at[mail.To[i]] = i
	}
	refusals, err := m.mailer.Send(ctx, mail)
	now := m.clock.Now()
	var refused *Refusal
	if errors.As(err, &refused) && !refused.Temporary {
		return l.all(Failed, refused.Reason, now), nil
	}
	if err != nil {
		return nil, err
	}
	rows := l.all(Sent, "", now)
	var again error
	for _, r := range refusals {
		row := &rows[at[r.Recipient]]
		if r.Temporary {
			row.Status, row.ErrorMessage, row.AnsweredAt = waiting, &r.Reason, nil
			again = &r
			continue
		}
		row.end(Bounced, r.Reason, now)
	}
	return rows, again
}

// all gives every recipient of the letter the same end.
func (l *envelope) all(status, reason string, now clock.Time) []recipient {
	rows := append([]recipient(nil), l.to...)
	for i := range rows {
		rows[i].end(status, reason, now)
	}
	return rows
}

// record commits what the mail system answered, before anything else is done.
// job.ErrStale says that no further letter may leave: somebody else sends the
// message, or nobody is to send it any more.
func (m *Messages) record(ctx context.Context, j job.Job, rows []recipient) error {
	var kept error
	err := m.db.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
		for i := range rows {
			if err := rows[i].save(ctx, tx); err != nil {
				return err
			}
		}
		// The answer counts even when the lease was lost meanwhile.
		if kept = j.Keep(ctx, tx); errors.Is(kept, job.ErrStale) {
			return nil
		}
		return kept
	})
	if err == nil {
		err = kept
	}
	return err
}

// outcome says what the recipients' answers mean for the message. Who still
// waits fails when the attempt was the last. why is what the whole mail was
// refused with, or nothing.
func (m *Messages) outcome(args delivery, last bool, why string) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error {
		now := m.clock.Now()
		v, err := messages.Lock(ctx, tx, args.Organization, args.Message)
		if fault.Has(err, fault.NotFound) {
			return nil // erased meanwhile
		}
		if err != nil || v.Status != Sending {
			return err
		}
		rows, err := db.All[recipient](ctx, tx, "SELECT "+recipientColumns+" FROM message_recipients WHERE organization_id = $1 AND message_id = $2 ORDER BY seq", args.Organization, args.Message)
		if err != nil {
			return err
		}
		count := map[string]int{}
		for i := range rows {
			r := &rows[i]
			if r.Status == waiting && last {
				said := why
				if r.ErrorMessage != nil {
					said = *r.ErrorMessage
				}
				r.end(Failed, "It was tried for too long. "+said, now)
				if err := r.save(ctx, tx); err != nil {
					return err
				}
			}
			count[r.Status]++
		}
		v.settle(rows, count, why, now)
		v.UpdatedAt = now
		if err := messages.Save(ctx, tx, v); err != nil {
			return err
		}
		if v.Status == Queued || v.Status == Sending {
			return nil
		}
		if err := fillFile(ctx, tx, v); err != nil {
			return err
		}
		return m.Tell(ctx, tx, event.Event{Organization: v.OrganizationID, At: now, Chain: v.Chain}.BySystem(), "message."+v.Status, v)
	}
}

// settle gives the message the status that follows from its recipients.
func (v *Message) settle(rows []recipient, count map[string]int, whole string, now clock.Time) {
	why := reasons(rows)
	switch {
	case count[waiting] > 0 && count[Sent] > 0:
		v.Status = Sending // too late to cancel
	case count[waiting] > 0:
		v.Status = Queued
	case count[Sent] > 0:
		v.Status, v.SentAt = Sent, &now
	case count[Failed] == 0:
		v.Status = Bounced
	default:
		v.Status = Failed
	}
	if count[waiting] > 0 && why == "" {
		why = whole
	}
	if v.ErrorMessage = nil; why != "" {
		why = clip(why, maxReason)
		v.ErrorMessage = &why
	}
}

const maxReason = 5000 // bytes

// reasons says who did not get the message, and why.
func reasons(rows []recipient) string {
	var lines []string
	for _, r := range rows {
		if r.ErrorMessage != nil {
			lines = append(lines, fmt.Sprintf("%s: %s", r.Address, *r.ErrorMessage))
		}
	}
	return strings.Join(lines, "\n")
}

// Happenings are the events that sending brings about.
var Happenings = []op.Happening{
	{Type: "message.sent", When: "a message left, for one of its recipients at least"},
	{Type: "message.failed", When: "a message could not be sent, and is not tried again"},
	{Type: "message.bounced", When: "the mail systems of all recipients refused a message, or one sent it back later"},
	{Type: "message.received", When: "a mail came in"},
}

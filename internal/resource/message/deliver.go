package message

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/template"
)

const deliverKind = "message.deliver"

// deliveryArgs names a message to send.
type deliveryArgs struct {
	Organization id.ID `json:"organization"`
	Message      id.ID `json:"message"`
}

// How long a message is tried. The queue waits seconds at first, later an hour
// between attempts, so 44 of them take about a day and a half.
const (
	deliveryAttempts   = 44
	deliveryTimeout    = 5 * time.Minute
	disabledRetryDelay = 5 * time.Minute // before checking a disabled organization again
	deliveryWorkers    = 4               // messages being sent at a time; each letter is held in memory
)

// yieldAfter is how long a message with many letters may be sent before it
// goes back to the queue, so that others get their turn. It is less than the
// job's timeout. Tests shorten it.
var yieldAfter = 2 * time.Minute

// Handle registers the job that sends. Mail has its own lane, so that a slow
// relay holds up no other jobs.
func (m *Messages) Handle() {
	job.HandleFlow(m.jobs, deliverKind, m.attemptDelivery,
		job.InLane("mail", deliveryWorkers), job.RunTimeout(deliveryTimeout), job.Attempts(deliveryAttempts))
}

// attemptDelivery makes one attempt to send a message. Everything that must survive a
// crash is committed before the mail system is called: the recipients and the
// Message-ID. Its answer is committed at once. A recipient without an answer is
// tried again, so if the process dies after the mail system accepts one and
// before the commit, that recipient gets the mail twice, with the same
// Message-ID; no protocol offers more. A mail system with idempotency keys,
// like the embedded mailbox, accepts it once.
func (m *Messages) attemptDelivery(ctx context.Context, j job.Job, args deliveryArgs) (job.Outcome, error) {
	started := m.clock.Now()
	letters, v, reason, err := m.beginDelivery(ctx, j, args)
	if errors.Is(err, ErrDisabled) {
		return nil, job.RunAgainAfter(disabledRetryDelay)
	}
	if err != nil || v == nil {
		return nil, err
	}
	if reason != "" {
		return m.failRemaining(ctx, j, args, letters, reason)
	}
	enclosed, err := m.drawInvoicePDFs(ctx, v)
	if err != nil {
		return m.deriveOutcome(args, j.IsLastAttempt(), "An invoice could not be drawn as a PDF."), err
	}
	keys, err := m.hosts.SigningKeys(ctx, args.Organization, v.From)
	if errors.Is(err, mailhost.ErrInactive) {
		return m.failRemaining(ctx, j, args, letters, fmt.Sprintf("%s is not active, so nothing is sent from it. "+
			"Verify or renew the domain, and send the message again.", mailhost.DomainOf(v.From)))
	}
	if err != nil {
		return m.deriveOutcome(args, j.IsLastAttempt(), publicReason(err)), err
	}
	var last error
	moves := false
	for i, l := range rotateLetters(letters, j.Attempt) {
		if i > 0 && m.clock.Now().Sub(started) > yieldAfter {
			if !moves {
				break // nothing got through in all this time: wait as after any failure
			}
			return m.deriveOutcome(args, false, ""), job.RunAgainAfter(0)
		}
		l.keys, l.enclosed = keys, enclosed
		rows, err := m.sendEnvelope(ctx, l)
		if err != nil {
			last = err
		}
		if err := m.commitOutcomes(ctx, j, rows); err != nil {
			return nil, err
		}
		moves = moves || slices.ContainsFunc(rows, func(r recipient) bool { return r.Status != waiting })
	}
	if last != nil && !j.IsLastAttempt() {
		return m.deriveOutcome(args, false, publicReason(last)), last
	}
	return m.deriveOutcome(args, j.IsLastAttempt(), publicReason(last)), nil
}

// failRemaining fails a message for everyone who is still waiting for it.
func (m *Messages) failRemaining(
	ctx context.Context, j job.Job, args deliveryArgs, letters []*envelope, reason string,
) (job.Outcome, error) {
	for _, l := range letters {
		if err := m.commitOutcomes(ctx, j, l.settleAll(Failed, reason, m.clock.Now())); err != nil {
			return nil, err
		}
	}
	return m.deriveOutcome(args, false, ""), nil
}

// rotateLetters starts each attempt with another letter, so that a few slow ones do
// not keep the rest of a list from ever being tried.
func rotateLetters(letters []*envelope, attempt int) []*envelope {
	if len(letters) == 0 {
		return nil
	}
	first := (attempt - 1) % len(letters)
	return slices.Concat(letters[first:], letters[:first])
}

// publicReason is what a caller may know about an error: the mail system's own
// answer. Any other error may show internals, and goes only to the log.
func publicReason(err error) string {
	var refused *Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refused.Reason
	}
	return "The mail system could not be reached."
}

// envelope is a letter and those of its recipients who are waiting.
type envelope struct {
	letter
	to []recipient
}

// beginDelivery marks the message as sending and builds its letters: one for all, or
// for marketing one each. A nil message means that it must no longer be sent.
// A reason means that it must fail.
func (m *Messages) beginDelivery(ctx context.Context, j job.Job, args deliveryArgs) (out []*envelope, v *Message,
	reason string, err error) {
	err = m.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		out, v = nil, nil
		if err := j.RenewLease(ctx, tx); err != nil {
			return err
		}
		now := m.clock.Now()
		found, err := messages.Lock(ctx, tx, args.Organization, args.Message)
		if fault.IsKind(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if found.Status != Queued && found.Status != Scheduled && found.Status != Sending {
			return nil
		}
		if err := checkOrganizationActive(ctx, tx, args.Organization); err != nil {
			return err
		}
		if reason, err = m.outdatedReason(ctx, tx, found); err != nil {
			return err
		}
		if found.Status == Scheduled && reason == "" { // what was queued at once counted then
			to, err := lockLinkedContacts(ctx, tx, args.Organization, args.Message)
			if err != nil {
				return err
			}
			if err := contact.NoteMessage(ctx, tx, args.Organization, to, false, now); err != nil {
				return err
			}
		}
		found.Status, found.UpdatedAt = Sending, now
		if err := messages.Save(ctx, tx, found); err != nil {
			return err
		}
		to, err := prepareWaitingRecipients(ctx, tx, found, now)
		if err != nil {
			return err
		}
		attached, err := listAttachments(ctx, tx, args.Organization, args.Message)
		if err != nil {
			return err
		}
		v = found
		one := letter{message: v, attachments: attached, now: now}
		one.replyTo, one.bounceDomain, err = m.hosts.ReplyAddresses(ctx, tx, args.Organization, v.From, v.InternetID)
		if err != nil {
			return err
		}
		if v.Layout && v.BusinessID != nil {
			one.layout, err = template.LoadLayout(ctx, tx, args.Organization, *v.BusinessID)
			if err != nil && !errors.Is(err, db.ErrNoRow) {
				return err
			}
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
	return out, v, reason, err
}

// sendEnvelope hands a letter to the mail system and returns the outcome for each
// recipient. An error means that some of them are to be tried again.
func (m *Messages) sendEnvelope(ctx context.Context, l *envelope) ([]recipient, error) {
	content, err := l.encodeMIME(ctx, m.files)
	var gone *fileGoneError
	if errors.As(err, &gone) {
		return l.settleAll(Failed, gone.Error(), m.clock.Now()), nil
	}
	if err != nil {
		return nil, err
	}
	mail := &Mail{
		Key:          string(l.to[0].ID),
		Organization: l.message.OrganizationID,
		Message:      l.message.ID,
		From:         mailhost.ToASCII(l.message.From),
		Content:      content,
	}
	if l.bounceDomain != "" {
		mail.From = mailhost.BounceAddress(l.to[0].ID, l.bounceDomain)
	}
	at := map[string]int{}
	for i, r := range l.to {
		mail.To = append(mail.To, mailhost.ToASCII(r.Address))
		at[mail.To[i]] = i
	}
	refusals, err := m.mailer.Send(ctx, mail)
	now := m.clock.Now()
	var refused *Refusal
	if errors.As(err, &refused) && !refused.Temporary {
		return l.settleAll(Failed, refused.Reason, now), nil
	}
	if err != nil {
		return nil, err
	}
	rows := l.settleAll(Sent, "", now)
	var again error
	for _, r := range refusals {
		row := &rows[at[r.Recipient]]
		if r.Temporary {
			row.Status, row.ErrorMessage, row.AnsweredAt = waiting, &r.Reason, nil
			again = &r
			continue
		}
		row.setOutcome(Bounced, r.Reason, now)
	}
	return rows, again
}

// settleAll settles every recipient of the letter alike.
func (l *envelope) settleAll(status Status, reason string, now clock.Time) []recipient {
	rows := append([]recipient(nil), l.to...)
	for i := range rows {
		rows[i].setOutcome(status, reason, now)
	}
	return rows
}

// commitOutcomes commits the mail system's answer before anything else happens, even if
// the process is being stopped. job.ErrLeaseLost means that this worker has lost the
// job, to another worker or because it was canceled: it may send no further
// letter.
func (m *Messages) commitOutcomes(ctx context.Context, j job.Job, rows []recipient) error {
	var kept error
	err := m.db.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
		for i := range rows {
			if err := rows[i].saveOutcome(ctx, tx); err != nil {
				return err
			}
		}
		// The answer counts even if the lease was lost in the meantime.
		if kept = j.RenewLease(ctx, tx); errors.Is(kept, job.ErrLeaseLost) {
			return nil
		}
		return kept
	})
	if err == nil {
		err = kept
	}
	return err
}

// deriveOutcome returns what the job writes when it ends: the message's status, derived
// from its recipients. Those who still wait fail if this was the last attempt.
// why is the refusal of the whole mail, or empty.
func (m *Messages) deriveOutcome(args deliveryArgs, last bool, why string) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error {
		now := m.clock.Now()
		v, err := messages.Lock(ctx, tx, args.Organization, args.Message)
		if fault.IsKind(err, fault.NotFound) {
			return nil // erased in the meantime
		}
		if err != nil || v.Status != Sending {
			return err
		}
		rows, err := listRecipients(ctx, tx, args.Organization, args.Message)
		if err != nil {
			return err
		}
		count := map[Status]int{}
		for i := range rows {
			r := &rows[i]
			if r.Status == waiting && last {
				said := why
				if r.ErrorMessage != nil {
					said = *r.ErrorMessage
				}
				r.setOutcome(Failed, "It was tried for too long. "+said, now)
				if err := r.saveOutcome(ctx, tx); err != nil {
					return err
				}
			}
			count[r.Status]++
		}
		v.deriveStatus(rows, count, why, now)
		v.UpdatedAt = now
		if err := messages.Save(ctx, tx, v); err != nil {
			return err
		}
		if v.Status == Queued || v.Status == Sending {
			return nil
		}
		if err := fillMessageFileIDs(ctx, tx, v); err != nil {
			return err
		}
		e := event.Event{Organization: v.OrganizationID, At: now, Chain: v.Chain}.BySystem()
		return m.appendEvent(ctx, tx, e.About("message."+string(v.Status), v.ID), v)
	}
}

// deriveStatus gives the message the status that follows from its recipients. Once
// nobody waits any longer it is Sent if at least one of them got it; those who
// did not are named in ErrorMessage.
func (v *Message) deriveStatus(rows []recipient, count map[Status]int, whole string, now clock.Time) {
	why := formatReasons(rows)
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
		why = cut.Bytes(why, maxReasonBytes)
		v.ErrorMessage = &why
	}
}

// Happenings are the events that sending and receiving emit.
var Happenings = []op.BackgroundEvent{
	{Type: "message.sent", When: "a message was sent to at least one of its recipients"},
	{Type: "message.failed", When: "a message could not be sent and is not retried"},
	{Type: "message.bounced", When: "all recipients' mail systems refused a message, or one returned it later"},
	{Type: "message.received", When: "a mail came in"},
}

package message

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/mailhost"
)

// maxReferences is how many earlier mails one names: the first, which started
// the thread, and the latest (RFC 5322 §3.6.4 names them all, and §2.1.1 bounds
// the line).
const maxReferences = 20

// internetID creates the Message-ID of an outgoing message, once: every attempt
// to send it uses the same. The message's id does not reveal the rest of it, so
// naming it proves having seen the mail.
func internetID(v *Message) string {
	return string(v.ID) + "." + strings.ToLower(rand.Text()[:16]) + "@" + mailhost.DomainOf(v.From)
}

// isSecret reports whether only those who have seen a message can name it.
func isSecret(v *Message) bool {
	local, _, _ := strings.Cut(v.InternetID, "@")
	return v.Direction == Outbound && strings.Contains(local, ".")
}

// idOf is the message's id at the start of a Message-ID of ours.
func idOf(internetID string) (id.ID, bool) {
	local, _, _ := strings.Cut(internetID, "@")
	first, _, _ := strings.Cut(local, ".")
	return id.Parse(first)
}

// join puts a message into the thread of the one it answers, or starts one.
func (v *Message) join(ctx context.Context, tx *db.Tx) error {
	v.ThreadID, v.References = id.New(), []string{}
	if v.InReplyToID == nil {
		return nil
	}
	parent, err := messages.Get(ctx, tx, v.OrganizationID, *v.InReplyToID)
	if fault.Has(err, fault.NotFound) {
		return op.Unseen("inReplyToId")
	}
	if err != nil {
		return err
	}
	v.follow(parent)
	return nil
}

// follow makes a message an answer to another: in its thread, and naming it.
func (v *Message) follow(parent *Message) {
	v.ThreadID, v.InReplyToID = parent.ThreadID, &parent.ID
	v.References = append([]string{}, parent.References...)
	if n := len(v.References); n >= maxReferences {
		v.References = append(v.References[:1], v.References[n-maxReferences+2:]...)
	}
	v.References = append(v.References, parent.InternetID)
}

// findAnswered finds the message that an answer from outside names by its
// Message-IDs, nearest first. None is a 404. Whoever has seen a Message-ID can
// reuse it; the first message that had it is meant.
func findAnswered(ctx context.Context, tx *db.Tx, org id.ID, internetIDs []string) (*Message, error) {
	for _, s := range internetIDs {
		name := strings.Trim(s, "<> ")
		first := db.In(org).And("internet_id = ?", name).And(`seq = (
			SELECT min(seq) FROM messages
			WHERE organization_id = $1 AND internet_id = ? AND deleted_at IS NULL)`, name)
		v, err := messages.Find(ctx, tx, first)
		if !fault.Has(err, fault.NotFound) {
			return v, err
		}
	}
	return nil, fault.NotFound.Say("There is no such message.")
}

// maxLookedAt is how many messages of a thread show who takes part in it.
const maxLookedAt = 200

// correspondence is the part of a message that shows who wrote to whom.
type correspondence struct {
	Direction string   `db:"direction"`
	From      string   `db:"from_address"`
	ReplyTo   *string  `db:"reply_to"`
	To        []string `db:"to_addresses"`
	CC        []string `db:"cc_addresses"`
	BCC       []string `db:"bcc_addresses"`
}

func (v *Message) correspondence() correspondence {
	return correspondence{v.Direction, v.From, v.ReplyTo, v.To, v.CC, v.BCC}
}

// latestIn lists who wrote to whom in the latest messages of a thread.
func latestIn(ctx context.Context, tx *db.Tx, org, thread id.ID) ([]correspondence, error) {
	return db.All[correspondence](ctx, tx, `
		SELECT direction, from_address, reply_to, to_addresses, cc_addresses, bcc_addresses
		FROM messages
		WHERE organization_id = $1 AND thread_id = $2 AND deleted_at IS NULL
		ORDER BY created_at DESC, seq DESC
		LIMIT $3`,
		org, thread, maxLookedAt)
}

// people are those who write or receive a message. An address that we send from
// is not one of them: everybody knows it, and nobody answers from it.
func (c correspondence) people() []string {
	out := slices.Concat(c.To, c.CC, c.BCC)
	if c.ReplyTo != nil {
		out = append(out, *c.ReplyTo)
	}
	if c.Direction == Inbound {
		out = append(out, c.From)
	}
	return out
}

// takesPart reports whether an address belongs to a message or to the latest in
// its thread.
func takesPart(ctx context.Context, tx *db.Tx, parent *Message, address string) (bool, error) {
	rows, err := latestIn(ctx, tx, parent.OrganizationID, parent.ThreadID)
	if err != nil {
		return false, err
	}
	rows = append(rows, parent.correspondence())
	want := db.Fold(mailhost.ToASCII(address))
	return slices.ContainsFunc(rows, func(c correspondence) bool {
		return slices.ContainsFunc(c.people(), func(a string) bool { return db.Fold(mailhost.ToASCII(a)) == want })
	}), nil
}

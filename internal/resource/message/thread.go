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
)

// maxReferences is how many of the mails before it one names: the first, which
// began the thread, and the latest (RFC 5322 §3.6.4 names them all, and
// §2.1.1 bounds the line).
const maxReferences = 20

// internetID makes the Message-ID of an outgoing message, once: every attempt
// to send it has the same. Who knows the message's id does not know the rest
// of it, so that to name it is to have seen the mail.
func internetID(v *Message) string {
	return string(v.ID) + "." + strings.ToLower(rand.Text()[:16]) + "@" + DomainOf(onTheWire(v.From))
}

// isSecret reports whether only who has seen a message can name it.
func isSecret(v *Message) bool {
	local, _, _ := strings.Cut(v.InternetID, "@")
	return v.Direction == Outbound && strings.Contains(local, ".")
}

// idOf is the message's id that a Message-ID of ours begins with.
func idOf(internetID string) (id.ID, bool) {
	local, _, _ := strings.Cut(internetID, "@")
	first, _, _ := strings.Cut(local, ".")
	return id.Parse(first)
}

// join puts a message into the thread of the one that it answers, or begins one.
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
	v.Follow(parent)
	return nil
}

// Follow makes a message an answer to another: in its thread, and naming it.
func (v *Message) Follow(parent *Message) {
	v.ThreadID, v.InReplyToID = parent.ThreadID, &parent.ID
	v.References = append([]string{}, parent.References...)
	if n := len(v.References); n >= maxReferences {
		v.References = append(v.References[:1], v.References[n-maxReferences+2:]...)
	}
	v.References = append(v.References, parent.InternetID)
}

// Answered finds the message that an answer from outside names by its
// Message-IDs, the nearest first. None is a 404. Whoever has seen a Message-ID
// can send a mail under it; the first that had it is meant.
func Answered(ctx context.Context, tx *db.Tx, org id.ID, internetIDs []string) (*Message, error) {
	for _, s := range internetIDs {
		v, err := messages.Find(ctx, tx, db.In(org).And("internet_id = ?", strings.Trim(s, "<> ")).And("seq = (SELECT min(seq) FROM messages WHERE organization_id = $1 AND internet_id = ? AND deleted_at IS NULL)", strings.Trim(s, "<> ")))
		if !fault.Has(err, fault.NotFound) {
			return v, err
		}
	}
	return nil, fault.NotFound.Say("There is no such message.")
}

// maxLookedAt is how many messages of a thread tell who takes part in it.
const maxLookedAt = 200

// correspondence is what of a message tells who wrote to whom.
type correspondence struct {
	Direction string   `db:"direction"`
	From      string   `db:"from_address"`
	ReplyTo   *string  `db:"reply_to"`
	To        []string `db:"to_addresses"`
	CC        []string `db:"cc_addresses"`
	BCC       []string `db:"bcc_addresses"`
}

// people are those who write or get a message. An address that we send from is
// none of them: everybody knows it, and nobody answers from it.
func (c *correspondence) people() []string {
	out := slices.Concat(c.To, c.CC, c.BCC)
	if c.ReplyTo != nil {
		out = append(out, *c.ReplyTo)
	}
	if c.Direction == Inbound {
		out = append(out, c.From)
	}
	return out
}

// takesPart reports whether an address is one of the people of a message or of
// the latest in its thread.
func takesPart(ctx context.Context, tx *db.Tx, parent *Message, address string) (bool, error) {
	rows, err := db.All[correspondence](ctx, tx, `SELECT direction, from_address, reply_to, to_addresses, cc_addresses, bcc_addresses FROM messages
		WHERE organization_id = $1 AND thread_id = $2 AND deleted_at IS NULL ORDER BY created_at DESC, seq DESC LIMIT $3`, parent.OrganizationID, parent.ThreadID, maxLookedAt)
	if err != nil {
		return false, err
	}
	rows = append(rows, correspondence{parent.Direction, parent.From, parent.ReplyTo, parent.To, parent.CC, parent.BCC})
	want := db.Fold(onTheWire(address))
	return slices.ContainsFunc(rows, func(c correspondence) bool {
		return slices.ContainsFunc(c.people(), func(a string) bool { return db.Fold(onTheWire(a)) == want })
	}), nil
}

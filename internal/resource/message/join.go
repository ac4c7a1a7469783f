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

// maxReferences is how many earlier mails a References header names: the first,
// which started the thread, and the latest ones. RFC 5322 §3.6.4 would name them
// all, but §2.1.1 bounds the line.
const maxReferences = 20

// newInternetID creates the Message-ID of an outgoing message. Every attempt to
// send it uses the same one. It has a random part that the message's id does not
// reveal, so whoever names it has seen the mail.
func newInternetID(v *Message) string {
	return string(v.ID) + "." + strings.ToLower(rand.Text()[:16]) + "@" + mailhost.DomainOf(v.From)
}

// hasSecretID reports whether a message has a Message-ID with a random part, as
// newInternetID makes it. A Message-ID of received mail never counts as secret:
// whoever wrote it chose it.
func hasSecretID(v *Message) bool {
	local, _, _ := strings.Cut(v.InternetID, "@")
	return v.Direction == Outbound && strings.Contains(local, ".")
}

// parseInternetID reads the message's id from the start of a Message-ID that newInternetID
// made. It does not check the rest.
func parseInternetID(internetID string) (id.ID, bool) {
	local, _, _ := strings.Cut(internetID, "@")
	first, _, _ := strings.Cut(local, ".")
	return id.Parse(first)
}

// assignThread puts an outgoing message into the thread of the one it answers, or gives
// it the id of a new one.
func (v *Message) assignThread(ctx context.Context, tx *db.Tx) error {
	v.ThreadID, v.References = id.New(), []string{}
	if v.InReplyToID == nil {
		return nil
	}
	parent, err := messages.Get(ctx, tx, v.OrganizationID, *v.InReplyToID)
	if fault.IsKind(err, fault.NotFound) {
		return op.NoSuchReference("inReplyToId")
	}
	if err != nil {
		return err
	}
	v.becomeAnswerTo(parent)
	return nil
}

// becomeAnswerTo makes a message an answer to another: in the same thread, and naming it
// in References.
func (v *Message) becomeAnswerTo(parent *Message) {
	v.ThreadID, v.InReplyToID = parent.ThreadID, &parent.ID
	v.References = append([]string{}, parent.References...)
	if n := len(v.References); n >= maxReferences {
		v.References = append(v.References[:1], v.References[n-maxReferences+2:]...)
	}
	v.References = append(v.References, parent.InternetID)
}

// findAnsweredMessage finds the message that an incoming mail answers by the Message-IDs
// that it names, nearest first, or answers 404. A Message-ID can be reused by
// whoever has seen it, so the oldest message that has it counts.
func findAnsweredMessage(ctx context.Context, tx *db.Tx, org id.ID, internetIDs []string) (*Message, error) {
	for _, s := range internetIDs {
		name := strings.Trim(s, "<> ")
		first := db.InOrganization(org).And("internet_id = ?", name).And(`seq = (
			SELECT min(seq) FROM messages
			WHERE organization_id = $1 AND internet_id = ? AND deleted_at IS NULL)`, name)
		v, err := messages.Find(ctx, tx, first)
		if !fault.IsKind(err, fault.NotFound) {
			return v, err
		}
	}
	return nil, fault.NotFound.Say("There is no such message.")
}

// maxCorrespondence is how many of the latest messages of a thread are read to see who
// takes part in it.
const maxCorrespondence = 200

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

// latestCorrespondence lists who wrote to whom in the latest messages of a thread.
func latestCorrespondence(ctx context.Context, tx *db.Tx, org, thread id.ID) ([]correspondence, error) {
	return db.QueryAll[correspondence](ctx, tx, `
		SELECT direction, from_address, reply_to, to_addresses, cc_addresses, bcc_addresses
		FROM messages
		WHERE organization_id = $1 AND thread_id = $2 AND deleted_at IS NULL
		ORDER BY created_at DESC, seq DESC
		LIMIT $3`,
		org, thread, maxCorrespondence)
}

// otherParticipants lists the addresses of the other side: recipients, Reply-To and the
// author of an inbound message. The From of an outbound one is left out: it is
// the organization's own.
func (c correspondence) otherParticipants() []string {
	out := slices.Concat(c.To, c.CC, c.BCC)
	if c.ReplyTo != nil {
		out = append(out, *c.ReplyTo)
	}
	if c.Direction == Inbound {
		out = append(out, c.From)
	}
	return out
}

// isParticipant reports whether an address takes part in a message or in the latest
// messages of its thread.
func isParticipant(ctx context.Context, tx *db.Tx, parent *Message, address string) (bool, error) {
	rows, err := latestCorrespondence(ctx, tx, parent.OrganizationID, parent.ThreadID)
	if err != nil {
		return false, err
	}
	rows = append(rows, parent.correspondence())
	want := db.FoldText(mailhost.ToASCII(address))
	return slices.ContainsFunc(rows, func(c correspondence) bool {
		return slices.ContainsFunc(c.otherParticipants(),
			func(a string) bool { return db.FoldText(mailhost.ToASCII(a)) == want })
	}), nil
}

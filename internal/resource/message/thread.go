package message

import (
	"context"
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

// internetID is the Message-ID of an outgoing message. It follows from the
// message's id, so every attempt to send it has the same.
func internetID(v *Message) string { return string(v.ID) + "@" + DomainOf(onTheWire(v.From)) }

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
// Message-IDs, the nearest first. None is a 404.
func Answered(ctx context.Context, tx *db.Tx, org id.ID, internetIDs []string) (*Message, error) {
	for _, s := range internetIDs {
		v, err := messages.Find(ctx, tx, db.In(org).And("internet_id = ?", strings.Trim(s, "<> ")).And("seq = (SELECT max(seq) FROM messages WHERE organization_id = $1 AND internet_id = ? AND deleted_at IS NULL)", strings.Trim(s, "<> ")))
		if !fault.Has(err, fault.NotFound) {
			return v, err
		}
	}
	return nil, fault.NotFound.Say("There is no such message.")
}

package message

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/mailhost"
)

// ThreadStatus says whose turn it is: open is the organization's, waiting the
// other side's, closed nobody's.
type ThreadStatus string

// A new thread is open, and so is any thread again when mail comes in. One that was answered waits.
const (
	threadOpen    ThreadStatus = "open"
	threadWaiting ThreadStatus = "waiting"
)

// Thread is a message and all its answers: what a desk works through. join.go
// decides which thread a message belongs to.
type Thread struct {
	op.Record
	Subject       string       `json:"subject" max:"1000" doc:"at first, that of its first message"`
	Status        ThreadStatus `json:"status" enum:"open,waiting,closed" doc:"a received message opens it again"`
	AssigneeID    *id.ID       `json:"assigneeId" doc:"the member who takes care of it"`
	SnoozedUntil  *clock.Time  `json:"snoozedUntil" doc:"nobody needs to look before; null again when mail comes in"`
	ContactID     *id.ID       `json:"contactId" doc:"whom it is with"`
	CustomerID    *id.ID       `json:"customerId"`
	LastMessageAt clock.Time   `json:"lastMessageAt" doc:"when the last message came in, was written or sent"`
	MessageCount  int          `json:"messageCount" doc:"drafts included"`
	Unread        bool         `json:"unread" doc:"true from the moment that mail comes in"`

	LastMessage *ThreadMessage `json:"lastMessage,omitzero" db:"-" doc:"with include=lastMessage: the latest"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

var threads = db.NewTable[Thread]("threads", db.Life{
	Noun:         "thread",
	Counterparty: true,
	ExternalText: []string{"subject"},
	Refs: []db.Ref{
		// Kept when the member goes, as with tasks, so that their threads can be found and given to somebody else.
		db.RefTo("assignee_id", "users", db.Keeps),
		db.RefTo("contact_id", "contacts"),
		db.RefTo("customer_id", "customers"),
	},
	Erase: life.BlankColumns(`
		subject = 'Thread with an erased contact',
		search = ' thread with an erased contact'`).FoundBy("contact_id").AlsoFind(findThreadsOfPerson),
})

// findThreadsOfPerson finds the threads of a person's messages.
func findThreadsOfPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	ids, err := db.QueryAll[id.ID](ctx, tx, `
		SELECT DISTINCT thread_id FROM messages
		WHERE organization_id = $1 AND id = ANY($2)`, e.Organization, e.RowIDs("messages"))
	if err != nil {
		return err
	}
	return e.AddRowsByID(ctx, tx, "threads", ids)
}

// GetThread loads a thread that is not deleted, or answers 404.
func GetThread(ctx context.Context, tx *db.Tx, org, thread id.ID) (*Thread, error) {
	return threads.Get(ctx, tx, org, thread)
}

const exampleThread = `"id": "9f2c6d81-4b7e-4a35-8e10-6d5a3c9b2f74"`

func threadOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:        "threads.list",
			NounWords:   "conversation, inbox, discussion, chat, correspondence, mail, email",
			Words:       "new mail, inbox, unread, unanswered, wait, waiting for answer, got mail",
			Route:       "GET /v1/threads",
			Resource:    threadResource,
			Summary:     "List threads, newest first.",
			Description: "A thread is what threadId of a message names: the message and all its answers.",
			Example:     `{"status": ["open"], "assigneeId": "none", "limit": 20}`,
		}, listThreads),
		op.GetRow(op.Spec{
			Name:        "threads.get",
			Words:       "whole conversation, whole thread",
			Resource:    threadResource,
			Description: "messages.list with its threadId lists the messages.",
		}, threads),
		op.Write(op.Spec{
			Name: "threads.update",
			Words: "done, close, finish, snooze, come back, mark read, as read, as unread, assign, give to, " +
				"hand over, archive, reopen, settle, take care, no answer needed",
			Route:    "PATCH /v1/threads/{id}",
			Resource: threadResource,
			Summary:  "Change fields of a thread: assign it, snooze it, close it, mark it as read.",
			Description: "A received message makes a thread open and unread again, and ends its snooze. The subject " +
				"is for the house: mail keeps its own.",
			Events:  []string{threadUpdatedEvent},
			Example: `{` + exampleThread + `, "status": "waiting", "unread": false}`,
		}, updateThread),
	}
}

// threadResource is the resource whose permissions apply to threads.
const threadResource = "messages"

const threadUpdatedEvent = "thread.updated"

type threadRef struct {
	ID id.ID `path:"id" doc:"the thread"`
}

type threadList struct {
	op.Browse
	SortBy string         `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,lastMessageAt"`
	Status []ThreadStatus `query:"status" enum:"open,waiting,closed"`

	AssigneeID *string `query:"assigneeId" format:"id-or-none" doc:"a member's id, or none"`
	ContactID  *id.ID  `query:"contactId" doc:"the contact that the thread is with"`
	CustomerID *id.ID  `query:"customerId"`
	Unread     *bool   `query:"unread"`
	Snoozed    *bool   `query:"snoozed" doc:"true: those that nobody needs to look at yet; false: all others"`
	Query      *string `query:"query" max:"200" doc:"part of subject or address; 1-2 letters match word starts"`

	Include []string `query:"include" enum:"lastMessage" doc:"lastMessage: also show the latest message in short"`
}

func listThreads(ctx context.Context, c *op.Call, in threadList) (*op.List[Thread], error) {
	w := db.InOrganization(c.Org)
	db.FilterEqual(w, "contact_id", in.ContactID)
	db.FilterEqual(w, "customer_id", in.CustomerID)
	db.FilterEqualOrNone(w, "assignee_id", in.AssigneeID)
	db.FilterChoice(w, "status", in.Status, threadOpen, "closed")
	if in.Unread != nil && *in.Unread {
		w.And("unread")
	} else if in.Unread != nil {
		w.And("NOT unread")
	}
	if in.Snoozed != nil && *in.Snoozed {
		w.And("snoozed_until > ?", c.Now)
	} else if in.Snoozed != nil {
		w.And("(snoozed_until IS NULL OR snoozed_until <= ?)", c.Now)
	}
	q := op.ListQuery{Browse: in.Browse, SortBy: in.SortBy, Query: in.Query}
	list, err := op.BrowseRows(ctx, c, threads, q, w)
	if err != nil || !slices.Contains(in.Include, includeLastMessage) {
		return list, err
	}
	return list, fillLastMessages(ctx, c, list.Data)
}

type threadUpdate struct {
	threadRef
	Subject      op.Optional[string]       `json:"subject" min:"1" max:"1000"`
	Status       op.Optional[ThreadStatus] `json:"status" enum:"open,waiting,closed"`
	AssigneeID   op.Nullable[id.ID]        `json:"assigneeId" ref:"-" doc:"a member of the organization"`
	SnoozedUntil op.Nullable[clock.Time]   `json:"snoozedUntil" doc:"a time within a year"`
	ContactID    op.Nullable[id.ID]        `json:"contactId" ref:"contacts"`
	CustomerID   op.Nullable[id.ID]        `json:"customerId" ref:"customers"`
	Unread       op.Optional[bool]         `json:"unread"`
}

// updateThread changes a thread. A new assignee must be an active member, and a snooze
// must end in the future.
func updateThread(ctx context.Context, c *op.Call, in threadUpdate) (*Thread, error) {
	// Contact and customer are locked before the thread, the order in which messages are written. Another order
	// could deadlock with an incoming mail.
	err := op.LockReferences(ctx, c,
		op.FieldRef{Field: "contactId", Table: "contacts", ID: in.ContactID.PtrOrNil()},
		op.FieldRef{Field: "customerId", Table: "customers", ID: in.CustomerID.PtrOrNil()})
	if err != nil {
		return nil, err
	}
	t, err := threads.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	before := *t
	if !op.Apply(t, &in) {
		return t, nil
	}
	if t.AssigneeID != nil && !equalIDs(t.AssigneeID, before.AssigneeID) {
		if active, err := account.IsActiveMember(ctx, c.Tx, c.Org, *t.AssigneeID); err != nil {
			return nil, err
		} else if !active {
			return nil, fault.Field("assigneeId", "There is no active member with this id in the organization")
		}
	}
	if s := t.SnoozedUntil; s != nil && (before.SnoozedUntil == nil || *s != *before.SnoozedUntil) &&
		(*s <= c.Now || *s > c.Now.Add(maxTimeAhead)) {
		return nil, fault.Field("snoozedUntil", "Expected a time in the future, within a year")
	}
	if t.Subject != before.Subject {
		if t.Search, err = t.buildSearchText(ctx, c.Tx); err != nil {
			return nil, err
		}
	}
	t.UpdatedAt = c.Now
	if err := threads.Save(ctx, c.Tx, t); err != nil {
		return nil, err
	}
	return t, c.Emit(threadUpdatedEvent, t.ID, t)
}

// buildSearchText builds the search text of a thread anew: its subject and the addresses
// of its latest messages.
func (t *Thread) buildSearchText(ctx context.Context, tx *db.Tx) (string, error) {
	rows, err := latestCorrespondence(ctx, tx, t.OrganizationID, t.ID)
	if err != nil {
		return "", err
	}
	var people []string
	for i := range rows {
		people = append(people, rows[i].otherParticipants()...)
	}
	return appendAddresses(db.SearchText(&t.Subject), people), nil
}

// maxThreadSearchBytes bounds the search text of a thread, in bytes; the last address
// may exceed it.
const maxThreadSearchBytes = 8000

// appendAddresses adds the addresses that a search text lacks, as long as there is
// room. Reply addresses that belong to a single message are left out: nobody
// searches for them.
func appendAddresses(words string, people []string) string {
	seen := map[string]bool{}
	for _, p := range people {
		if len(words) >= maxThreadSearchBytes {
			break
		}
		if seen[p] || mailhost.IsMessageAddress(p) {
			continue
		}
		seen[p] = true
		if add := db.SearchText(&p); !strings.Contains(words+" ", add+" ") {
			words += add
		}
	}
	return words
}

// The order of locks: whoever writes a message locks first the rows that the
// message names, then the message, then its thread; of two threads, first the
// one with the lesser id.

// lockOrCreateThread locks the thread of a message, and creates it for its first one.
func (v *Message) lockOrCreateThread(ctx context.Context, tx *db.Tx) (*Thread, error) {
	t, err := threads.Lock(ctx, tx, v.OrganizationID, v.ThreadID)
	if !fault.IsKind(err, fault.NotFound) {
		return t, err
	}
	t = &Thread{
		Record: op.Record{
			ID:             v.ThreadID,
			CreatedAt:      v.CreatedAt,
			UpdatedAt:      v.UpdatedAt,
			OrganizationID: v.OrganizationID,
		},
		Subject:       v.Subject,
		Status:        threadOpen,
		LastMessageAt: v.UpdatedAt,
	}
	t.Search = db.SearchText(&t.Subject)
	free, err := threads.TryInsert(ctx, tx, t)
	if err == nil && !free {
		// Another message began it at the same moment, or it was deleted with its last one.
		_, err = db.Exec(ctx, tx, "UPDATE threads SET deleted_at = NULL WHERE organization_id = $1 AND id = $2",
			v.OrganizationID, v.ThreadID)
		if err == nil {
			t, err = threads.Lock(ctx, tx, v.OrganizationID, v.ThreadID)
		}
		if err == nil {
			db.UpdateSearchIndex(tx, threads.Name(), t.Seq, t.Search) // a deletion took it out of the index
		}
	}
	return t, err
}

// addToThread counts a message that was just written in its thread. with is the
// contact that it is from or to, and becomes the thread's if it has none.
// reopened reports that the message was inbound and the thread was not open, or
// was snoozed.
func (v *Message) addToThread(ctx context.Context, tx *db.Tx, with *id.ID) (t *Thread, reopened bool, err error) {
	if t, err = v.lockOrCreateThread(ctx, tx); err != nil {
		return nil, false, err
	}
	if err := t.updateMessageCount(ctx, tx, 1); err != nil {
		return nil, false, err
	}
	t.UpdatedAt, t.LastMessageAt = v.UpdatedAt, max(t.LastMessageAt, v.UpdatedAt)
	if t.ContactID == nil {
		t.ContactID = v.ContactID
	}
	if t.ContactID == nil {
		t.ContactID = with
	}
	if t.CustomerID == nil {
		t.CustomerID = v.CustomerID
	}
	if v.Direction == Inbound {
		reopened = t.Status != threadOpen || t.SnoozedUntil != nil
		t.Status, t.SnoozedUntil, t.Unread = threadOpen, nil, true
	}
	t.Search = appendAddresses(t.Search, v.correspondence().otherParticipants())
	return t, reopened, threads.Save(ctx, tx, t)
}

// removeFromThread updates a thread that a message was just removed from, by deletion
// or by moving to another thread. Removing the last message deletes the thread.
func removeFromThread(ctx context.Context, tx *db.Tx, org, thread id.ID, now clock.Time) error {
	t, err := threads.Lock(ctx, tx, org, thread)
	if fault.IsKind(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	latest, err := db.QueryOne[*clock.Time](ctx, tx, `
		SELECT max(CASE WHEN direction = 'outbound' AND sent_at IS NOT NULL THEN sent_at ELSE created_at END)
		FROM messages
		WHERE organization_id = $1 AND thread_id = $2 AND deleted_at IS NULL`, org, thread)
	if err != nil {
		return err
	}
	if latest == nil {
		_, err := threads.SoftDelete(ctx, tx, org, thread, now)
		return err
	}
	if err := t.updateMessageCount(ctx, tx, -1); err != nil {
		return err
	}
	if t.Search, err = t.buildSearchText(ctx, tx); err != nil {
		return err
	}
	t.UpdatedAt, t.LastMessageAt = now, *latest
	return threads.Save(ctx, tx, t)
}

// maxCountedMessages is the longest thread whose messages are counted anew at every
// change, which corrects any earlier mistake. In a longer one, where counting
// takes time, the stored number is only raised or lowered.
const maxCountedMessages = 1000

// updateMessageCount updates the number of messages after change of them were added or removed.
func (t *Thread) updateMessageCount(ctx context.Context, tx *db.Tx, change int) (err error) {
	if t.MessageCount += change; t.MessageCount > maxCountedMessages {
		return nil
	}
	t.MessageCount, err = db.QueryOne[int](ctx, tx, `
		SELECT count(*) FROM messages
		WHERE organization_id = $1 AND thread_id = $2 AND deleted_at IS NULL`, t.OrganizationID, t.ID)
	return err
}

// updateDraftThreads updates the thread of a draft that changed, or both threads if the
// draft moved from one to another. with is the contact that the draft is to.
func (v *Message) updateDraftThreads(ctx context.Context, tx *db.Tx, before *Message, with *id.ID) error {
	if v.ThreadID != before.ThreadID {
		moves := []func() error{
			func() error { return removeFromThread(ctx, tx, v.OrganizationID, before.ThreadID, v.UpdatedAt) },
			func() error { _, _, err := v.addToThread(ctx, tx, with); return err },
		}
		if v.ThreadID < before.ThreadID {
			slices.Reverse(moves)
		}
		for _, move := range moves {
			if err := move(); err != nil {
				return err
			}
		}
		return nil
	}
	t, err := v.lockOrCreateThread(ctx, tx)
	if err != nil {
		return err
	}
	if t.MessageCount == 1 && t.Subject == before.Subject {
		t.Subject = v.Subject
	}
	if t.ContactID == nil {
		t.ContactID = with
	}
	if t.Search, err = t.buildSearchText(ctx, tx); err != nil {
		return err
	}
	t.UpdatedAt, t.LastMessageAt = v.UpdatedAt, max(t.LastMessageAt, v.UpdatedAt)
	return threads.Save(ctx, tx, t)
}

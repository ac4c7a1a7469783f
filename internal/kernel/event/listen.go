package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

// Log writes events and passes them to their listeners.
type Log struct {
	jobs     *job.Queue
	handlers map[string]Handler // by the kind of listener
	all      []allListener
}

// allListener hears the events of every organization that concern it.
type allListener struct {
	concerns func(*Event) bool
	hear     func(ctx context.Context, tx *db.Tx, e Event) error
}

// Handler is called for one event and one listener, in the transaction of the fan-out. It must only write down what is
// to be done, such as a delivery, and not do it: the transaction may run again. It takes effect exactly once per event.
type Handler func(ctx context.Context, tx *db.Tx, e Event, listener id.ID) error

// EveryType is the type to listen to for events of all types.
const EveryType = "*"

// fanOutArgs is the arguments of the fan-out job: which event to pass on.
type fanOutArgs struct {
	Organization id.ID `json:"organization"`
	Seq          int64 `json:"seq"`
}

// New connects the log to the queue that runs its fan-out.
func New(q *job.Queue) *Log {
	l := &Log{jobs: q, handlers: map[string]Handler{}}
	job.HandleTx(q, job.FanOutKind, l.notifyListeners, job.ForgetWhenDone(), job.Attempts(fanOutAttempts),
		job.RetryBackoff(fanOutBackoff))
	return l
}

// A failed fan-out holds up listeners that act in the order of the log, so it is retried often: after a quarter of a
// second at first, then every 15 seconds, for about ten hours.
const fanOutAttempts = 2500

func fanOutBackoff(attempt int) time.Duration {
	return min(time.Second/4<<min(attempt-1, 10), 15*time.Second)
}

// On sets the handler for a kind of listener. A listener of a kind without a handler is an error, so that none is
// skipped silently.
func (l *Log) On(kind string, fn Handler) {
	if l.handlers[kind] != nil {
		panic("event: two handlers for " + kind)
	}
	l.handlers[kind] = fn
}

// OnAll sets a handler that hears events of all organizations, without a row for each of them: those that concerns
// picks. It is asked in the transaction of the change, so it must be quick and only look at the event. What Handler
// says of a handler is true of hear.
func (l *Log) OnAll(concerns func(*Event) bool, hear func(ctx context.Context, tx *db.Tx, e Event) error) {
	l.all = append(l.all, allListener{concerns, hear})
}

// concernsAll reports whether a handler of all organizations wants to hear an event.
func (l *Log) concernsAll(e *Event) bool {
	return slices.ContainsFunc(l.all, func(v allListener) bool { return v.concerns(e) })
}

// Listener is something that gets events: a webhook or an automation.
type Listener struct {
	Kind string `db:"listener_kind"` // whose handler is called
	ID   id.ID  `db:"listener_id"`
}

// SetListenedTypes sets the types of events that a listener gets, in place of those it got before. Without types it
// gets none.
func SetListenedTypes(ctx context.Context, tx *db.Tx, org id.ID, listener Listener, types []string) error {
	if _, err := db.Exec(ctx, tx, "DELETE FROM event_listeners WHERE organization_id = $1 AND listener_id = $2", org,
		listener.ID); err != nil {
		return err
	}
	types = slices.Compact(slices.Sorted(slices.Values(types)))
	if slices.Contains(types, EveryType) {
		types = []string{EveryType} // or it would get some events twice
	}
	for _, t := range types {
		_, err := db.Exec(ctx, tx, `
			INSERT INTO event_listeners (organization_id, type, listener_kind, listener_id)
			VALUES ($1, $2, $3, $4)`, org, t, listener.Kind, listener.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// enqueueFanOut enqueues the job that passes an event to its listeners.
func (l *Log) enqueueFanOut(ctx context.Context, tx *db.Tx, org id.ID, seq int64) error {
	_, err := l.jobs.Enqueue(ctx, tx, job.FanOutKind, fanOutArgs{org, seq}, job.ForOrganization(org))
	return err
}

// Listeners lists who gets events of a type, in the order in which their handlers are called.
func Listeners(ctx context.Context, tx *db.Tx, org id.ID, eventType string) ([]Listener, error) {
	return db.QueryAll[Listener](ctx, tx, `
		SELECT listener_kind, listener_id FROM event_listeners
		WHERE organization_id = $1 AND type IN ($2, '*') ORDER BY seq`, org, eventType)
}

// notifyListeners passes an event to all its listeners in one transaction: if one handler fails, none has got it and
// the job is tried again.
func (l *Log) notifyListeners(ctx context.Context, tx *db.Tx, _ job.Job, args fanOutArgs) error {
	e, err := GetBySeq(ctx, tx, args.Organization, args.Seq)
	if errors.Is(err, db.ErrNoRow) {
		return nil // the event is gone: erased, or past its retention
	}
	if err != nil {
		return err
	}
	listeners, err := Listeners(ctx, tx, e.Organization, e.Type)
	if err != nil {
		return err
	}
	for _, v := range listeners {
		hear := l.handlers[v.Kind]
		if hear == nil {
			return fmt.Errorf("event: no handler for %q", v.Kind)
		}
		if err := hear(ctx, tx, e, v.ID); err != nil {
			return fmt.Errorf("event: %s %s: %w", v.Kind, v.ID, err)
		}
	}
	for _, v := range l.all {
		if !v.concerns(&e) {
			continue
		}
		if err := v.hear(ctx, tx, e); err != nil {
			return fmt.Errorf("event: %s: %w", e.Type, err)
		}
	}
	return nil
}

// eventColumns are the columns of an Event, for SELECT.
const eventColumns = "organization_id, created_at, type, resource_id, actor_kind, actor_id, door, request_id, data, " +
	"previous, chain, proposal_id, approved_by, agent_id, external, id, seq"

// GetBySeq reads an event by its number in the log.
func GetBySeq(ctx context.Context, tx *db.Tx, org id.ID, seq int64) (Event, error) {
	return db.QueryOne[Event](ctx, tx, "SELECT "+eventColumns+" FROM events WHERE organization_id = $1 AND seq = $2",
		org, seq)
}

// GetByID reads an event by its id.
func GetByID(ctx context.Context, tx *db.Tx, org, event id.ID) (Event, error) {
	return db.QueryOne[Event](ctx, tx, "SELECT "+eventColumns+" FROM events WHERE organization_id = $1 AND id = $2",
		org, event)
}

// Condition is an SQL condition for events of an organization.
type Condition struct {
	SQL  string // $1 is the organization
	Args []any  // from $2 on
}

// Append returns the condition with more text behind it, and the arguments of that text.
func (c Condition) Append(text string, args ...any) Condition {
	return Condition{c.SQL + text, slices.Concat(c.Args, args)}
}

// argsFor returns the arguments of a query in an organization.
func (c Condition) argsFor(org id.ID) []any { return append([]any{org}, c.Args...) }

// ListWhere reads the newest events of an organization that match.
func ListWhere(ctx context.Context, tx *db.Tx, org id.ID, which Condition, limit int) ([]Event, error) {
	return db.QueryAll[Event](ctx, tx,
		fmt.Sprintf("SELECT "+eventColumns+" FROM events WHERE organization_id = $1 AND %s "+
			"ORDER BY created_at DESC, seq DESC LIMIT %d", which.SQL, limit), which.argsFor(org)...)
}

// NewestSeq is the number of the newest event in the log of all organizations; 0 for an empty log.
func NewestSeq(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.QueryOne[int64](ctx, tx, "SELECT coalesce(max(seq), 0) FROM events")
}

// LogMark changes with every event of an organization. Whoever has kept what they read can
// tell by it whether it is still true.
type LogMark struct {
	Newest int64 `db:"newest"` // its number
	Recent int   `db:"recent"` // how many there are since the given time: an event may be committed after a newer one
}

// ReadLogMark reads the mark. at must be the same for marks that are compared.
func ReadLogMark(ctx context.Context, tx *db.Tx, org id.ID, at clock.Time) (LogMark, error) {
	since := at.Add(-10 * time.Minute) // before the oldest transaction that may still be open
	if tx.Engine() == db.SQLite {
		since = at.Add(-time.Minute) // one writes at a time, and none waits longer for its turn
	}
	return db.QueryOne[LogMark](ctx, tx, `
		SELECT coalesce((
				SELECT seq FROM events
				WHERE organization_id = $1
				ORDER BY created_at DESC, seq DESC LIMIT 1), 0) AS newest,
			(SELECT count(*) FROM events WHERE organization_id = $1 AND created_at >= $2) AS recent`, org, since)
}

// Authors are who caused the events of one type about rows, by row. What the service did by
// itself has none.
func Authors(ctx context.Context, tx *db.Tx, org id.ID, eventType string, rows []id.ID) (map[id.ID]id.ID, error) {
	out := map[id.ID]id.ID{}
	for some := range slices.Chunk(rows, 1000) {
		found, err := db.QueryAll[struct {
			Resource id.ID `db:"resource_id"`
			Actor    id.ID `db:"actor_id"`
		}](ctx, tx, `
			SELECT resource_id, actor_id FROM events
			WHERE organization_id = $1 AND resource_id = ANY($2) AND type = $3 AND actor_id IS NOT NULL`,
			org, some, eventType)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			out[f.Resource] = f.Actor
		}
	}
	return out, nil
}

// Doings are how much an actor did.
type Doings struct {
	Events   int `db:"events"`
	Requests int `db:"requests"` // that caused them
}

// SumDoings counts what the actors of one kind did from one time until before another, by
// actor.
func SumDoings(ctx context.Context, tx *db.Tx, org id.ID, from, to clock.Time, kind string) (map[id.ID]Doings, error) {
	rows, err := db.QueryAll[struct {
		Actor id.ID `db:"actor_id"`
		Doings
	}](ctx, tx, `
		SELECT actor_id, count(*) AS events, count(DISTINCT request_id) AS requests FROM events
		WHERE organization_id = $1 AND created_at >= $2 AND created_at < $3 AND actor_kind = $4
			AND actor_id IS NOT NULL
		GROUP BY actor_id`, org, from, to, kind)
	out := map[id.ID]Doings{}
	for _, r := range rows {
		out[r.Actor] = r.Doings
	}
	return out, err
}

// Counts is how many events there are, and how many of them are about the creation of a row.
type Counts struct {
	Events  int `db:"events"`
	Created int `db:"created"`
}

// CountWhere counts the events of an organization that match.
func CountWhere(ctx context.Context, tx *db.Tx, org id.ID, which Condition) (Counts, error) {
	return db.QueryOne[Counts](ctx, tx,
		"SELECT count(*) AS events, count(CASE WHEN type LIKE '%.created' THEN 1 END) AS "+
			"created FROM events WHERE organization_id = $1 AND "+which.SQL, which.argsFor(org)...)
}

// TouchedRows are rows that may have been touched since an event.
type TouchedRows struct {
	Table string
	IDs   []id.ID
	After int64 // the number of the event
}

// TouchedSince finds which of the rows were touched, and returns the number of the last event that touched each. A row
// is touched by any event about it, and by an event about another row that refers to it if a person, a key or an agent
// caused it. Events that match mine do not count. It is for undo, which must not overwrite what others have done since.
func TouchedSince(ctx context.Context, tx *db.Tx, org id.ID, rows TouchedRows, mine Condition) (map[id.ID]int64,
	error) {
	type found struct {
		Row id.ID `db:"row_id"`
		Seq int64 `db:"seq"`
	}
	n := len(mine.Args) + 2
	args := append(mine.argsFor(org), rows.IDs, rows.After)
	// The + keeps SQLite from using the index of seq, which would read all later events of the log.
	tail := fmt.Sprintf(" +seq > $%d AND NOT coalesce((%s), FALSE) GROUP BY row_id", n+1, mine.SQL)
	texts := []string{fmt.Sprintf("SELECT resource_id AS row_id, max(seq) AS seq FROM events "+
		"WHERE organization_id = $1 AND resource_id = ANY($%d) AND", n) + tail}
	graph := tx.LifeGraph()
	for _, r := range graph.Referrers[rows.Table] {
		if !graph.Tables[r.Table].HasColumn("id") {
			continue
		}
		// CROSS JOIN makes SQLite begin with the few rows that refer to these, and not with the log.
		texts = append(texts, fmt.Sprintf("SELECT row_id, max(seq) AS seq FROM (SELECT id AS naming, %s AS row_id "+
			"FROM %s WHERE organization_id = $1 AND %s = ANY($%d)) n CROSS JOIN events "+
			"WHERE events.organization_id = $1 AND events.resource_id = n.naming "+
			"AND actor_kind IN ('user', 'api', 'agent') AND", r.Ref.Column, r.Table, r.Ref.Column, n)+tail)
	}
	out := map[id.ID]int64{}
	for _, text := range texts {
		list, err := db.QueryAll[found](ctx, tx, text, args...)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			out[f.Row] = max(out[f.Row], f.Seq)
		}
	}
	return out, nil
}

// FindOrganization finds the organization of a row by the events about it, even if the row is gone. noun is what people
// call the row. No index leads with the row, so it reads the whole log; it is for operators, not for requests.
func FindOrganization(ctx context.Context, tx *db.Tx, noun string, row id.ID) (id.ID, error) {
	return db.QueryOne[id.ID](ctx, tx, `
		SELECT organization_id FROM events
		WHERE resource_type = $1 AND resource_id = $2
		LIMIT 1`, db.EventName(noun), row)
}

// ListPage reads a page of an organization's log, newest first.
func ListPage(ctx context.Context, tx *db.Tx, org id.ID, limit, offset int) ([]Event, error) {
	return db.QueryAll[Event](ctx, tx, "SELECT "+eventColumns+` FROM events
		WHERE organization_id = $1
		ORDER BY created_at DESC, seq DESC LIMIT $2 OFFSET $3`, org, limit, offset)
}

// ListNewestOfType reads the n newest events of a type, newest first.
func ListNewestOfType(ctx context.Context, tx *db.Tx, org id.ID, eventType string, n int) ([]Event, error) {
	return db.QueryAll[Event](ctx, tx, "SELECT "+eventColumns+` FROM events
		WHERE organization_id = $1 AND resource_type = $2 AND type = $3
		ORDER BY created_at DESC, seq DESC LIMIT $4`,
		org, ResourceType(eventType), eventType, n)
}

// PageOfType is a part of the events of a type, newest first.
type PageOfType struct {
	Type  string
	Since clock.Time // the events are not older
	// Before and BeforeSeq are the time and number of the last event that was read; the page begins behind it.
	Before    clock.Time
	BeforeSeq int64
	Limit     int
}

// ListPageOfType reads the events of a page.
func ListPageOfType(ctx context.Context, tx *db.Tx, org id.ID, p PageOfType) ([]Event, error) {
	return db.QueryAll[Event](ctx, tx, "SELECT "+eventColumns+` FROM events
		WHERE organization_id = $1 AND resource_type = $2 AND type = $3 AND created_at >= $4
			AND (created_at, seq) < ($5, $6)
		ORDER BY created_at DESC, seq DESC LIMIT $7`,
		org, ResourceType(p.Type), p.Type, p.Since, p.Before, p.BeforeSeq, p.Limit)
}

package event

import (
	"context"
	"strings"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/id"
)

// Table is the table of the log, for the operations that show it.
const Table = "events"

var (
	_ = db.Declare("events", db.Life{
		Refs: []db.Ref{
			db.RefTo("resource_id", "", db.Keeps),
			db.RefTo("actor_id", "", db.Keeps),
			db.RefTo("proposal_id", "proposals", db.Keeps),
			db.RefTo("approved_by", "users", db.Keeps),
			db.RefTo("agent_id", "agents", db.Keeps),
		},
		Expire: db.Expiry{After: func(r config.Retention) time.Duration { return r.Events }},
		// What happened stays on record, without its data.
		Erase: life.BlankColumns("data = NULL, previous = NULL").
			OnlyWhere("data IS NOT NULL AND type NOT LIKE '%.erased'").AlsoFind(findEventsAbout),
	})
	_ = db.Declare("event_listeners", db.Life{Refs: []db.Ref{db.RefTo("listener_id", "", db.Keeps)}})
)

// findEventsAbout finds the events whose data goes when a person is erased: those of rows about the person, of rows
// that belong to these, and events that mention the person. A row that is gone is known only by its events: if one of
// them mentions the person, the row counts as being about the person, and so do its other events.
func findEventsAbout(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	err := e.ScanAny(ctx, tx, "events", "organization_id = $1 AND resource_id = ANY($2)", e.TracedIDs())
	if err != nil {
		return err
	}
	kinds := e.EventKinds()
	for _, kind := range kinds {
		under := "organization_id = $1 AND resource_type LIKE '" + kind + ".%' AND data->>'" + parentIDField(kind) +
			"' = ANY($2)"
		err := e.ScanAny(ctx, tx, "events", under, e.TracedOfKind(kind))
		if err != nil {
			return err
		}
	}
	about := "resource_type IN ('" + strings.Join(kinds, "', '") + "')"
	nested := "resource_type LIKE '" + strings.Join(kinds, ".%' OR resource_type LIKE '") + ".%'"
	mentions := "organization_id = $1 AND (" + about + " OR " + nested + ") AND (" + tx.ContainsSQL("data") + " OR " +
		tx.ContainsSQL("previous") + ")"
	err = e.ScanEach(ctx, tx, "events", mentions, e.PersonIDs())
	if err != nil {
		return err
	}
	type subject struct {
		Kind string `db:"resource_type"`
		ID   id.ID  `db:"resource_id"`
	}
	subjects, err := db.QueryAll[subject](ctx, tx, `
		SELECT DISTINCT resource_type, resource_id FROM events
		WHERE seq = ANY($1) AND `+about, e.RowNumbers("events"))
	for _, s := range subjects {
		e.AddTraced(s.Kind, s.ID)
	}
	return err
}

// parentIDField is the field by which the data of a nested row names its parent: contactId, for the kind contact.
func parentIDField(kind string) string {
	words := strings.Split(kind, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "") + "Id"
}

package event

import (
	"context"
	"strings"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Table is the table of the log, for the operations that show it.
const Table = "events"

var (
	_ = db.Declare("events", db.Life{
		Refs: []db.Ref{
			db.To("resource_id", "", db.Keeps),
			db.To("actor_id", "", db.Keeps),
			db.To("proposal_id", "proposals", db.Keeps),
			db.To("approved_by", "users", db.Keeps),
			db.To("agent_id", "agents", db.Keeps),
		},
		Expire: db.Expiry{After: func(r config.Retention) time.Duration { return r.Events }},
		// What happened stays on record, without its data.
		Erase: db.Blank("data = NULL, previous = NULL").
			Only("data IS NOT NULL AND type NOT LIKE '%.erased'").Find(findEvents),
	})
	_ = db.Declare("event_listeners", db.Life{Refs: []db.Ref{db.To("listener_id", "", db.Keeps)}})
)

// findEvents finds the events whose data goes when a person is erased: those of rows about the person, of rows
// that belong to these, and events that mention the person. A row that is gone is known only by its events: if one of
// them mentions the person, the row counts as being about the person, and so do its other events.
func findEvents(ctx context.Context, tx *db.Tx, e *db.Erasure) error {
	err := e.Any(ctx, tx, "events", "organization_id = $1 AND resource_id = ANY($2)", e.Traced())
	if err != nil {
		return err
	}
	kinds := e.Kinds()
	for _, kind := range kinds {
		under := "organization_id = $1 AND resource_type LIKE '" + kind + ".%' AND data->>'" + idField(kind) +
			"' = ANY($2)"
		err := e.Any(ctx, tx, "events", under, e.Mentioned(kind))
		if err != nil {
			return err
		}
	}
	about := "resource_type IN ('" + strings.Join(kinds, "', '") + "')"
	nested := "resource_type LIKE '" + strings.Join(kinds, ".%' OR resource_type LIKE '") + ".%'"
	mentions := "organization_id = $1 AND (" + about + " OR " + nested + ") AND (" + tx.Mentions("data") + " OR " +
		tx.Mentions("previous") + ")"
	err = e.Each(ctx, tx, "events", mentions, e.Names())
	if err != nil {
		return err
	}
	type subject struct {
		Kind string `db:"resource_type"`
		ID   id.ID  `db:"resource_id"`
	}
	subjects, err := db.All[subject](ctx, tx, `
		SELECT DISTINCT resource_type, resource_id FROM events
		WHERE seq = ANY($1) AND `+about, e.Rows("events"))
	for _, s := range subjects {
		e.Mention(s.Kind, s.ID)
	}
	return err
}

// idField is the field by which the data of a nested row names its parent: contactId, for the kind contact.
func idField(kind string) string {
	words := strings.Split(kind, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "") + "Id"
}

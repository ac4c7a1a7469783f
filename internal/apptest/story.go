package apptest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/kernel/db"
)

// Events lists the types of the events in the organization's log that begin with
// one of the prefixes, in order and separated by spaces. It insists that every one
// says who caused it, through which door and in which request.
func (a *App) Events(t testing.TB, prefixes ...string) string {
	t.Helper()
	type row struct {
		Type      string `db:"type"`
		ActorKind string `db:"actor_kind"`
		Door      string `db:"door"`
		Request   string `db:"request_id"`
	}
	var rows []row
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[row](ctx, tx, `
			SELECT type, actor_kind, door, request_id
			FROM events
			WHERE organization_id = $1
			ORDER BY seq`, a.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		for _, p := range prefixes {
			if !strings.HasPrefix(r.Type, p) {
				continue
			}
			if r.ActorKind == "" || r.Door == "" || len(r.Request) != 36 {
				t.Errorf("an event without its origin: %+v", r)
			}
			if !a.Catalog.HasEventType(r.Type) {
				t.Errorf("%s is not in the list of events", r.Type)
			}
			out = append(out, r.Type)
			break
		}
	}
	return strings.Join(out, " ")
}

// RunAtOnce runs fn n times at the same moment and waits for all.
func RunAtOnce(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; fn(i) })
	}
	close(start)
	wg.Wait()
}

// Code is the code of a refusal.
func (r Result) Code() string {
	var body struct{ Error struct{ Code string } }
	if json.Unmarshal(r.Body, &body) != nil {
		return ""
	}
	return body.Error.Code
}

// Issues insists on a 400 with one issue or more at a field of the input.
func (r Result) Issues(t testing.TB, field string) {
	t.Helper()
	e := r.Refused(t, 400, "VALIDATION_ERROR")
	at := e.At("details")
	for _, step := range strings.Split(field, ".") {
		if step == "" {
			continue
		}
		if i := at.At("items." + step); !i.Null() {
			at = i
		} else {
			at = at.At("properties." + step)
		}
	}
	if at.At("errors").Len() == 0 {
		t.Errorf("no issue at %q: %s", field, e)
	}
}

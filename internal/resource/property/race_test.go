package property_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// tally counts answers: "200", or a refusal's code.
type tally struct {
	sync.Mutex
	n map[string]int
}

func (c *tally) add(t testing.TB, r apptest.Result, allowed ...string) {
	t.Helper()
	answer := fmt.Sprint(r.Status)
	for _, code := range allowed {
		if r.Status >= 400 && code == r.Code() {
			answer = code
		}
	}
	if r.Status >= 400 && answer == fmt.Sprint(r.Status) {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	c.Lock()
	defer c.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[answer]++
}

const conflict = "PROPERTY_VALUE_CONFLICT"

// Of 32 who replace a value at once, one succeeds; the others are told that
// they were too late, or that the value is gone.
func TestReplaceRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		h := newHolder(t, a, a.Door("rest", a.Tenant), "customers")
		text := h.define("text", "text")
		var all tally
		for range 10 {
			v := h.add(text, `"old"`).OK(t, 201).Text("id")
			var c tally
			apptest.RunAtOnce(32, func(i int) {
				r := h.patch(v, fmt.Sprintf(`"value": "new %d"`, i))
				c.add(t, r, conflict, "NOT_FOUND")
				all.add(t, r, conflict, "NOT_FOUND")
			})
			if c.n["200"] != 1 || h.live("confirmed").Len() != 1 || h.do("list").OK(t, 200).Len() != 1 {
				t.Fatalf("%v; left %s", c.n, h.do("list").Body)
			}
		}
		t.Log(all.n)
	})
}

// Of 32 who confirm one suggestion at once, one succeeds.
func TestConfirmRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		h := newHolder(t, a, a.Door("rest", a.Tenant), "contacts")
		text := h.define("text", "text")
		var all tally
		for range 10 {
			v := h.in(text, "suggested", `"x"`).Text("id")
			var c tally
			apptest.RunAtOnce(32, func(int) {
				r := h.patch(v, `"status": "confirmed"`)
				c.add(t, r, conflict, transition)
				all.add(t, r, conflict, transition)
			})
			if live := h.live("confirmed"); c.n["200"] != 1 || live.Len() != 1 || live.Text("0.id") != v {
				t.Fatalf("%v; confirmed %s", c.n, live)
			}
		}
		t.Log(all.n)
	})
}

// Everything at once on one property: creations, confirmations, replacements,
// dismissals and deletions. At most one value is ever confirmed.
func TestWritersOfOneProperty(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		h := newHolder(t, a, a.Door("action", a.Tenant), "businesses")
		text := h.define("text", "text")
		var c tally
		for range 10 {
			v := h.add(text, `"old"`).OK(t, 201).Text("id")
			var suggestions [16]string
			for i := range suggestions {
				suggestions[i] = h.in(text, "suggested", `"s"`).Text("id")
			}
			apptest.RunAtOnce(32, func(i int) {
				switch {
				case i < 16:
					c.add(t, h.patch(suggestions[i], `"status": "confirmed"`), conflict)
				case i < 24:
					c.add(t, h.patch(v, `"value": "new"`), conflict, "NOT_FOUND")
				case i < 26:
					c.add(t, h.patch(v, `"status": "dismissed"`), conflict, "NOT_FOUND", transition)
				case i < 28:
					c.add(t, h.do("delete", fmt.Sprintf(`"propertyId": %q`, v)), "NOT_FOUND")
				default:
					c.add(t, h.add(text, `"made"`)) // a creation waits its turn and then replaces
				}
			})
			if n := h.live("confirmed").Len(); n > 1 {
				t.Fatalf("%d confirmed values", n)
			}
		}
		t.Log(c.n)
	})
}

// waiting counts the writes that are past Prepare and blocked: on SQLite they
// queue for the writer, on PostgreSQL they wait for a row.
func waiting(t testing.TB, a *apptest.App) (n int) {
	t.Helper()
	if a.DB.Engine() == db.SQLite {
		return a.DB.ReadGauges().QueueLength
	}
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, `
			SELECT count(*)
			FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Everyone who read the property before another's commit loses to it: the root
// is held until all of them wait.
func TestConflict(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		h := newHolder(t, a, a.Door("rest", a.Tenant), "customers")
		text := h.define("text", "text")
		for name, move := range map[string]struct{ status, fields string }{
			"replace": {"confirmed", `"value": "new"`}, "confirm": {"suggested", `"status": "confirmed"`},
			"dismiss": {"confirmed", `"status": "dismissed"`}, "restore": {"dismissed", `"status": "suggested"`},
		} {
			const rivals = 8
			v := h.in(text, move.status, `"old"`).Text("id")
			var c tally
			held, release := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
					_, err := db.Exec(ctx, tx, `
						UPDATE customers
						SET updated_at = updated_at
						WHERE organization_id = $1 AND id = $2`,
						a.Org, h.id)
					close(held)
					<-release
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
			<-held
			for range rivals {
				wg.Go(func() { c.add(t, h.patch(v, move.fields), conflict) })
			}
			for deadline := time.Now().Add(time.Minute); waiting(t, a) < rivals; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("they do not wait")
				}
			}
			close(release)
			wg.Wait()
			if c.n["200"] != 1 || c.n[conflict] != rivals-1 {
				t.Errorf("%s: %v", name, c.n)
			}
		}
	})
}

// Creating or deleting another value of the same property is a change too.
func TestConflictWithCreationAndDeletion(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		h := newHolder(t, a, a.Door("action", a.Tenant), "customers")
		text, beside := h.define("text", "text"), h.define("beside", "text")
		version := func() (n int64) {
			err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = db.QueryOne[int64](ctx, tx, `
					SELECT coalesce(max(version), 0)
					FROM property_values
					WHERE organization_id = $1 AND definition_id = $2`, a.Org, text)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		v := h.add(text, `"one"`).OK(t, 201).Text("id")
		s := h.in(text, "suggested", `"two"`).Text("id")
		before := version()
		h.add(beside, `"x"`).OK(t, 201)
		if version() != before {
			t.Error("another property's write counts")
		}
		for i, write := range []func(){
			func() { h.do("delete", fmt.Sprintf(`"propertyId": %q`, s)).OK(t, 204) },
			func() { h.add(text, `"three"`, `"status": "suggested"`).OK(t, 201) },
			func() { v = h.patch(v, `"value": "four"`).OK(t, 200).Text("id") },
			func() { h.patch(v, `"status": "dismissed"`).OK(t, 200) },
			func() { h.patch(v, `"status": "confirmed"`).Refused(t, 409, transition) },
		} {
			was := version()
			write()
			if grew := version() - was; grew != 1 && i < 4 || i == 4 && grew != 0 {
				t.Errorf("write %d: the version grew by %d", i, grew)
			}
		}
	})
}

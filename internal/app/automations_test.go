package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// A chain of writes with and without an idempotency key of their own kind:
// the automation door gives one to each.
const story = `{"name": "x", "trigger": {"kind": "event", "event": "contact.created"}, "steps": [
	{"operation": "tasks.create", "input": {"title": "{{ event.data.lastName }}",
		"contactId": "{{ event.resourceId }}"}, "saveAs": "task"},
	{"operation": "tasks.activity.create", "input": {"id": "{{ task.id }}", "body": "noted"}},
	{"operation": "tasks.update", "input": {"id": "{{ task.id }}", "status": "in_progress"}},
	{"operation": "email_opt_ins.create", "input": {"email": "{{ event.data.lastName }}@example.com",
		"contactId": "{{ event.resourceId }}"}, "saveAs": "optIn"},
	{"operation": "messages.create", "input": {"to": "{{ event.data.lastName }}@example.com",
		"subject": "Welcome, {{ event.data.lastName }}", "text": "Task {{ task.id }}"}},
	{"operation": "email_opt_ins.delete", "input": {"id": "{{ optIn.id }}"}}]}`

// sender posts to servers of other processes.
type sender struct {
	t   *testing.T
	key string
}

// post makes one request, and tells whether it was answered 201.
func (s sender) post(url, path, body, key string) bool { return s.made(url, path, body, key) != "" }

// made is the id of what a request made; empty when it was not answered 201.
func (s sender) made(url, path, body, key string) string {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return ""
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode == http.StatusBadRequest {
		s.t.Errorf("%s", text)
	}
	var answer struct{ Data struct{ ID string } }
	if err != nil || res.StatusCode != http.StatusCreated || json.Unmarshal(text, &answer) != nil {
		return ""
	}
	return answer.Data.ID
}

// figures reads one number per statement; each names the organization as $1.
func figures(t *testing.T, a *app.App, v apptest.Tenant, statements ...string) []int {
	t.Helper()
	out := make([]int, len(statements))
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		for i, text := range statements {
			if out[i], err = db.QueryOne[int](ctx, tx, text, v.Org); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// quietly waits until every execution has ended, and counts what they did.
func quietly(t *testing.T, a *app.App, v apptest.Tenant, want int) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		left := figures(t, a, v, `
			SELECT count(*)
			FROM automation_executions
			WHERE organization_id = $1 AND status IN ('queued', 'running')`,
			`
				SELECT count(*)
				FROM jobs
				WHERE organization_id = $1 AND kind IN ('event.fan_out', 'automation.execute', 'message.deliver')
					AND state IN ('ready', 'running')`,
			"SELECT count(*) FROM automation_executions WHERE organization_id = $1")
		if left[0] == 0 && left[1] == 0 && left[2] >= want {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("executions and jobs that are left, and executions of %d: %v", want, left)
		}
	}
	names := []string{"executions that succeeded", "tasks", "events of new tasks", "comments", "moves of tasks",
		"events of changed tasks", "opt-ins", "messages", "mails that left", "events of opt-ins that ended"}
	for i, n := range figures(t, a, v, `
		SELECT count(*)
		FROM automation_executions
		WHERE organization_id = $1 AND status = 'succeeded'`,
		"SELECT count(*) FROM tasks WHERE organization_id = $1",
		"SELECT count(*) FROM events WHERE organization_id = $1 AND type = 'task.created'",
		"SELECT count(*) FROM task_activity WHERE organization_id = $1 AND kind = 'comment'",
		"SELECT count(*) FROM task_activity WHERE organization_id = $1 AND kind = 'status_changed'",
		"SELECT count(*) FROM events WHERE organization_id = $1 AND type = 'task.updated'",
		"SELECT count(*) FROM email_opt_ins WHERE organization_id = $1",
		"SELECT count(*) FROM messages WHERE organization_id = $1 AND status = 'sent'",
		"SELECT count(*) FROM mailbox_mails WHERE organization_id = $1",
		"SELECT count(*) FROM events WHERE organization_id = $1 AND type = 'email_opt_in.deleted'") {
		if n != want {
			t.Errorf("%s: %d, want %d", names[i], n, want)
		}
	}
}

// Killed between any two steps, automations lose nothing and do nothing twice;
// an endpoint hears of every task, and knows what it hears again by its id.
func TestAutomationsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		s.start()
		c := sender{t, v.Key}
		if !c.post(s.url, "/v1/automations", story, "automation") {
			t.Fatal("no automation")
		}
		endpoint := newTold(t)
		if !c.post(s.url, "/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["task.created"]}`, endpoint.URL),
			"webhook") {
			t.Fatal("no webhook")
		}
		made := 0
		burst := func(n int) {
			for range n {
				name := fmt.Sprintf("n%04d", made)
				for !c.post(s.url, "/v1/contacts", fmt.Sprintf(`{"lastName": %q}`, name), name) {
					time.Sleep(20 * time.Millisecond)
				}
				made++
			}
		}
		kills := max(crashes(t)-1, 1)
		for range kills {
			burst(15)
			time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond) // somewhere between two steps
			s.kill()
			s.start()
		}
		burst(5)
		if e == db.Postgres { // the leases of dead workers have to run out: bring the moment nearer
			expireLeases(t, s)
		}
		quietly(t, watcher(t, s, e), v, made)
		for deadline := time.Now().Add(3 * time.Minute); endpoint.heard() < made; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the endpoint heard of %d tasks of %d", endpoint.heard(), made)
			}
		}
		if n := endpoint.heard(); n != made {
			t.Errorf("the endpoint heard of %d tasks, and there are %d", n, made)
		}
		t.Logf("%d kills, %d contacts, six steps each, %d webhooks", kills, made, endpoint.heard())
	})
}

// watcher opens the database beside the server, or in its place.
func watcher(t *testing.T, s *server, e db.Engine) *app.App {
	t.Helper()
	if e == db.SQLite {
		s.kill() // one process owns the file
	}
	a, err := app.Open(t.Context(), s.settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	if e == db.SQLite {
		if err := a.Jobs.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Jobs.Stop(context.Background()) }) //nolint:errcheck // the test has ended
	}
	return a
}

// Two processes over one PostgreSQL share the work: no event is skipped, and
// none is run twice.
func TestAutomationsOfTwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("processes are not for the race detector")
	}
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		if e != db.Postgres {
			t.Skip("one process owns a SQLite file")
		}
		first, v := prepare(t, e)
		first.start()
		second := &server{t: t, settings: first.settings}
		second.settings.Listen = listentest.FreeAddress(t)
		second.url = "http://" + second.settings.Listen
		second.start()
		c := sender{t, v.Key}
		if !c.post(first.url, "/v1/automations", story, "automation") {
			t.Fatal("no automation")
		}
		const n = 60
		apptest.RunAtOnce(4, func(part int) {
			for i := range n / 4 {
				url := []string{first.url, second.url}[i%2]
				if name := fmt.Sprintf("n%d-%d", part, i); !c.post(url, "/v1/contacts",
					fmt.Sprintf(`{"lastName": %q}`, name),
					name) {
					t.Errorf("%s was not made", name)
				}
			}
		})
		quietly(t, watcher(t, first, e), v, n)
	})
}

// Executions that have ended are kept as long as their own setting says, and
// outlive a deleted automation.
func TestExecutionsExpire(t *testing.T) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.Retention.Executions, s.Retention.Deleted = 24*time.Hour, 24*time.Hour
		a := apptest.StartWith(t, s)
		v := a.SendREST(t, a.Key, "POST", "/v1/automations",
			`{"name": "x", "trigger": {"kind": "manual"}, "steps": [{"operation": "tasks.list"}]}`).OK(t,
			201).Text("id")
		for range 3 {
			a.SendREST(t, a.Key, "POST", "/v1/automations/"+v+"/run", `{}`).OK(t, 200)
		}
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			old := a.Clock.Now().Add(-25 * time.Hour)
			_, err := db.Exec(ctx, tx, `
				UPDATE automation_executions
				SET created_at = $2, status = CASE WHEN seq % 2 = 0 THEN 'queued' ELSE 'succeeded' END
				WHERE organization_id = $1 AND seq < (SELECT max(seq) FROM automation_executions)`, a.Org, old)
			if err != nil {
				return err
			}
			if _, err = db.Exec(ctx, tx, "DELETE FROM jobs WHERE kind = 'automation.execute'"); err != nil {
				return err
			}
			_, err = db.Exec(ctx, tx, "UPDATE automations SET deleted_at = $2 WHERE organization_id = $1", a.Org, old)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Jobs.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test has ended
		err = a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			for _, kind := range []string{"automations.expire", "deleted.purge"} {
				if _, err := a.Jobs.Enqueue(ctx, tx, kind, struct{}{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var left []int
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			left = figures(t, a.App, a.Tenant, "SELECT count(*) FROM automation_executions WHERE organization_id = $1",
				"SELECT count(*) FROM automations WHERE organization_id = $1")
			if left[0] == 2 && left[1] == 0 {
				break
			}
		}
		if left[0] != 2 || left[1] != 0 { // the new execution, and the old one that has not ended
			t.Errorf("%d executions and %d automations are left", left[0], left[1])
		}
	})
}

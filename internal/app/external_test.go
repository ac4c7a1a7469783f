package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/message/messagetest"
)

// toolCaller is an agent that may do everything, and a client of it.
type toolCaller struct {
	a      *apptest.App
	agent  id.ID
	access string
}

func connectAgent(t *testing.T, a *apptest.App, settings string) *toolCaller {
	t.Helper()
	agent := a.NewAgent(t, a.Tenant, "all")
	if settings != "" {
		a.AsOperator(t, "agents.configure", "agent", agent, fmt.Sprintf(`{"id": %q, %s}`, agent, settings))
	}
	_, access, _ := a.ConnectAgent(t, a.Tenant, agent)
	return &toolCaller{a, agent, access}
}

// call calls a tool, and tells whether the answer has the mark of strangers' words.
func (c *toolCaller) call(t *testing.T, tool, arguments string) (answer apptest.Value, marked bool) {
	t.Helper()
	r := c.a.SendRPC(t, c.access,
		fmt.Sprintf(`{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": %q,
		"arguments": %s}}`, tool, arguments)).ParseJSON(t).At("result")
	by := r.At("_meta.annotations.attribution.0")
	return r.At("structuredContent"), !by.Null()
}

// forget ends the agent's guard.
func (c *toolCaller) forget(t *testing.T) {
	t.Helper()
	err := c.a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `UPDATE agents SET outside_read_at = NULL, guard_thread_id = NULL,
			guard_contact_id = NULL, guard_others = FALSE WHERE organization_id = $1 AND id = $2`, c.a.Org, c.agent)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// guarded reports whether the agent's guard is on.
func (c *toolCaller) guarded(t *testing.T) (on bool) {
	t.Helper()
	err := c.a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		on, err = db.QueryOne[bool](ctx, tx, `SELECT outside_read_at IS NOT NULL FROM agents
			WHERE organization_id = $1 AND id = $2`, c.a.Org, c.agent)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// markAll says of every row of an organization that a stranger wrote it, as an
// automation does that writes rows from a mail.
func markAll(t *testing.T, a *apptest.App, external bool) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for _, table := range append(db.DeclaredTables(), "events") {
			l := db.LifeOfTable(table)
			if l.ExternalText == nil && table != "events" || strings.HasPrefix(table, "probe_") {
				continue
			}
			if _, err := db.Exec(ctx, tx, "UPDATE "+table+" SET external = $2 WHERE organization_id = $1", a.Org,
				external); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reads are the inputs with which an agent reads what build made, by operation.
func reads(t *testing.T, a *apptest.App, f fixtures, o *op.Op) (string, bool) {
	t.Helper()
	input := map[string]any{}
	segments, fields := strings.Split(o.Path, "/"), o.PathFields()
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			v, ok := f[strings.Join(segments[:i], "/")]
			if !ok {
				return "", false
			}
			input[fields[0]], fields = v, fields[1:]
		}
	}
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), true
}

// Every operation that an agent can call: an answer with a row that strangers wrote
// carries the mark, through both lists of tools and when it is repeated, and starts the
// guard. The test is made from the list of operations, so that a new one cannot be
// forgotten.
func TestAttackEveryAnswerCarriesTheMark(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		f := build(t, a, a.Tenant)
		c, compact := connectAgent(t, a, ""), connectAgent(t, a, `"toolList": "compact"`)
		a.SendREST(t, a.Key, "PATCH", "/v1/businesses/"+string(f["/v1/businesses"])+"/profile",
			`{"tagline": "x"}`).OK(t, 200)
		markAll(t, a, true)
		tried := 0
		for _, o := range a.Catalog.All() {
			if o.Doors&op.AgentDoor == 0 || o.Action != op.ActionRead || o.Method != "GET" {
				continue
			}
			input, ok := reads(t, a, f, o)
			if !ok {
				continue
			}
			tool := strings.ReplaceAll(o.Name, ".", "_")
			c.forget(t)
			v, marked := c.call(t, tool, input)
			data := v.At("data")
			if v.Has("error") || data.Null() || o.AnswersList() && data.Len() == 0 || !o.AnswersRows() {
				continue
			}
			tried++
			if !marked || !c.guarded(t) {
				t.Errorf("%s: the answer has no mark (%v) or starts no guard: %.200s", o.Name, marked, v)
			}
			compact.forget(t)
			if _, marked = compact.call(t, "tools_write", fmt.Sprintf(`{"name": %q, "arguments": %s}`, tool,
				input)); !marked || !compact.guarded(t) {
				t.Errorf("%s: the compact list shows it without a mark", o.Name)
			}
		}
		if tried < 45 {
			t.Errorf("only %d operations answered with a row", tried)
		}
		t.Logf("%d operations answered with a row", tried)
		// And nothing is marked that nobody outside wrote.
		markAll(t, a, false)
		c.forget(t)
		for _, o := range a.Catalog.All() {
			if o.Doors&op.AgentDoor == 0 || o.Action != op.ActionRead || o.Method != "GET" {
				continue
			}
			if input, ok := reads(t, a, f, o); ok {
				if v, marked := c.call(t, strings.ReplaceAll(o.Name, ".", "_"), input); marked {
					t.Errorf("%s: nobody outside wrote this: %.200s", o.Name, v)
				}
			}
		}
		// An answer that is kept under a key has the mark when it is repeated.
		markAll(t, a, true)
		c.forget(t)
		create := fmt.Sprintf(`{"id": %q, "body": "Noted", "idempotencyKey": "once"}`, f["/v1/contacts"])
		c.call(t, "contacts_notes_create", create)
		task := fmt.Sprintf(`{"id": %q, "idempotencyKey": "restored"}`, f["/v1/tasks"])
		a.SendREST(t, a.Key, "DELETE", "/v1/tasks/"+string(f["/v1/tasks"]), "").OK(t, 204)
		if _, marked := c.call(t, "tasks_restore", task); !marked {
			t.Error("a restored row lost its mark")
		}
		c.forget(t)
		if _, marked := c.call(t, "tasks_restore", task); !marked || !c.guarded(t) {
			t.Error("a repeated answer has no mark")
		}
	})
}

// What strangers can write is found by having them write it: a mail with a word
// everywhere, an endpoint and a mail server that answer with it, and automations that
// hand it on. Wherever the word is stored, the table declares the column, and the row
// has the mark.
func TestAttackStrangersColumnsAreDeclared(t *testing.T) {
	const word = "xanadu"
	r := messagetest.NewRelay(t, nil)
	s := apptest.Settings(t, db.SQLite)
	s.Mail.Provider, s.SMTP.Host, s.SMTP.Port, s.SMTP.TLS = "smtp", r.Host, r.Port, "none"
	a := apptest.StartWith(t, s)
	r.Answer = func(step, what string) error {
		if step == "RCPT" && strings.Contains(what, "refused") {
			return messagetest.RefusalError(550, "Go away, "+word)
		}
		return nil
	}
	if err := a.Jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "You are "+word)
	}))
	defer endpoint.Close()
	hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks", fmt.Sprintf(`{"url": %q, "events": ["contact.created"]}`,
		endpoint.URL)).OK(t, 201).ID("id")
	a.SendREST(t, a.Key, "POST", "/v1/automations", `{"name": "File it", "trigger": {"kind": "event", "event":
		"message.received"}, "steps": [
		{"operation": "contacts.create", "input": {"lastName": "{{ event.data.subject }}"}, "saveAs": "c"},
		{"operation": "contacts.notes.create", "input": {"id": "{{ c.id }}", "body": "{{ event.data.text }}"}},
		{"operation": "tasks.create", "input": {"title": "{{ event.data.subject }}"}, "saveAs": "t"},
		{"operation": "tasks.activity.create", "input": {"id": "{{ t.id }}", "body": "{{ event.data.text }}"}}]}`).
		OK(t, 201)
	a.DeliverMail(t, word+" <eve@"+word+".example>", "About "+word, "Content-Type: multipart/mixed; boundary=b\r\n\r\n"+
		"--b\r\nContent-Type: text/html\r\n\r\n<p>"+word+"</p>\r\n--b\r\nContent-Type: text/plain; name="+word+
		".txt\r\nContent-Disposition: attachment; filename="+word+".txt\r\n\r\n"+word+"\r\n--b--\r\n")
	a.SendREST(t, a.Key, "POST", "/v1/webhooks/"+string(hook)+"/test", "{}").OK(t, 200)
	a.SendREST(t, a.Key, "POST", "/v1/messages", `{"to": "refused@example.com", "subject": "x", "text": "x"}`).OK(t,
		201)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		done := a.SendREST(t, a.Key, "GET", "/v1/automation-executions?status=succeeded", "").OK(t, 200).Len() > 0 &&
			a.SendREST(t, a.Key, "GET", "/v1/messages?status=bounced", "").OK(t, 200).Len() > 0 &&
			a.SendREST(t, a.Key, "GET", "/v1/webhooks/"+string(hook)+"/deliveries?status=succeeded&limit=100", "").
				OK(t, 200).Len() > 1
		if done {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", a.SendREST(t, a.Key, "GET", "/v1/automation-executions", "").Body)
		}
	}
	found := map[string]bool{}
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		for _, table := range append(db.DeclaredTables(), "events") {
			life := db.LifeOfTable(table)
			if life.ExternalText == nil && table != "events" || strings.HasPrefix(table, "probe_") {
				continue
			}
			columns, err := db.QueryAll[string](ctx, tx, "SELECT name FROM pragma_table_info($1) WHERE type = 'TEXT'",
				table)
			if err != nil {
				return err
			}
			for _, column := range columns {
				rows, err := db.QueryAll[bool](ctx, tx,
					"SELECT external FROM "+table+" WHERE organization_id = $1 AND "+
						column+" LIKE '%"+word+"%'", a.Org)
				if err != nil {
					return err
				}
				if len(rows) > 0 {
					found[table+"."+column] = true
				}
				if slices.Contains(rows, false) {
					t.Errorf("%s.%s holds what a stranger wrote, in a row without the mark", table, column)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// What the strangers wrote themselves is declared; the rest was written by an
	// automation, which hands the mark on.
	for _, place := range []string{"messages.from_address", "messages.subject", "messages.html_body",
		"messages.text_body", "messages.error_message", "message_attachments.file_name", "files.name",
		"threads.subject",
		"webhook_deliveries.response_body"} {
		table, column, _ := strings.Cut(place, ".")
		l := db.LifeOfTable(table)
		if !found[place] {
			t.Errorf("%s: the story does not reach it", place)
		}
		if !slices.Contains(l.ExternalText, column) && !slices.Contains(l.ExternalOnly, column) {
			t.Errorf("%s is not declared", place)
		}
		delete(found, place)
	}
	for _, place := range []string{"contacts.last_name", "contact_notes.body", "tasks.title", "task_activity.body",
		"automation_executions.steps", "events.data"} {
		if !found[place] {
			t.Errorf("%s: the story does not reach it", place)
		}
	}
	t.Logf("handed on to %d further columns", len(found))
}

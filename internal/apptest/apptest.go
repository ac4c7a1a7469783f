// Package apptest starts the real service on a fresh database and speaks to it
// through each door. Nothing is replaced: the same operations, the same
// migrations, real SQLite and real PostgreSQL. Only tests import it.
//
// Start reading at EachDoor in this file, which runs a test once per engine and
// door. It makes an App, the running service, with a Tenant, and a Door, a
// function that calls an operation. What a call returns is a Result, on which a
// test insists with OK, Refused or Issues, and whose JSON is a Value (result.go,
// story.go). Every REST answer is also compared with the OpenAPI document
// (document.go). agent.go is a client of OAuth and MCP, authenticator.go a
// passkey, provider.go an identity provider, mail.go delivers mail, and form.go
// uploads files. Package probe below is a resource that only tests have.
package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/door/action"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
	"frontdesk/migrations"
)

// App is a running service with one organization that may do everything.
type App struct {
	*app.App
	URL      string
	AgentURL string // of the agent connection
	Logs     *Logs
	Tenant
}

// Tenant is an organization with a business, an owner and an API key.
type Tenant struct {
	Org, Business id.ID
	Owner         string
	OwnerID       id.ID
	Key           string
	KeyID         id.ID
}

// EachEngine runs fn once per engine, on a service of its own.
func EachEngine(t *testing.T, fn func(t *testing.T, a *App), extra ...app.Extra) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) { fn(t, Start(t, e, extra...)) })
}

// EachEngineParallel is EachEngine with both engines at the same time: see
// dbtest.EachEngineParallel.
func EachEngineParallel(t *testing.T, fn func(t *testing.T, a *App), extra ...app.Extra) {
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) { fn(t, Start(t, e, extra...)) })
}

// EachDoor runs fn once per engine and door, on one service per engine and with an
// organization per door.
func EachDoor(t *testing.T, fn func(t *testing.T, a *App, call Door), extra ...app.Extra) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := Start(t, e, extra...)
		runEachDoor(t, func(t *testing.T, door string) {
			own := *a
			own.Tenant = a.NewTenant(t, "enterprise")
			fn(t, &own, own.Door(door, own.Tenant))
		})
	})
}

// EachDoorAlone is EachDoor with a service per door, for what must be unique in a
// service, such as a user's address or a domain.
func EachDoorAlone(t *testing.T, fn func(t *testing.T, a *App, call Door), extra ...app.Extra) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		runEachDoor(t, func(t *testing.T, door string) {
			a := Start(t, e, extra...)
			fn(t, a, a.Door(door, a.Tenant))
		})
	})
}

func runEachDoor(t *testing.T, fn func(t *testing.T, door string)) {
	for _, door := range []string{"rest", "action", "agent"} {
		t.Run(door, func(t *testing.T) { fn(t, door) })
	}
}

// noExpiry is longer than any test's clock runs.
const noExpiry = 1e6 * time.Hour

// Tests start many services, each with an owner who has a password. Hashing it at
// the real cost would take most of their time.
func init() { secret.PasswordCost = secret.HashCost{Memory: 64, Passes: 1, Lanes: 1} }

// Settings are those of a test's service, before it starts.
func Settings(t testing.TB, e db.Engine, extra ...app.Extra) config.Settings {
	t.Helper()
	s := config.Settings{Listen: "127.0.0.1:0", MCPListen: "127.0.0.1:0",
		AgentLimit: config.AgentLimit{Free: 10, Starter: 30, Professional: 100, Enterprise: 60_000_000,
			Transport: 60_000_000},
		AutomationLimit: config.AutomationLimit{Free: 30, Starter: 120, Professional: 600, Enterprise: 60_000_000},
		OAuth:           config.OAuth{RegisterLimit: 10_000, TokenLimit: 10_000, RefreshRequiresResource: true},
		RateLimit: config.RateLimit{Free: 60, Starter: 300, Professional: 1000, Enterprise: 60_000_000,
			Public: 60_000_000},
		StorageLimit: config.StorageLimit{Free: 1 << 30, Starter: 1 << 40, Professional: 1 << 40, Enterprise: 1 << 40},
		Files:        config.Files{MaxBytes: 8 << 20},
		Mail:         config.Mail{Domain: "frontdesk.example", Provider: "mailbox"},
		MailServer: config.MailServer{Listen: "127.0.0.1:0", MaxBytes: 4 << 20, Limit: 60_000_000, LimitBytes: 1 << 40,
			Connections: 400},
		Agreement: config.Agreement{Business: "1", Domain: "1"}, Workers: 4, AllowInsecureWebhooks: true,
		// Nothing but idempotency keys ends by its age, however far a test turns the clock.
		Retention: config.Retention{Idempotency: 24 * time.Hour, Jobs: noExpiry, Deliveries: noExpiry,
			Deleted: noExpiry, Events: noExpiry, Executions: noExpiry}}
	folders := dbtest.Folders(migrations.FS)
	for _, x := range extra {
		folders = append(folders, x.Migrations...)
	}
	o := dbtest.CreateOptions(t, e, folders...)
	s.DatabaseURL = o.URL
	s.Data = filepath.Join(t.TempDir(), "data")
	if err := s.FillAndValidate(false); err != nil {
		t.Fatal(err)
	}
	if e == db.SQLite {
		dbtest.WriteMigrated(t, s.DatabasePath(), folders...)
	}
	return s
}

// patientHold is how long a rehearsal may hold the writer in a test: a machine that is busy
// with other tests needs longer than others would like to wait. A test of the limit itself sets
// it back (app.Extra.DB).
const patientHold = 20 * time.Second

// Start runs a service until the test ends.
func Start(t testing.TB, e db.Engine, extra ...app.Extra) *App {
	t.Helper()
	return StartWith(t, Settings(t, e, extra...), extra...)
}

// StartWith runs a service with settings of the test's own.
func StartWith(t testing.TB, s config.Settings, extra ...app.Extra) *App {
	t.Helper()
	logs := &Logs{t: t}
	// The address of the OAuth issuer is a setting, so it must be known before the start.
	agents := httptest.NewUnstartedServer(nil)
	if s.MCPURL == "http://127.0.0.1:0" {
		s.MCPURL = "http://" + agents.Listener.Addr().String()
	}
	extra = slices.Insert(extra, 0, app.Extra{DB: func(o *db.Options) { o.MaxHold = patientHold }})
	inner, err := app.Open(context.Background(), s,
		slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})), extra...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(inner.Handler())
	agents.Config.Handler = inner.AgentHandler()
	agents.Start()
	a := &App{App: inner, URL: server.URL, AgentURL: agents.URL, Logs: logs}
	t.Cleanup(func() {
		server.Close()
		agents.Close()
		soon, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		inner.Jobs.Stop(soon) //nolint:errcheck // the test is over
		if err := inner.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	a.Tenant = a.NewTenant(t, "enterprise")
	return a
}

// NewTenant makes another organization.
func (a *App) NewTenant(t testing.TB, plan string) Tenant {
	t.Helper()
	org := a.AsOperator(t, "organizations.create", "", "", fmt.Sprintf(`{"name": "Test", "plan": %q}`, plan))
	v := Tenant{Org: org.ID("id"), Business: org.ID("businessId"), Owner: "owner-" + string(id.New()) + "@example.com"}
	v.OwnerID = a.AsOperator(t, "users.create", "organization", v.Org,
		fmt.Sprintf(`{"email": %q, "name": "Owner", "role": "owner", "password": "a long password"}`, v.Owner)).ID("id")
	a.AsOperator(t, "agreements.accept", "business", v.Business,
		fmt.Sprintf(`{"businessId": %q, "kind": "business", "by": %q}`, v.Business, v.Owner))
	v.Key, v.KeyID = a.NewKey(t, v, "*")
	return v
}

// NewKey makes an API key.
func (a *App) NewKey(t testing.TB, v Tenant, permissions ...string) (string, id.ID) {
	t.Helper()
	list, _ := json.Marshal(permissions)
	k := a.AsOperator(t, "api_keys.create", "business", v.Business,
		fmt.Sprintf(`{"businessId": %q, "name": "Test", "permissions": %s}`, v.Business, list))
	return k.Text("key"), k.ID("id")
}

// AsOperator runs an operation through the admin door, as the operator, and returns
// its data.
func (a *App) AsOperator(t testing.TB, operation, noun string, ref id.ID, input string) Value {
	t.Helper()
	data, err := a.Admin.Do(context.Background(),
		admin.Request{Operation: operation, Noun: noun, Ref: string(ref), Input: json.RawMessage(input)})
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	return parseJSON(t, data)
}

// keyField is the field of a Door's input that has the idempotency key, as agents
// send it. The other doors take it out.
const keyField = "idempotencyKey"

// Door calls an operation with its whole input as one JSON object, the
// idempotency key among it.
type Door func(t testing.TB, operation, input string) Result

// Result is what came of a call: the REST status and body, whatever the door.
type Result struct {
	Status int
	Body   []byte
	Header http.Header
}

// Door opens a door for a tenant.
func (a *App) Door(name string, v Tenant) Door {
	switch name {
	case "rest":
		return a.viaREST(v)
	case "agent":
		return a.viaAgent(v)
	}
	return a.viaAction(v)
}

// viaREST distributes the input over path, query and body, as the operation's
// route wants it.
func (a *App) viaREST(v Tenant) Door {
	return func(t testing.TB, operation, input string) Result {
		t.Helper()
		o := a.Catalog.Named(operation)
		if o == nil {
			t.Fatalf("there is no operation %s", operation)
		}
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(input), &fields); err != nil {
			t.Fatalf("%s: %v", input, err)
		}
		plain := func(raw json.RawMessage) string {
			var s string
			if json.Unmarshal(raw, &s) == nil {
				return s
			}
			var list []string
			if json.Unmarshal(raw, &list) == nil {
				return strings.Join(list, ",")
			}
			return string(raw)
		}
		var headers []string
		if raw, ok := fields[keyField]; ok {
			headers = []string{"Idempotency-Key", plain(raw)}
			delete(fields, keyField)
		}
		path, params := o.Path, url.Values{}
		for _, f := range o.PathFields() {
			path = strings.ReplaceAll(path, "{"+f+"}", url.PathEscape(plain(fields[f])))
			delete(fields, f)
		}
		for _, f := range o.QueryFields() {
			if raw, ok := fields[f]; ok {
				params.Set(f, plain(raw))
				delete(fields, f)
			}
		}
		if len(params) > 0 {
			path += "?" + params.Encode()
		}
		body := ""
		if o.Method != http.MethodGet && o.Method != http.MethodDelete {
			b, _ := json.Marshal(fields)
			body = string(b)
		}
		return a.SendREST(t, v.Key, o.Method, path, body, headers...)
	}
}

// viaAction calls operations as an automation with all permissions.
func (a *App) viaAction(v Tenant) Door {
	door := action.New(a.Runner, a.Catalog, op.AutomationDoor)
	return func(t testing.TB, operation, input string) Result {
		t.Helper()
		caller := &op.Caller{Kind: op.AutomationActor, ID: id.New(), Organization: v.Org, Business: v.Business,
			Plan: "enterprise", Permissions: op.Everything(), MaySpend: true}
		var with struct{ IdempotencyKey string }
		fields := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(input), &with) == nil && with.IdempotencyKey != "" &&
			json.Unmarshal([]byte(input), &fields) == nil {
			delete(fields, keyField)
			rest, _ := json.Marshal(fields)
			input = string(rest)
		}
		answer, err := door.Do(context.Background(),
			action.Call{Caller: caller, Operation: operation, Input: []byte(input), Key: with.IdempotencyKey,
				RequestID: string(id.New())})
		return ResultOf(t, answer, err)
	}
}

// client keeps as many idle connections as tests of races have callers, and
// follows no redirects.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// SendREST makes one REST request; headers are pairs of name and value.
func (a *App) SendREST(t testing.TB, key, method, path, body string, headers ...string) Result {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, a.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	checkConforms(t, req, res, text)
	return Result{res.StatusCode, text, res.Header}
}

// Logs keeps what the service logged, and shows it when the test fails.
type Logs struct {
	t  testing.TB
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is everything that was logged so far.
func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

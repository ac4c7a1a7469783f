package desk_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// startJobs runs the service's background jobs until the test ends.
func startJobs(t testing.TB, a *apptest.App) {
	t.Helper()
	if err := a.Jobs.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Jobs.Stop(context.Background()) }) //nolint:errcheck // the test is over
}

// until reloads a page until it has a text.
func (b *browser) until(path, text string) page {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		p := b.get(path)
		if strings.Contains(p.text(), text) {
			return p
		}
		if time.Now().After(deadline) {
			return p.has(text)
		}
	}
}

// A webhook is refused at its fields, created with its secret shown once,
// tested, sent an event, redelivered, rotated, disabled, enabled and deleted.
func TestWebhook(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		startJobs(t, a)
		var status atomic.Int64
		status.Store(500)
		endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(int(status.Load()))
			w.Write([]byte("<b>thanks</b>")) //nolint:errcheck // the client may leave
		}))
		t.Cleanup(endpoint.Close)
		b := owner(t, a)
		b.get("/webhooks").at("/webhooks", "No webhooks yet", "Create webhook")
		b.get("/webhooks/new").at("/webhooks/new", "Contact phone number created contact.phone_number.created",
			"Every event")
		p := b.post("/webhooks/new", "url", "http://example.com/x", "description", "The <CRM>", "events",
			"task.created").refused(400, "Must be an https address")
		if p.find(`id="url"[^>]*value="([^"]*)"`) != "http://example.com/x" ||
			p.find(`value="([^"]*)" checked`) != "task.created" ||
			p.find(`id="description"[^>]*value="([^"]*)"`) != "The <CRM>" {
			t.Error("what was typed is gone")
		}
		b.post("/webhooks/new", "url", endpoint.URL).refused(400, "Choose at least one")
		b.post("/webhooks/new", "url", endpoint.URL, "events", "contact.exploded").refused(400,
			`There is no event "contact.exploded"`)
		p = b.post("/webhooks/new", "url", endpoint.URL+"/hook", "description", "The <CRM>", "events",
			"contact.created",
			"events", "task.created").
			at("/webhooks/new", "It will not be shown again", "Contact created and Task created", "The <CRM>",
				"Nothing has been sent yet")
		secret := p.find(`<output id="secret">(whsec_[^<]+)</output>`)
		path := p.find(`data-back="(/webhooks/[^"]*)"`)
		b.get(path).at(path, endpoint.URL+"/hook", "active").hasNot(secret)

		// The test is shown with its answer, as text and not as markup.
		p = b.post(path+"/test").at(path+"/deliveries/", "The test event was sent", "500 Internal Server Error",
			"<b>thanks</b>", "webhook.test", "failed")
		p.hasNot("<b>thanks")
		status.Store(200)
		p = b.post(strings.Split(p.Path, "?")[0]+"/redeliver").at(path+"/deliveries/", "Sent again", "200 OK",
			"succeeded",
			"Attempts 2", "Earlier attempts", "500 Internal Server Error")

		a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t, 201)
		p = b.until(path, "200 OK 1 succeeded")
		b.get(p.find(`href="([^"]*)">Contact created</a>`)).at(path+"/deliveries/", "What was sent",
			`"firstName": "Ada"`,
			"contact.created")
		b.get(path+"?status=failed").at(path, "No delivery is in this state").hasNot("Contact created</a>")
		b.get(path+"?status=succeeded").at(path, "Contact created")
		b.get(path+"?status=nonsense").at(path, "Contact created")
		b.get("/webhooks").at("/webhooks", endpoint.URL+"/hook", "Contact created and Task created",
			"succeeded",
			"active")

		b.get(path+"/rotate").at(path, "For 24 hours both")
		p = b.post(path+"/rotate").at(path, "This is the new secret", "The old secret ends")
		if p.find(`<output id="secret">(whsec_[^<]+)</output>`) == secret {
			t.Error("the secret is the old one")
		}
		b.get(p.find(`href="([^"]*)">Failed</a>`)).at(path+"?status=failed", "Send test event")
		b.get(path+"/edit").at(path+"/edit", "1 of").has("Save webhook")
		b.post(path+"/edit", "url", "nonsense", "events", "*").refused(400, "Must be an https address")
		b.post(path+"/edit", "url", endpoint.URL+"/hook", "events", "contact.created", "events",
			"*").at(path+"?done=saved",
			"Saved.", "Every event").hasNot("CRM")
		b.get(path+"/disable").at(path, "canceled", endpoint.URL)
		b.post(path+"/disable").at(path, "Disabled.", "Enable")
		b.post(path+"/enable").at(path, "Enabled.")
		b.get(path+"/delete").at(path, "cannot be undone", endpoint.URL)
		b.post(path + "/delete").at("/webhooks?done=deleted").hasNot(endpoint.URL)
		b.get(path).refused(404)
		log := events(t, a.DB)
		for _, e := range []string{"webhook.created", "webhook.tested", "webhook.delivery.redelivered",
			"webhook.secret_rotated", "webhook.updated", "webhook.deleted"} {
			if !strings.Contains(log, e+":user:console") {
				t.Errorf("no %s in %s", e, log)
			}
		}
		if strings.Contains(a.Logs.String(), secret) {
			t.Error("the logs have the secret")
		}
	})
}

// Many deliveries are shown in pages, and the filter stays from page to page.
func TestManyDeliveries(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	hook := a.SendREST(t, a.Key, "POST", "/v1/webhooks",
		`{"url": "https://example.com/", "events": ["*"]}`).OK(t, 201).ID("id")
	for i := range 120 {
		status := [...]string{"failed", "succeeded"}[i%2]
		exec(t, a,
			`
				INSERT INTO webhook_deliveries (id, organization_id, created_at, updated_at, webhook_id, epoch,
					event_id,
					event_type, status, attempts, failures)
				VALUES ($1, $2, $3, $3, $4, 0, $5, $6, $7, 1, 0)`, id.New(), a.Org, a.Clock.Now(), hook, id.New(),
			fmt.Sprintf("contact.number_%03d", i), status)
	}
	b := owner(t, a)
	path := "/webhooks/" + string(hook)
	p := b.get(path).at(path, "Contact number 119", "Older").hasNot("Contact number 069")
	p = b.get(p.find(`href="([^"]*)">Failed</a>`)).at(path+"?status=failed",
		"Contact number 118").hasNot("Contact number 119")
	b.get(p.find(`href="([^"]*)" rel="next"`)).at(path+"?page=2&status=failed", "Contact number 018",
		"Newer").hasNot("Contact number 119", "Older")
}

// Members work with the resources; another organization's are not found.
func TestWebhooksOfMembers(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	b := owner(t, a)
	link := b.post("/settings/members/invite", "email", "grace@example.com", "role",
		"member").find(`<output id="secret">([^<]*)</output>`)
	m := visit(t, a.URL)
	m.post(strings.TrimPrefix(link, a.Settings.BaseURL), "name", "Grace", "password",
		"a long password").at("/", "Automations")
	m.post("/webhooks/new", "url", "https://example.com/", "events", "*").at("/webhooks/new",
		"It will not be shown again")
	m.post("/automations/new", "name", "Mine", "trigger.kind", "manual", "steps.0.operation",
		"contacts.list").at("/automations/", "Created.", "Mine")

	other := a.NewTenant(t, "free")
	hook := a.SendREST(t, other.Key, "POST", "/v1/webhooks",
		`{"url": "https://theirs.example.com/", "events": ["*"]}`).OK(t, 201).ID("id")
	auto := a.SendREST(t, other.Key, "POST", "/v1/automations",
		`{"name": "Theirs", "trigger": {"kind": "manual"}, "steps": [{"operation": "contacts.list"}]}`).OK(t,
		201).ID("id")
	run := a.SendREST(t, other.Key, "POST", "/v1/automations/"+string(auto)+"/run", `{}`).OK(t, 200).ID("id")
	paths := []string{}
	for _, verb := range []string{"", "/edit", "/delete"} {
		paths = append(paths, "/webhooks/"+string(hook)+verb, "/automations/"+string(auto)+verb)
	}
	paths = append(paths, "/webhooks/"+string(hook)+"/rotate", "/webhooks/"+string(hook)+"/disable",
		"/automations/"+string(auto)+"/pause", "/automations/"+string(auto)+"/test", "/executions/"+string(run),
		"/executions/"+string(run)+"/cancel")
	for _, path := range paths {
		b.get(path).refused(404).hasNot("Theirs", "theirs")
	}
	for _, path := range []string{"/webhooks/" + string(hook) + "/edit", "/webhooks/" + string(hook) + "/test",
		"/webhooks/" + string(hook) + "/enable", "/webhooks/" + string(hook) + "/delete",
		"/automations/" + string(auto) + "/edit",
		"/automations/" + string(auto) + "/run", "/automations/" + string(auto) + "/activate",
		"/automations/" + string(auto) + "/delete", "/executions/" + string(run) + "/cancel",
		"/executions/" + string(run) + "/retry"} {
		b.post(path, "url", "https://mine.example.com/", "events", "*", "name",
			"Mine").refused(404).hasNot("Theirs", "theirs")
	}
}

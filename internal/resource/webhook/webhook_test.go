package webhook_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

func TestWebhooks(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		begin(t, a)
		e := newEndpoint(t, func(w http.ResponseWriter,
			_ *http.Request) {
			w.Write([]byte("th\xffanks\x00")) //nolint:errcheck // the client may leave
		})
		v := call(t, "webhooks.create",
			fmt.Sprintf(`{"url": %q, "events": ["contact.created"], "description": "CRM"}`, e.server.URL)).OK(t, 201)
		hook, secret := v.Text("id"), v.Text("secret")
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if !strings.HasPrefix(secret, "whsec_") || err != nil || len(raw) < 24 {
			t.Errorf("secret %q: %v", secret, err)
		}
		v.Same("status", "active")
		v.Same("description", "CRM")
		ref := fmt.Sprintf(`{"id": %q}`, hook)
		if got := call(t, "webhooks.get", ref).OK(t, 200); !got.At("secret").Null() || !got.Has("secret") ||
			got.Has("sealed") {
			t.Errorf("get shows %s", got)
		}

		contact := call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
		// nobody asked for it
		call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "firstName": "Augusta"}`, contact)).OK(t, 200)
		got := e.wait(1)[0]
		if err := got.verify(t, secret); err != nil {
			t.Errorf("signature: %v", err)
		}
		if got.event.Type != "contact.created" || got.event.ResourceID != contact ||
			got.event.Data["firstName"] != "Ada" ||
			got.event.ID != got.id || got.event.Timestamp == "" {
			t.Errorf("sent %s", got.body)
		}
		if h := got.header; h.Get("Content-Type") != "application/json" || h.Get("User-Agent") == "" {
			t.Errorf("headers %v", h)
		}
		done := settled(t, call, hook, "succeeded", 1).At("0")
		done.Same("eventType", "contact.created")
		done.Same("eventId", got.id)
		done.Same("attempts", 1)
		done.Same("responseStatus", 200)
		done.Same("responseBody", "thanks")
		if done.Text("completedAt") == "" || !done.At("nextAttemptAt").Null() || !done.At("errorMessage").Null() ||
			done.Number("durationMs") < 0 {
			t.Errorf("delivery %s", done)
		}
		one := fmt.Sprintf(`{"id": %q, "deliveryId": %q}`, hook, done.Text("id"))
		call(t, "webhooks.deliveries.get", one).OK(t, 200).Same("requestBody", string(got.body))
		for filter, n := range map[string]int{`"status": "failed"`: 0, `"eventType": "contact.created"`: 1,
			`"eventType": "contact.updated"`: 0, `"status": "succeeded"`: 1} {
			if r := call(t, "webhooks.deliveries.list",
				fmt.Sprintf(`{"id": %q, %s}`, hook, filter)).OK(t, 200); r.Len() != n {
				t.Errorf("%s finds %s", filter, r)
			}
		}

		// Again, although it succeeded: the same message, signed again.
		call(t, "webhooks.deliveries.redeliver", one).OK(t, 200).Same("attempts", 2)
		if again := e.wait(2)[1]; again.id != got.id || string(again.body) != string(got.body) ||
			again.verify(t, secret) != nil {
			t.Errorf("redelivered %s as %s", again.body, again.id)
		}

		tested := call(t, "webhooks.test", ref).OK(t, 200)
		tested.Same("status", "succeeded")
		tested.Same("responseBody", "thanks")
		if probe := e.wait(3)[2]; probe.event.Type != "webhook.test" || probe.verify(t, secret) != nil ||
			probe.id != tested.Text("eventId") {
			t.Errorf("test sent %s", probe.body)
		}

		// All types from now on, including webhook's own.
		call(t, "webhooks.update",
			fmt.Sprintf(`{"id": %q, "events": ["contact.deleted", "*"], "description": null}`,
				hook)).OK(t, 200).Same("description", nil)
		if own := e.wait(4)[3]; own.event.Type != "webhook.updated" || strings.Contains(string(own.body), secret) {
			t.Errorf("sent %s", own.body)
		}
		// changes nothing
		call(t, "webhooks.update", fmt.Sprintf(`{"id": %q, "events": ["contact.deleted", "*"]}`, hook)).OK(t, 200)
		call(t, "webhooks.update", fmt.Sprintf(`{"id": %q, "status": "disabled"}`, hook)).OK(t, 200)
		call(t, "contacts.delete", fmt.Sprintf(`{"id": %q}`, contact)).OK(t, 204)
		for status, n := range map[string]int{"active": 0, "disabled": 1} {
			if r := call(t, "webhooks.list", fmt.Sprintf(`{"status": %q}`, status)).OK(t, 200); r.Len() != n {
				t.Errorf("%s: %s", status, r)
			}
		}
		call(t, "webhooks.update",
			fmt.Sprintf(`{"id": %q, "status": "active", "events": ["contact.created"]}`, hook)).OK(t, 200)
		call(t, "contacts.create", `{"firstName": "Grace"}`).OK(t, 201)
		if last := e.wait(5); last[4].event.Data["firstName"] != "Grace" {
			t.Errorf("sent %s", last[4].body)
		}
		settled(t, call, hook, "succeeded", 4)
		call(t, "webhooks.delete", ref).OK(t, 204)
		call(t, "webhooks.get", ref).Refused(t, 404, "NOT_FOUND")
		call(t, "webhooks.deliveries.list", ref).Refused(t, 404, "NOT_FOUND")
		call(t, "webhooks.test", ref).Refused(t, 404, "NOT_FOUND")
		call(t, "contacts.create", `{"firstName": "Nobody"}`).OK(t, 201)
		const want = "webhook.created webhook.delivery.redelivered webhook.tested webhook.updated webhook.updated " +
			"webhook.updated webhook.deleted"
		if events := a.Events(t, "webhook."); events != want {
			t.Errorf("events %s", events)
		}
		if n := len(e.all()); n != 5 {
			t.Errorf("%d arrived", n)
		}
		if strings.Contains(a.Logs.String(), secret) {
			t.Error("the log shows the secret")
		}
	})
}

func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		for _, c := range []struct{ body, field string }{
			{`{"url": "ftp://example.com/", "events": ["*"]}`, "url"},
			{`{"url": "http://example.com/", "events": ["*"]}`, "url"},
			{`{"url": "https://", "events": ["*"]}`, "url"},
			{`{"url": "https:example.com", "events": ["*"]}`, "url"},
			{`{"url": "/here", "events": ["*"]}`, "url"},
			{`{"url": "https://user:word@example.com/", "events": ["*"]}`, "url"},
			{`{"url": "https://example.com/#part", "events": ["*"]}`, "url"},
			{`{"url": "https://example.com:99999/", "events": ["*"]}`, "url"},
			{`{"url": "https://example.com:0/", "events": ["*"]}`, "url"},
			{`{"url": "https://10.1.2.3/", "events": ["*"]}`, "url"},
			{`{"url": "https://[fd00::1]/", "events": ["*"]}`, "url"},
			{`{"url": "https://169.254.169.254/latest", "events": ["*"]}`, "url"},
			{`{"url": "https://example.com/", "events": ["contact.created", "contact.exploded"]}`, "events.1"},
			{`{"url": "https://example.com/", "events": []}`, "events"},
			{`{"url": "https://example.com/"}`, "events"},
			{`{"events": ["*"]}`, "url"},
			{`{"url": "https://example.com/", "events": ["*"], "status": "asleep"}`, "status"},
		} {
			call(t, "webhooks.create", c.body).Issues(t, c.field)
		}
		hook, _ := subscribe(t, call, "https://example.com/", "contact.created")
		call(t, "webhooks.update", fmt.Sprintf(`{"id": %q, "events": ["nothing.known"]}`, hook)).Issues(t, "events.0")
		call(t, "webhooks.update", fmt.Sprintf(`{"id": %q, "url": "http://example.com"}`, hook)).Issues(t, "url")
		reader, _ := a.NewKey(t, a.Tenant, "webhooks:read")
		a.SendREST(t, reader, "GET", "/v1/webhooks/"+hook, "").OK(t, 200)
		a.SendREST(t, reader, "POST", "/v1/webhooks/"+hook+"/test", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, reader, "POST", "/v1/webhooks/"+hook+"/rotate-secret", "").Refused(t, 403,
			"INSUFFICIENT_PERMISSIONS")

		for i := range 99 {
			subscribe(t, call, fmt.Sprintf("https://example.com/%d", i), "contact.created")
		}
		call(t, "webhooks.create", `{"url": "https://example.com/", "events": ["*"]}`).Refused(t, 409,
			"WEBHOOK_LIMIT_REACHED")
	})
}

// Without the setting, this machine and plain http are out of reach, even
// through a name that leads here.
func TestSecureByDefault(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, engine db.Engine) {
		s := apptest.Settings(t, engine)
		s.AllowInsecureWebhooks = false
		a := apptest.StartWith(t, s)
		begin(t, a)
		call := a.Door("rest", a.Tenant)
		e := newEndpoint(t, nil)
		for _, url := range []string{e.server.URL, "https://127.0.0.1:1/", "https://[::1]/", "https://192.168.0.1/",
			"https://[::ffff:10.0.0.1]/", "https://0.0.0.0/"} {
			call(t, "webhooks.create", fmt.Sprintf(`{"url": %q, "events": ["*"]}`, url)).Issues(t, "url")
		}
		_, port, _ := strings.Cut(strings.TrimPrefix(e.server.URL, "http://"), ":")
		hook, _ := subscribe(t, call, "https://localhost:"+port+"/", "contact.created")
		v := call(t, "webhooks.test", fmt.Sprintf(`{"id": %q}`, hook)).OK(t, 200)
		v.Same("status", "failed")
		v.Same("errorMessage", "The address is not public.")
		call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		settled(t, call, hook, "retrying", 1).Same("0.errorMessage", "The address is not public.")
		if n := len(e.all()); n != 0 {
			t.Errorf("%d arrived", n)
		}
	})
}

func TestRotation(t *testing.T) {
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		e := newEndpoint(t, nil)
		hook, old := subscribe(t, call, e.server.URL, "contact.created")
		ref := fmt.Sprintf(`{"id": %q}`, hook)
		v := call(t, "webhooks.rotate_secret", ref).OK(t, 200)
		fresh := v.Text("secret")
		if fresh == old || fresh == "" || v.Text("previousSecretUntil") == "" {
			t.Fatalf("rotated: %s", v)
		}
		if got := call(t, "webhooks.get", ref).OK(t, 200); !got.At("secret").Null() {
			t.Errorf("get shows %s", got)
		}
		call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		both := e.wait(1)[0]
		if both.verify(t, old) != nil || both.verify(t, fresh) != nil ||
			len(strings.Fields(both.header.Get("Webhook-Signature"))) != 2 {
			t.Errorf("during the overlap: %v", both.header)
		}
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE webhooks SET previous_secret_until = $1",
				a.Clock.Now().Add(-time.Second))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		if after := e.wait(2)[1]; after.verify(t, old) == nil || after.verify(t, fresh) != nil {
			t.Errorf("after the overlap: %v", after.header)
		}
		// The sweep removes the old one.
		err = a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := a.Jobs.Enqueue(ctx, tx, "webhooks.forget_secrets", struct{}{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		until(t, 2*time.Minute,
			func() bool { return call(t, "webhooks.get", ref).OK(t, 200).At("previousSecretUntil").Null() },
			func() string { return "the old secret is still there" })
		if events := a.Events(t, "webhook."); events != "webhook.created webhook.secret_rotated" {
			t.Errorf("events %s", events)
		}
	})
}

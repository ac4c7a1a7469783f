package desk_test

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// optOutLink is the path of the link that a mail to the address would carry.
func optOutLink(t testing.TB, a *apptest.App, address string) (path string) {
	t.Helper()
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		link, err := a.Links.Link(ctx, tx, a.Org, address)
		path = strings.TrimPrefix(link, a.Settings.BaseURL)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnsubscribe(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		create := func(email string) string {
			return a.SendREST(t, a.Key, "POST", "/v1/email-opt-ins",
				fmt.Sprintf(`{"email": %q, "status": "opted_in"}`, email)).OK(t, 201).Text("id")
		}
		get := func(ref string) apptest.Value {
			return a.SendREST(t, a.Key, "GET", "/v1/email-opt-ins/"+ref, "").OK(t, 200)
		}
		ada, grace := create("O'Neil&co@example.com"), create("grace@example.com")
		link := optOutLink(t, a, "o'neil&CO@EXAMPLE.com")
		b := visit(t, a.URL)

		// Looking changes nothing, however often.
		for range 2 {
			b.get(link).at("/unsubscribe/", "Unsubscribe", "Test", "O'Neil&co@example.com")
			if head := b.do(http.MethodHead, link, nil); head.Status != 200 {
				t.Errorf("HEAD: %d", head.Status)
			}
		}
		get(ada).Same("status", "opted_in")

		b.post(link).at("/unsubscribe/", "You are unsubscribed", "O'Neil&co@example.com").hasNot("<form")
		out := get(ada)
		out.Same("status", "opted_out")
		b.post(link).at("/unsubscribe/", "You are unsubscribed")
		b.get(link).at("/unsubscribe/", "You are unsubscribed")
		if again := get(ada); again.String() != out.String() {
			t.Errorf("a second time changed %s to %s", out, again)
		}
		get(grace).Same("status", "opted_in")
		if got := events(t, a.DB); !strings.HasSuffix(got,
			"email_opt_in.created:api:rest email_opt_in.updated:system:console") {
			t.Errorf("events %s", got)
		}

		// RFC 8058: without cookies, whatever the Origin header says, in both encodings.
		one := url.Values{"List-Unsubscribe": {"One-Click"}}
		visit(t, a.URL).do(http.MethodPost, optOutLink(t, a, "grace@example.com"), one, "Origin",
			"https://mail.example",
			"Sec-Fetch-Site", "cross-site").refused(200, "You are unsubscribed")
		get(grace).Same("status", "opted_out")
		create("alan@example.com")
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		if err := form.WriteField("List-Unsubscribe", "One-Click"); err != nil {
			t.Fatal(err)
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+optOutLink(t, a, "alan@example.com"),
			&body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", form.FormDataContentType())
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != 200 || len(res.Cookies()) > 0 {
			t.Errorf("multipart: %d, %v", res.StatusCode, res.Cookies())
		}
		if n := a.SendREST(t, a.Key, "GET", "/v1/email-opt-ins?status=opted_in", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d are still opted in", n)
		}

		// An invalid link shows help, and reveals nothing.
		for _, bad := range []string{"/unsubscribe/x", link[:len(link)-1], link + "A",
			strings.Replace(link, link[20:22], "--", 1), "/unsubscribe/" + strings.Repeat("A", 64),
			"/unsubscribe/" + strings.Repeat("A", 3000)} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				b.do(method, bad, nil).refused(404, "This link does not work",
					"reply to the message").hasNot("example.com")
			}
		}
		// A deleted row gets no mail, which is what was wanted.
		a.SendREST(t, a.Key, "DELETE", "/v1/email-opt-ins/"+ada, "").OK(t, 204)
		b.get(link).at("/unsubscribe/", "You are unsubscribed", "this address")
		b.post(link).at("/unsubscribe/", "You are unsubscribed")
		if logs := a.Logs.String(); strings.Contains(logs, strings.TrimPrefix(link, "/unsubscribe/")) ||
			strings.Contains(logs, "grace@example.com") {
			t.Error("the log has a token or an address")
		}
	})
}

// Attempts from one address are limited, and people can unsubscribe from a
// disabled account too.
func TestUnsubscribeLimits(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	ref := a.SendREST(t, a.Key, "POST", "/v1/email-opt-ins",
		`{"email": "ada@example.com", "status": "opted_in"}`).OK(t, 201).Text("id")
	link := optOutLink(t, a, "ada@example.com")
	a.AsOperator(t, "organizations.update", "organization", a.Org, `{"status": "disabled"}`)
	b := visit(t, a.URL)
	b.post(link).at("/unsubscribe/", "You are unsubscribed")
	a.AsOperator(t, "organizations.update", "organization", a.Org, `{"status": "active"}`)
	a.SendREST(t, a.Key, "GET", "/v1/email-opt-ins/"+ref, "").OK(t, 200).Same("status", "opted_out")
	for range 1000 {
		if p := b.get("/unsubscribe/x"); p.Status == 429 {
			if p.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return
		}
	}
	t.Error("there is no limit")
}

// The sender's log does not reveal who was signed in to another organization in
// the recipient's browser.
func TestUnsubscribeNamesNobody(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	a.SendREST(t, a.Key, "POST", "/v1/email-opt-ins", `{"email": "grace@example.com", "status": "opted_in"}`).OK(t, 201)
	b := visit(t, a.URL)
	b.signIn(a.NewTenant(t, "free").Owner, "a long password").at("/")
	b.post(optOutLink(t, a, "grace@example.com")).at("/unsubscribe/", "You are unsubscribed")
	e := a.SendREST(t, a.Key, "GET", "/v1/events?type=email_opt_in.updated", "").OK(t, 200).At("0")
	if !e.At("actorId").Null() || e.Text("type") == "" {
		t.Errorf("the log names a stranger: %s", e)
	}
}

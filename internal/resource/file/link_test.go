package file_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// fetch follows a link's address on the test server, without a key.
func fetch(t testing.TB, a *apptest.App, method, address string, headers ...string) apptest.Result {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return a.SendREST(t, "", method, u.Path, "", headers...)
}

func TestAccessLinks(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		row := upload(t, a, file("naïve plan.html", "<script>0</script>")).OK(t, 201).Text("id")
		create := func(fields string) apptest.Result {
			return call(t, "files.access_links.create", fmt.Sprintf(`{"id": %q%s}`, row, fields))
		}
		link := create(`, "maxDownloads": 2, "expiresAt": "2100-01-01T00:00:00Z"`).OK(t, 201)
		link.Same("fileId", row)
		link.Same("maxDownloads", 2)
		link.Same("downloadCount", 0)
		link.Same("expiresAt", "2100-01-01T00:00:00.000Z")
		address := link.Text("url")
		if !strings.HasPrefix(address, a.Settings.BaseURL+"/f/fl_") {
			t.Fatalf("the address is %q", address)
		}
		ref := fmt.Sprintf(`{"id": %q, "accessLinkId": %q}`, row, link.Text("id"))
		if v := call(t, "files.access_links.get", ref).OK(t, 200); !v.Has("url") || !v.At("url").Null() {
			t.Errorf("the address is shown again: %s", v)
		}
		open := create("").OK(t, 201)
		if list := call(t, "files.access_links.list", fmt.Sprintf(`{"id": %q}`, row)); list.OK(t, 200).Len() != 2 ||
			list.Page(t).Number("total") != 2 || strings.Contains(string(list.Body), "/f/") {
			t.Errorf("the list: %s", list.Body)
		}
		create(`, "maxDownloads": 0`).Issues(t, "maxDownloads")
		create(`, "expiresAt": "2020-01-01T00:00:00Z"`).Issues(t, "expiresAt")
		create(`, "downloadCount": 0`).Refused(t, 400, "VALIDATION_ERROR")

		r := fetch(t, a, "HEAD", address) // not counted
		if r.Status != 200 || r.Header.Get("Content-Length") != "18" {
			t.Errorf("HEAD: %d %v", r.Status, r.Header)
		}
		r = fetch(t, a, "GET", address)
		if r.Status != 200 || string(r.Body) != "<script>0</script>" {
			t.Fatalf("%d %s", r.Status, r.Body)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff",
			"Content-Disposition": "attachment; filename*=utf-8''na%C3%AFve%20plan.html", "X-RateLimit-Limit": ""} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if !strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Error("no sandbox")
		}
		if r := fetch(t, a, "GET", address, "Range", "bytes=1-6"); r.Status != 206 || string(r.Body) != "script" {
			t.Errorf("a part: %d %q", r.Status, r.Body)
		}
		used := fetch(t, a, "GET", address)
		used.Refused(t, 404, "NOT_FOUND")
		call(t, "files.access_links.get", ref).OK(t, 200).Same("downloadCount", 2)

		// Used up, unknown, malformed, deleted or without its file: all answer
		// alike.
		same := func(address, why string) {
			t.Helper()
			for _, method := range []string{"GET", "HEAD"} {
				if r := fetch(t, a, method, address); r.Status != 404 || method == "GET" &&
					string(r.Body) != string(used.Body) {
					t.Errorf("%s: %s %d %s", why, method, r.Status, r.Body)
				}
			}
		}
		same(address[:len(address)-1]+"0", "a typo")
		same("http://x/f/nothing", "no token")
		other := create("").OK(t, 201)
		call(t, "files.access_links.delete",
			fmt.Sprintf(`{"id": %q, "accessLinkId": %q}`, row, other.Text("id"))).OK(t, 204)
		same(other.Text("url"), "deleted")
		call(t, "files.access_links.delete",
			fmt.Sprintf(`{"id": %q, "accessLinkId": %q}`, row, other.Text("id"))).Refused(t, 404, "NOT_FOUND")
		brief := create(`, "expiresAt": "2100-01-01T00:00:00Z"`).OK(t, 201)
		err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE file_access_links SET expires_at = $2 WHERE id = $1", brief.ID("id"),
				a.Clock.Now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		same(brief.Text("url"), "expired")
		if fetch(t, a, "GET", open.Text("url")).Status != 200 {
			t.Error("an open link does not work")
		}
		a.AsOperator(t, "organizations.update", "organization", a.Org, `{"status": "disabled"}`)
		same(open.Text("url"), "a disabled account")
		a.AsOperator(t, "organizations.update", "organization", a.Org, `{"status": "active"}`)
		call(t, "files.delete", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 204)
		same(open.Text("url"), "a deleted file")
		call(t, "files.access_links.list", fmt.Sprintf(`{"id": %q}`, row)).Refused(t, 404, "NOT_FOUND")
		create("").Refused(t, 404, "NOT_FOUND")

		want := "file.access_link.created file.access_link.created file.access_link.downloaded " +
			"file.access_link.downloaded " +
			"file.access_link.created file.access_link.deleted file.access_link.created file.access_link.downloaded"
		if got := a.Events(t, "file.access_link."); got != want {
			t.Errorf("events %q, want %q", got, want)
		}
		for _, secret := range []string{address, open.Text("url"), other.Text("url")} {
			token := secret[strings.LastIndexByte(secret, '/')+1:]
			if strings.Contains(a.Logs.String(), token) {
				t.Error("a token is in the log")
			}
			err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) error {
				rows, err := db.QueryAll[int](ctx, tx, "SELECT 1 FROM events WHERE CAST(data AS TEXT) LIKE $1",
					"%"+token+"%")
				if len(rows) > 0 {
					t.Error("a token is in the events")
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The answer to a retry shows the address again, from its sealed copy.
func TestAccessLinkReplay(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		row := upload(t, a, file("a.txt", "x")).OK(t, 201).Text("id")
		send := func() apptest.Result {
			return a.SendREST(t, a.Key, http.MethodPost, "/v1/files/"+row+"/access-links", `{}`, "Idempotency-Key",
				"once")
		}
		first, second := send(), send()
		if first.OK(t, 201).Text("url") == "" || string(first.Body) != string(second.Body) ||
			second.Header.Get("Idempotency-Replay") != "true" {
			t.Errorf("%s, then %s", first.Body, second.Body)
		}
		if n := count(t, a, "file_access_links"); n != 1 {
			t.Errorf("%d links", n)
		}
	})
}

// Of fifty concurrent requests, only as many as the link allows get the file.
func TestAccessLinkRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		row := upload(t, a, file("a.txt", "some bytes")).OK(t, 201).Text("id")
		address := a.SendREST(t, a.Key, "POST", "/v1/files/"+row+"/access-links",
			`{"maxDownloads": 5}`).OK(t, 201).Text("url")
		var got, refused atomic.Int32
		apptest.RunAtOnce(50, func(int) {
			switch r := fetch(t, a, "GET", address); {
			case r.Status == 200 && string(r.Body) == "some bytes":
				got.Add(1)
			case r.Status == 404:
				refused.Add(1)
			default:
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if got.Load() != 5 || refused.Load() != 45 {
			t.Errorf("%d downloads, %d refused", got.Load(), refused.Load())
		}
	})
}

// Each address has its own rate limit, and a trusted proxy names the address.
func TestPublicLimit(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.RateLimit.Public = 3
		s.TrustedProxies = []string{"127.0.0.0/8"}
		a := apptest.StartWith(t, s)
		row := upload(t, a, file("a.txt", "x")).OK(t, 201).Text("id")
		address := a.SendREST(t, a.Key, "POST", "/v1/files/"+row+"/access-links", `{}`).OK(t, 201).Text("url")
		for i := range 3 {
			if r := fetch(t, a, "GET", address, "X-Forwarded-For", "192.0.2.1"); r.Status != 200 {
				t.Fatalf("request %d: %d", i, r.Status)
			}
		}
		r := fetch(t, a, "GET", address, "X-Forwarded-For", "192.0.2.1")
		r.Refused(t, 429, "RATE_LIMITED")
		if r.Header.Get("Retry-After") == "" || r.Header.Get("X-RateLimit-Limit") != "3" ||
			r.Header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("it does not say how long to wait: %v", r.Header)
		}
		if r := fetch(t, a, "GET", address, "X-Forwarded-For", "192.0.2.2"); r.Status != 200 {
			t.Errorf("another address: %d", r.Status)
		}
		a.SendREST(t, "", "GET", "/f/a/b", "", "X-Forwarded-For", "192.0.2.3").Refused(t, 404, "NOT_FOUND")
		if r := a.SendREST(t, "", "POST", "/f/x", "{}", "X-Forwarded-For", "192.0.2.3"); r.Status != 405 ||
			r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST: %d %v", r.Status, r.Header)
		}
	})
}

package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Client metadata documents: what a good one gives, and every bad one.
func TestClientMetadataDocuments(t *testing.T) {
	var fetched atomic.Int64
	hold := make(chan struct{})
	var site *httptest.Server
	document := func(path, more string) string {
		return fmt.Sprintf(`{"client_id": %q, "client_name": "Documented", "client_uri": "https://example.com", `+
			`"redirect_uris": [%q], "unknown": {"x": 1}%s}`, site.URL+path, apptest.Callback, more)
	}
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched.Add(1)
		text := document(r.URL.Path, "")
		switch r.URL.Path {
		case "/kept":
			w.Header().Set("Cache-Control", "max-age=600")
		case "/fresh":
			w.Header().Set("Cache-Control", "max-age=600, no-store")
		case "/away":
			http.Redirect(w, r, "/kept", http.StatusFound)
			return
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/accepted":
			w.WriteHeader(http.StatusAccepted)
		case "/other":
			text = document("/kept", "")
		case "/large":
			text = document("/large", `, "pad": "`+strings.Repeat("x", 5<<10)+`"`)
		case "/nameless":
			text = strings.Replace(text, "Documented", " ", 1)
		case "/secret":
			text = document("/secret", `, "token_endpoint_auth_method": "client_secret_basic"`)
		case "/elsewhere":
			text = strings.Replace(text, apptest.Callback, "https://example.com/other", 1)
		case "/script":
			text = strings.Replace(text, apptest.Callback, "javascript:alert(1)", 1)
		case "/html":
			text = "<html>"
		case "/slow":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-hold
		}
		w.Write([]byte(text)) //nolint:errcheck // the client leaves
	}))
	defer site.Close()
	defer close(hold)

	s := apptest.Settings(t, db.SQLite)
	s.AllowInsecureClientMetadata = true
	a := apptest.StartWith(t, s)
	ask := func(client string) apptest.Result { return a.Agents(t, http.MethodGet, a.AuthorizePath(client), "") }
	agent := a.NewAgent(t, a.Tenant, "all")

	// A good one works to the end, without being fetched again.
	client := site.URL + "/kept"
	v := a.RedeemToken(t, client, "authorization_code", a.Code(t, client, a.OwnerID, agent)).ParseJSON(t)
	a.RedeemToken(t, client, "refresh_token", v.Text("refresh_token")).ParseJSON(t).Same("token_type", "Bearer")
	ask(client)
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
	if list, err := a.Grants.ListConnections(t.Context(), a.Org); err != nil || len(list) != 1 ||
		list[0].ClientName != "Documented" || list[0].ClientID != client {
		t.Errorf("%+v %v", list, err)
	}
	before := fetched.Load()
	ask(site.URL + "/fresh")
	ask(site.URL + "/fresh")
	if n := fetched.Load() - before; n != 2 {
		t.Errorf("one that must not be kept was fetched %d times", n)
	}

	for _, path := range []string{"/missing", "/accepted", "/away", "/other", "/large", "/nameless", "/secret",
		"/script",
		"/html", "/", "", "/a/../kept", "/a/%2e%2e/kept", "/kept#x"} {
		for range 2 { // a failure is not cached
			r := ask(site.URL + path)
			refused(t, path, r, 400, "invalid_client").Same("error_description", "Client metadata unavailable")
		}
	}
	refused(t, "a redirect URI that is not listed", ask(site.URL+"/elsewhere"), 400, "invalid_request")
	refused(t, "a user", ask(strings.Replace(site.URL, "http://", "http://user@", 1)+"/kept"), 400, "invalid_client")
	began := time.Now()
	refused(t, "slow", ask(site.URL+"/slow"), 400, "invalid_client")
	if took := time.Since(began); took < 4*time.Second || took > time.Minute { // 5, and some for a busy machine
		t.Errorf("a slow document took %s", took)
	}

	// Without the setting, plain http and private addresses are refused.
	a = apptest.Start(t, db.SQLite)
	before = fetched.Load()
	for _, client := range []string{site.URL + "/kept", strings.Replace(site.URL, "http://", "https://", 1) + "/kept",
		"https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "https://10.0.0.1/x",
		"https://169.254.169.254/latest/meta-data", "https://[::ffff:192.168.0.1]/x",
		"https://0x7f000001/x", "https://2130706433/x"} {
		refused(t, client, ask(client), 400, "invalid_client")
	}
	if fetched.Load() != before {
		t.Error("a private address was reached")
	}
}

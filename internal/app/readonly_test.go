package app_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"

	"github.com/jackc/pgx/v5"
)

// A demoted primary refuses writes: callers are told to come back,
// those who only read are served, and a balancer sends nobody here.
func TestReadOnlyDatabase(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, engine db.Engine) {
		if engine != db.Postgres {
			t.Skip("SQLite has no other server")
		}
		s := apptest.Settings(t, engine)
		s.DatabaseURL = dbtest.DirectURL(t, s.DatabaseURL)
		a := apptest.StartWith(t, s)
		operator, err := pgx.Connect(t.Context(), a.Settings.DatabaseURL)
		if err != nil {
			t.Fatal(err)
		}
		defer operator.Close(context.Background())
		a.SetReady()
		get := func(path string) (status int, body string) {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+a.Key)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			return res.StatusCode, string(text)
		}
		// A connection that was ended is found out by using it.
		eventually := func(what string, ok func() bool) {
			t.Helper()
			for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("it never came: %s", what)
				}
			}
		}
		demote := func(on string) {
			t.Helper()
			for _, text := range []string{
				"SET default_transaction_read_only = off",
				`ALTER DATABASE "` + operator.Config().Database + `" SET default_transaction_read_only = ` + on,
				`
					SELECT pg_terminate_backend(pid, 60000)
					FROM pg_stat_activity
					WHERE datname = current_database() AND pid <> pg_backend_pid()`,
			} {
				if _, err := operator.Exec(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			eventually("it finds its way back", func() bool { status, _ := get("/v1/contacts"); return status == 200 })
		}
		demote("on")
		for range 20 {
			res := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`)
			res.Refused(t, 503, "SERVICE_UNAVAILABLE")
			if res.Header.Get("Retry-After") == "" {
				t.Error("a 503 without Retry-After")
			}
		}
		if status, body := get("/v1/contacts"); status != 200 || strings.Contains(body, "Ada") {
			t.Errorf("contacts: %d %s", status, body)
		}
		eventually("it is not ready", func() bool {
			status, body := get("/readyz")
			return status == 503 && strings.Contains(body, "refuses writes")
		})
		demote("off")
		eventually("it writes again", func() bool {
			return a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).Status == 201
		})
		eventually("it is ready again", func() bool { status, _ := get("/readyz"); return status == 200 })
	})
}

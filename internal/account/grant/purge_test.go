package grant_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// Expired rows go, and rows that somebody may still come back with stay.
func TestGrantsPurge(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		client, access, refresh := a.ConnectAgent(t, a.Tenant, agent)
		a.InitializeSession(t, access)
		a.Agents(t, http.MethodGet, a.AuthorizePath(client), "")
		a.NewClient(t) // never used
		counts := func() (out string) {
			t.Helper()
			err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) error {
				for _, table := range []string{
					"oauth_clients", "oauth_requests", "agent_grants", "grant_codes", "grant_tokens", "agent_sessions",
				} {
					n, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table)
					if err != nil {
						return err
					}
					out += fmt.Sprint(n, " ")
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		for _, c := range []struct {
			after time.Duration
			want  string
		}{
			{0, "2 2 1 1 2 1 "},
			{26 * time.Hour, "2 0 1 1 1 1 "},            // requests and access tokens are gone
			{31 * 24 * time.Hour, "1 0 1 1 1 1 "},       // and the client that nobody used
			{92 * 24 * time.Hour, "1 0 0 0 0 0 "},       // the refresh token expired, and with it the grant
			{401 * 24 * time.Hour, "0 0 0 0 0 0 "},      // nobody remembers the client
			{10 * 365 * 24 * time.Hour, "0 0 0 0 0 0 "}, // and it ends
		} {
			for more := true; more; {
				err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
					more, err = grant.PurgeExpired(ctx, tx, a.Clock.Now().Add(c.after), 1)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := counts(); got != c.want {
				t.Errorf("after %s: %s, want %s", c.after, got, c.want)
			}
			if c.after < 80*24*time.Hour {
				v := a.RedeemToken(t, client, "refresh_token", refresh)
				if v.Status != 200 {
					t.Fatalf("after %s a refresh: %d %s", c.after, v.Status, v.Body)
				}
				refresh = v.ParseJSON(t).Text("refresh_token")
				if err := a.DB.Write(context.Background(), func(ctx context.Context, tx *db.Tx) error {
					_, err := db.Exec(ctx, tx, "DELETE FROM grant_tokens WHERE used_at IS NOT NULL OR kind = 'access'")
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

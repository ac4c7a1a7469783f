package app_test

import (
	"context"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// Links that are in people's mail work after the sealing key was rotated and
// the server started again.
func TestLinksSurviveRotation(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		var org id.ID
		look := func(a *apptest.App) (link string, sealedWith byte) {
			t.Helper()
			err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				if link, err = a.Links.Link(ctx, tx, org, "ada@example.com"); err != nil {
					return err
				}
				rows, err := db.QueryAll[[]byte](ctx, tx, "SELECT sealed FROM link_signing_keys")
				if err == nil && len(rows) == 1 {
					sealedWith = rows[0][0]
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return link, sealedWith
		}
		var before string
		t.Run("before", func(t *testing.T) {
			a := apptest.StartWith(t, s)
			org = a.Org
			a.SendREST(t, a.Key, "POST", "/v1/email-opt-ins", `{"email": "ada@example.com"}`).OK(t, 201)
			link, key := look(a)
			if before = link; key != 1 {
				t.Errorf("sealed with key %d", key)
			}
			rotate(t, a, false)
			if e == db.Postgres { // where other servers get the key before anything is sealed with it
				rotate(t, a, true)
			}
			if after, key := look(a); after != before || key != 2 {
				t.Errorf("after the rotation %s, sealed with key %d; before %s", after, key, before)
			}
		})
		t.Run("after", func(t *testing.T) {
			if after, _ := look(apptest.StartWith(t, s)); after != before {
				t.Errorf("after a new start %s, before %s", after, before)
			}
		})
	})
}

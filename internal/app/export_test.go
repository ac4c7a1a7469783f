package app_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/secret"
)

// An export holds everything of one organization and nothing of another, and
// no secret.
func TestExport(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		other := a.NewTenant(t, "free")
		mine := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts",
			`{"lastName": "Lovelace", "emails": [{"email": "ada@example.com"}]}`, "Idempotency-Key", "mine").OK(t,
			201).Text("id")
		a.SendREST(t, other.Key, http.MethodPost, "/v1/contacts", `{"lastName": "Byron"}`).OK(t, 201)
		folder := filepath.Join(t.TempDir(), "export")
		run := func(org id.ID, folder string) (app.ExportResult, error) {
			data, err := a.Admin.RunTask(t.Context(), "organizations.export", app.ExportTask{ID: org, Out: folder}, nil)
			var out app.ExportResult
			if err == nil {
				err = json.Unmarshal(data, &out)
			}
			return out, err
		}
		out, err := run(a.Org, folder)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run(a.Org, folder); err == nil || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("into the same folder: %v", err)
		}
		if _, err := run(id.New(), filepath.Join(t.TempDir(), "x")); err == nil {
			t.Error("an organization that is not there was exported")
		}
		text := ""
		for table, n := range out.Tables {
			b, err := os.ReadFile(filepath.Join(folder, table+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			rows := int64(0)
			for lines := bufio.NewScanner(strings.NewReader(string(b))); lines.Scan(); rows++ {
				row := map[string]any{}
				if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
					t.Fatalf("%s: %v in %s", table, err, lines.Text())
				}
				if org, ok := row["organization_id"]; ok && org != string(a.Org) {
					t.Errorf("%s has a row of %v", table, org)
				}
				if table == "contacts" &&
					(row["id"] != mine || row["last_name"] != "Lovelace" ||
						!strings.HasPrefix(fmt.Sprint(row["created_at"]), "20")) {
					t.Errorf("the contact: %v", row)
				}
				if table == "events" && row["type"] == "contact.created" &&
					row["data"].(map[string]any)["lastName"] != "Lovelace" {
					t.Errorf("the event: %v", row)
				}
			}
			if rows != n {
				t.Errorf("%s: %d rows of %d", table, rows, n)
			}
			text += string(b)
		}
		for table, want := range map[string]int64{"organizations": 1, "users": 1, "memberships": 1, "contacts": 1,
			"contact_emails": 1, "api_keys": 1, "idempotency": 1} {
			if out.Tables[table] != want {
				t.Errorf("%s: %d rows, want %d", table, out.Tables[table], want)
			}
		}
		hash := secret.HashToken(a.Key)
		for _, s := range []string{"Byron", other.Owner, string(other.Org), a.Key,
			base64.StdEncoding.EncodeToString(hash[:]),
			"argon2id", "password_hash"} {
			if strings.Contains(text, s) {
				t.Errorf("the export holds %s", s)
			}
		}
		err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			n, err := db.QueryOne[int](ctx, tx, `
				SELECT count(*)
				FROM events
				WHERE organization_id = $1 AND type = 'organization.exported'`, a.Org)
			if n != 1 {
				t.Errorf("%d events of the export", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

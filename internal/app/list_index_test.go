package app_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/migrations"
)

// unlisted are the tables that no operation lists by page: one row of them is looked up, or a few that belong together.
var unlisted = []string{"agent_grants", "agent_sessions", "agent_use", "agreements", "business_profiles", "card_setups",
	"cleared_references", "domain_email", "domain_holds", "drafts", "grant_codes", "grant_tokens", "idempotency",
	"invoice_line_items", "invoice_reminders", "memberships", "notification_choices", "payment_customers",
	"push_subscriptions", "received_mails", "sessions", "thread_viewers"}

// listedBy are columns that a list always chooses by, where that is not the parent.
var listedBy = map[string]string{
	"domains":       "kind",    // subdomains are listed under their domain
	"notifications": "user_id", // everybody sees their own
}

// indexColumns lists the indexes of all tables, each with its columns in their order.
const indexColumns = `
	SELECT t.name, group_concat(c.name, ', ')
	FROM sqlite_master t
	JOIN pragma_index_list(t.name) i
	JOIN pragma_index_info(i.name) c
	WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL TABLE%'
	GROUP BY t.name, i.name`

// A page of a list is read from an index that begins with the organization, and with the parent where there is one,
// and has the order of the list. Without it every page reads all rows.
func TestListsHaveAnIndex(t *testing.T) {
	d := dbtest.Open(t, db.SQLite, migrations.FS)
	type index struct {
		Table   string `db:"table_name"`
		Columns string `db:"columns"`
	}
	var indexes []index
	err := d.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		indexes, err = db.QueryAll[index](ctx, tx, indexColumns)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, r := range d.LifeGraph().Tables {
		if !r.HasColumn("organization_id") || !r.HasColumn("created_at") || !r.HasColumn("seq") {
			continue
		}
		wants := "organization_id, created_at, seq"
		by := cmp.Or(listedBy[name], db.LifeOfTable(name).Parent.Column)
		if by != "" && by != "organization_id" {
			wants = "organization_id, " + by + ", created_at, seq"
		}
		has := slices.ContainsFunc(indexes, func(i index) bool {
			return i.Table == name && strings.HasPrefix(i.Columns, wants)
		})
		if has == slices.Contains(unlisted, name) {
			t.Errorf("%s: an index on (%s) is missing, or the table is wrongly named in unlisted", name, wants)
		}
		checked++
	}
	if checked < 50 {
		t.Errorf("only %d tables were checked", checked)
	}
}

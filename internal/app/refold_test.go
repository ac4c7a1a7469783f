package app

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
	"frontdesk/migrations"
)

// A database from before 0025 has its search texts folded; a new one has none.
func TestSearchTextsAfterUpgrade(t *testing.T) {
	before := fstest.MapFS{}
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		if name < "0025" {
			before[name] = &fstest.MapFile{Data: text}
		}
	}
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		o := dbtest.CreateOptions(t, e, before)
		org := id.New()
		within(t, o, func(ctx context.Context, tx *db.Tx) error {
			if _, err := db.Exec(ctx, tx, `
				INSERT INTO organizations (id, created_at, updated_at, name, plan, status)
				VALUES ($1, 1, 1, 'Engines', 'free', 'active')`, org); err != nil {
				return err
			}
			_, err := db.Exec(ctx, tx, `
				INSERT INTO contacts (id, organization_id, created_at, updated_at, first_name, search)
				VALUES ($1, $2, 1, 1, 'Zoë', ' zoë')`, id.New(), org)
			return err
		})
		o.Migrations = []fs.FS{migrations.FS}
		within(t, o, func(ctx context.Context, tx *db.Tx) error {
			columns, err := db.QueryAll[string](ctx, tx, "SELECT table_name FROM search_refolds ORDER BY table_name")
			want := "business_offerings contacts customers email_opt_ins email_templates files invoices messages " +
				"property_definitions tasks"
			if got := strings.Join(columns, " "); got != want {
				t.Errorf("to be folded are %s", got)
			}
			for _, now := range []clock.Time{1, 1 << 60} {
				for more := err == nil; more && err == nil; {
					more, err = db.RefoldSearchTexts(ctx, tx, now)
				}
			}
			if err != nil {
				return err
			}
			left, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM search_refolds")
			if err != nil {
				return err
			}
			text, err := db.QueryOne[string](ctx, tx, "SELECT search FROM contacts")
			if text != " zoe" || left > 0 {
				t.Errorf("the text is %q, and %d are left", text, left)
			}
			return err
		})
		within(t, dbtest.CreateOptions(t, e, migrations.FS), func(ctx context.Context, tx *db.Tx) error {
			left, err := db.QueryOne[int](ctx, tx, "SELECT count(*) FROM search_refolds")
			if left > 0 {
				t.Errorf("a new database has %d to fold", left)
			}
			return err
		})
	})
}

// within writes to a database that is opened for it.
func within(t *testing.T, o db.Options, fn db.Func) {
	t.Helper()
	d, err := db.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

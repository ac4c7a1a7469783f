package db_test

import (
	"io/fs"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// A version that does not know the newest migration does not open the
// database: it would write rows as they were before.
func TestOlderVersionIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e db.Engine) {
		o := dbtest.Options(t, e)
		open := func(folders ...fs.FS) error {
			o.Migrations = folders
			d, err := db.Open(t.Context(), o)
			if err != nil {
				return err
			}
			return d.Close()
		}
		for _, folders := range [][]fs.FS{{first}, {first, second}} {
			if err := open(folders...); err != nil {
				t.Fatal(err)
			}
		}
		if err := open(first); err == nil ||
			!strings.Contains(err.Error(), "has schema 2, but this version only knows 1") {
			t.Errorf("an older version opened it: %v", err)
		}
		if err := open(first, second); err != nil {
			t.Error(err)
		}
	})
}

package db_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// A program whose migrations lack something that it declares is told what.
func TestDeclaredColumns(t *testing.T) {
	var others strings.Builder // what else the packages of this test declare
	for _, table := range db.DeclaredTables() {
		if table != "papers" && table != "search_refolds" && !db.LifeOfTable(table).OnlyInTests {
			fmt.Fprintf(&others, "CREATE TABLE %s (\n  seq SEQ\n);\n", table)
		}
	}
	whole := string(papers["0001_papers.sql"].Data) + others.String()
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		check := func(text, wants string) {
			t.Helper()
			d := dbtest.Open(t, e, fstest.MapFS{"0001_papers.sql": {Data: []byte(text)}})
			err := d.CheckDeclaredColumns(t.Context())
			if told := fmt.Sprint(err); !strings.Contains(told, wants) || wants == "" && err != nil {
				t.Errorf("it said %s, want %s", told, wants)
			}
		}
		check(whole, "")
		check(whole+"ALTER TABLE papers ADD COLUMN of_a_newer_version TEXT;\n", "")
		check(strings.Replace(whole, "  number INT NOT NULL,\n", "", 1), "the table papers has no column number")
		check(others.String(), "the database has no table papers")
		if e == db.SQLite {
			check(strings.Replace(whole, "TABLE papers_search", "TABLE papers_found", 1), "no table papers_search")
		}
	})
}

package db

import (
	"context"
	"fmt"
	"slices"
)

// declaredColumns are the columns that NewTable found in the row types, by table. Like declaredLives it never changes
// after the start.
var declaredColumns = map[string][]string{}

// tableColumn is a column that the database has.
type tableColumn struct {
	Table  string `db:"table_name"`
	Column string `db:"column_name"`
}

// columnsSQL lists the columns of all tables. SQLite's search indexes are tables too, without columns of interest: to
// list those, each index would have to be opened.
var columnsSQL = map[Engine]string{
	SQLite: `SELECT t.name, coalesce(c.name, '') FROM sqlite_master t
		LEFT JOIN pragma_table_info(t.name) c ON t.sql NOT LIKE 'CREATE VIRTUAL TABLE%' WHERE t.type = 'table'`,
	Postgres: `SELECT t.relname, c.attname FROM pg_catalog.pg_class t
		JOIN pg_catalog.pg_attribute c ON c.attrelid = t.oid
		WHERE t.relkind IN ('r', 'p') AND t.relnamespace <> 'pg_catalog'::regnamespace AND pg_table_is_visible(t.oid)
		AND c.attnum > 0 AND NOT c.attisdropped`,
}

// CheckDeclaredColumns returns an error that names a table or a column which this program declares and the database
// lacks. Without it the program would start, and fail in every call that needs the column. Columns that a newer version
// added do not disturb it: only the program's own are looked for, after its own migrations.
func (d *DB) CheckDeclaredColumns(ctx context.Context) error {
	has := map[string][]string{}
	err := d.Read(ctx, func(ctx context.Context, tx *Tx) error {
		all, err := QueryAll[tableColumn](ctx, tx, columnsSQL[d.Engine()])
		for _, c := range all {
			has[c.Table] = append(has[c.Table], c.Column)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("db: list the columns: %w", err)
	}
	for _, table := range DeclaredTables() {
		if has[table] == nil && declaredLives[table].OnlyInTests {
			continue
		}
		if has[table] == nil {
			return fmt.Errorf("the database has no table %s: a migration that creates it is missing", table)
		}
		for _, column := range declaredColumns[table] {
			if !slices.Contains(has[table], column) {
				return fmt.Errorf("the table %s has no column %s: a migration that adds it is missing", table, column)
			}
		}
		if d.Engine() == SQLite && slices.Contains(declaredColumns[table], "search") && has[table+"_search"] == nil {
			return fmt.Errorf("the table %[1]s has the column search, but there is no table %[1]s_search: "+
				"a migration that creates this index is missing", table)
		}
	}
	return nil
}

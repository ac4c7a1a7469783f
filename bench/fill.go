package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// perCommit is how many rows one transaction of a fill holds.
const perCommit = 10_000

// withDB opens a database file that no server uses, and leaves it as a clean
// stop would: without a write-ahead log.
func withDB(path string, fn func(*sqlite.Conn) error) error {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	// Only the fill runs without syncs; each server sets its own pragmas.
	for _, p := range []string{"busy_timeout=5000", "synchronous=OFF", "cache_size=-262144"} {
		if err := sqlitex.ExecuteTransient(c, "PRAGMA "+p, nil); err != nil {
			c.Close()
			return err
		}
	}
	if err := fn(c); err != nil {
		c.Close()
		return err
	}
	err = sqlitex.ExecuteTransient(c, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
	if closed := c.Close(); err == nil {
		err = closed
	}
	return err
}

// fill inserts n rows, row by row through insert, in large transactions.
func fill(ctx context.Context, path string, n int, insert func(c *sqlite.Conn, i int) error) error {
	return withDB(path, func(c *sqlite.Conn) error {
		for i := 0; i < n; {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := sqlitex.ExecuteTransient(c, "BEGIN IMMEDIATE", nil); err != nil {
				return err
			}
			for end := min(n, i+perCommit); i < end; i++ {
				if err := insert(c, i); err != nil {
					return fmt.Errorf("bench: row %d: %w", i, err)
				}
			}
			if err := sqlitex.ExecuteTransient(c, "COMMIT", nil); err != nil {
				return err
			}
			if i%250_000 == 0 {
				say("  %d rows", i)
			}
		}
		return nil
	})
}

// fillFrontdesk adds n contacts to an organization, as its schema wants them, and returns their ids.
func fillFrontdesk(ctx context.Context, path, org string, n int) ([]string, error) {
	ids := make([]string, n)
	first := time.Now().Add(-time.Duration(n) * time.Second).UnixMicro()
	r := rand.New(rand.NewPCG(1, 2))
	err := fill(ctx, path, n, func(c *sqlite.Conn, i int) error {
		p := personAt(i)
		ids[i] = uuid(r)
		st := c.Prep(`
			INSERT INTO contacts (id, organization_id, created_at, updated_at, first_name, middle_name,
				last_name, organization_name, job_title, birthday, notes, search)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		at := first + int64(i)*1_000_000
		st.BindText(1, ids[i])
		st.BindText(2, org)
		st.BindInt64(3, at)
		st.BindInt64(4, at)
		for j, s := range []string{p.first, p.middle, p.last, p.organization, p.title, p.birthday, p.notes} {
			if s == "" {
				st.BindNull(5 + j)
			} else {
				st.BindText(5+j, s)
			}
		}
		st.BindText(12, p.search())
		if err := step(st); err != nil {
			return err
		}
		st = c.Prep("INSERT INTO contacts_search (rowid, search) VALUES (?, ?)")
		st.BindInt64(1, c.LastInsertRowID())
		st.BindText(2, organizationCode(org)+p.search())
		return step(st)
	})
	return ids, err
}

// organizationCode is what the service's search index begins its texts with.
func organizationCode(org string) string {
	h := fnv.New64a()
	h.Write([]byte(org))
	n := h.Sum64()
	code := make([]rune, 3)
	for i := range code {
		code[i] = rune(0xe000 + n%6400)
		n /= 6400
	}
	return string(code)
}

// fillPocketBase adds n contacts to the collection and returns their ids.
func fillPocketBase(ctx context.Context, path string, n int) ([]string, error) {
	ids := make([]string, n)
	first := time.Now().Add(-time.Duration(n) * time.Second).UTC()
	r := rand.New(rand.NewPCG(3, 4))
	err := fill(ctx, path, n, func(c *sqlite.Conn, i int) error {
		p := personAt(i)
		ids[i] = letters(r, 15)
		st := c.Prep(`
			INSERT INTO contacts (id, created, updated, firstName, middleName, lastName, organizationName, jobTitle,
				birthday, notes)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		at := first.Add(time.Duration(i) * time.Second).Format("2006-01-02 15:04:05.000Z")
		for j, s := range []string{ids[i], at, at, p.first, p.middle, p.last, p.organization, p.title, p.birthday,
			p.notes} {
			st.BindText(1+j, s)
		}
		return step(st)
	})
	return ids, err
}

func step(st *sqlite.Stmt) error {
	_, err := st.Step()
	if reset := st.Reset(); err == nil {
		err = reset
	}
	return err
}

// countRows counts the rows of a table in the file of a stopped server.
func countRows(path, table string) (n int, err error) {
	err = withDB(path, func(c *sqlite.Conn) error {
		return sqlitex.ExecuteTransient(c, "SELECT count(*) FROM "+table,
			&sqlitex.ExecOptions{ResultFunc: func(st *sqlite.Stmt) error {
				n = st.ColumnInt(0)
				return nil
			}})
	})
	return n, err
}

// uuid is a UUID v4.
func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	a, b = a&^0xf000|0x4000, b&^(3<<62)|1<<63
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&(1<<48-1))
}

// letters is a record id as PocketBase makes them.
func letters(r *rand.Rand, n int) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

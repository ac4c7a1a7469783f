package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/db"
)

// Restore fills an empty database from a backup of either engine. It reads the
// whole backup before it touches anything, and a failed restore leaves nothing
// behind. The schema is then the backup's; db.Open migrates it. before, which may
// be nil, is called once the backup is known to be intact and the database to be
// empty and unused. Its error ends the restore.
func Restore(ctx context.Context, o db.Options, path string, say db.ProgressFunc,
	before func(context.Context) error) (*Summary, error) {
	began := time.Now()
	sum, err := Check(path)
	if err != nil {
		return nil, err
	}
	tables, known, err := db.ReadRelations(o.Migrations, sum.Schema)
	if err != nil {
		return nil, err
	}
	if sum.Schema > known {
		return nil, fmt.Errorf("the backup has schema %d, but this version only knows %d; use the version that made it",
			sum.Schema, known)
	}
	p := newProgress(say)
	err = db.LoadEmpty(ctx, o, db.Load{Schema: sum.Schema, Tables: tables, Before: before, Say: say,
		Fill: func(ctx context.Context, load db.LoadTableFunc) error { return loadRows(ctx, path, tables, load, p) }})
	sum.Seconds = time.Since(began).Seconds()
	return sum, err
}

// loadRows reads the whole backup into a database that has its schema. A table or
// column that the schema does not have is refused.
func loadRows(ctx context.Context, path string, tables []db.Relation, load db.LoadTableFunc, p *progress) error {
	r, err := openFile(path)
	if err != nil {
		return err
	}
	defer r.closeFile()
	if _, err = r.nextLine(); err != nil {
		return err
	}
	known := map[string]*db.Relation{}
	for i := range tables {
		known[tables[i].Name] = &tables[i]
	}
	for {
		t := r.table
		for _, c := range t.Columns {
			if k := known[t.Name]; k == nil || !k.HasColumn(c.Name) {
				return fmt.Errorf("the backup has %s.%s, which this version does not know", t.Name, c.Name)
			}
		}
		values := make([]any, len(t.Columns))
		ended := false
		err := load(ctx, &t.Relation, t.Last, func() ([]any, error) {
			more, err := r.nextLine()
			if ended = errors.Is(err, errEnd); ended {
				return nil, nil
			}
			if !more || err != nil {
				return nil, err
			}
			p.countRow("restoring", t.Name)
			return values, r.rowValues(values)
		})
		if err != nil || ended {
			return err
		}
	}
}

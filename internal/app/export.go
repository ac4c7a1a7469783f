package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
)

// ExportResult is what an export wrote.
type ExportResult struct {
	Organization id.ID            `json:"organizationId"`
	Folder       string           `json:"folder"`
	CreatedAt    clock.Time       `json:"-"`
	Schema       int64            `json:"schema"`
	Rows         int64            `json:"rows"`
	Tables       map[string]int64 `json:"tables"` // rows by table
	Files        int              `json:"files"`  // in the subfolder files, each named by its id
}

// exportOrganization writes everything an organization has into a new folder: one file of
// JSON Lines per table, all from one snapshot, and the bytes of its files. What a
// table's life does not export is left out.
func (a *App) exportOrganization(ctx context.Context, org id.ID, folder string, say db.ProgressFunc) (*ExportResult,
	error) {
	if _, err := a.Accounts.OwningOrganization(ctx, "organization", org); err != nil {
		return nil, err
	}
	if names, err := os.ReadDir(folder); err == nil && len(names) > 0 {
		return nil, fmt.Errorf("%s is not empty; an export needs a folder of its own", folder)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	out := &ExportResult{Organization: org, Folder: folder, CreatedAt: a.Clock.Now(), Tables: map[string]int64{}}
	var files []backupFile
	err := a.DB.Snapshot(ctx, func(s *db.Snapshot) error {
		out.Schema = s.Schema
		for i := range s.Tables {
			r := &s.Tables[i]
			if organizationWhere(r) == "" {
				continue
			}
			n, err := exportTable(ctx, s, r, org, folder)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			out.Tables[r.Name], out.Rows = n, out.Rows+n
			if say != nil && n > 10_000 {
				say(fmt.Sprintf("%s: %d rows", r.Name, n))
			}
		}
		var err error
		files, err = organizationFiles(ctx, s, org)
		return err
	})
	if err == nil {
		err = a.exportBytes(ctx, files, out, say)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(struct {
		*ExportResult
		At string `json:"createdAt"`
	}{out, out.CreatedAt.String()}, "", "  ")
	if err != nil {
		return nil, err
	}
	// Written last: a folder without it is an incomplete export.
	if err := os.WriteFile(filepath.Join(folder, "export.json"), append(text, '\n'), 0o600); err != nil {
		return nil, err
	}
	// The audit trail also records data that leaves.
	err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		return a.Events.Append(ctx, tx, event.Event{Organization: org, At: out.CreatedAt, Type: "organization.exported",
			ResourceID: org,
			ActorKind:  "system", Door: "admin", RequestID: string(id.New()),
			Data: db.JSON(fmt.Sprintf(`{"rows":%d}`, out.Rows))})
	})
	return out, err
}

// organizationFiles lists an organization's files in a snapshot.
func organizationFiles(ctx context.Context, s *db.Snapshot, org id.ID) (out []backupFile, err error) {
	r := s.FindTable("files")
	text := func(c []db.Cell, name string) string { return string(c[r.ColumnIndex(name)].Text) }
	err = s.EachRow(ctx, r, "organization_id = $1", []any{org}, func(c []db.Cell) error {
		out = append(out, backupFile{id: text(c, "id"), key: text(c, "blob_key"), sum: text(c, "sha256"),
			deleted: !c[r.ColumnIndex("deleted_at")].Null})
		return nil
	})
	return out, err
}

// exportBytes writes the bytes of files. It can run after the snapshot, because
// the bytes of a file never change.
func (a *App) exportBytes(ctx context.Context, files []backupFile, out *ExportResult, say db.ProgressFunc) error {
	for i := range files {
		f := &files[i]
		_, saved, err := f.saveBytesTo(ctx, a.blobs, filepath.Join(out.Folder, "files", f.id))
		if err != nil {
			return err
		}
		if !saved {
			continue
		}
		if out.Files++; say != nil && out.Files%1000 == 0 {
			say(fmt.Sprintf("files: %d so far", out.Files))
		}
	}
	return nil
}

// organizationWhere is the SQL condition for the rows of a table that belong to the organization $1, or nothing for
// a table of the whole service.
func organizationWhere(r *db.Relation) string {
	if r.HasColumn("organization_id") {
		return "organization_id = $1"
	}
	return db.LifeOfTable(r.Name).BelongsWhere
}

// exportTable writes the rows of one table that belong to an organization, to a file in a folder.
func exportTable(ctx context.Context, s *db.Snapshot, r *db.Relation, org id.ID, folder string) (n int64, err error) {
	f, err := os.OpenFile(filepath.Join(folder, r.Name+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 128<<10)
	var b []byte
	life := db.LifeOfTable(r.Name)
	err = s.EachRow(ctx, r, organizationWhere(r), []any{org}, func(cells []db.Cell) (err error) {
		b = append(b[:0], '{')
		for i, c := range r.Columns {
			if !life.ExportsColumn(c) {
				continue
			}
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(strconv.AppendQuote(b, c.Name), ':')
			if c.Type == db.TypeTime && !cells[i].Null {
				b = clock.Time(cells[i].Int).Std().AppendFormat(append(b, '"'), time.RFC3339Nano)
				b = append(b, '"')
				continue
			}
			if b, err = cells[i].AppendJSON(b, c.Type); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		n++
		_, err = w.Write(append(b, '}', '\n'))
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, errors.Join(w.Flush(), f.Sync())
}

// Package backup copies a whole database into one file and back. The file is the
// same whichever engine made it, and either engine can be restored from it
// (docs/adr/0007). Write makes one, Check reads it through, Restore fills an empty
// database from it, and Compare says whether two hold the same.
//
// The package knows the file and no engine: a db.Snapshot hands it the rows of all
// tables, and db.LoadEmpty takes them. Start reading at Write in this file; the
// reading side is reader.go, and restore.go joins it to a database. The files that
// people uploaded are not in it: package app copies their bytes beside it.
package backup

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
)

// A backup is a gzip file of JSON Lines:
//
//	{"frontdesk":"backup","format":1,"engine":"sqlite","schema":5,"createdAt":"…"}
//	{"table":"organizations","columns":[{"name":"seq","type":"SEQ"},…],"last":0}
//	[1,"6f1c2a34-…",…]
//	…
//	{"end":true,"tables":17,"rows":1234,"sha256":"…"}
//
// A row has numbers, booleans, strings and null. Bytes are base64, and JSON is a
// string. The checksum covers all lines before the last.

// format is the version of the file that this program writes and reads.
const format = 1

// fileHead is the first line.
type fileHead struct {
	Frontdesk string    `json:"frontdesk"` // "backup"
	Format    int       `json:"format"`
	Engine    db.Engine `json:"engine"`
	Schema    int64     `json:"schema"`
	CreatedAt time.Time `json:"createdAt"`
}

// tableHead is the line before a table's rows.
type tableHead struct {
	db.Relation
	Last int64 `json:"last"` // the highest number a row ever had, or 0 if the engine does not remember it
}

// fileEnd is the last line. A file without it was cut off.
type fileEnd struct {
	End    bool   `json:"end"`
	Tables int    `json:"tables"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// Summary describes a backup that was made, checked or restored.
type Summary struct {
	File      string    `json:"file"`
	Engine    db.Engine `json:"engine"` // that it was made from
	Schema    int64     `json:"schema"`
	CreatedAt time.Time `json:"createdAt"`
	Tables    int       `json:"tables"`
	Rows      int64     `json:"rows"`
	Bytes     int64     `json:"bytes"`
	Seconds   float64   `json:"seconds"`
}

// progress counts rows, and tells of them every two seconds.
type progress struct {
	say  db.ProgressFunc
	next time.Time
	rows int64
}

const progressEvery = 2 * time.Second

func newProgress(say db.ProgressFunc) *progress {
	return &progress{say: say, next: time.Now().Add(progressEvery)}
}

// countRow counts one row. It looks at the clock only now and then.
func (p *progress) countRow(verb, table string) {
	p.rows++
	if p.rows%1024 != 0 || p.say == nil {
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(progressEvery)
		p.say(fmt.Sprintf("%s %s: %d rows so far", verb, table, p.rows))
	}
}

// Write writes a consistent copy of an open database to a new file, while the
// database is in use.
func Write(ctx context.Context, d *db.DB, path string, say db.ProgressFunc) (*Summary, error) {
	return writeFile(ctx, d.Snapshot, path, say)
}

// WriteUnopened copies a database that no process has open, or returns db.ErrOwned.
// The schema stays as it is.
func WriteUnopened(ctx context.Context, o db.Options, path string, say db.ProgressFunc) (*Summary, error) {
	if o.URL == "" {
		if _, err := os.Stat(o.Path); err != nil {
			return nil, fmt.Errorf("there is no database to back up: %w", err)
		}
		lock, err := o.LockFile()
		if err != nil {
			return nil, err
		}
		defer lock.Close()
	}
	view := func(ctx context.Context, fn func(*db.Snapshot) error) error { return db.ViewSnapshot(ctx, o, fn) }
	return writeFile(ctx, view, path, say)
}

// writeFile writes what a snapshot has to a new file. view opens the snapshot.
func writeFile(ctx context.Context, view func(context.Context, func(*db.Snapshot) error) error, path string,
	say db.ProgressFunc) (out *Summary, err error) {
	began := time.Now()
	err = view(ctx, func(s *db.Snapshot) (err error) {
		if s.Schema == 0 {
			return errors.New("the database is empty; there is nothing to back up")
		}
		out = &Summary{File: path, Engine: s.Engine, Schema: s.Schema,
			CreatedAt: began.UTC().Truncate(time.Millisecond), Tables: len(s.Tables)}
		out.Bytes, err = createFileDurably(path, func(w io.Writer) (err error) {
			out.Rows, err = writeTables(ctx, s, w, out.CreatedAt, newProgress(say))
			return err
		})
		out.Seconds = time.Since(began).Seconds()
		return err
	})
	return out, err
}

// createFileDurably creates a file that exists completely and durably or not at all, and
// never replaces another.
func createFileDurably(path string, fill func(io.Writer) error) (size int64, err error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, fmt.Errorf("%s already exists; a backup does not overwrite", path)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	temp := filepath.Join(dir, "."+filepath.Base(path)+"."+rand.Text()[:8]+".partial")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer os.Remove(temp)
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if info, e := f.Stat(); e == nil {
		size = info.Size()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	// A link fails if the name is taken; a rename would replace the file.
	if err := os.Link(temp, path); err != nil {
		if _, taken := os.Lstat(path); taken == nil {
			return 0, fmt.Errorf("%s already exists; a backup does not overwrite", path)
		}
		if err := os.Rename(temp, path); err != nil { // a file system without links
			return 0, err
		}
	}
	return size, db.SyncDir(dir)
}

// lineWriter writes lines to a gzip stream and computes their checksum.
type lineWriter struct {
	zip *gzip.Writer
	buf *bufio.Writer
	sum hash.Hash
}

// writeLine writes one line and its end.
func (w *lineWriter) writeLine(b []byte) error {
	b = append(b, '\n')
	w.sum.Write(b)
	_, err := w.buf.Write(b)
	return err
}

// writeJSON writes a value as one line.
func (w *lineWriter) writeJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.writeLine(b)
}

// writeTables writes all tables of the snapshot, and returns how many rows.
func writeTables(ctx context.Context, s *db.Snapshot, out io.Writer, at time.Time, p *progress) (int64, error) {
	// The fastest level: the data is mostly text, and a person or a busy server
	// waits for it.
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return 0, err
	}
	w := &lineWriter{zip, bufio.NewWriterSize(zip, 256<<10), sha256.New()}
	if err := w.writeJSON(fileHead{"backup", format, s.Engine, s.Schema, at}); err != nil {
		return 0, err
	}
	var b []byte
	for i := range s.Tables {
		r := &s.Tables[i]
		last, err := s.LastNumber(ctx, r)
		if err != nil {
			return 0, err
		}
		if err := w.writeJSON(tableHead{*r, last}); err != nil {
			return 0, err
		}
		err = s.EachRow(ctx, r, "", nil, func(cells []db.Cell) (err error) {
			b = append(b[:0], '[')
			for i, c := range cells {
				if i > 0 {
					b = append(b, ',')
				}
				t := r.Columns[i].Type
				if t == db.TypeJSON {
					t = db.TypeText // byte by byte, because a JSON null is not a missing value
				}
				if b, err = c.AppendJSON(b, t); err != nil {
					return fmt.Errorf("%s, row %d: %s: %w", r.Name, cells[0].Int, r.Columns[i].Name, err)
				}
			}
			p.countRow("copying", r.Name)
			return w.writeLine(append(b, ']'))
		})
		if err != nil {
			return 0, err
		}
	}
	end := fileEnd{true, len(s.Tables), p.rows, hex.EncodeToString(w.sum.Sum(nil))}
	if err := w.writeJSON(end); err != nil {
		return 0, err
	}
	if err := w.buf.Flush(); err != nil {
		return 0, err
	}
	return p.rows, zip.Close()
}

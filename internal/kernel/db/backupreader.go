package db

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// backupReader reads a backup line by line. Nothing that it has read is to be
// trusted before nextLine has returned errEnd: only then is the checksum known.
type backupReader struct {
	file  *os.File
	buf   *bufio.Reader
	sum   hash.Hash
	line  []byte // the current one, its end included
	dec   jsontext.Decoder
	head  backupHead
	table *backupTable // of the rows that follow
	count backupEnd    // what was seen so far
}

// maxBackupLine keeps a damaged file from filling the memory.
const maxBackupLine = 256 << 20

// openBackup opens a backup and reads its first line.
func openBackup(path string) (*backupReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &backupReader{file: f, sum: sha256.New()}
	if err := r.begin(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// begin reads the first line, and refuses what is no backup, or one of another
// format.
func (r *backupReader) begin() error {
	zip, err := gzip.NewReader(bufio.NewReaderSize(r.file, 256<<10))
	if err != nil {
		return errors.New("this is not a backup that frontdesk made")
	}
	r.buf = bufio.NewReaderSize(zip, 256<<10)
	if err := r.read(); err != nil {
		return err
	}
	if err := json.Unmarshal(r.line, &r.head); err != nil || r.head.Frontdesk != "backup" {
		return errors.New("this is not a backup that frontdesk made")
	}
	if r.head.Format != backupFormat {
		return fmt.Errorf("the backup has format %d, and this version reads %d; use a newer frontdesk", r.head.Format,
			backupFormat)
	}
	r.sum.Write(r.line)
	return nil
}

func (r *backupReader) release() { r.file.Close() } //nolint:errcheck // it was read

// damaged is the error for a file that is not what was written.
func damaged(why any) error { return fmt.Errorf("the backup is damaged or cut off: %v", why) }

// read takes the next line, its end included.
func (r *backupReader) read() error {
	r.line = r.line[:0]
	for {
		part, err := r.buf.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return damaged(err)
		case len(r.line) > maxBackupLine:
			return damaged("a line has no end")
		}
	}
}

// next reads the next line. more says that it is a row of the current table;
// otherwise it began another table. At the end it returns errEnd, if everything
// read matches the checksum.
func (r *backupReader) next() (more bool, err error) {
	if err := r.read(); err != nil {
		return false, err
	}
	if r.line[0] == '[' {
		r.sum.Write(r.line)
		r.count.Rows++
		if r.table == nil {
			return false, damaged("a row without a table")
		}
		return true, nil
	}
	var mark struct {
		backupTable
		backupEnd
	}
	if err := json.Unmarshal(r.line, &mark); err != nil {
		return false, damaged(err)
	}
	if mark.End {
		return false, r.end(mark.backupEnd)
	}
	r.sum.Write(r.line)
	r.table = &mark.backupTable
	r.count.Tables++
	return false, nil
}

// errEnd says that the whole backup was read and is intact.
var errEnd = errors.New("db: the end of the backup")

// end compares what was read with the last line, and returns errEnd if it is right.
func (r *backupReader) end(said backupEnd) error {
	switch {
	case said.SHA256 != hex.EncodeToString(r.sum.Sum(nil)):
		return damaged("its checksum does not match")
	case said.Rows != r.count.Rows || said.Tables != r.count.Tables:
		return damaged("it does not hold as many rows as it says")
	}
	if _, err := r.buf.ReadByte(); !errors.Is(err, io.EOF) {
		return damaged("there is data after its end")
	}
	return errEnd
}

// values reads the current row, one value per column of the table, as the engine
// binds it.
func (r *backupReader) values(into []any) error {
	r.dec.Reset(bytes.NewReader(r.line))
	if _, err := r.dec.ReadToken(); err != nil {
		return damaged(err)
	}
	for i, c := range r.table.Columns {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return damaged(err)
		}
		into[i] = nil
		switch tok.Kind() {
		case 'n':
		case '0':
			into[i] = tok.Int()
		case 't', 'f':
			into[i] = tok.Bool()
		case '"':
			s := tok.String()
			into[i] = s
			if c.Type == WordBytes {
				b, err := base64.StdEncoding.DecodeString(s)
				if err != nil {
					return damaged(err)
				}
				into[i] = b
			}
		default:
			return damaged("a row has an unexpected value")
		}
	}
	if tok, err := r.dec.ReadToken(); err != nil || tok.Kind() != ']' {
		return damaged("a row has the wrong length")
	}
	return nil
}

// BackupRows passes each row of one table to fn, by the names of its columns. It
// reads the whole backup and returns an error if it is damaged, but only after fn
// has seen the rows. The map is reused for the next row.
func BackupRows(path, table string, fn func(row map[string]any) error) error {
	r, err := openBackup(path)
	if err != nil {
		return err
	}
	defer r.release()
	row := map[string]any{}
	for {
		more, err := r.next()
		switch {
		case errors.Is(err, errEnd):
			return nil
		case err != nil:
			return err
		case !more || r.table.Name != table:
			continue
		}
		values := make([]any, len(r.table.Columns))
		if err := r.values(values); err != nil {
			return err
		}
		for i, c := range r.table.Columns {
			row[c.Name] = values[i]
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// CheckBackup reads a whole backup, whose checksum must match, and describes it.
func CheckBackup(path string) (*Summary, error) {
	r, err := openBackup(path)
	if err != nil {
		return nil, err
	}
	defer r.release()
	for err == nil {
		_, err = r.next()
	}
	if !errors.Is(err, errEnd) {
		return nil, err
	}
	info, err := r.file.Stat()
	if err != nil {
		return nil, err
	}
	return &Summary{File: path, Engine: r.head.Engine, Schema: r.head.Schema, CreatedAt: r.head.CreatedAt,
		Tables: r.count.Tables, Rows: r.count.Rows, Bytes: info.Size()}, nil
}

// SameRows returns where two backups differ, or nil. What they say about
// themselves, such as their time and engine, does not count.
func SameRows(a, b string) error {
	one, err := openBackup(a)
	if err != nil {
		return err
	}
	defer one.release()
	two, err := openBackup(b)
	if err != nil {
		return err
	}
	defer two.release()
	for {
		more, err := one.next()
		other, err2 := two.next()
		switch {
		case errors.Is(err, errEnd) && errors.Is(err2, errEnd):
			return nil
		case errors.Is(err, errEnd) || errors.Is(err2, errEnd):
			return fmt.Errorf("one has more rows than the other: %d and %d", one.count.Rows, two.count.Rows)
		case err != nil || err2 != nil:
			return errors.Join(err, err2)
		case more != other || !more && one.table.Name != two.table.Name:
			return fmt.Errorf("they differ in the number of rows of %s", one.table.Name)
		case more && !bytes.Equal(one.line, two.line):
			return fmt.Errorf("they differ in row %d of %s", one.count.Rows, one.table.Name)
		}
	}
}

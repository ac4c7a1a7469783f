package backup

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

	"frontdesk/internal/kernel/db"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reader reads a backup line by line. Nothing that it has read is to be
// trusted before nextLine has returned errEnd: only then is the checksum known.
type reader struct {
	file  *os.File
	buf   *bufio.Reader
	sum   hash.Hash
	line  []byte // the current one, its end included
	dec   jsontext.Decoder
	head  fileHead
	table *tableHead // of the rows that follow
	count fileEnd    // what was seen so far
}

// maxLine keeps a damaged file from filling the memory.
const maxLine = 256 << 20

// openFile opens a backup and reads its first line.
func openFile(path string) (*reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &reader{file: f, sum: sha256.New()}
	if err := r.readHead(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// readHead reads the first line, and refuses what is no backup, or one of another
// format.
func (r *reader) readHead() error {
	zip, err := gzip.NewReader(bufio.NewReaderSize(r.file, 256<<10))
	if err != nil {
		return errors.New("this is not a backup that frontdesk made")
	}
	r.buf = bufio.NewReaderSize(zip, 256<<10)
	if err := r.readLine(); err != nil {
		return err
	}
	if err := json.Unmarshal(r.line, &r.head); err != nil || r.head.Frontdesk != "backup" {
		return errors.New("this is not a backup that frontdesk made")
	}
	if r.head.Format != format {
		return fmt.Errorf("the backup has format %d, and this version reads %d; use a newer frontdesk", r.head.Format,
			format)
	}
	r.sum.Write(r.line)
	return nil
}

func (r *reader) closeFile() { r.file.Close() } //nolint:errcheck // it was read

// damagedError is the error for a file that is not what was written.
func damagedError(why any) error { return fmt.Errorf("the backup is damaged or cut off: %v", why) }

// readLine takes the next line, its end included.
func (r *reader) readLine() error {
	r.line = r.line[:0]
	for {
		part, err := r.buf.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return damagedError(err)
		case len(r.line) > maxLine:
			return damagedError("a line has no end")
		}
	}
}

// nextLine reads the next line. more says that it is a row of the current table;
// otherwise it began another table. At the end it returns errEnd, if everything
// read matches the checksum.
func (r *reader) nextLine() (more bool, err error) {
	if err := r.readLine(); err != nil {
		return false, err
	}
	if r.line[0] == '[' {
		r.sum.Write(r.line)
		r.count.Rows++
		if r.table == nil {
			return false, damagedError("a row without a table")
		}
		return true, nil
	}
	var mark struct {
		tableHead
		fileEnd
	}
	if err := json.Unmarshal(r.line, &mark); err != nil {
		return false, damagedError(err)
	}
	if mark.End {
		return false, r.checkEnd(mark.fileEnd)
	}
	r.sum.Write(r.line)
	r.table = &mark.tableHead
	r.count.Tables++
	return false, nil
}

// errEnd says that the whole backup was read and is intact.
var errEnd = errors.New("backup: the end of the file")

// checkEnd compares what was read with the last line, and returns errEnd if it is right.
func (r *reader) checkEnd(said fileEnd) error {
	switch {
	case said.SHA256 != hex.EncodeToString(r.sum.Sum(nil)):
		return damagedError("its checksum does not match")
	case said.Rows != r.count.Rows || said.Tables != r.count.Tables:
		return damagedError("it does not hold as many rows as it says")
	}
	if _, err := r.buf.ReadByte(); !errors.Is(err, io.EOF) {
		return damagedError("there is data after its end")
	}
	return errEnd
}

// rowValues reads the current row, one value per column of the table, as the engine
// binds it.
func (r *reader) rowValues(into []any) error {
	r.dec.Reset(bytes.NewReader(r.line))
	if _, err := r.dec.ReadToken(); err != nil {
		return damagedError(err)
	}
	for i, c := range r.table.Columns {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return damagedError(err)
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
			if c.Type == db.TypeBytes {
				b, err := base64.StdEncoding.DecodeString(s)
				if err != nil {
					return damagedError(err)
				}
				into[i] = b
			}
		default:
			return damagedError("a row has an unexpected value")
		}
	}
	if tok, err := r.dec.ReadToken(); err != nil || tok.Kind() != ']' {
		return damagedError("a row has the wrong length")
	}
	return nil
}

// EachRow passes each row of one table to fn, by the names of its columns. It
// reads the whole backup and returns an error if it is damaged, but only after fn
// has seen the rows. The map is reused for the next row.
func EachRow(path, table string, fn func(row map[string]any) error) error {
	r, err := openFile(path)
	if err != nil {
		return err
	}
	defer r.closeFile()
	row := map[string]any{}
	for {
		more, err := r.nextLine()
		switch {
		case errors.Is(err, errEnd):
			return nil
		case err != nil:
			return err
		case !more || r.table.Name != table:
			continue
		}
		values := make([]any, len(r.table.Columns))
		if err := r.rowValues(values); err != nil {
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

// Check reads a whole backup, whose checksum must match, and describes it.
func Check(path string) (*Summary, error) {
	r, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer r.closeFile()
	for err == nil {
		_, err = r.nextLine()
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

// Compare returns where two backups differ, or nil. What they say about
// themselves, such as their time and engine, does not count.
func Compare(a, b string) error {
	one, err := openFile(a)
	if err != nil {
		return err
	}
	defer one.closeFile()
	two, err := openFile(b)
	if err != nil {
		return err
	}
	defer two.closeFile()
	for {
		more, err := one.nextLine()
		other, err2 := two.nextLine()
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

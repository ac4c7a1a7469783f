package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
)

// chunksOf reads a file of contacts, and returns its import and the bytes of each chunk.
func chunksOf(t *testing.T, text string) (v *Import, sizes, lines []int) {
	t.Helper()
	r, err := newRecordReader(strings.NewReader(text), "contacts", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	v = &Import{}
	err = eachChunk(v, r, v.addFailure, func(rows []row) error {
		chunk, err := json.Marshal(rows)
		sizes = append(sizes, len(chunk))
		for _, one := range rows {
			lines = append(lines, one.Line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v, sizes, lines
}

// A row that no operation takes is refused while the file is read: a job reads whole
// chunks, and a control character has six bytes there.
func TestLargeRows(t *testing.T) {
	v, sizes, _ := chunksOf(t, strings.Repeat("BEGIN:VCARD\nFN:Ada\nNOTE:"+
		strings.Repeat(strings.Repeat("\x01", 60000)+"\n ", 17)+"\nEND:VCARD\n", 16))
	for _, n := range sizes {
		if n > 8<<20 {
			t.Errorf("a chunk has %d bytes", n)
		}
	}
	if v.Counts.Total != 16 || v.Counts.Failed != 16 || len(v.Errors) != 16 {
		t.Fatalf("%+v, %d errors", v.Counts, len(v.Errors))
	}
	if e := v.Errors[0]; e.Line != 1 || !strings.Contains(e.Message, "shorten") {
		t.Errorf("%+v", e)
	}
}

// A chunk ends by its bytes as well, and no row is lost or moved.
func TestChunkBytes(t *testing.T) {
	const n = 60
	v, sizes, lines := chunksOf(t, "firstName,notes\n"+strings.Repeat("Ada,"+strings.Repeat("n", 60_000)+"\n", n))
	if v.Counts.Total != n || v.Counts.Failed != 0 || len(lines) != n {
		t.Fatalf("%+v, %d rows", v.Counts, len(lines))
	}
	for i, line := range lines {
		if line != i+2 {
			t.Fatalf("row %d is of line %d", i, line)
		}
	}
	for _, size := range sizes {
		if size > chunkBytes+maxRowBytes {
			t.Errorf("a chunk has %d bytes", size)
		}
	}
}

// What is kept until the end of a file is bounded.
func TestManyEmails(t *testing.T) {
	r, err := newRecordReader(strings.NewReader("name,email\nAda,ada@example.com\n"), "contacts", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(maxRowKeys) {
		r.seen[i] = 1
	}
	if _, _, err := r.nextRow(); !fault.IsKind(err, Unreadable) {
		t.Error(err)
	}
}

// Who hangs up ends the reading.
func TestHangUp(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	text := cancelableReader{ctx, strings.NewReader("name\n" + strings.Repeat("Ada\n", readAheadBytes))}
	r, err := newRecordReader(text, "contacts", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	hangUp()
	for err == nil {
		_, _, err = r.nextRow()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v after %d records", err, r.records)
	}
}

// until repeats what a function writes until there are n bytes.
func until(n int, write func(b *strings.Builder, i int)) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		write(&b, i)
	}
	return b.String()
}

// Reading takes time with the length of a record, not with its square.
func TestReadingTime(t *testing.T) {
	for name, text := range map[string]string{
		"cell": "name,email\nAda,\"" + until(65_000, func(b *strings.Builder, i int) { fmt.Fprintf(b, "%x,", i) }) +
			"\"\n",
		"card": "BEGIN:VCARD\nFN:Ada\n" + until(256<<10, func(b *strings.Builder, i int) {
			b.WriteString("EMAIL:")
			for j := range 1000 {
				fmt.Fprintf(b, "%x.%x,", i, j)
			}
			b.WriteString("\n")
		}) + "END:VCARD\n",
		"equal emails": "BEGIN:VCARD\nFN:Ada\n" + until(256<<10, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "EMAIL:%d\n", i%90)
		}) + "END:VCARD\n",
		"continued": "BEGIN:VCARD\nFN:Ada\nQUOTED-PRINTABLE" + strings.Repeat("x", 60000) + "=\n" +
			strings.Repeat("=\n", 100_000) + "END:VCARD\n",
		"folded": "BEGIN:VCARD\nFN:Ada\n" + strings.Repeat("x", 60000) + "=\n" + strings.Repeat(" =\n", 100_000) +
			"END:VCARD\n",
	} {
		t.Run(name, func(t *testing.T) {
			cputest.CheckWithin(t, len(text), func() {
				r, err := newRecordReader(strings.NewReader(text), "contacts", nil, false)
				for err == nil {
					_, _, err = r.nextRow()
				}
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
			})
		})
	}
}

// A name that is folded is still known as quoted-printable.
func TestFoldedName(t *testing.T) {
	r, err := newRecordReader(strings.NewReader("BEGIN:VCARD\nN;ENCODING=QUOTED-\n "+
		"PRINTABLE:M=C3=BCller;J=C3=BC=\nrgen\n"+
		"END:VCARD\n"), "contacts", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if one, issue, err := r.nextRow(); err != nil || issue != nil ||
		string(one.Row) != `{"firstName":"Jürgen","lastName":"Müller"}` {
		t.Errorf("%s, %v, %v", one.Row, issue, err)
	}
}

package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxRecord is how long a record may be, in bytes. If a quote is not closed by
	// then, only the first line is given up, and reading goes on with the second.
	maxRecord  = 64 << 10
	maxColumns = 500

	readAheadBytes = 1 << 20
)

// record is one entry of a file.
type record struct {
	line  int // where it begins, from 1
	cells []string
	issue string // what is wrong with it as a whole, or empty
}

// decodeText reads a file as UTF-8, without a byte order mark. UTF-16 is recognized
// by its mark and converted.
func decodeText(r io.Reader) *bufio.Reader {
	buffered := bufio.NewReaderSize(r, readAheadBytes)
	head, _ := buffered.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		buffered.Discard(3) //nolint:errcheck // it was peeked at
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		text := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
		return bufio.NewReaderSize(transform.NewReader(buffered, text), readAheadBytes)
	}
	return buffered
}

// csvReader reads records one by one. A malformed record gets an issue, and
// reading goes on after it. encoding/csv is not used because it would lose
// everything after a quote that is not closed.
type csvReader struct {
	r         *bufio.Reader
	separator byte
	line      int // of the next record
}

// newCSVReader makes a reader, with the separator that occurs most in the first line.
func newCSVReader(r *bufio.Reader) *csvReader {
	head, _ := r.Peek(maxRecord)
	if end := bytes.IndexAny(head, "\r\n"); end >= 0 {
		head = head[:end]
	}
	c := &csvReader{r: r, separator: ',', line: 1}
	most, quoted := 0, false
	count := map[byte]int{}
	for _, b := range head {
		if b == '"' {
			quoted = !quoted
		} else if !quoted && strings.IndexByte(",;\t|", b) >= 0 {
			if count[b]++; count[b] > most {
				most, c.separator = count[b], b
			}
		}
	}
	return c
}

// nextRecord reads the next record that is not empty. io.EOF is the end.
func (c *csvReader) nextRecord() (record, error) {
	for {
		head, err := c.r.Peek(maxRecord)
		if len(head) == 0 {
			if err == nil || errors.Is(err, bufio.ErrBufferFull) {
				err = io.ErrNoProgress
			}
			return record{}, err
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return record{}, err
		}
		rec := record{line: c.line}
		var length, lines int
		rec.cells, length, lines, rec.issue = c.parseRecord(head)
		if rec.issue != "" {
			length, lines = c.firstLineLength(head), 1
		}
		if rec.issue == "" {
			rec.issue = textIssue(head[:length])
		}
		if _, err := c.r.Discard(length); err != nil {
			return record{}, err
		}
		if c.line += lines; lines == 1 && length == len(head) && len(head) == maxRecord {
			if err := c.skipRestOfLine(); err != nil {
				return record{}, err
			}
		}
		if rec.issue != "" || !rec.isBlank() {
			return rec, nil
		}
	}
}

// skipRestOfLine skips what is left of a line that is too long.
func (c *csvReader) skipRestOfLine() error {
	for {
		head, err := c.r.Peek(maxRecord)
		if len(head) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		n := c.firstLineLength(head)
		if _, err := c.r.Discard(n); err != nil {
			return err
		}
		if b := head[n-1]; b == '\n' || b == '\r' {
			return nil
		}
	}
}

// firstLineLength is the length of the first line, its end included.
func (c *csvReader) firstLineLength(head []byte) int {
	i := bytes.IndexAny(head, "\r\n")
	switch {
	case i < 0:
		return len(head)
	case head[i] == '\r' && i+1 < len(head) && head[i+1] == '\n':
		return i + 2
	}
	return i + 1
}

// textIssue says why a record cannot be text.
func textIssue(text []byte) string {
	switch {
	case !utf8.Valid(text):
		return "The line is not UTF-8; save the file with that encoding"
	case bytes.IndexByte(text, 0) >= 0:
		return "The line has a null character"
	}
	return ""
}

func (r *record) isBlank() bool {
	for _, s := range r.cells {
		if strings.TrimSpace(s) != "" {
			return false
		}
	}
	return true
}

// parseRecord reads a record at the beginning of a text: its cells, its length with the
// end of the line, and how many lines it has.
func (c *csvReader) parseRecord(text []byte) (cells []string, length, lines int, issue string) {
	at := 0
	lines = 1
	for {
		if len(cells) == maxColumns {
			return nil, 0, 0, fmt.Sprintf("The line has more than %d columns", maxColumns)
		}
		var cell string
		if at < len(text) && text[at] == '"' {
			n, ends, ok := 0, 0, false
			if cell, n, ends, ok = parseQuotedCell(text[at:]); !ok {
				return nil, 0, 0, "A quote is not closed"
			}
			at, lines = at+n, lines+ends
			if at < len(text) && text[at] != c.separator && text[at] != '\r' && text[at] != '\n' {
				return nil, 0, 0, "A quote is in the wrong place"
			}
		} else {
			end := at
			for end < len(text) && text[end] != c.separator && text[end] != '\r' && text[end] != '\n' {
				end++
			}
			cell, at = string(text[at:end]), end
		}
		cells = append(cells, cell)
		switch {
		case at == len(text) && at == maxRecord:
			return nil, 0, 0, fmt.Sprintf("The line is longer than %d bytes", maxRecord)
		case at == len(text):
			return cells, at, lines, ""
		case text[at] == c.separator:
			at++
		default:
			return cells, at + c.firstLineLength(text[at:]), lines, ""
		}
	}
}

// parseQuotedCell reads a cell in quotes at the beginning of a text: its content, its
// length and how many line ends are in it.
func parseQuotedCell(text []byte) (cell string, length, ends int, ok bool) {
	var out []byte
	for i := 1; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"' && i+1 < len(text) && text[i+1] == '"':
			i++
			out = append(out, b)
		case b == '"':
			return string(out), i + 1, ends, true
		case b == '\n' || b == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			ends++
			out = append(out, '\n')
		case b != '\r':
			out = append(out, b)
		}
	}
	return "", 0, 0, false
}

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxRecords is how many records a file may have.
	maxRecords = 500_000
	// maxMalformed is how many records may be malformed before the file is refused:
	// it is no CSV then, and each malformed record costs time.
	maxMalformed = 10_000
	// maxRow is how long a record may be as JSON, in bytes; real ones are far
	// shorter.
	maxRowBytes = 128 << 10
	// maxSeen is how many emails and externalIds a file may have: they are kept in
	// memory until its end.
	maxRowKeys = 2_000_000
)

// row is a record as it is stored in a chunk. Its keys are short, because there
// may be half a million of them.
type row struct {
	Line int            `json:"l"`
	Row  jsontext.Value `json:"r"`
	// Earlier are the lines before it that have the same externalId or email. If one
	// of them is imported, this one is refused.
	Earlier []earlierLine `json:"e,omitempty"`
}

// earlierLine is an earlier line and the field in which it says the same.
type earlierLine struct {
	Line  int    `json:"l"`
	Field string `json:"f"`
}

// recordReader reads the records of a file.
type recordReader struct {
	noun       noun
	objectType string
	ignored    []string
	columns    []Column // of a CSV
	records    int
	malformed  int
	seen       map[uint64]int   // the first line of each externalId and email, by their hash
	laterLines map[uint64][]int // the further lines
	seed       maphash.Seed
	read       func() (line int, values []fieldValue, issue *Issue, err error)
}

// cancelableReader stops reading a file when the request is canceled: nobody waits for the
// answer any more.
type cancelableReader struct {
	ctx context.Context
	io.Reader
}

func (h cancelableReader) Read(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.Reader.Read(p)
}

// newRecordReader recognizes whether a file is vCard or CSV, and reads the headings of
// a CSV. dry says that nothing will be stored.
func newRecordReader(r io.Reader, objectType string, mapping map[string]*string, dry bool) (*recordReader, error) {
	out := &recordReader{noun: nouns[objectType], objectType: objectType, ignored: []string{},
		seen: map[uint64]int{}, laterLines: map[uint64][]int{}, seed: maphash.MakeSeed()}
	text := decodeText(r)
	if isVCard(text) {
		cards := &cardReader{r: text}
		out.read = func() (int, []fieldValue, *Issue, error) {
			v, err := cards.nextCard()
			if err != nil {
				return 0, nil, nil, err
			}
			if v.issue != "" {
				return v.line, nil, &Issue{Line: v.line, Message: v.issue}, nil
			}
			return v.line, v.fieldValues(objectType), nil, nil
		}
		return out, nil
	}
	lines := newCSVReader(text)
	head, err := lines.nextRecord()
	switch {
	case errors.Is(err, io.EOF):
		return nil, Unreadable.Say("The file is empty.")
	case err != nil:
		return nil, err
	case head.issue != "":
		return nil, Unreadable.Say("The first line, which has the headings, cannot be read: %s.",
			strings.ToLower(head.issue[:1])+head.issue[1:])
	}
	// A dry run tells the columns also where none is known, so that somebody can say what they are.
	fields, ignored, err := out.noun.assignColumns(head.cells, mapping, dry && mapping == nil)
	if err != nil {
		return nil, err
	}
	out.ignored = ignored
	out.setColumns(head.cells, fields)
	out.read = func() (int, []fieldValue, *Issue, error) {
		rec, err := lines.nextRecord()
		if err != nil {
			return 0, nil, nil, err
		}
		if rec.issue == "" && len(rec.cells) != len(fields) {
			rec.issue = fmt.Sprintf("The line has %d columns; the first line has %d", len(rec.cells), len(fields))
		}
		if rec.issue != "" {
			return rec.line, nil, &Issue{Line: rec.line, Message: rec.issue}, nil
		}
		values := make([]fieldValue, 0, len(fields))
		for i, f := range fields {
			out.columns[i].sample(rec.cells[i])
			if f != "" {
				values = append(values, fieldValue{f, rec.cells[i]})
			}
		}
		return rec.line, values, nil, nil
	}
	return out, nil
}

// setColumns notes the columns of a CSV and the fields that they are.
func (r *recordReader) setColumns(headings, fields []string) {
	r.columns = make([]Column, len(headings))
	for i, h := range headings {
		r.columns[i] = Column{Heading: h, Samples: []string{}}
		if fields[i] != "" {
			r.columns[i].Field = &fields[i]
		}
	}
}

// sample counts a cell of the column, and keeps the first values.
func (c *Column) sample(cell string) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return
	}
	c.Filled++
	if text := cut.Ellipsis(cell, 60); len(c.Samples) < 3 && !slices.Contains(c.Samples, text) {
		c.Samples = append(c.Samples, text)
	}
}

// countRefused counts a record that is refused for a field, in the columns of that field.
func (r *recordReader) countRefused(field *string) {
	for i := range r.columns {
		f := r.columns[i].Field
		if field != nil && f != nil && (*f == *field || r.noun.fields[*f] == *field) {
			r.columns[i].Refused++
		}
	}
}

// nextRow reads a record, or says what is wrong with it. io.EOF is the end.
func (r *recordReader) nextRow() (row, *Issue, error) {
	line, values, issue, err := r.read()
	if err != nil {
		return row{}, nil, err
	}
	if r.records++; r.records > maxRecords {
		return row{}, nil, Unreadable.Say("The file has more than %d records. Split it.", maxRecords)
	}
	if issue != nil {
		if r.malformed++; r.malformed > maxMalformed {
			return row{}, nil, Unreadable.Say("More than %d lines cannot be read, the last is line %d: %s.",
				maxMalformed, line, issue.Message)
		}
		return row{}, issue, nil
	}
	text, err := r.noun.buildRow(values)
	if err != nil {
		return row{}, nil, fmt.Errorf("transfer: line %d: %w", line, err)
	}
	if len(text) > maxRowBytes {
		return row{}, &Issue{Line: line, Message: fmt.Sprintf(
			"The record is longer than %d bytes as JSON; shorten its longest texts", maxRowBytes)}, nil
	}
	if bytes.Equal(text, []byte("{}")) {
		return row{}, &Issue{Line: line, Message: "The record has no value that is used"}, nil
	}
	var keys rowKeys
	if err := json.Unmarshal(text, &keys); err != nil {
		return row{}, nil, fmt.Errorf("transfer: line %d: %w", line, err)
	}
	earlier := r.findEarlierLines(line, &keys)
	if len(r.seen) > maxRowKeys {
		return row{}, nil, Unreadable.Say("The file has more than %d emails and externalIds. Split it.", maxRowKeys)
	}
	return row{line, text, earlier}, nil, nil
}

// rowKeys are the values by which a row is matched with an existing record.
type rowKeys struct {
	ExternalID string  `json:"externalId"`
	Emails     []email `json:"emails"`
}

type email struct {
	Email string `json:"email"`
}

// maxEarlier is how many earlier lines with the same key are remembered, besides
// the first.
const maxEarlier = 100

// findEarlierLines finds the lines before this one that have the same externalId or
// email. Nobody can tell which of them is right, so only the first that is valid
// is imported.
func (r *recordReader) findEarlierLines(line int, k *rowKeys) (earlier []earlierLine) {
	note := func(field, text string) {
		hash := maphash.String(r.seed, field+" "+text)
		first, ok := r.seen[hash]
		if !ok {
			r.seen[hash] = line
			return
		}
		for _, l := range append([]int{first}, r.laterLines[hash]...) {
			if l != line {
				earlier = append(earlier, earlierLine{l, field})
			}
		}
		if len(r.laterLines[hash]) < maxEarlier {
			r.laterLines[hash] = append(r.laterLines[hash], line)
		}
	}
	if k.ExternalID != "" {
		note("externalId", k.ExternalID)
	}
	for _, e := range k.Emails {
		note("email", db.FoldText(e.Email))
	}
	return earlier
}

// refusedLines are the lines of rows that were refused. The errors of an import do not
// say that: only the first of them are kept.
type refusedLines map[int]bool

// repeatIssue returns the issue of a record that has the same key as an earlier one,
// or nil. An earlier line that was itself refused does not count.
func (refused refusedLines) repeatIssue(r *row) *Issue {
	for _, e := range r.Earlier {
		if !refused[e.Line] {
			return &Issue{Line: r.Line, Field: &e.Field, Values: keptValues(r),
				Message: fmt.Sprintf("Line %d has the same %s; only that one is imported", e.Line, e.Field)}
		}
	}
	return nil
}

// issueOfError turns the refusal of an operation into the issue of a line.
func issueOfError(r *row, err error) Issue {
	f := fault.FromError(err)
	i := Issue{Line: r.Line, Values: keptValues(r), Message: cut.Ellipsis(f.Sentence(), 500)}
	if tree, ok := f.Details.(*fault.Tree); ok {
		if at, issue := tree.First(); issue != "" {
			i.Message = cut.Ellipsis(issue, 500)
			// emails[0].email is the column email.
			at = at[strings.LastIndexByte(at, '.')+1:]
			if at, _, _ = strings.Cut(at, "["); at != "" {
				i.Field = &at
			}
		}
	}
	return i
}

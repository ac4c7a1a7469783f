package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

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
	maxRow = 128 << 10
	// maxSeen is how many emails and externalIds a file may have: they are kept in
	// memory until its end.
	maxSeen = 2_000_000
)

// row is a record as it is stored in a chunk. Its keys are short, because there
// may be half a million of them.
type row struct {
	Line int            `json:"l"`
	Row  jsontext.Value `json:"r"`
	// Earlier are the lines before it that have the same externalId or email. If one
	// of them is imported, this one is refused.
	Earlier []sameAs `json:"e,omitempty"`
}

// sameAs is an earlier line and the field in which it says the same.
type sameAs struct {
	Line  int    `json:"l"`
	Field string `json:"f"`
}

// reader reads the records of a file.
type reader struct {
	noun       noun
	objectType string
	ignored    []string
	records    int
	malformed  int
	seen       map[uint64]int   // the first line of each externalId and email, by their hash
	again      map[uint64][]int // the further lines
	seed       maphash.Seed
	read       func() (line int, values []value, issue *Issue, err error)
}

// heard stops reading a file when the request is canceled: nobody waits for the
// answer any more.
type heard struct {
	ctx context.Context
	io.Reader
}

func (h heard) Read(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.Reader.Read(p)
}

// newReader recognizes whether a file is vCard or CSV, and reads the headings of
// a CSV.
func newReader(r io.Reader, objectType string, mapping map[string]*string) (*reader, error) {
	out := &reader{noun: nouns[objectType], objectType: objectType, ignored: []string{},
		seen: map[uint64]int{}, again: map[uint64][]int{}, seed: maphash.MakeSeed()}
	text := decoded(r)
	if isCard(text) {
		cards := &cardReader{r: text}
		out.read = func() (int, []value, *Issue, error) {
			v, err := cards.next()
			if err != nil {
				return 0, nil, nil, err
			}
			if v.issue != "" {
				return v.line, nil, &Issue{Line: v.line, Message: v.issue}, nil
			}
			return v.line, v.values(objectType), nil, nil
		}
		return out, nil
	}
	lines := newCSV(text)
	head, err := lines.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, Unreadable.Say("The file is empty.")
	case err != nil:
		return nil, err
	case head.issue != "":
		return nil, Unreadable.Say("The first line, which has the headings, cannot be read: %s.",
			strings.ToLower(head.issue[:1])+head.issue[1:])
	}
	fields, ignored, err := out.noun.assign(head.cells, mapping)
	if err != nil {
		return nil, err
	}
	out.ignored = ignored
	out.read = func() (int, []value, *Issue, error) {
		rec, err := lines.next()
		if err != nil {
			return 0, nil, nil, err
		}
		if rec.issue == "" && len(rec.cells) != len(fields) {
			rec.issue = fmt.Sprintf("The line has %d columns; the first line has %d", len(rec.cells), len(fields))
		}
		if rec.issue != "" {
			return rec.line, nil, &Issue{Line: rec.line, Message: rec.issue}, nil
		}
		values := make([]value, 0, len(fields))
		for i, f := range fields {
			if f != "" {
				values = append(values, value{f, rec.cells[i]})
			}
		}
		return rec.line, values, nil, nil
	}
	return out, nil
}

// next reads a record, or says what is wrong with it. io.EOF is the end.
func (r *reader) next() (row, *Issue, error) {
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
	text, err := r.noun.row(values)
	if err != nil {
		return row{}, nil, fmt.Errorf("transfer: line %d: %w", line, err)
	}
	if len(text) > maxRow {
		return row{}, &Issue{Line: line, Message: fmt.Sprintf(
			"The record is longer than %d bytes as JSON; shorten its longest texts", maxRow)}, nil
	}
	if bytes.Equal(text, []byte("{}")) {
		return row{}, &Issue{Line: line, Message: "The record has no value that is used"}, nil
	}
	var keys rowKeys
	if err := json.Unmarshal(text, &keys); err != nil {
		return row{}, nil, fmt.Errorf("transfer: line %d: %w", line, err)
	}
	earlier := r.repeated(line, &keys)
	if len(r.seen) > maxSeen {
		return row{}, nil, Unreadable.Say("The file has more than %d emails and externalIds. Split it.", maxSeen)
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

// repeated finds the lines before this one that have the same externalId or
// email. Nobody can tell which of them is right, so only the first that is valid
// is imported.
func (r *reader) repeated(line int, k *rowKeys) (earlier []sameAs) {
	note := func(field, text string) {
		hash := maphash.String(r.seed, field+" "+text)
		first, ok := r.seen[hash]
		if !ok {
			r.seen[hash] = line
			return
		}
		for _, l := range append([]int{first}, r.again[hash]...) {
			if l != line {
				earlier = append(earlier, sameAs{l, field})
			}
		}
		if len(r.again[hash]) < maxEarlier {
			r.again[hash] = append(r.again[hash], line)
		}
	}
	if k.ExternalID != "" {
		note("externalId", k.ExternalID)
	}
	for _, e := range k.Emails {
		note("email", db.Fold(e.Email))
	}
	return earlier
}

// repeats returns the issue of a record that has the same key as an earlier one,
// or nil. An earlier line that was itself refused does not count.
func (v *Import) repeats(r *row) *Issue {
	for _, e := range r.Earlier {
		_, refused := slices.BinarySearchFunc(v.Errors, e.Line, func(i Issue, line int) int {
			return cmp.Compare(i.Line, line)
		})
		if !refused {
			return &Issue{Line: r.Line, Field: &e.Field,
				Message: fmt.Sprintf("Line %d has the same %s; only that one is imported", e.Line, e.Field)}
		}
	}
	return nil
}

// issueOf turns the refusal of an operation into the issue of a line.
func issueOf(line int, err error) Issue {
	f := fault.Of(err)
	i := Issue{Line: line, Message: clip(f.Sentence(), 500)}
	if tree, ok := f.Details.(*fault.Tree); ok {
		if at, issue := tree.First(); issue != "" {
			i.Message = clip(issue, 500)
			// emails[0].email is the column email.
			at = at[strings.LastIndexByte(at, '.')+1:]
			if at, _, _ = strings.Cut(at, "["); at != "" {
				i.Field = &at
			}
		}
	}
	return i
}

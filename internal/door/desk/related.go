package desk

import (
	"net/url"
	"slices"

	"frontdesk/internal/kernel/id"
)

// Related shows the newest rows of another noun that belong to an object: those
// that a filter of that noun's list finds. It is left out when there are none,
// unless lead says what could be here.
func Related[T Row](head, path, filter, lead string) Part[T] {
	return func(v *Visit, row *T) (*Section, error) {
		return v.Related(head, path, Fields{filter: (*row).RowID()}, url.Values{filter: {string((*row).RowID())}}, lead)
	}
}

// linesData is what the template "lines" shows.
type linesData struct {
	Lines       []Line
	Empty, Lead string
}

// relatedRows is how many rows of another noun an object's page shows.
const relatedRows = 5

// Related is a section with rows of a noun, and the address of the list that has
// all of them. It panics on a path that no noun has: the section would silently never
// be there.
func (v *Visit) Related(head, path string, in Fields, all url.Values, lead string) (*Section, error) {
	if v.noun(path) == nil {
		panic("desk: the section " + head + " shows rows of " + path + ", but no noun with this path was added")
	}
	in["limit"] = relatedRows
	rows, page, err := v.Lines(path, in)
	if err != nil || len(rows) == 0 && lead == "" {
		return nil, err
	}
	s := &Section{Head: head, Name: "lines", Data: linesData{Lines: rows, Lead: lead}}
	if page.Total != nil {
		s.Count = thousands(*page.Total)
	}
	if len(rows) > 0 {
		s.All = address("/"+path, all)
	}
	return s, nil
}

// MayTag is the bulk action that adds a tag, for nouns that have tags.
func MayTag[T Row](tags func(*T) []string) Bulk[T] {
	return Bulk[T]{Key: "tag", Word: "Tag", Icon: "tag", Ask: "Tag", Done: "tagged",
		Change: func(row *T, text string) Fields {
			if text == "" || slices.Contains(tags(row), text) {
				return nil
			}
			return Fields{"tags": append(append([]string{}, tags(row)...), text)}
		}}
}

var _ = AddDoneTexts(map[string]string{"tagged": "Tagged."})

// IDOrEmpty is the id of a pointer, or nothing.
func IDOrEmpty(ref *id.ID) id.ID {
	if ref == nil {
		return ""
	}
	return *ref
}

// PlainTable is a small table: the last column is at the right. The template is
// "plain-table".
type PlainTable struct {
	Heads []string
	Rows  [][]Cell
	Empty string
}

// Last reports whether a column is the last.
func (t PlainTable) Last(i int) bool { return i == len(t.Heads)-1 }

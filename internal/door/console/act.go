package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
)

// fields is the input of an operation.
type fields = desk.Fields

// desk is the visit as the parts of the desk see it.
func (v *visit) desk() *desk.Visit {
	if v.inDesk == nil {
		v.inDesk = &desk.Visit{Desk: v.Desk, W: v.w, R: v.r, ID: v.id, Session: v.session, Caller: v.caller}
	}
	return v.inDesk
}

// do runs an operation for the visitor and reads its data into out, which may
// be nil.
func (v *visit) do(operation string, input fields, out any) error {
	return v.desk().Do(operation, input, out)
}

// may reports whether the visitor may run an operation.
func (v *visit) may(operation string) bool { return v.desk().May(operation) }

// sheet is one page of a list, with links to its neighbours.
type sheet[T any] struct {
	Rows           []T
	Earlier, Later string // links; empty at the ends
}

const sheetRows = 50

// listPage lists the rows of the page whose number is in the address. A page
// past the last one shows the first: its rows may have been deleted.
func listPage[T any](v *visit, operation string, input fields) (s sheet[T], err error) {
	number, _ := strconv.Atoi(v.r.URL.Query().Get("page"))
	number = max(1, min(number, 100_000))
	// One extra row tells whether there is another page.
	rows, _, err := listRows[T](v, operation, input, sheetRows+1, (number-1)*sheetRows)
	if err == nil && len(rows) == 0 && number > 1 {
		number = 1
		rows, _, err = listRows[T](v, operation, input, sheetRows+1, 0)
	}
	s.Rows = rows[:min(len(rows), sheetRows)]
	at := func(n int) string { return v.hereWith("page", strconv.Itoa(n)) }
	if number > 1 {
		s.Earlier = at(number - 1)
	}
	if len(rows) > sheetRows {
		s.Later = at(number + 1)
	}
	return s, err
}

// hereWith is the address of this page with some query values changed, given
// in pairs of name and value. It leaves out what was just done, which is said
// only once.
func (v *visit) hereWith(pairs ...string) string {
	q := v.r.URL.Query()
	q.Del("done")
	for i := 0; i < len(pairs); i += 2 {
		q.Del(pairs[i])
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	u := url.URL{Path: cmp.Or(v.at, v.r.URL.Path), RawQuery: q.Encode()}
	return u.String()
}

// filter is a link above a list that narrows it to one status.
type filter struct {
	Text, Href string
	On         bool
}

// filters are the statuses that a list can be narrowed to, and the one chosen
// in the address, if it is one of them.
func (v *visit) filters(statuses ...string) (out []filter, chosen string) {
	if s := v.r.URL.Query().Get("status"); slices.Contains(statuses, s) {
		chosen = s
	}
	out = []filter{{"All", v.hereWith("status", "", "page", ""), chosen == ""}}
	for _, s := range statuses {
		out = append(out, filter{capital(s), v.hereWith("status", s, "page", ""), s == chosen})
	}
	return out, chosen
}

// newestByID finds the newest row under each of many ids, by that id.
func newestByID[T any](v *visit, operation string, refs []id.ID, of func(*T) id.ID) (map[id.ID]*T, error) {
	var rows []T
	if len(refs) > 0 {
		if err := v.do(operation, fields{"ids": refs}, &rows); err != nil {
			return nil, err
		}
	}
	out := map[id.ID]*T{}
	for i := range rows {
		out[of(&rows[i])] = &rows[i]
	}
	return out, nil
}

// listFirst lists the first hundred rows, as many as a choice on a page can
// hold.
func listFirst[T any](v *visit, operation string, input fields) ([]T, error) {
	rows, _, err := listRows[T](v, operation, input, 100, 0)
	return rows, err
}

// listRows lists rows and reports whether there are more.
func listRows[T any](v *visit, operation string, input fields, limit, offset int) ([]T, bool, error) {
	whole := fields{"limit": limit, "offset": offset}
	for name, value := range input {
		whole[name] = value
	}
	rows, page, err := desk.List[T](v.desk(), operation, whole)
	return rows, page.HasMore, err
}

// ask shows a page that asks for confirmation before something is lost.
func (v *visit) ask(q question) error {
	return v.show(http.StatusOK, "confirm",
		view{Title: q.Title, Section: q.Section, Tab: q.Tab, Crumbs: q.Crumbs, Bare: v.mustEnroll(), Data: q})
}

// question is what a confirmation page says.
type question struct {
	Title, Section, Tab string
	Crumbs              []crumb
	About               string // what it is about, when the title does not name it
	Lead                string
	Lost                []string
	Button              string
	Back                string // where Cancel leads
	Plain               bool   // nothing is lost by it
}

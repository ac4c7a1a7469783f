package desk

import (
	"net/http"
	"slices"
	"strconv"

	"frontdesk/internal/kernel/id"
)

// Sheet is one page of a list that a template of its own shows, with links to its
// neighbours.
type Sheet[T any] struct {
	Rows           []T
	Earlier, Later string // links; empty at the ends
}

const sheetSize = 50

// ListSheet lists the rows of the page whose number is in the address. A page
// past the last one shows the first: its rows may have been deleted.
func ListSheet[T any](v *Visit, operation string, input Fields) (s Sheet[T], err error) {
	number, _ := strconv.Atoi(v.R.URL.Query().Get("page"))
	number = max(1, min(number, 100_000))
	// One extra row tells whether there is another page.
	rows, err := listRows[T](v, operation, input, sheetSize+1, (number-1)*sheetSize)
	if err == nil && len(rows) == 0 && number > 1 {
		number = 1
		rows, err = listRows[T](v, operation, input, sheetSize+1, 0)
	}
	s.Rows = rows[:min(len(rows), sheetSize)]
	at := func(n int) string { return v.With("page", strconv.Itoa(n)) }
	if number > 1 {
		s.Earlier = at(number - 1)
	}
	if len(rows) > sheetSize {
		s.Later = at(number + 1)
	}
	return s, err
}

// ListFirst lists the first hundred rows, as many as a choice on a page can
// hold.
func ListFirst[T any](v *Visit, operation string, input Fields) ([]T, error) {
	return listRows[T](v, operation, input, 100, 0)
}

func listRows[T any](v *Visit, operation string, input Fields, limit, offset int) ([]T, error) {
	whole := Fields{"limit": limit, "offset": offset}
	for name, value := range input {
		whole[name] = value
	}
	rows, _, err := List[T](v, operation, whole)
	return rows, err
}

// NewestByID finds the newest row under each of many ids, by that id.
func NewestByID[T any](v *Visit, operation string, refs []id.ID, of func(*T) id.ID) (map[id.ID]*T, error) {
	var rows []T
	if len(refs) > 0 {
		if err := v.Do(operation, Fields{"ids": refs}, &rows); err != nil {
			return nil, err
		}
	}
	out := map[id.ID]*T{}
	for i := range rows {
		out[of(&rows[i])] = &rows[i]
	}
	return out, nil
}

// StatusLink is a link above a list that narrows it to one status.
type StatusLink struct {
	Text, Href string
	On         bool
}

// StatusLinks are the statuses that a list can be narrowed to, and the one chosen
// in the address, if it is one of them.
func (v *Visit) StatusLinks(statuses ...string) (out []StatusLink, chosen string) {
	if s := v.R.URL.Query().Get("status"); slices.Contains(statuses, s) {
		chosen = s
	}
	out = []StatusLink{{"All", v.With("status", "", "page", ""), chosen == ""}}
	for _, s := range statuses {
		out = append(out, StatusLink{Capital(s), v.With("status", s, "page", ""), s == chosen})
	}
	return out, chosen
}

// MainUnless is a list's main action, or nil when the list is empty, as the text
// shown in its place then has the button, or when the reader may not do it.
func MainUnless(not bool, text, href string) *Button {
	if not {
		return nil
	}
	return &Button{Text: text, Href: href, Icon: "plus"}
}

// Data is text for a machine, shown on demand.
type Data struct{ Label, Text string }

// Secret is a secret that is shown now and never again. Back is where
// reloading the page leads.
type Secret struct{ Lead, Secret, Back string }

// NewSecret is a secret that a form has just made. The page that shows it is the answer
// to the form, because no address may lead to it; so the form's draft ends here.
func (v *Visit) NewSecret(lead, secret, back string) *Secret {
	v.dropDraft()
	return &Secret{Lead: lead, Secret: secret, Back: back}
}

// Question is what a page says that asks before something is lost.
type Question struct {
	Title, Section, Tab string
	Crumbs              []Crumb
	About               string // what it is about, when the title does not name it
	Lead                string
	Lost                []string
	Button              string
	Back                string // where Cancel leads
	Plain               bool   // nothing is lost by it
}

// Ask shows a page that asks for confirmation.
func (v *Visit) Ask(q Question) error {
	lead := q.Lead
	if q.About != "" {
		lead = q.About + ". " + lead
	}
	return v.Show(http.StatusOK, "form-page", View{Title: q.Title, Section: q.Section, Tab: q.Tab, Crumbs: q.Crumbs,
		Bare: v.MustEnroll(), Data: &Form{To: v.R.URL.RequestURI(), Back: q.Back, Button: q.Button, Lead: lead,
			Lost: q.Lost, Away: !q.Plain}})
}

// DoWithID runs an operation on what the path names, and then shows a page that says so.
func (v *Visit) DoWithID(operation, then, done string) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if err := v.Do(operation, Fields{"id": ref}, nil); err != nil {
		return err
	}
	return v.Done(then, done, nil)
}

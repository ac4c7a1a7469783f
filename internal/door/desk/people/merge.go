package people

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/eventlog"

	"github.com/go-json-experiment/json"
)

// mergeData is the page on which two contacts become one. The template is "merge".
type mergeData struct {
	To, Back    string
	Error       string
	Name, Other string
	OtherID     string
	OtherHref   string
	Rows        []mergeRow
	Swap        string     // the page on which the other one stays
	Pick        *desk.Form // asks for the other contact first
}

// mergeRow is a field of both contacts, side by side.
type mergeRow struct {
	Field, Word  string
	Mine, Theirs string
	Differ       bool // one of them has to be chosen
	Take         bool // the other's is chosen
	Both         bool // what both have is kept
}

// mergeFields are the fields of which only one value can stay; notes and tags are joined.
func mergeFields() []desk.Field {
	return slices.DeleteFunc(slices.Clone(contacts.Fields), func(f desk.Field) bool {
		return f.Field == "notes" || f.Field == "tags"
	})
}

// nameFields are those of which one or the other contact's are taken as a whole, unless
// somebody chooses.
var nameFields = []string{"firstName", "middleName", "lastName"}

// texts are the fields of a contact that are set, by their names.
func texts(c *contact.Contact) (map[string]string, error) {
	text, err := json.Marshal(c.Fields)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, value := range values {
		if text, ok := value.(string); ok {
			out[name] = text
		}
	}
	return out, nil
}

// mergeRows are the fields of two contacts, side by side. Where they differ, the richer name is
// chosen: the one with more letters, of "A." and "Ada Lovelace" the second.
func mergeRows(mine, theirs map[string]string) (out []mergeRow) {
	letters := func(of map[string]string) (n int) {
		for _, name := range nameFields {
			n += len([]rune(strings.TrimRight(of[name], ". ")))
		}
		return n
	}
	richer := letters(theirs) > letters(mine)
	for _, f := range mergeFields() {
		a, has := mine[f.Field]
		b, have := theirs[f.Field]
		if !has && !have {
			continue
		}
		r := mergeRow{Field: f.Field, Word: f.Label, Mine: a, Theirs: b, Differ: has && have && a != b}
		switch {
		case !r.Differ:
		case slices.Contains(nameFields, f.Field):
			r.Take = richer
		case f.Field != "externalId" && f.Field != "birthday":
			r.Take = len([]rune(b)) > len([]rune(a))
		}
		out = append(out, r)
	}
	return out
}

// joinedRows are what both contacts have of what there can be several.
func joinedRows(v *desk.Visit, mine, theirs *contact.Contact) (out []mergeRow) {
	for _, part := range []struct {
		word  string
		texts func(c *contact.Contact) []string
	}{
		{"Email", func(c *contact.Contact) (out []string) {
			for _, e := range c.Emails {
				out = append(out, e.Email)
			}
			return out
		}},
		{"Phone", func(c *contact.Contact) (out []string) {
			for _, p := range c.PhoneNumbers {
				out = append(out, v.Phone(p.PhoneNumber))
			}
			return out
		}},
		{"Address", func(c *contact.Contact) (out []string) {
			for i := range c.Addresses {
				out = append(out, addressLine(v, &c.Addresses[i]))
			}
			return out
		}},
		{"Tags", func(c *contact.Contact) []string { return c.Tags }},
		{"About", func(c *contact.Contact) []string { return []string{cut.Ellipsis(labelled(c.Notes), 400)} }},
	} {
		r := mergeRow{Word: part.word, Both: true, Mine: strings.Join(part.texts(mine), "\n"),
			Theirs: strings.Join(part.texts(theirs), "\n")}
		if r.Mine != "" || r.Theirs != "" {
			out = append(out, r)
		}
	}
	return out
}

func askMerge(v *desk.Visit) error {
	return mergePage(v, http.StatusOK, v.R.URL.Query().Get("contactId"), "")
}

// mergePage asks with whom to merge, and then which values stay.
func mergePage(v *desk.Visit, status int, with, whole string) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var mine, theirs contact.Contact
	if err := v.Do("contacts.get", desk.Fields{"id": ref}, &mine); err != nil {
		return err
	}
	at := "/contacts/" + string(ref)
	d := &mergeData{To: at + "/merge", Back: at, Name: Name(&mine), Error: whole}
	view := desk.View{Title: "Merge " + d.Name, Section: "contacts", Data: d,
		Crumbs: []desk.Crumb{{Text: "Contacts", Href: "/contacts"}, {Text: d.Name, Href: at}, {Text: "Merge"}}}
	other, ok := id.Parse(with)
	if ok && other != ref {
		if err := v.Do("contacts.get", desk.Fields{"id": other}, &theirs); err != nil {
			return err
		}
		d.Other, d.OtherID, d.OtherHref = Name(&theirs), with, "/contacts/"+with
		ours, err := texts(&mine)
		if err != nil {
			return err
		}
		others, err := texts(&theirs)
		if err != nil {
			return err
		}
		d.Rows = append(mergeRows(ours, others), joinedRows(v, &mine, &theirs)...)
		d.Swap = d.OtherHref + "/merge?contactId=" + string(ref)
		return v.Show(status, "merge", view)
	}
	in := v.Describe("contacts.merge", desk.Field{Field: "contactId", Label: "The other contact", Ref: "contacts"},
		with)
	in.Focus, in.Error = true, whole
	d.Pick = &desk.Form{To: d.To, Back: at, Button: "Next", Main: true, Fields: []desk.Input{in},
		Lead: "The other contact becomes part of " + d.Name + ". You choose first what is kept of both."}
	return v.Show(status, "merge", view)
}

// merge merges two contacts, once somebody has seen in what they differ.
func merge(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	in, wrong := v.Read("contacts.merge", []desk.Field{{Field: "contactId", Ref: "contacts"}}, v.R.PostForm)
	if issue := wrong["contactId"]; issue != "" {
		return mergePage(v, http.StatusBadRequest, v.Value("contactId"), issue)
	}
	other, ok := in["contactId"].(id.ID)
	switch {
	case !ok:
		return mergePage(v, http.StatusBadRequest, "", "Choose a contact")
	case other == ref:
		return mergePage(v, http.StatusBadRequest, "", "Choose another contact than this one")
	case v.Value("seen") != string(other):
		return v.Redirect("/contacts/" + string(ref) + "/merge?contactId=" + string(other))
	}
	take := []string{}
	for _, f := range mergeFields() {
		if v.Value("keep-"+f.Field) == "theirs" {
			take = append(take, f.Field)
		}
	}
	err = v.Do("contacts.merge", desk.Fields{"id": ref, "contactId": other, "take": take}, nil)
	if err != nil {
		whole, fields, status, rest := desk.Refused(err)
		if fault.IsKind(err, fault.NotFound) || rest != nil { // pressed twice: it is merged
			return v.Redirect("/contacts/" + string(ref))
		}
		for _, text := range fields {
			whole = strings.TrimSpace(whole + " " + text)
		}
		return mergePage(v, status, string(other), whole)
	}
	return v.DoneWith("/contacts/"+string(ref), "merged", ref)
}

// lately is how long a merge is offered to be taken back on the contact's page.
const lately = 7 * 24 * time.Hour

// mergedLately offers to take the last merge of a contact back.
func mergedLately(v *desk.Visit, c *contact.Contact) (*desk.Section, error) {
	if !v.May("contacts.unmerge") || !v.May("events.list") {
		return nil, nil
	}
	last := map[string]*eventlog.Event{}
	for _, kind := range []string{"contact.merged", "contact.unmerged"} {
		rows, _, err := desk.List[eventlog.Event](v, "events.list", desk.Fields{"resourceId": c.ID, "type": kind,
			"limit": 1})
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 && kind == "contact.merged" {
			return nil, nil
		}
		if len(rows) > 0 {
			last[kind] = &rows[0]
		}
	}
	e := last["contact.merged"]
	if e.CreatedAt < v.Now().Add(-lately) || last["contact.unmerged"] != nil &&
		last["contact.unmerged"].CreatedAt >= e.CreatedAt {
		return nil, nil
	}
	var m contact.Merge
	if !v.Decode(e.Data, &m) {
		return nil, nil
	}
	return &desk.Section{Name: "merged-lately", Data: map[string]string{"Name": Name(&m.Merged), "Event": string(e.ID),
		"Back": "/contacts/" + string(c.ID)}}, nil
}

package review

import (
	"cmp"
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/property"
)

// suggestedRow is a value that an agent or a program found, and somebody has to decide on.
type suggestedRow struct {
	Mark                  string // which value of which object
	Anchor                string
	Name, Href            string
	Avatar                *desk.Avatar
	Word, Old, Value, Who string
	Sources               []property.PropertyValueSource
	Time                  *desk.TimeText
	On                    bool // the current one
	May                   bool // the reader may decide
}

const shownSuggestions = 50

// paths are the nouns of objects that have properties.
var paths = map[string]string{"contact": "contacts", "customer": "customers", "business": "businesses"}

// mark names a value of an object, and the one that it took the place of.
type mark struct {
	path               string
	object, value, old id.ID
}

func (m mark) String() string {
	return strings.Join([]string{m.path, string(m.object), string(m.value), string(m.old)}, ".")
}

func readMark(text string) (m mark, ok bool) {
	words := strings.Split(text, ".")
	if len(words) != 4 || !slices.Contains([]string{"contacts", "customers", "businesses"}, words[0]) {
		return m, false
	}
	object, isObject := id.Parse(words[1])
	value, isValue := id.Parse(words[2])
	old, hasOld := id.Parse(words[3])
	return mark{words[0], object, value, old}, isObject && isValue && (hasOld || words[3] == "")
}

// listSuggestions finds the newest values that wait for a decision.
func listSuggestions(v *desk.Visit) (out []suggestedRow, more bool, err error) {
	if !v.May("suggestions.list") {
		return nil, false, nil
	}
	rows, page, err := desk.List[property.PropertyValue](v, "suggestions.list", desk.Fields{"limit": shownSuggestions})
	if err != nil {
		return nil, false, err
	}
	out, err = tellSuggestions(v, rows)
	return out, page.HasMore, err
}

func tellSuggestions(v *desk.Visit, rows []property.PropertyValue) (out []suggestedRow, err error) {
	var definitions []id.ID
	objects := map[string][]id.ID{}
	for i := range rows {
		definitions = append(definitions, rows[i].DefinitionID)
		path := paths[rows[i].ObjectType]
		objects[path] = append(objects[path], rows[i].ObjectID)
	}
	words := map[id.ID]string{}
	if len(definitions) > 0 {
		found, _, err := desk.List[property.PropertyDefinition](v, "property_definitions.list",
			desk.Fields{"ids": unique(definitions), "limit": 100})
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			words[f.ID] = f.Name
		}
	}
	names, old := map[id.ID]string{}, map[[2]id.ID]string{}
	for path, ids := range objects {
		found, err := v.Names(path, ids)
		if err != nil {
			return nil, err
		}
		for ref, name := range found {
			names[ref] = name
		}
		if err := confirmed(v, path, unique(ids), old); err != nil {
			return nil, err
		}
	}
	for i := range rows {
		p := &rows[i]
		who, err := v.WhoIs(p.SetByKind, cmp.Or(p.SetByAgentID, p.SetByUserID))
		if err != nil {
			return nil, err
		}
		path := paths[p.ObjectType]
		r := suggestedRow{Mark: mark{path: path, object: p.ObjectID, value: p.ID}.String(), Anchor: "v-" + string(p.ID),
			Name: desk.Visible(names[p.ObjectID]), Href: "/" + path + "/" + string(p.ObjectID),
			Word: words[p.DefinitionID], Old: desk.Visible(old[[2]id.ID{p.ObjectID, p.DefinitionID}]),
			Value: desk.Visible(p.Text()), Who: who.Name, Time: v.When(p.CreatedAt),
			May: v.May(path + ".properties.update")}
		for _, s := range p.Sources {
			if s.Title != nil {
				title := desk.Visible(*s.Title)
				s.Title = &title
			}
			r.Sources = append(r.Sources, s)
		}
		if r.Name == "" {
			r.Name = "(no name)"
		}
		r.Avatar = desk.AvatarOf(r.Name, "")
		out = append(out, r)
	}
	return out, nil
}

func unique(ids []id.ID) []id.ID {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}

// confirmed finds the values that objects have now, as texts.
func confirmed(v *desk.Visit, path string, ids []id.ID, out map[[2]id.ID]string) error {
	note := func(object id.ID, list *[]property.Property) {
		if list == nil {
			return
		}
		for i := range *list {
			p := &(*list)[i]
			out[[2]id.ID{object, p.DefinitionID}] = p.Text()
		}
	}
	in := desk.Fields{"ids": ids, "limit": 100, "include": []string{"properties"}}
	switch path {
	case "contacts":
		rows, _, err := desk.List[contact.Contact](v, "contacts.list", in)
		for i := range rows {
			note(rows[i].ID, rows[i].Properties)
		}
		return err
	case "customers":
		rows, _, err := desk.List[customer.Customer](v, "customers.list", in)
		for i := range rows {
			note(rows[i].ID, rows[i].Properties)
		}
		return err
	}
	for _, ref := range ids { // there are few businesses
		rows, _, err := desk.List[property.PropertyValue](v, path+".properties.list",
			desk.Fields{"id": ref, "status": []string{"confirmed"}, "limit": 100})
		if err != nil {
			return err
		}
		for i := range rows {
			out[[2]id.ID{ref, rows[i].DefinitionID}] = rows[i].Text()
		}
	}
	return nil
}

// decideValue accepts or rejects a suggested value. The mark that it returns also names the
// value that this one took the place of, for Undo.
func decideValue(v *desk.Visit, text, status string) (string, error) {
	m, ok := readMark(text)
	if !ok {
		return "", fault.NotFound.New()
	}
	var err error
	if status == "confirmed" {
		if m.old, err = current(v, m); err != nil {
			return "", err
		}
	}
	return m.String(), v.Do(m.path+".properties.update",
		desk.Fields{"id": m.object, "propertyId": m.value, "status": status}, nil)
}

// current is the value that a suggestion would take the place of, or nothing.
func current(v *desk.Visit, m mark) (id.ID, error) {
	var p property.PropertyValue
	if err := v.Do(m.path+".properties.get", desk.Fields{"id": m.object, "propertyId": m.value}, &p); err != nil {
		return "", err
	}
	rows, _, err := desk.List[property.PropertyValue](v, m.path+".properties.list", desk.Fields{"id": m.object,
		"definitionId": p.DefinitionID, "status": []string{"confirmed"}, "limit": 1})
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].ID, nil
}

var _ = addUndoOfValues()

func addUndoOfValues() bool {
	for _, path := range paths {
		desk.AddUndo(path, undecide)
	}
	return true
}

// undecide makes a suggestion of a value again, and brings back what it took the place of.
func undecide(v *desk.Visit, text string) (string, error) {
	m, ok := readMark(text)
	if !ok {
		return "", fault.NotFound.New()
	}
	if err := undecideOne(v, m); !fault.IsKind(err, fault.NotFound) {
		return "", err
	}
	return "", nil // it is gone
}

// valueOf is a value as the API takes it.
func valueOf(p *property.PropertyValue) any {
	switch {
	case p.ValueBoolean != nil:
		return *p.ValueBoolean
	case p.ValueTextList != nil:
		return *p.ValueTextList
	}
	return p.Text()
}

func undecideOne(v *desk.Visit, m mark) error {
	ref := desk.Fields{"id": m.object, "propertyId": m.value}
	var p property.PropertyValue
	if err := v.Do(m.path+".properties.get", ref, &p); err != nil {
		return err
	}
	if p.Status == "confirmed" {
		ref["status"] = "dismissed"
		if err := v.Do(m.path+".properties.update", ref, nil); err != nil {
			return err
		}
	}
	if p.Status != "suggested" {
		ref["status"] = "suggested"
		if err := v.Do(m.path+".properties.update", ref, nil); err != nil {
			return err
		}
	}
	if m.old == "" {
		return nil
	}
	events, _, err := desk.List[eventlog.Event](v, "events.list", desk.Fields{"resourceId": m.old, "limit": 1})
	if err != nil || len(events) == 0 {
		return err
	}
	var old property.PropertyValue
	if !v.Decode(events[0].Data, &old) || old.ObjectID != m.object {
		return nil
	}
	in := desk.Fields{"id": m.object, "definitionId": old.DefinitionID, "value": valueOf(&old), "status": "confirmed"}
	if len(old.Sources) > 0 {
		sources := []desk.Fields{}
		for _, s := range old.Sources {
			sources = append(sources, desk.Fields{"url": s.URL, "title": s.Title})
		}
		in["sources"] = sources
	}
	return v.Do(m.path+".properties.create", in, nil)
}

package people

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/property"
)

// suggestedData is the page of all suggestions. Its template is "suggested".
type suggestedData struct {
	Rows  []suggestedRow
	More  string
	Undo  []string // what can be undone, as marks
	Undid string   // how many that is
	May   bool
}

type suggestedRow struct {
	Mark                  string // which value of which object
	Name, Href, Kind      string
	Avatar                *desk.Avatar
	Word, Old, Value, Who string
	Sources               []property.PropertyValueSource
	Time                  *desk.TimeText
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

// suggested shows every value that waits for a decision.
func suggested(v *desk.Visit) error {
	d := &suggestedData{Undo: v.R.URL.Query()["was"], May: v.May("contacts.properties.update")}
	if len(d.Undo) > 0 {
		d.Undid = desk.Count(len(d.Undo), "decision", "decisions")
	}
	in := desk.Fields{"limit": shownSuggestions}
	if ref, ok := id.Parse(v.R.URL.Query().Get("agentId")); ok {
		in["agentId"] = ref
	}
	rows, page, err := desk.List[property.PropertyValue](v, "suggestions.list", in)
	if err != nil {
		return err
	}
	if page.HasMore {
		d.More = "The newest " + strconv.Itoa(shownSuggestions) + ". Decide on these to see more."
	}
	if err := d.fill(v, rows); err != nil {
		return err
	}
	view := desk.View{Title: "Suggestions", Section: "review", Data: d, Own: true,
		API:     v.Samples("suggestions.list", nil),
		Watch:   "contact.property customer.property business.property",
		Buttons: []desk.Button{{Text: "Proposals", Href: "/review", Icon: "review"}}}
	if len(rows) > 0 {
		view.Sub = strconv.Itoa(len(rows))
		if page.HasMore {
			view.Sub += "+"
		}
	}
	return v.Show(http.StatusOK, "suggested", view)
}

func (d *suggestedData) fill(v *desk.Visit, rows []property.PropertyValue) error {
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
			return err
		}
		for _, f := range found {
			words[f.ID] = f.Name
		}
	}
	names, old := map[id.ID]string{}, map[[2]id.ID]string{}
	for path, ids := range objects {
		found, err := v.Names(path, ids)
		if err != nil {
			return err
		}
		for ref, name := range found {
			names[ref] = name
		}
		if err := confirmed(v, path, unique(ids), old); err != nil {
			return err
		}
	}
	for i := range rows {
		p := &rows[i]
		who, err := v.WhoIs(p.SetByKind, first(p.SetByAgentID, p.SetByUserID))
		if err != nil {
			return err
		}
		path := paths[p.ObjectType]
		r := suggestedRow{Mark: mark{path: path, object: p.ObjectID, value: p.ID}.String(), Name: names[p.ObjectID],
			Href: "/" + path + "/" + string(p.ObjectID), Kind: p.ObjectType, Word: words[p.DefinitionID],
			Old: old[[2]id.ID{p.ObjectID, p.DefinitionID}], Value: valueText(p), Who: who.Name, Sources: p.Sources,
			Time: v.When(p.CreatedAt)}
		if r.Name == "" {
			r.Name = "(no name)"
		}
		r.Avatar = desk.AvatarOf(r.Name, map[string]string{"contact": ""}[p.ObjectType])
		d.Rows = append(d.Rows, r)
	}
	return nil
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
			out[[2]id.ID{object, p.DefinitionID}] = valueText(&p.PropertyValue)
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
			out[[2]id.ID{ref, rows[i].DefinitionID}] = valueText(&rows[i])
		}
	}
	return nil
}

// decideMany accepts or dismisses the chosen values, each by its own operation.
// Somebody else may have been faster with one; the others go on.
func decideMany(v *desk.Visit) error {
	status, done := "dismissed", "dismissed"
	if v.Value("do") == "accept" {
		status, done = "confirmed", "accepted-value"
	}
	was := url.Values{}
	var refused error
	for _, text := range v.R.PostForm["id"] {
		m, ok := readMark(text)
		if !ok || len(was["was"]) >= shownSuggestions {
			continue
		}
		var err error
		if status == "confirmed" {
			m.old, err = current(v, m)
		}
		if err == nil {
			err = v.Do(m.path+".properties.update",
				desk.Fields{"id": m.object, "propertyId": m.value, "status": status}, nil)
		}
		if err != nil {
			refused = err
			continue
		}
		was.Add("was", m.String())
	}
	if len(was["was"]) == 0 && refused != nil {
		return v.Explain(refused, "review", "/suggestions")
	}
	if len(was["was"]) == 0 {
		return v.Done("/suggestions", "nothing", nil)
	}
	return v.Done("/suggestions?"+was.Encode(), done, nil, "n", strconv.Itoa(len(was["was"])))
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

// undecide makes suggestions of values again, and brings back what they took the
// place of.
func undecide(v *desk.Visit) error {
	n := 0
	for _, text := range v.R.PostForm["was"] {
		m, ok := readMark(text)
		if !ok || n >= shownSuggestions {
			continue
		}
		if err := undecideOne(v, m); err != nil && !fault.IsKind(err, fault.NotFound) {
			return v.Explain(err, "review", "/suggestions")
		}
		n++
	}
	return v.Done("/suggestions", "undone", nil)
}

// valueOf is a value as the API takes it.
func valueOf(p *property.PropertyValue) any {
	switch {
	case p.ValueBoolean != nil:
		return *p.ValueBoolean
	case p.ValueTextList != nil:
		return *p.ValueTextList
	}
	return valueText(p)
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

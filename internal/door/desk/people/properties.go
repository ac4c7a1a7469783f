package people

import (
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/property"
)

// ownField is a field that the business defined itself, with its value.
type ownField struct {
	Word    string
	Cell    desk.Cell
	Edit    string
	Form    *desk.Form
	Sources []property.PropertyValueSource
	ByAgent bool
}

// Properties are the fields that a business defined itself for a kind of object:
// "contacts", "customers" or "businesses". They are edited in place, like facts.
func Properties[T desk.Row](path string) desk.Part[T] {
	return func(v *desk.Visit, row *T) (*desk.Section, error) {
		if !v.May("property_definitions.list") || !v.May(path+".properties.list") {
			return nil, nil
		}
		objectType := map[string]string{"contacts": "contact", "customers": "customer", "businesses": "business"}[path]
		definitions, _, err := desk.List[property.PropertyDefinition](v, "property_definitions.list",
			desk.Fields{"objectType": []string{objectType}, "limit": 100, "sortOrder": "asc"})
		if err != nil || len(definitions) == 0 {
			return nil, err
		}
		ref := (*row).RowID()
		values, _, err := desk.List[property.PropertyValue](v, path+".properties.list",
			desk.Fields{"id": ref, "limit": 100, "status": []string{"confirmed"}})
		if err != nil {
			return nil, err
		}
		at := "/" + path + "/" + string(ref)
		fields := []ownField{}
		for i := range definitions {
			fields = append(fields, own(v, &definitions[i], values, at, path))
		}
		return &desk.Section{Head: "Your own fields", Name: "own-fields", Data: fields}, nil
	}
}

func own(v *desk.Visit, d *property.PropertyDefinition, values []property.PropertyValue, at, path string) ownField {
	f := ownField{Word: d.Name, Edit: at + "?edit=property." + string(d.ID)}
	text := ""
	for i := range values {
		if values[i].DefinitionID == d.ID {
			text = values[i].Text()
			f.Cell, f.Sources, f.ByAgent = valueCell(&values[i]), values[i].Sources, values[i].SetByAgentID != nil
		}
	}
	if !v.May(path + ".properties.create") {
		f.Edit = ""
	}
	if v.R.URL.Query().Get("edit") == "property."+string(d.ID) && f.Edit != "" {
		in := desk.Input{ID: "own", Name: "value", Word: d.Name, Value: text, Focus: true,
			Kind: map[string]string{"number": "number", "date": "date", "url": "url", "boolean": "choice",
				"select": "choice", "multi_select": "words"}[d.ValueType]}
		if d.ValueType == "boolean" {
			in.Options = []desk.Option{{Value: "", Text: "–"}, {Value: "yes", Text: "Yes"}, {Value: "no", Text: "No"}}
		}
		if d.ValueType == "select" && d.Options != nil {
			in.Options = []desk.Option{{Value: "", Text: "–"}}
			for _, o := range *d.Options {
				in.Options = append(in.Options, desk.Option{Value: o, Text: o})
			}
		}
		if d.ValueType == "multi_select" && d.Options != nil {
			in.Help = "Any of " + strings.Join(*d.Options, ", ")
		}
		f.Form = &desk.Form{To: at + "/property", Back: at, Button: "Save", Fields: []desk.Input{in},
			Hidden: map[string]string{"definition": string(d.ID), "type": d.ValueType}}
	}
	return f
}

func valueCell(p *property.PropertyValue) desk.Cell {
	if p.ValueTextList != nil {
		return desk.Tags(*p.ValueTextList)
	}
	return desk.Text(desk.Capital(p.Text()))
}

// saveProperty sets one of the business's own fields, or clears it.
func saveProperty(path string) func(*desk.Visit) error {
	return func(v *desk.Visit) error {
		ref, err := v.PathID("id")
		if err != nil {
			return err
		}
		at := "/" + path + "/" + string(ref)
		definition, ok := id.Parse(v.Value("definition"))
		if !ok {
			return v.Redirect(at)
		}
		text := v.Value("value")
		if text == "" {
			return clearProperty(v, path, ref, definition, at)
		}
		var value any = text
		switch v.Value("type") {
		case "number":
			n, err := strconv.ParseFloat(text, 64)
			if err == nil {
				value = n
			}
		case "boolean":
			value = text == "yes"
		case "multi_select":
			list := []string{}
			for _, w := range strings.Split(text, ",") {
				if w = strings.TrimSpace(w); w != "" {
					list = append(list, w)
				}
			}
			value = list
		}
		err = v.Do(path+".properties.create", desk.Fields{"id": ref, "definitionId": definition, "value": value,
			"status": "confirmed"}, nil)
		if err != nil {
			return v.Explain(err, path, at)
		}
		return v.Done(at, "saved", nil)
	}
}

func clearProperty(v *desk.Visit, path string, ref, definition id.ID, at string) error {
	values, _, err := desk.List[property.PropertyValue](v, path+".properties.list",
		desk.Fields{"id": ref, "definitionId": definition, "status": []string{"confirmed"}, "limit": 10})
	if err != nil {
		return err
	}
	for i := range values {
		err := v.Do(path+".properties.delete", desk.Fields{"id": ref, "propertyId": values[i].ID}, nil)
		if err != nil {
			return v.Explain(err, path, at)
		}
	}
	return v.Done(at, "saved", nil)
}

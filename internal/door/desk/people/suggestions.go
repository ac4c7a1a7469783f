package people

import (
	"cmp"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/property"
)

// suggestion is a value that an agent or a program found and somebody has to
// decide on.
type suggestion struct {
	Word, Value, By string
	ID              id.ID
	Sources         []property.PropertyValueSource
	To              string
}

// Suggestions are the values that wait for a decision, above the timeline.
func Suggestions[T desk.Row](path string) desk.Part[T] {
	return func(v *desk.Visit, row *T) (*desk.Section, error) {
		if !v.May(path+".properties.list") || !v.May("property_definitions.list") {
			return nil, nil
		}
		ref := (*row).RowID()
		values, _, err := desk.List[property.PropertyValue](v, path+".properties.list",
			desk.Fields{"id": ref, "limit": 20, "status": []string{"suggested"}})
		if err != nil || len(values) == 0 {
			return nil, err
		}
		ids := []id.ID{}
		for i := range values {
			ids = append(ids, values[i].DefinitionID)
		}
		definitions, _, err := desk.List[property.PropertyDefinition](v, "property_definitions.list",
			desk.Fields{"ids": ids, "limit": 100})
		if err != nil {
			return nil, err
		}
		words := map[id.ID]string{}
		for _, d := range definitions {
			words[d.ID] = d.Name
		}
		out := []suggestion{}
		for i := range values {
			p := &values[i]
			by, err := v.WhoIs(p.SetByKind, cmp.Or(p.SetByAgentID, p.SetByUserID))
			if err != nil {
				return nil, err
			}
			out = append(out, suggestion{Word: words[p.DefinitionID], Value: p.Text(), By: by.Name, ID: p.ID,
				Sources: p.Sources, To: "/" + path + "/" + string(ref) + "/suggestion"})
		}
		return &desk.Section{Head: "Suggested", Name: "suggestions", Data: out}, nil
	}
}

// decide accepts or dismisses a suggested value.
func decide(path string) func(*desk.Visit) error {
	return func(v *desk.Visit) error {
		ref, err := v.PathID("id")
		if err != nil {
			return err
		}
		at := "/" + path + "/" + string(ref)
		value, ok := id.Parse(v.Value("value"))
		if !ok {
			return v.Redirect(at)
		}
		status, done := "dismissed", "dismissed"
		if v.Value("do") == "accept" {
			status, done = "confirmed", "accepted-value"
		}
		err = v.Do(path+".properties.update", desk.Fields{"id": ref, "propertyId": value, "status": status}, nil)
		if err != nil {
			return v.Explain(err, path, at)
		}
		return v.Done(at, done, nil)
	}
}

var _ = desk.AddDoneTexts(map[string]string{"dismissed": "Dismissed.", "accepted-value": "Accepted."})

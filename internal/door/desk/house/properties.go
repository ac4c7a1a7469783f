package house

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/property"
)

var properties = &desk.Noun[property.PropertyDefinition]{
	Path: "properties", Ops: "property_definitions", Type: "property_definition", Rail: "businesses",
	One: "property", Many: "properties", Icon: "columns",
	Lead: "A property is a field of your own: the machines a customer has, the day a contract ends. People and " +
		"agents fill it in.",
	Seek: "Name, key",
	Tabs: []desk.Tab{{Word: "All"}, {Word: "Of contacts", Query: "objectType=contact"},
		{Word: "Of customers", Query: "objectType=customer"}, {Word: "Of businesses", Query: "objectType=business"}},
	Table: []desk.Column[property.PropertyDefinition]{
		{Head: "Name", Sort: "name", Width: "w4", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			return desk.Text(p.Name)
		}},
		{Head: "Of", Width: "w1", Fold: "three", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			return desk.Text(p.ObjectType + "s")
		}},
		{Head: "Kind", Width: "w2p", Fold: "two", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			return desk.Text(desk.Choice(p.ValueType))
		}},
		{Head: "Choices", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			if p.Options == nil {
				return desk.Text("")
			}
			return desk.Text(strings.Join(*p.Options, ", "))
		}},
		{Head: "Key", Width: "w3", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			return desk.Text(p.Key)
		}},
	},
	Filters: []desk.Filter{{Field: "objectType", Word: "Of"}},
	Name:    func(_ *desk.Visit, p *property.PropertyDefinition) string { return p.Name },
	Line: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Line {
		return desk.Line{Icon: "columns", Text: p.Name, Faint: "of " + p.ObjectType + "s"}
	},
	Fields: []desk.Field{
		{Field: "name", Word: "Name"},
		{Field: "description", Word: "Description"},
		{Field: "options", Word: "Choices"},
		{Field: "isRequired", Word: "Ask for it"},
		{Field: "objectType", Word: "Of", Fixed: true},
		{Field: "valueType", Word: "Kind", Fixed: true},
		{Field: "key", Word: "Key", Fixed: true, Help: "What programs call it."},
	},
	Form: []desk.Field{
		{Field: "name", Word: "Name", Hint: "Machines"},
		{Field: "key", Word: "Key", Hint: "machines", Help: "What programs call it: small letters, digits and _."},
		{Field: "objectType", Word: "Of"},
		{Field: "valueType", Word: "Kind"},
		{Field: "options", Word: "Choices", Kind: "words",
			Help: "For one choice or several. Separate them with commas."},
		{Field: "description", Word: "Description", Help: "Agents read it to know what to look for."},
	},
	Make: func(_ *desk.Visit, in desk.Fields) {
		if list, ok := in["options"].([]string); ok && len(list) == 0 {
			delete(in, "options")
		}
	},
}

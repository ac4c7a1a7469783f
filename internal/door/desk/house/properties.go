package house

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/property"
)

var properties = &desk.Noun[property.PropertyDefinition]{
	Path: "properties", Ops: "property_definitions", Type: "property_definition", RailKey: "businesses",
	One: "property", Many: "properties", Icon: "columns",
	EmptyText: "A property is a field of your own: the machines a customer has, the day a contract ends. People and " +
		"agents fill it in.",
	SearchHint: "Name, key",
	Tabs: []desk.Tab{{Label: "All"}, {Label: "Of contacts", Query: "objectType=contact"},
		{Label: "Of customers", Query: "objectType=customer"}, {Label: "Of businesses", Query: "objectType=business"}},
	Columns: []desk.Column[property.PropertyDefinition]{
		{Head: "Name", Sort: "name", Width: "w4", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			return desk.Text(p.Name)
		}},
		{Head: "Of", Field: "objectType", Width: "w1", Fold: "three",
			Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
				return desk.Text(p.ObjectType + "s")
			}},
		{Head: "Kind", Field: "valueType", Width: "w2p", Fold: "two",
			Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
				return desk.Text(desk.Choice(p.ValueType))
			}},
		{Head: "Choices", Field: "options", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			if p.Options == nil {
				return desk.Text("")
			}
			return desk.Text(strings.Join(*p.Options, ", "))
		}},
		{Head: "Key", Field: "key", Width: "w3", Cell: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Cell {
			return desk.Text(p.Key)
		}},
	},
	Filters: []desk.Filter{{Field: "objectType", Label: "Of"}},
	Name:    func(_ *desk.Visit, p *property.PropertyDefinition) string { return p.Name },
	ListLine: func(_ *desk.Visit, p *property.PropertyDefinition) desk.Line {
		return desk.Line{Icon: "columns", Text: p.Name, Faint: "of " + p.ObjectType + "s"}
	},
	Fields: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "description", Label: "Description"},
		{Field: "options", Label: "Choices"},
		{Field: "isRequired", Label: "Ask for it"},
		{Field: "objectType", Label: "Of", ReadOnly: true},
		{Field: "valueType", Label: "Kind", ReadOnly: true},
		{Field: "key", Label: "Key", ReadOnly: true, Help: "What programs call it."},
	},
	Form: []desk.Field{
		{Field: "name", Label: "Name", Hint: "Machines"},
		{Field: "key", Label: "Key", Hint: "machines", Help: "What programs call it: small letters, digits and _."},
		{Field: "objectType", Label: "Of"},
		{Field: "valueType", Label: "Kind"},
		{Field: "options", Label: "Choices", Kind: "words",
			Help: "For one choice or several. Separate them with commas."},
		{Field: "description", Label: "Description", Help: "Agents read it to know what to look for."},
	},
	BeforeCreate: func(_ *desk.Visit, in desk.Fields) {
		if list, ok := in["options"].([]string); ok && len(list) == 0 {
			delete(in, "options")
		}
	},
}

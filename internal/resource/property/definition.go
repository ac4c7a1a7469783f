// Package property holds what an organization wants to know about its contacts,
// customers and businesses beyond their own fields. A PropertyDefinition describes
// a property and its type; a PropertyValue is one object's value for it, which is
// suggested, confirmed or dismissed. An object has at most one confirmed value for
// each definition, and agents suggest rather than confirm.
//
// content.go and number.go check values by their type. move.go is how a value
// changes its status or is replaced; whoever changed the property in between wins
// (PropertyValue.Version). include.go lets other packages show an object's
// properties and filter objects by them, and suggestion.go lists what waits for a
// decision.
//
// It knows its objects only by their table names (objectKind), and imports none of
// their packages. Start reading at PropertyDefinition, then PropertyValue.
package property

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// PropertyDefinition describes a property that one kind of object can have.
type PropertyDefinition struct {
	op.Record
	ObjectType string `json:"objectType" enum:"contact,customer,business"`
	Key        string `json:"key" doc:"unique per object type"`
	ValueType  string `json:"valueType" enum:"text,number,boolean,date,url,select,multi_select"`
	definitionFields

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

// definitionFields are what callers set of a definition and can change later.
type definitionFields struct {
	Name        string    `json:"name" min:"1"`
	Description *string   `json:"description" max:"10000"`
	Options     *[]string `json:"options" min:"1" doc:"of a select or multi_select; others have none"`
	IsRequired  bool      `json:"isRequired" default:"false" doc:"whether forms should ask for it; not enforced"`
}

var definitions = db.NewTable[PropertyDefinition]("property_definitions", db.Life{
	Noun:         "property definition",
	ExternalText: db.NoExternalText,
})

// KeyTaken refuses a second definition with the same key.
var KeyTaken = fault.DefineKind("PROPERTY_KEY_TAKEN", 409,
	"Another property definition of this object type has this key.")

// Operations lists everything that can be done with properties.
func Operations() []*op.Op {
	all := append(definitionOperations(), suggestionOperations()...)
	for _, o := range objectKinds {
		all = append(all, o.operations()...)
	}
	return all
}

func definitionOperations() []*op.Op {
	const ref = `"id": "2c9f7d10-5b3e-4a8c-9d21-7e6f5a4b3c2d"`
	return []*op.Op{
		op.ListRows(op.Spec{
			Name:      "property_definitions.list",
			NounWords: "custom field, custom, extra field, attribute, column, own field, keep track, field",
			Resource:  "properties",
			Example:   `{"objectType": ["customer"], "limit": 20}`,
		}, definitions, func(in *definitionList, w *db.Where) { db.FilterOneOf(w, "object_type", in.ObjectType) }),
		op.Write(op.Spec{
			Name:        "property_definitions.create",
			Words:       "keep each, remember each, each customer, every customer, each contact, keep track",
			Route:       "POST /v1/property-definitions",
			Summary:     "Define a property of contacts, customers or businesses.",
			Description: "A select or multi_select needs options. Key, object type and value type never change.",
			Resource:    "properties",
			Errors:      []*fault.Kind{KeyTaken},
			Events:      []string{"property_definition.created"},
			Example: `{"objectType": "customer", "key": "tier", "name": "Tier", "valueType": "select", "options": ` +
				`["gold", "silver"]}`,
			FieldExceptions: []string{"objectType", "key", "valueType"}, // they never change
		}, createDefinition),
		op.GetRow(op.Spec{Name: "property_definitions.get", Resource: "properties"}, definitions),
		op.Write(op.Spec{
			Name:        "property_definitions.update",
			Route:       "PATCH /v1/property-definitions/{id}",
			Summary:     "Change a property definition.",
			Description: "Values with a removed option stay as they are.",
			Resource:    "properties",
			Events:      []string{"property_definition.updated"},
			Example:     `{` + ref + `, "name": "Service tier", "description": null}`,
		}, updateDefinition),
		// Deleting a definition changes none of its values. There may be one for every contact, and a
		// transaction over all of them would hold up everybody else. A value is visible only while its
		// definition is (liveDefinitionSQL), and is purged with it.
		op.DeleteRow(op.Spec{
			Name:     "property_definitions.delete",
			Summary:  "Delete a property definition and all its values.",
			Resource: "properties",
		}, definitions),
		op.RestoreRow("property-definitions", "properties", definitions, nil),
	}
}

type definitionList struct {
	op.Browse
	SortBy     string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	ObjectType []string `query:"objectType" enum:"contact,customer,business"`
	Query      *string  `query:"query" max:"200" doc:"part of a name or key; 1-2 letters match word starts"`
}

type definitionCreate struct {
	ObjectType string `json:"objectType" enum:"contact,customer,business"`
	Key        string `json:"key" pattern:"^[a-z][a-z0-9_]{0,62}$" doc:"like shoe_size; unique per object type"`
	ValueType  string `json:"valueType" enum:"text,number,boolean,date,url,select,multi_select"`
	definitionFields
}

func (in *definitionCreate) Prepare(context.Context, *op.Call) error {
	return checkOptions(in.ValueType, in.Options)
}

// checkOptions refuses options that do not fit the value type, that are empty, or that appear
// twice.
func checkOptions(valueType string, options *[]string) error {
	if valueType != "select" && valueType != "multi_select" {
		if options != nil {
			return fault.Field("options", "Only a select or multi_select has options")
		}
		return nil
	}
	if options == nil {
		return fault.Field("options", "Required for a "+valueType)
	}
	var tree *fault.Tree
	for i, o := range *options {
		if o == "" {
			tree = tree.SetItem(i, (*fault.Tree)(nil).Add("Must not be empty"))
		} else if slices.Index(*options, o) < i {
			tree = tree.SetItem(i, (*fault.Tree)(nil).Add(duplicateIssue))
		}
	}
	return (*fault.Tree)(nil).SetField("options", tree.PadItems(len(*options))).Fault(fault.Invalid)
}

const duplicateIssue = "Must not appear twice"

func createDefinition(ctx context.Context, c *op.Call, in definitionCreate) (*PropertyDefinition, error) {
	v := &PropertyDefinition{Record: c.NewRecord(), ObjectType: in.ObjectType, Key: in.Key,
		ValueType: in.ValueType, definitionFields: in.definitionFields}
	v.Search = v.searchWords()
	free, err := definitions.TryInsert(ctx, c.Tx, v)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, KeyTaken.Say("Another %s property has the key %s.", v.ObjectType, v.Key)
	}
	return v, c.Emit("property_definition.created", v.ID, v)
}

// searchWords is the text that a search finds a definition by.
func (v *PropertyDefinition) searchWords() string { return db.SearchText(&v.Name, &v.Key) }

type definitionUpdate struct {
	ID id.ID `path:"id" doc:"the property definition"`
	op.Changes[definitionFields]
}

func updateDefinition(ctx context.Context, c *op.Call, in definitionUpdate) (*PropertyDefinition, error) {
	v, err := definitions.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Has("options") {
		if err := checkOptions(v.ValueType, in.To.Options); err != nil {
			return nil, err
		}
	}
	if !op.Apply(v, &in) {
		return v, nil
	}
	v.UpdatedAt = c.Now
	v.Search = v.searchWords()
	if err := definitions.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("property_definition.updated", v.ID, v)
}

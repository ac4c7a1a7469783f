package property

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// PropertyValue is an object's value for a property.
type PropertyValue struct {
	op.Record
	DefinitionID id.ID  `json:"definitionId"`
	ValueType    string `json:"valueType" enum:"text,number,boolean,date,url,select,multi_select"`
	ObjectType   string `json:"objectType" enum:"contact,customer,business"`
	ObjectID     id.ID  `json:"objectId"`
	Content
	Status       Status                `json:"status" enum:"suggested,confirmed,dismissed"`
	SetByKind    string                `json:"setByKind" enum:"user,agent,api,automation,system"`
	SetByUserID  *id.ID                `json:"setByUserId"`
	SetByAgentID *id.ID                `json:"setByAgentId"`
	Sources      []PropertyValueSource `json:"sources"`

	Version int64 `json:"-" db:"version"` // of the property of this object, see loadVersion
}

// PropertyValueSource is where a value was found. Sources are created and
// deleted with their value and never change, so they are stored in its row.
type PropertyValueSource struct {
	op.Record
	ValueID id.ID   `json:"valueId"`
	URL     string  `json:"url" max:"2048"`
	Title   *string `json:"title"`
}

// Status is how certain a value is.
type Status string

const (
	statusSuggested Status = "suggested"
	statusConfirmed Status = "confirmed"
	statusDismissed Status = "dismissed"
)

var values = db.NewTable[PropertyValue]("property_values", db.Life{
	Noun:         "property value",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("definition_id", "property_definitions", db.EndsAtPurge),
		db.RefTo("object_id", "contacts", db.EndsAtPurge),
		db.RefTo("object_id", "customers", db.EndsAtPurge),
		db.RefTo("object_id", "businesses", db.EndsAtPurge),
		db.RefTo("set_by_user_id", "users", db.Keeps),
		db.RefTo("set_by_agent_id", "agents", db.Keeps),
	},
	// When two objects are merged and both have a confirmed value, the one of the object that goes
	// becomes a suggestion, for somebody to decide.
	MergeRules: []db.MergeRule{{
		Column: "status", RestoreTo: "'confirmed'", SetTo: "'suggested'",
		Where: `status = 'confirmed' AND EXISTS (SELECT 1 FROM property_values k
			WHERE k.organization_id = $1 AND k.object_id = $3 AND k.definition_id = property_values.definition_id
				AND k.status = 'confirmed' AND k.deleted_at IS NULL)`,
	}},
})

// objectKind is a kind of object that has properties: its name in the API, and its table.
type objectKind struct{ kind, table string }

var objectKinds = []objectKind{{"contact", "contacts"}, {"customer", "customers"}, {"business", "businesses"}}

// liveDefinitionSQL selects the values whose definition is not deleted.
const liveDefinitionSQL = `EXISTS (SELECT 1 FROM property_definitions d
	WHERE d.organization_id = $1 AND d.id = property_values.definition_id AND d.deleted_at IS NULL)`

// valuesOfObject are the values of objects of this kind. The object is the parent of its values, which
// is locked for every change.
func (o objectKind) valuesOfObject() op.Nested[PropertyValue] {
	n := op.NestedUnder(values, db.RefTo("object_id", o.table))
	n.Seen = liveDefinitionSQL
	return n
}

// operationSpec is what the operations on the values of one kind of object share.
func (o objectKind) operationSpec(verb, route, summary, example string) op.Spec {
	s := op.Spec{
		Name:     o.table + ".properties." + verb,
		Route:    route,
		Summary:  summary,
		Resource: "properties",
		Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"` + example + `}`,
	}
	if verb == "list" {
		s.NounWords = "custom field, attribute, favourite, trait, value, extra field"
	}
	if past := map[string]string{"create": "created", "update": "updated", "delete": "deleted"}[verb]; past != "" {
		s.Events = []string{o.eventType(past)}
	}
	return s
}

// eventType is the type of an event about a value, like contact.property.created.
func (o objectKind) eventType(verb string) string { return o.kind + ".property." + verb }

func (o objectKind) operations() []*op.Op {
	all := "/v1/" + o.table + "/{id}/properties"
	one := all + "/{propertyId}"
	const ref = `, "propertyId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	create := o.operationSpec("create", "POST "+all, "Give a "+o.kind+" a property value.",
		`, "definitionId": "2c9f7d10-5b3e-4a8c-9d21-7e6f5a4b3c2d", "value": "gold", "sources": [{"url": `+
			`"https://example.com/about", "title": "About"}]`)
	create.Description = "A value from an agent is a suggestion unless it says otherwise. A confirmed value replaces " +
		"the one confirmed before. A number may be sent as a string; an array holds strings."
	create.Words = "prefer, likes"
	update := o.operationSpec("update", "PATCH "+one,
		"Confirm, dismiss, restore or replace a property value of a "+o.kind+".", ref+`, "status": "dismissed"`)
	update.Description = "Use status to confirm a suggestion, dismiss a value or restore a dismissed one as a " +
		"suggestion. Use value to replace a confirmed value, which gets a new id. With both, status comes first, and " +
		"both happen or neither."
	update.Errors = []*fault.Kind{TransitionInvalid, NotConfirmed, Conflict}
	// The input has one field, value; the answer has a field for each type instead. The others never change.
	create.FieldExceptions = []string{"value", "definitionId", "sources"}
	update.FieldExceptions = []string{"value"}
	return []*op.Op{
		op.Read(o.operationSpec("list", "GET "+all, "List the property values of a "+o.kind+", newest first.",
			`, "status": ["confirmed"]`), o.listValues),
		op.Write(create, o.createValue),
		op.Read(o.operationSpec("get", "GET "+one, "Get a property value of a "+o.kind+".", ref), o.getValue),
		op.Write(update, o.updateValue),
		op.Write(o.operationSpec("delete", "DELETE "+one, "Delete a property value of a "+o.kind+".", ref),
			o.deleteValue),
	}
}

type valueList struct {
	op.Page
	ID           id.ID    `path:"id" doc:"the object"`
	Status       []Status `query:"status" enum:"suggested,confirmed,dismissed"`
	DefinitionID *id.ID   `query:"definitionId"`
}

func (o objectKind) listValues(ctx context.Context, c *op.Call, in valueList) (*op.List[PropertyValue], error) {
	rows := o.valuesOfObject()
	w := rows.WhereParent(c, in.ID)
	db.FilterEqual(w, "definition_id", in.DefinitionID)
	db.FilterOneOf(w, "status", in.Status)
	return rows.ListWhere(ctx, c, in.ID, w, in.Page)
}

type valueCreate struct {
	ID           id.ID            `path:"id" doc:"the object"`
	DefinitionID id.ID            `json:"definitionId" ref:"properties"`
	Value        db.JSON          `json:"value" kinds:"string,number,boolean,array" doc:"of the definition's type"`
	Status       *Status          `json:"status" enum:"suggested,confirmed" doc:"by default confirmed; agents suggest"`
	Sources      []propertySource `json:"sources" optional:"yes" doc:"where the value was found"`
}

type propertySource struct {
	URL   string  `json:"url" format:"url" max:"2048"`
	Title *string `json:"title"`
}

// createValue gives an object a value. A confirmed one replaces the value that was confirmed
// before.
func (o objectKind) createValue(ctx context.Context, c *op.Call, in valueCreate) (*PropertyValue, error) {
	if err := o.valuesOfObject().LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	d, err := o.findDefinition(ctx, c, in.DefinitionID)
	if err != nil {
		return nil, err
	}
	content, err := d.parseValue(in.Value)
	if err != nil {
		return nil, err
	}
	v := newValue(c, d, in.ID, content)
	switch {
	case in.Status != nil:
		v.Status = *in.Status
	case c.Caller.Kind == op.AgentActor:
		v.Status = statusSuggested
	}
	for _, s := range in.Sources {
		v.Sources = append(v.Sources,
			PropertyValueSource{Record: c.NewRecord(), ValueID: v.ID, URL: s.URL, Title: s.Title})
	}
	if v.Status == statusConfirmed {
		if err := supersedeConfirmed(ctx, c, v, nil); err != nil {
			return nil, err
		}
	}
	if v.Version, err = loadNextVersion(ctx, c, v); err != nil {
		return nil, err
	}
	if err := values.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit(o.eventType("created"), v.ID, v)
}

// findDefinition finds the definition of a new value, or refuses it at the field definitionId.
func (o objectKind) findDefinition(ctx context.Context, c *op.Call, ref id.ID) (*PropertyDefinition, error) {
	d, err := definitions.Get(ctx, c.Tx, c.Org, ref)
	switch {
	case fault.IsKind(err, fault.NotFound):
		return nil, op.NoSuchReference("definitionId")
	case err == nil && d.ObjectType != o.kind:
		return nil, fault.Field("definitionId", "Defines a property of a "+d.ObjectType+", not of a "+o.kind)
	}
	return d, err
}

// newValue is a confirmed value without sources, set by the caller.
func newValue(c *op.Call, d *PropertyDefinition, object id.ID, content Content) *PropertyValue {
	v := &PropertyValue{Record: c.NewRecord(), DefinitionID: d.ID, ValueType: d.ValueType, ObjectType: d.ObjectType,
		ObjectID: object,
		Content:  content, Status: statusConfirmed, SetByKind: string(c.Caller.Kind), Sources: []PropertyValueSource{}}
	switch c.Caller.Kind {
	case op.UserActor:
		v.SetByUserID = &c.Caller.ID
	case op.AgentActor:
		v.SetByAgentID = &c.Caller.ID
	}
	return v
}

// supersedeConfirmed deletes the confirmed value of v's property, if there is one, and also the value
// with the id also, if given, to make way for v.
func supersedeConfirmed(ctx context.Context, c *op.Call, v *PropertyValue, also *id.ID) error {
	_, err := db.Exec(ctx, c.Tx, `
		UPDATE property_values SET deleted_at = $4, updated_at = $4
		WHERE organization_id = $1 AND object_id = $2 AND definition_id = $3
			AND (status = 'confirmed' OR id = $5) AND deleted_at IS NULL`,
		c.Org, v.ObjectID, v.DefinitionID, c.Now, also)
	return err
}

// loadVersion is how often a property of an object was written. Deleted rows count too, because
// deleting a value changes the property.
func loadVersion(ctx context.Context, tx *db.Tx, org, object, definition id.ID) (int64, error) {
	return db.QueryOne[int64](ctx, tx, `
		SELECT coalesce(max(version), 0)
		FROM property_values
		WHERE organization_id = $1 AND object_id = $2 AND definition_id = $3`,
		org, object, definition)
}

// loadNextVersion is the version that the next write of a value gives its property.
func loadNextVersion(ctx context.Context, c *op.Call, v *PropertyValue) (int64, error) {
	n, err := loadVersion(ctx, c.Tx, c.Org, v.ObjectID, v.DefinitionID)
	return n + 1, err
}

type valueRef struct {
	ID         id.ID `path:"id" doc:"the object"`
	PropertyID id.ID `path:"propertyId" doc:"the property value"`
}

func (o objectKind) getValue(ctx context.Context, c *op.Call, in valueRef) (*PropertyValue, error) {
	return o.valuesOfObject().Get(ctx, c, in.ID, in.PropertyID)
}

func (o objectKind) deleteValue(ctx context.Context, c *op.Call, in valueRef) (op.Nothing, error) {
	v, err := o.valuesOfObject().LockRow(ctx, c, in.ID, in.PropertyID)
	if err != nil {
		return op.Nothing{}, err
	}
	if v.Version, err = loadNextVersion(ctx, c, v); err != nil {
		return op.Nothing{}, err
	}
	v.markDeleted(c.Now)
	if err := values.Save(ctx, c.Tx, v); err != nil {
		return op.Nothing{}, err
	}
	if _, err := values.SoftDelete(ctx, c.Tx, c.Org, v.ID, c.Now); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit(o.eventType("deleted"), v.ID, v)
}

// Text is the value as people read and write it.
func (v *PropertyValue) Text() string {
	switch {
	case v.ValueText != nil:
		return *v.ValueText
	case v.ValueNumber != nil:
		return *v.ValueNumber
	case v.ValueDate != nil:
		return string(*v.ValueDate)
	case v.ValueBoolean != nil && *v.ValueBoolean:
		return "yes"
	case v.ValueBoolean != nil:
		return "no"
	case v.ValueTextList != nil:
		return strings.Join(*v.ValueTextList, ", ")
	}
	return ""
}

// markDeleted marks the value and its sources as deleted.
func (v *PropertyValue) markDeleted(now clock.Time) {
	v.UpdatedAt, v.DeletedAt = now, &now
	for i := range v.Sources {
		v.Sources[i].UpdatedAt, v.Sources[i].DeletedAt = now, &now
	}
}

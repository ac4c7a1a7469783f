package property

import (
	"cmp"
	"context"
	"slices"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Property is a confirmed value together with the key of its definition, as an
// object shows it among its own fields.
type Property struct {
	Key string `json:"key"`
	PropertyValue
}

// Include lets a caller ask for the properties of an object.
type Include struct {
	Include []string `query:"include" enum:"properties" doc:"properties: also show the confirmed ones"`
}

// Filter lets a caller ask for objects by a property, and for their properties.
type Filter struct {
	Include
	PropertyKey   *string `query:"propertyKey" max:"63" doc:"the key of a property that is confirmed as propertyValue"`
	PropertyValue *string `query:"propertyValue" max:"2048" doc:"exact; one option of a multi_select"`
}

// AddCondition narrows w to the objects of a kind that have the property confirmed with the value.
func (f Filter) AddCondition(ctx context.Context, c *op.Call, objectType string, w *db.Where) error {
	switch {
	case f.PropertyKey == nil && f.PropertyValue == nil:
		return nil
	case f.PropertyKey == nil:
		return filterFault("propertyKey", "Required with propertyValue")
	case f.PropertyValue == nil:
		return filterFault("propertyValue", "Required with propertyKey")
	}
	if err := c.RequirePermission("properties", op.ActionRead, "A filter by property"); err != nil {
		return err
	}
	found, err := db.QueryAll[PropertyDefinition](ctx, c.Tx, "SELECT "+definitions.Columns()+` FROM property_definitions
		WHERE organization_id = $1 AND object_type = $2 AND key = $3 AND deleted_at IS NULL`,
		c.Org, objectType, *f.PropertyKey)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return filterFault("propertyKey", "No property of a "+objectType+" has this key")
	}
	condition, args, issue := found[0].matchCondition(*f.PropertyValue)
	if issue != "" {
		return filterFault("propertyValue", issue)
	}
	w.AmongRows(db.IndexedRows{
		Table:  values.Name(),
		Column: "object_id",
		Where:  "definition_id = ? AND status = 'confirmed' AND deleted_at IS NULL AND " + condition,
		Args:   append([]any{found[0].ID}, args...),
	})
	return nil
}

// filterFault refuses a parameter of the query.
func filterFault(field, issue string) error {
	return (*fault.Tree)(nil).At([]any{field}, issue).Fault(fault.BadInput)
}

// indexedRunes is how many characters of a text the index has. The condition below repeats the
// number.
const indexedRunes = 100

// matchCondition is the SQL condition that selects the values equal to text. It repeats the
// condition of the partial index for the type, so that the database uses that index.
func (d *PropertyDefinition) matchCondition(text string) (condition string, args []any, issue string) {
	const neither = "value_text IS NULL AND value_number IS NULL AND value_date IS NULL AND "
	switch d.ValueType {
	case "number":
		text, issue = normalizeNumber(text)
		return "value_number = ?", []any{text}, issue
	case "date":
		return "value_date = ?", []any{text}, op.FormatIssue("date", text)
	case "boolean":
		if text != "true" && text != "false" {
			issue = "Invalid input: expected true or false"
		}
		return neither + "value_boolean = ?", []any{text == "true"}, issue
	case "multi_select":
		option, err := json.Marshal(text)
		if err != nil {
			return "", nil, "Invalid text"
		}
		// The list is stored as JSON. If taking the quoted option out changes the text, the list has it.
		const list = "CAST(value_text_list AS TEXT)"
		return neither + "replace(" + list + ", ?, '') <> " + list, []any{string(option)}, ""
	}
	// The || keeps SQLite from merging the two comparisons, after which it would not use the index.
	return "value_text IS NOT NULL AND substr(value_text, 1, 100) = ? AND value_text || '' = ?",
		[]any{cut.Runes(text, indexedRunes), text}, ""
}

// Fill puts the confirmed properties into a page of objects, with one statement for all of
// them, if the caller asked for them. of returns an object's id and the field that takes them.
func Fill[T any](ctx context.Context, c *op.Call, in Include, rows []T, of func(*T) (id.ID, **[]Property)) error {
	if len(in.Include) == 0 {
		return nil
	}
	if err := c.RequirePermission("properties", op.ActionRead, "include=properties"); err != nil {
		return err
	}
	at, ids := map[id.ID]*[]Property{}, []id.ID{}
	for i := range rows {
		object, field := of(&rows[i])
		*field = &[]Property{}
		at[object] = *field
		ids = append(ids, object)
	}
	found, err := db.QueryAll[Property](ctx, c.Tx, `
		SELECT (SELECT d.key FROM property_definitions d
			WHERE d.organization_id = $1 AND d.id = property_values.definition_id) AS key, `+values.Columns()+`
		FROM property_values
		WHERE organization_id = $1 AND object_id = ANY($2) AND status = 'confirmed' AND deleted_at IS NULL AND `+
		liveDefinitionSQL, c.Org, ids)
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b Property) int { return cmp.Compare(a.Key, b.Key) })
	for _, v := range found {
		list := at[v.ObjectID]
		*list = append(*list, v)
	}
	return nil
}

// FillOne is Fill for one object.
func FillOne[T any](ctx context.Context, c *op.Call, in Include, row *T, of func(*T) (id.ID, **[]Property)) error {
	return Fill(ctx, c, in, []T{*row}, func(*T) (id.ID, **[]Property) { return of(row) })
}

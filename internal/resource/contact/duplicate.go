package contact

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Duplicate is a group of contacts that may be the same.
type Duplicate struct {
	Reason     string    `json:"reason" enum:"email,phone,name" doc:"what they share"`
	Value      string    `json:"value" doc:"the address, the number or the name, folded"`
	ContactIDs []id.ID   `json:"contactIds" doc:"at most 100"`
	Contacts   []Contact `json:"contacts" doc:"the oldest first, at most 10"`
}

func duplicateOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:    "contacts.duplicates",
			Words:   "twice, double, same person, clean up, tidy up, look alike",
			Route:   "GET /v1/contacts/duplicates",
			Summary: "List groups of contacts that share an email, a phone number or a full name.",
			Description: "One call looks through a part of the contacts, so a page may be short or empty and still " +
				"have a successor: go on with nextCursor until it is null. Merge what is the same with contacts.merge.",
			Example: `{"limit": 10}`,
		}, listDuplicates),
	}
}

type duplicateList struct {
	Limit  int      `query:"limit" default:"10" min:"1" max:"50" doc:"how many groups at most"`
	Offset int      `query:"offset" default:"0" min:"0" max:"0" doc:"always 0: go on with cursor"`
	Cursor *string  `query:"cursor" max:"1000" doc:"first, then each page's nextCursor"`
	Reason []string `query:"reason" enum:"email,phone,name" doc:"by default all"`

	SortOrder string `query:"sortOrder" default:"asc" enum:"asc" doc:"by reason, then by value"`
}

// duplicatePlace is a position in the list of duplicates, which a cursor encodes: behind a
// value of a reason.
type duplicatePlace struct {
	Reason string `json:"r"`
	Value  string `json:"v"`
}

// sharedValue is a value with one contact that has it.
type sharedValue struct {
	Value   string `db:"value"`
	Contact id.ID  `db:"contact_id"`
}

// duplicateWindow bounds how many values one call reads.
const duplicateWindow = 5000

// fullNameSQL is a person's first and last name, or the name of an organization
// without a person. It must be the expression of the index, letter for letter.
// Somebody with only a first or a last name has none: too many would share it.
const fullNameSQL = `substr(lower(coalesce(first_name || ' ' || last_name, ` +
	`CASE WHEN first_name IS NULL AND last_name IS NULL THEN organization_name END)), 1, 100)`

// duplicateReasons are what contacts may share. Each statement reads the values after $2,
// in the order of an index, so that one call reads a bounded part of the table.
var duplicateReasons = []struct{ name, text string }{
	{"email", `
		SELECT email_folded AS value, contact_id
		FROM contact_emails
		WHERE organization_id = $1 AND deleted_at IS NULL AND email_folded > $2
		ORDER BY email_folded
		LIMIT $3`},
	{"phone", `
		SELECT phone_number AS value, contact_id
		FROM contact_phone_numbers
		WHERE organization_id = $1 AND deleted_at IS NULL AND phone_number > $2
		ORDER BY phone_number
		LIMIT $3`},
	{"name", `
		SELECT ` + fullNameSQL + ` AS value, id AS contact_id
		FROM contacts
		WHERE organization_id = $1 AND deleted_at IS NULL AND ` + fullNameSQL + ` > $2
		ORDER BY ` + fullNameSQL + `
		LIMIT $3`},
}

// listDuplicates goes through the reasons, from the cursor on, and reads one window of
// values of each. It stops with a new cursor when the page is full, or when a reason
// has more values than a window.
func listDuplicates(ctx context.Context, c *op.Call, in duplicateList) (*op.List[Duplicate], error) {
	at, err := in.decodeCursor()
	if err != nil {
		return nil, err
	}
	out := &op.List[Duplicate]{Data: []Duplicate{}, Pagination: op.Pagination{Limit: in.Limit,
		NextCursor: op.Nullable[string]{Set: true, Null: true}}}
	begun := at.Reason == ""
	for i, reason := range duplicateReasons {
		begun = begun || reason.name == at.Reason
		if !begun || len(in.Reason) > 0 && !slices.Contains(in.Reason, reason.name) {
			continue
		}
		after := ""
		if reason.name == at.Reason {
			after = at.Value
		}
		rows, err := db.QueryAll[sharedValue](ctx, c.Tx, reason.text, c.Org, after, duplicateWindow)
		if err != nil {
			return nil, err
		}
		groups, behind := groupDuplicates(rows, in.Limit-len(out.Data))
		for _, g := range groups {
			g.Reason = reason.name
			out.Data = append(out.Data, g)
		}
		if behind == "" && (len(out.Data) < in.Limit || i == len(duplicateReasons)-1) {
			continue
		}
		next := duplicatePlace{Reason: reason.name, Value: behind}
		if behind == "" {
			next = duplicatePlace{Reason: duplicateReasons[i+1].name}
		}
		out.Pagination.HasMore = true
		out.Pagination.NextCursor = op.Nullable[string]{Set: true, Value: next.String()}
		break
	}
	return out, fillDuplicates(ctx, c, out.Data)
}

// groupDuplicates finds the values that several contacts have, at most limit of them.
// behind is the value after which the next call goes on, or empty at the end.
// The rows of the last value in a full window may be incomplete, so that value
// is left to the next call unless it fills the window alone.
func groupDuplicates(rows []sharedValue, limit int) (groups []Duplicate, behind string) {
	full := len(rows) == duplicateWindow
	for i := 0; i < len(rows); {
		end := i
		for end < len(rows) && rows[end].Value == rows[i].Value {
			end++
		}
		if end == len(rows) && full && i > 0 {
			return groups, rows[i-1].Value
		}
		var ids []id.ID
		for _, r := range rows[i:end] {
			if !slices.Contains(ids, r.Contact) && len(ids) < 100 {
				ids = append(ids, r.Contact)
			}
		}
		if len(ids) > 1 {
			groups = append(groups, Duplicate{Value: rows[i].Value, ContactIDs: ids})
		}
		if len(groups) == limit && end < len(rows) || end == len(rows) && full {
			return groups, rows[i].Value
		}
		i = end
	}
	return groups, ""
}

// fillDuplicates loads the contacts of the groups, the first ten of each.
func fillDuplicates(ctx context.Context, c *op.Call, groups []Duplicate) error {
	var ids []id.ID
	for _, g := range groups {
		ids = append(ids, g.ContactIDs[:min(len(g.ContactIDs), 10)]...)
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := LoadShown(ctx, c, ids)
	if err != nil {
		return err
	}
	for i := range groups {
		g := &groups[i]
		g.Contacts = []Contact{}
		for _, row := range g.ContactIDs[:min(len(g.ContactIDs), 10)] {
			if v, ok := found[row]; ok {
				g.Contacts = append(g.Contacts, v)
			}
		}
		slices.SortFunc(g.Contacts, func(a, b Contact) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	return nil
}

// decodeCursor decodes the cursor.
func (in *duplicateList) decodeCursor() (at duplicatePlace, err error) {
	if in.Cursor == nil || *in.Cursor == "first" {
		return duplicatePlace{}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*in.Cursor)
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	known := slices.ContainsFunc(duplicateReasons,
		func(r struct{ name, text string }) bool { return r.name == at.Reason })
	if err != nil || !known || slices.Contains([]byte(at.Value), 0) {
		return duplicatePlace{}, (*fault.Tree)(nil).At([]any{"cursor"},
			"Invalid cursor; begin with first, then send nextCursor of the page before").Fault(fault.BadInput)
	}
	return at, nil
}

func (p duplicatePlace) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // cannot fail: two strings
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

package op

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Plain operations get, list or delete rows and nothing else. They are declared in one line: of their Spec only the
// Name is needed. Route, summary, event and example follow from it and from the noun of the table, unless the Spec has
// them. An operation that refuses for a reason of its own, or that reads more than the row before it answers, is an
// ordinary Read or Write.

// Hook is what a plain operation does with its row besides reading or deleting it.
type Hook[T any] func(context.Context, *Call, *T) error

// GetRow declares the operation that answers with one row of a table. The hook completes the row.
func GetRow[T any](s Spec, t *db.Table[T], complete ...Hook[T]) *Op {
	s.fillFromName(t.Life().Noun, "")
	return declareByIDs(s, readShape, t.Life().Noun, func(ctx context.Context, c *Call, ids []id.ID) (*T, error) {
		v, err := t.Get(ctx, c.Tx, c.Org, ids[0])
		return runHooks(ctx, c, v, err, complete)
	})
}

// GetChild declares the operation that answers with one row of a parent.
func GetChild[T any](s Spec, n Nested[T], complete ...Hook[T]) *Op {
	noun, parent := n.nounNames()
	s.fillFromName(noun, parent)
	return declareByIDs(s, readShape, parent, func(ctx context.Context, c *Call, ids []id.ID) (*T, error) {
		v, err := n.Get(ctx, c, ids[0], ids[1])
		return runHooks(ctx, c, v, err, complete)
	})
}

// DeleteRow declares the operation that soft-deletes a row of a table. The hook runs before the event is emitted.
func DeleteRow[T any](s Spec, t *db.Table[T], afterwards ...Hook[T]) *Op {
	s.fillFromName(t.Life().Noun, "")
	return declareByIDs(s, writeShape, t.Life().Noun, func(ctx context.Context, c *Call, ids []id.ID) (Nothing, error) {
		v, err := t.SoftDelete(ctx, c.Tx, c.Org, ids[0], c.Now)
		if v, err = runHooks(ctx, c, v, err, afterwards); err != nil {
			return Nothing{}, err
		}
		return Nothing{}, c.Emit(s.Events[0], ids[0], v)
	})
}

// DeleteChild declares the operation that soft-deletes a row of a parent, and locks the parent.
func DeleteChild[T any](s Spec, n Nested[T], afterwards ...Hook[T]) *Op {
	noun, parent := n.nounNames()
	s.fillFromName(noun, parent)
	return declareByIDs(s, writeShape, parent, func(ctx context.Context, c *Call, ids []id.ID) (Nothing, error) {
		v, err := n.Remove(ctx, c, ids[0], ids[1])
		if v, err = runHooks(ctx, c, v, err, afterwards); err != nil {
			return Nothing{}, err
		}
		return Nothing{}, c.Emit(s.Events[0], ids[1], v)
	})
}

// ListRows declares the list of a table. Its input embeds Browse and may have the fields SortBy and Query, which are
// found by their names; filter adds conditions for its other fields.
func ListRows[T any, In interface{ browsed() Browse }](s Spec, t *db.Table[T], filter func(*In, *db.Where)) *Op {
	s.fillFromName(t.Life().Noun, "")
	return Read(s, func(ctx context.Context, c *Call, in In) (*List[T], error) {
		w := db.InOrganization(c.Org)
		filter(&in, w)
		fields := reflect.ValueOf(in)
		q := ListQuery{Browse: in.browsed(), SortBy: "createdAt"}
		if f := fields.FieldByName("SortBy"); f.IsValid() {
			q.SortBy = f.String()
		}
		if f := fields.FieldByName("Query"); f.IsValid() {
			q.Query = f.Interface().(*string)
		}
		return BrowseRows(ctx, c, t, q, w)
	})
}

// ListChildren declares the list of the rows of a parent.
func ListChildren[T any](s Spec, n Nested[T]) *Op {
	return ListChildrenWhere(s, n, Unfiltered[ChildPage])
}

// ListChildrenWhere is ListChildren with filters. Its input embeds ChildPage; filter adds conditions for the other
// fields.
func ListChildrenWhere[T any, In interface{ ofParent() ChildPage }](s Spec, n Nested[T],
	filter func(*In, *db.Where)) *Op {
	noun, parent := n.nounNames()
	s.fillFromName(noun, parent)
	o := Read(s, func(ctx context.Context, c *Call, in In) (*List[T], error) {
		p := in.ofParent()
		w := n.WhereParent(c, p.ID)
		filter(&in, w)
		return n.ListWhere(ctx, c, p.ID, w, p.Page)
	})
	o.in.props["id"].node.doc = "the " + parent
	return o
}

// Unfiltered is the filter of a list that has none of its own.
func Unfiltered[In any](*In, *db.Where) {}

// ChildPage is Page for the rows of a parent.
type ChildPage struct {
	Page
	ID id.ID `path:"id"` // of the parent
}

func (p ChildPage) ofParent() ChildPage { return p }

func (b Browse) browsed() Browse { return b }

// runHooks runs the hooks on a row, unless there is an error already.
func runHooks[T any](ctx context.Context, c *Call, v *T, err error, hooks []Hook[T]) (*T, error) {
	for i := 0; i < len(hooks) && err == nil; i++ {
		err = hooks[i](ctx, c, v)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// declareByIDs declares an operation whose input is nothing but the ids in its route. The input type is built here with
// one field per id, so that no noun has to declare one. first is the noun that the first id names.
func declareByIDs[Out any](s Spec, sh shape, first string, fn func(context.Context, *Call, []id.ID) (Out, error)) *Op {
	var fields []reflect.StructField
	for i, name := range routeFieldNames(s.Route) {
		fields = append(fields, reflect.StructField{
			Name: "ID" + strings.Repeat("_", i), // any exported name that is not taken; callers see the tag
			Type: reflect.TypeFor[id.ID](),
			Tag:  reflect.StructTag(`path:"` + name + `"`),
		})
	}
	o := newOperation(s, sh, reflect.StructOf(fields), reflect.TypeFor[Out]())
	o.in.props["id"].node.doc = "the " + first
	o.invoke = func(ctx context.Context, c *Call, in reflect.Value, _ *Stream) (any, error) {
		ids := make([]id.ID, in.NumField())
		for i := range ids {
			ids[i] = in.Field(i).Interface().(id.ID)
		}
		return fn(ctx, c, ids)
	}
	return o
}

// routeFieldNames are the names between braces in a route, in order.
func routeFieldNames(route string) (names []string) {
	for _, segment := range strings.Split(route, "/") {
		if strings.HasPrefix(segment, "{") {
			names = append(names, strings.Trim(segment, "{}"))
		}
	}
	return names
}

// nounNames are what people call a row and its parent: "phone number", "contact".
func (n Nested[T]) nounNames() (row, parent string) {
	return n.Rows.Life().Noun, db.LifeOfTable(n.parent.Table).Noun
}

const (
	exampleRowID   = `"6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	exampleChildID = `"1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
)

// fillFromName fills in what follows from the name of a plain operation: contacts.phone_numbers.get of the noun "phone
// number" is GET /v1/contacts/{id}/phone-numbers/{phoneNumberId}. parent is empty for a top-level noun.
func (s *Spec) fillFromName(noun, parent string) {
	words := strings.Split(s.Name, ".")
	collection, verb := words[:len(words)-1], words[len(words)-1]
	many := strings.ReplaceAll(collection[len(collection)-1], "_", " ")
	event := db.EventName(noun) + ".deleted"
	own, of, from, its := "id", "", "", ""
	if parent != "" {
		own, event = camelCase(noun)+"Id", db.EventName(parent)+"."+event
		of, from, its = " of "+withArticle(parent), " from "+withArticle(parent), withArticle(parent)+"'s "
	}
	route := "/v1/" + strings.ReplaceAll(strings.Join(collection, "/{id}/"), "_", "-")
	filled := Spec{}
	switch verb {
	case "list":
		filled = Spec{Route: http.MethodGet + " " + route, Summary: "List " + its + many + ", newest first."}
	case "get":
		filled = Spec{Route: http.MethodGet + " " + route + "/{" + own + "}",
			Summary: "Get " + withArticle(noun) + of + "."}
	case "delete":
		filled = Spec{Route: http.MethodDelete + " " + route + "/{" + own + "}",
			Summary: "Delete " + withArticle(noun) + ".", Events: []string{event}}
		if parent != "" {
			filled.Summary = "Remove " + withArticle(noun) + from + "."
		}
	default:
		panic("operation " + s.Name + ": a plain one is named .list, .get or .delete")
	}
	s.fillMissing(filled)
}

// fillMissing takes from other what the Spec does not have, and makes an example from the route if there is none.
func (s *Spec) fillMissing(other Spec) {
	if s.Route == "" {
		s.Route = other.Route
	}
	if s.Summary == "" {
		s.Summary = other.Summary
	}
	if s.Events == nil {
		s.Events = other.Events
	}
	if s.Example != "" {
		return
	}
	var ids []string
	for i, name := range routeFieldNames(s.Route) {
		ids = append(ids, `"`+name+`": `+[]string{exampleRowID, exampleChildID}[min(i, 1)])
	}
	if len(ids) == 0 {
		ids = []string{`"limit": 20`}
	}
	s.Example = "{" + strings.Join(ids, ", ") + "}"
}

// camelCase writes a noun as a JSON field: "phone number" is phoneNumber.
func camelCase(noun string) string {
	words := strings.FieldsFunc(noun, func(r rune) bool { return r == ' ' || r == '-' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

func withArticle(noun string) string {
	if slices.Contains([]byte("aeio"), noun[0]) {
		return "an " + noun
	}
	return "a " + noun
}

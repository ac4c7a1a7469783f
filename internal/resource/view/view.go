// Package view holds the views that people save of a list: its filters, its order and its columns under a name. A view
// is its maker's alone until it is shared. It holds no rows: whoever uses one sees what they may list themselves.
//
// Start reading at View, then Service.checkFields, which holds a view to the parameters of the list's own operation.
// FindQuery is how a list or an export takes the filters of a view (viewId).
package view

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fields are what callers set of a view.
type Fields struct {
	Name    string         `json:"name" min:"1" max:"80"`
	Query   jsontext.Value `json:"query" kinds:"object" doc:"parameters of the list: {\"tag\": [\"vip\"]}"`
	Columns []string       `json:"columns" optional:"yes" max:"50" doc:"fields that a table shows; empty for the usual"`
	Shared  bool           `json:"shared" default:"false" doc:"everybody sees it; else only its maker"`
}

// View is a list as somebody wants to see it again.
type View struct {
	op.Record
	CreatedBy  *id.ID `json:"createdBy" doc:"the user, also behind a key; else the agent or the key"`
	ObjectType string `json:"objectType" doc:"the list, as exports name it: contacts"`
	Fields

	Seq int64 `json:"-" db:"seq"`
}

var views = db.NewTable[View]("views", db.Life{
	Noun:         "view",
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("created_by", "", db.Keeps)},
	Erase:        life.WholeRow.AlsoFind(findViewsOfPerson),
})

// findViewsOfPerson finds the views whose filters name the person.
func findViewsOfPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	return e.ScanEach(ctx, tx, "views", "organization_id = $1 AND "+tx.ContainsSQL("query"),
		append(e.PersonIDs(), e.Addresses...))
}

// Service checks views by the operations that they are of.
type Service struct{ catalog *op.Catalog }

// New makes the service. The catalog is read with the first view, so it may still be incomplete.
func New(catalog *op.Catalog) *Service { return &Service{catalog} }

const exampleID = `"id": "5d0e7b42-3c1f-4a86-9b27-8f6e2d1c0a94"`

// Operations lists everything that can be done with views. A view belongs to its list and needs that list's permission,
// so there is no resource of views.
func (s *Service) Operations() []*op.Op {
	spec := func(more op.Spec) op.Spec {
		more.Resource, more.AnyOfResources = "contacts", op.Resources()
		return more
	}
	return []*op.Op{
		op.Read(spec(op.Spec{
			Name:        "views.list",
			NounWords:   "filter, segment, saved list",
			Route:       "GET /v1/views",
			Summary:     "List saved views, newest first.",
			Description: "One's own and the shared ones, of the lists that the caller may read.",
			Example:     `{"objectType": ["contacts"]}`,
		}), s.listViews),
		op.Write(spec(op.Spec{
			Name:    "views.create",
			Words:   "keep list, next time, keep filter, save list, filter",
			Route:   "POST /v1/views",
			Summary: "Save a view of a list.",
			Description: "Lists and exports take it as viewId. Whoever may change what is listed may save views of " +
				"it. Only a shared view has events.",
			Events: []string{"view.created"},
			Example: `{"objectType": "contacts", "name": "Friends", "query": {"tag": ["friend"], "sortBy": "name"}, ` +
				`"columns": ["organizationName", "tags"], "shared": true}`,
			FieldExceptions: []string{"objectType"}, // it never changes
		}), s.createView),
		op.Read(spec(op.Spec{
			Name:    "views.get",
			Route:   "GET /v1/views/{id}",
			Summary: "Get a saved view.",
			Example: `{` + exampleID + `}`,
		}), s.getView),
		op.Write(spec(op.Spec{
			Name:        "views.update",
			Route:       "PATCH /v1/views/{id}",
			Summary:     "Change a saved view.",
			Description: "A shared view is changed by its maker, owners and admins.",
			Events:      []string{"view.updated"},
			Example:     `{` + exampleID + `, "name": "Good friends", "shared": true}`,
		}), s.updateView),
		op.Write(spec(op.Spec{
			Name:    "views.delete",
			Route:   "DELETE /v1/views/{id}",
			Summary: "Delete a saved view.",
			Events:  []string{"view.deleted"},
			Example: `{` + exampleID + `}`,
		}), s.deleteView),
		op.Write(spec(op.Spec{
			Name:    "views.restore",
			Route:   "POST /v1/views/{id}/restore",
			Summary: "Restore a deleted view.",
			Status:  200,
			Events:  []string{"view.restored"},
			Example: `{` + exampleID + `}`,
		}), s.restoreView),
	}
}

// Whose a view is

// makerOf is whose the views of a caller are: the person behind it, the agent itself, which must not change what the
// person relies on unseen, or the key that nobody is known behind; nil for nobody.
func makerOf(c *op.Call) *id.ID {
	if c.Caller.Kind == op.AgentActor || c.Caller.User == "" && c.Caller.Kind == op.APIActor {
		return op.IDOrNil(c.Caller.ID)
	}
	return c.Caller.UserIDOrNil()
}

func (v *View) isOf(c *op.Call) bool {
	maker := makerOf(c)
	return maker != nil && v.CreatedBy != nil && *v.CreatedBy == *maker
}

// listOf is the operation that a view is of, or a refusal at objectType.
func (s *Service) listOf(objectType string) (*op.Op, error) {
	if list := s.catalog.Named(objectType + ".list"); list != nil && list.TakesView() {
		return list, nil
	}
	names := s.objectTypes()
	return nil, fault.Field("objectType", "There are no views of this; "+
		op.DidYouMean(objectType, names, "choose one of "+strings.Join(names, ", ")))
}

// objectTypes names the lists that there are views of.
func (s *Service) objectTypes() (names []string) {
	for _, o := range s.catalog.All() {
		if name, ok := strings.CutSuffix(o.Name, ".list"); ok && o.TakesView() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// permit refuses a caller who may not do something with a view. One that the caller cannot see does not exist for them.
func (s *Service) permit(c *op.Call, v *View, a op.Action) error {
	if !v.Shared && !v.isOf(c) {
		return db.AsNotFound(db.ErrNoRow, views.Life().Noun)
	}
	list, err := s.listOf(v.ObjectType)
	if err != nil {
		return err
	}
	if err := c.RequirePermission(list.Resource, a, "A view of "+v.ObjectType); err != nil {
		return err
	}
	isManager := c.Door == op.AdminDoor || c.Caller.Permissions.Allow(op.Account, op.ActionUpdate)
	if a != op.ActionRead && v.CreatedBy != nil && !v.isOf(c) && !isManager {
		return fault.Forbidden.Say("Somebody else made this view. Only they, owners and admins can change it.")
	}
	return nil
}

// emit tells of a shared view. What one person keeps for themselves is not in the log that all can read.
func (v *View) emit(c *op.Call, event string, wasShared bool) error {
	if !v.Shared && !wasShared {
		return nil
	}
	return c.Emit(event, v.ID, v)
}

// What a view may hold

// paging are the parameters that say which page of a list is meant, and not which rows are in it.
var paging = []string{"limit", "offset", "cursor", "include", op.ViewField}

// checkFields refuses what the list's operation would refuse, and columns that its rows do not have.
func (s *Service) checkFields(objectType string, f *Fields) error {
	list, err := s.listOf(objectType)
	if err != nil {
		return err
	}
	tree := (*fault.Tree)(nil).SetField("query", list.Check(f.Query, nil))
	var names map[string]jsontext.Value
	if json.Unmarshal(f.Query, &names) == nil {
		for _, name := range paging {
			if _, ok := names[name]; ok {
				tree = tree.At([]any{"query", name}, "A view has no pages: leave this out")
			}
		}
	}
	for i, name := range f.Columns {
		if !list.HasAnswerField(name) {
			tree = tree.At([]any{"columns", i}, "What "+objectType+" lists has no such field; "+
				op.DidYouMean(name, list.AnswerFields(), "it has "+strings.Join(list.AnswerFields(), ", ")))
		}
	}
	return tree.Fault(fault.Invalid)
}

// The operations

type viewRef struct {
	ID id.ID `path:"id" doc:"the view"`
}

type viewList struct {
	op.CursorPage
	op.CommonFilters
	ObjectType []string `query:"objectType" doc:"of these lists: contacts, tasks"`
}

func (s *Service) listViews(ctx context.Context, c *op.Call, in viewList) (*op.List[View], error) {
	w := db.InOrganization(c.Org)
	may := s.objectTypes()
	may = slices.DeleteFunc(may, func(name string) bool {
		return c.RequirePermission(s.catalog.Named(name+".list").Resource, op.ActionRead, "It") != nil ||
			len(in.ObjectType) > 0 && !slices.Contains(in.ObjectType, name)
	})
	db.FilterOneOf(w, "object_type", append(may, "")) // not empty, which would mean all
	w.And("(shared OR created_by = ?)", makerOf(c))
	browse := op.Browse{CursorPage: in.CursorPage, CommonFilters: in.CommonFilters} // without views of views
	return op.BrowseRows(ctx, c, views, op.ListQuery{Browse: browse, SortBy: "createdAt"}, w)
}

type viewCreate struct {
	ObjectType string `json:"objectType" min:"1" doc:"the list, as exports name it: contacts"`
	Fields
}

func (s *Service) createView(ctx context.Context, c *op.Call, in viewCreate) (*View, error) {
	v := &View{Record: c.NewRecord(), CreatedBy: makerOf(c), ObjectType: in.ObjectType, Fields: in.Fields}
	v.Columns = append([]string{}, v.Columns...) // never null
	if err := s.checkFields(v.ObjectType, &v.Fields); err != nil {
		return nil, err
	}
	if v.CreatedBy == nil && !v.Shared {
		return nil, fault.Field("shared", "Must be true: nobody is known whom it could belong to")
	}
	if err := s.permit(c, v, op.ActionCreate); err != nil {
		return nil, err
	}
	if err := views.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, v.emit(c, "view.created", false)
}

func (s *Service) getView(ctx context.Context, c *op.Call, in viewRef) (*View, error) {
	v, err := views.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return v, s.permit(c, v, op.ActionRead)
}

type viewUpdate struct {
	viewRef
	op.Changes[Fields]
}

func (s *Service) updateView(ctx context.Context, c *op.Call, in viewUpdate) (*View, error) {
	v, err := s.lockView(ctx, c, in.ID, op.ActionUpdate)
	if err != nil {
		return nil, err
	}
	wasShared := v.Shared
	if !op.Apply(v, &in) {
		return v, nil
	}
	if err := s.checkFields(v.ObjectType, &v.Fields); err != nil {
		return nil, err
	}
	v.UpdatedAt = c.Now
	if err := views.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, v.emit(c, "view.updated", wasShared)
}

func (s *Service) lockView(ctx context.Context, c *op.Call, ref id.ID, a op.Action) (*View, error) {
	v, err := views.Lock(ctx, c.Tx, c.Org, ref)
	if err != nil {
		return nil, err
	}
	return v, s.permit(c, v, a)
}

func (s *Service) deleteView(ctx context.Context, c *op.Call, in viewRef) (op.Nothing, error) {
	if _, err := s.lockView(ctx, c, in.ID, op.ActionDelete); err != nil {
		return op.Nothing{}, err
	}
	v, err := views.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, v.emit(c, "view.deleted", false)
}

func (s *Service) restoreView(ctx context.Context, c *op.Call, in viewRef) (*View, error) {
	v, wasDeleted, err := views.Undelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return nil, err
	}
	if err := s.permit(c, v, op.ActionUpdate); err != nil || !wasDeleted {
		return v, err
	}
	return v, v.emit(c, "view.restored", false)
}

// FindQuery is the filters of a view for a list: op.Runner asks for them when a call names one. A view that the caller
// cannot see, and one of another list, is refused like one that is not there.
func FindQuery(ctx context.Context, c *op.Call, list string, ref id.ID) (query []byte, err error) {
	var v *View
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = views.Get(ctx, tx, c.Org, ref)
		return err
	})
	if fault.IsKind(err, fault.NotFound) || err == nil && (v.ObjectType+".list" != list || !v.Shared && !v.isOf(c)) {
		name := strings.ReplaceAll(strings.TrimSuffix(list, ".list"), "_", " ")
		return nil, (*fault.Tree)(nil).At([]any{op.ViewField}, "There is no such view of "+name).Fault(fault.BadInput)
	}
	if err != nil {
		return nil, err
	}
	return v.Query, nil
}

package op

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// rowsPerRequest is how many rows of a batch count as one request in the caller's rate limit.
const rowsPerRequest = 25

// BatchOfAgents describes a batch to agents, who are answered in short.
const BatchOfAgents = "A row with an id changes, {id, delete: true} deletes, one without an id creates. The answer " +
	"has ids and counts, and the error of each row that was refused."

// BatchOperation declares the operation that creates, changes and deletes up to 500 rows of a noun in one transaction.
// A row with an id is an input of update, or of remove if it says delete, one without an id an input of create.
func BatchOperation(create, update, remove *Op) *Op {
	collection, _, _ := strings.Cut(create.Name, ".")
	rows := strings.ReplaceAll(collection, "_", " ")
	o := Write(Spec{
		Name:     collection + ".batch",
		Route:    create.Route + "/batch",
		Resource: create.Resource,
		Summary:  "Create, change and delete up to 500 " + rows + " at once.",
		Description: "A row with an id changes, {id, delete: true} deletes, one without an id creates. The answer " +
			"has a status with data or error for each row, in order. " +
			fmt.Sprintf("%d rows count as one request.", rowsPerRequest),
		Status:  200,
		Errors:  slices.Concat(create.Errors, update.Errors, remove.Errors),
		Events:  slices.Concat(create.Events, update.Events, remove.Events),
		Example: `{"mode": "each", "rows": [` + create.Example + `, ` + update.Example + `]}`,
	}, runBatch)
	out := *o.out // a copy: the schema of the answer is shared by all batches, and here it gets a bound
	o.batch, o.out, out.max = &batchOperations{create, update, remove}, &out, o.in.props["rows"].node.max
	o.in.props["rows"].node.elem.documentedAs = batchRowSchema(create, update)
	return o
}

// WithBatch adds the batch operation to the operations of a noun, which must have .create, .update and .delete.
func WithBatch(noun []*Op) []*Op {
	collection, _, _ := strings.Cut(noun[0].Name, ".")
	find := func(name string) *Op {
		return noun[slices.IndexFunc(noun, func(o *Op) bool { return o.Name == collection+name })]
	}
	return append(noun, BatchOperation(find(".create"), find(".update"), find(".delete")))
}

// IsBatch reports whether the operation is a batch, whose input has rows that create and update take.
func (o *Op) IsBatch() bool { return o.batch != nil }

// Changes reports whether the input may clear a field of an existing row, with null.
func (o *Op) Changes() bool {
	return o.batch != nil || o.Method == http.MethodPatch || o.Method == http.MethodPut
}

// batchOperations is the operations that a batch applies to its rows.
type batchOperations struct{ create, update, remove *Op }

// deleteField is what a row of a batch says to be deleted.
const deleteField = "delete"

// batchHead is what tells the operation of a row.
type batchHead struct {
	ID     jsontext.Value `json:"id"`
	Delete *bool          `json:"delete"`
}

// operationFor is the operation that a row is for.
func (b *batchOperations) operationFor(text jsontext.Value) (*Op, batchHead) {
	var head batchHead
	switch err := json.Unmarshal(text, &head); {
	case err != nil || head.ID == nil:
		return b.create, head
	case head.Delete != nil:
		return b.remove, head
	}
	return b.update, head
}

// allowedFor reports whether permissions suffice for every row of an input.
func (b *batchOperations) allowedFor(p Permissions, input []byte) bool {
	var in struct {
		Rows []jsontext.Value `json:"rows"`
	}
	if json.Unmarshal(input, &in) != nil {
		return true // it is refused anyway
	}
	return !slices.ContainsFunc(in.Rows, func(row jsontext.Value) bool {
		o, _ := b.operationFor(row)
		return !o.AllowedBy(p)
	})
}

// CountBatchRows is how many rows the input of a batch has; 0 for any other operation, and for an input that is not
// JSON.
func (o *Op) CountBatchRows(input []byte) int {
	var in struct {
		Rows []jsontext.Value `json:"rows"`
	}
	if o.batch == nil || json.Unmarshal(input, &in) != nil {
		return 0
	}
	return len(in.Rows)
}

// RequestCost is how many requests a call with this input counts as in the caller's rate limit. A batch counts by its
// rows, anything else as one.
func (o *Op) RequestCost(input []byte) int {
	return max(1, (o.CountBatchRows(input)+rowsPerRequest-1)/rowsPerRequest)
}

// UseAllowanceForRows takes from the caller's rate limit what so many rows cost. The request itself has been counted
// already.
func (c *Call) UseAllowanceForRows(rows int) error {
	return c.UseAllowance((rows + rowsPerRequest - 1) / rowsPerRequest)
}

// UseAllowance has the call count as n requests in the caller's rate limit. The door has counted the first. A tool
// call of an agent always counts as one: what an agent does is bounded by its limits and by the sizes of inputs.
func (c *Call) UseAllowance(n int) error {
	if n > 1 && c.useAllowance != nil && c.Door != AgentDoor {
		return c.useAllowance(n - 1)
	}
	return nil
}

// ParseBatchRow reads a row as the batch o would, for another operation that works on many rows, such as an import. It
// runs outside of transactions.
func (o *Op) ParseBatchRow(ctx context.Context, c *Call, text []byte) BatchRow {
	return o.batch.parseBatchRow(ctx, c, text)
}

// batchRowSchema is the schema of a row for documents: all fields of create and update, none of them required, because
// which ones are depends on whether the row has an id.
func batchRowSchema(create, update *Op) *schemaNode {
	n := &schemaNode{kind: objectValue, props: map[string]*schemaProp{}, typ: create.in.typ, object: create.in.object,
		name: strings.TrimSuffix(create.in.name, "Create") + "Row",
		doc:  "with id as update takes it, else as create does"}
	for _, p := range slices.Concat(update.pathProps, update.in.order, create.in.order) {
		if n.props[p.name] == nil {
			c := *p
			c.required, c.defaultText = false, nil
			n.props[p.name] = &c
			n.order = append(n.order, &c)
		}
	}
	gone := &schemaProp{name: deleteField, node: &schemaNode{kind: boolValue, doc: "with id alone: delete this row"},
		origin: originBody}
	n.props[deleteField], n.order = gone, append(n.order, gone)
	return n
}

type batchInput struct {
	Mode string           `json:"mode" default:"atomic" enum:"atomic,each" doc:"all rows or none; or each by itself"`
	Rows []jsontext.Value `json:"rows" min:"1" max:"500"`

	rows []BatchRow // Rows, as Prepare read them
}

// BatchRow is one row of a batch after it was read and checked, or what is wrong with it.
type BatchRow struct {
	op  *Op           // create, update or remove
	in  reflect.Value // its input
	err error
}

// Err is what is wrong with the row.
func (r *BatchRow) Err() error { return r.err }

// BatchResult is what became of a row.
type BatchResult struct {
	Status int            `json:"status"`
	Data   jsontext.Value `json:"data,omitzero" doc:"the row, as GET returns it"`
	Error  jsontext.Value `json:"error,omitzero" kinds:"object" doc:"why nothing was done with it"`

	ExternalMark
}

// Prepare reads and checks all rows before the transaction. In mode each, a bad row is answered later with its own
// error; in mode atomic, the issues of all bad rows are answered together.
func (in *batchInput) Prepare(ctx context.Context, c *Call) error {
	if err := c.UseAllowanceForRows(len(in.Rows)); err != nil {
		return err
	}
	in.rows = make([]BatchRow, len(in.Rows))
	var tree *fault.Tree
	for i, text := range in.Rows {
		r := c.op.batch.parseBatchRow(ctx, c, text)
		in.rows[i] = r
		if r.err == nil || in.Mode == "each" && fault.FromError(r.err).Kind != fault.Internal {
			continue
		}
		f := fault.FromError(r.err)
		if f.Status >= 500 || f.Status == 403 { // not about the row: the service failed, or the caller may not
			return r.err
		}
		tree = tree.SetField("rows", addRowIssues(tree, i, f))
	}
	return tree.Fault(fault.Invalid)
}

// addRowIssues adds the refusal of row i to the issues of the field rows, and returns those.
func addRowIssues(tree *fault.Tree, i int, f *fault.Fault) *fault.Tree {
	var rows *fault.Tree
	if tree != nil {
		rows = tree.Properties["rows"]
	}
	details, ok := f.Details.(*fault.Tree)
	if !ok {
		details = (*fault.Tree)(nil).Add(f.Sentence())
	}
	return rows.SetItem(i, details)
}

// parseBatchRow decodes one row and runs its Prepare. A row with an id goes to update, which accepts its path fields in
// the row; create accepts only fields of the body.
func (b *batchOperations) parseBatchRow(ctx context.Context, c *Call, text jsontext.Value) (r BatchRow) {
	var head batchHead
	r.op, head = b.operationFor(text)
	accept := isBodyField
	if r.op != b.create {
		accept = nil
	}
	if r.op == b.remove {
		if r.err = checkDeleteRow(text, *head.Delete); r.err != nil {
			return r
		}
		text = jsontext.Value(`{"id":` + string(head.ID) + `}`)
	}
	if r.err = r.op.PermitCaller(c.Caller, c.Door); r.err != nil {
		return r
	}
	r.in = r.op.newBlankInput()
	if tree := decodeJSON(r.op.in, text, r.in, accept); tree != nil {
		r.err = tree.Fault(fault.Invalid)
		return r
	}
	if r.err = r.op.permitReferences(c, r.in); r.err == nil && r.op.hasPrepare {
		r.err = r.in.Addr().Interface().(Preparer).Prepare(ctx, c)
	}
	return r
}

// checkDeleteRow refuses a row that is to be deleted and changed at once, or not to be deleted.
func checkDeleteRow(text jsontext.Value, isDeleted bool) error {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(text, &fields); err != nil {
		return fault.BadInput.New()
	}
	var tree *fault.Tree
	if !isDeleted {
		tree = tree.At([]any{deleteField}, "Say true to delete the row, or leave it out to change it")
	}
	for name := range fields {
		if name != "id" && name != deleteField {
			tree = tree.At([]any{name}, "A row that is deleted has its id and delete alone")
		}
	}
	return tree.Fault(fault.Invalid)
}

// errRowRefused says that a row was refused and no savepoint around it alone can undo what it wrote.
var errRowRefused = errors.New("op: a row was refused")

// runBatch writes the rows. In mode each, a row that fails must leave nothing behind, which takes a savepoint around
// it. That costs half as much as the row, and nearly everything that can be wrong was found when the rows were read.
// So the first try has one savepoint around all rows; only if a row is refused, all are undone and written again with
// a savepoint around each.
func runBatch(ctx context.Context, c *Call, in batchInput) (out []BatchResult, err error) {
	if in.Mode == "atomic" {
		return in.writeAllOrNone(ctx, c)
	}
	emitted := len(c.pendingEvents)
	err = c.Tx.RunInSavepoint(ctx, func(ctx context.Context) (err error) {
		out, err = in.writeEachRow(ctx, c, false)
		return err
	})
	if errors.Is(err, errRowRefused) {
		c.pendingEvents = c.pendingEvents[:emitted]
		return in.writeEachRow(ctx, c, true)
	}
	return out, err
}

// writeAllOrNone writes all rows. The first that is refused ends the transaction with an issue at its place.
func (in *batchInput) writeAllOrNone(ctx context.Context, c *Call) (_ []BatchResult, err error) {
	out := make([]BatchResult, len(in.rows))
	for i := range in.rows {
		if out[i], err = in.rows[i].Run(ctx, c); err == nil {
			continue
		}
		if f := fault.FromError(err); f.Status < 500 {
			err = (*fault.Tree)(nil).SetField("rows", addRowIssues(nil, i, f)).Fault(fault.Invalid)
		}
		return nil, err
	}
	return out, nil
}

// writeEachRow writes the rows that are not refused. guarded puts a savepoint around each of them; without it, the
// first refusal ends with errRowRefused.
func (in *batchInput) writeEachRow(ctx context.Context, c *Call, guarded bool) ([]BatchResult, error) {
	out := make([]BatchResult, len(in.rows))
	for i := range in.rows {
		r := &in.rows[i]
		err := r.err
		switch {
		case err != nil:
		case guarded:
			out[i], err = r.RunInSavepoint(ctx, c)
		default:
			if out[i], err = r.Run(ctx, c); err != nil && fault.FromError(err).Status < 500 {
				return nil, errRowRefused
			}
		}
		if err == nil {
			continue
		}
		f := fault.FromError(err)
		if f.Status >= 500 {
			return nil, err
		}
		out[i].Status = f.Status
		if out[i].Error, err = errorContent(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// RunInSavepoint is Run inside a savepoint: a row that fails leaves neither changes nor events behind.
func (r *BatchRow) RunInSavepoint(ctx context.Context, c *Call) (out BatchResult, err error) {
	if r.err != nil {
		return out, r.err
	}
	emitted := len(c.pendingEvents)
	if err = c.Tx.RunInSavepoint(ctx, func(ctx context.Context) (err error) {
		out, err = r.Run(ctx, c)
		return err
	}); err != nil {
		c.pendingEvents = c.pendingEvents[:emitted]
	}
	return out, err
}

// Run calls the operation of the row. The transaction may run again, so each run gets a copy of the input.
func (r *BatchRow) Run(ctx context.Context, c *Call) (BatchResult, error) {
	again := reflect.New(r.in.Type()).Elem()
	again.Set(r.in)
	emitted := len(c.pendingEvents)
	v, err := r.op.invoke(ctx, c, again, nil)
	if err != nil {
		return BatchResult{}, err
	}
	if r.op.answersNothing {
		return BatchResult{Status: r.op.Status}, nil
	}
	_, data, err := r.op.encodeAnswer(v)
	for i := emitted; i < len(c.pendingEvents); i++ {
		if e := &c.pendingEvents[i]; e.data == v { // writeEvents need not encode it again
			e.text = data
		}
	}
	return BatchResult{Status: r.op.Status, Data: data, ExternalMark: ExternalMark{HoldsExternalText(v)}}, err
}

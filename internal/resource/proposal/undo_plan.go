package proposal

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// undoRow is what a set of events did to a row.
type undoRow struct {
	kind             string // the resource type
	id               id.ID
	created, deleted bool
	scheduled        bool           // a message that waits for its time
	touched          bool           // somebody worked with it since
	last             map[string]any // the row as the last event left it
	events           []undoEvent    // of changes, oldest first
	lastSeq          int64
}

type undoEvent struct{ previous, data map[string]any }

// undoPlanner turns events into the steps that take them back.
type undoPlanner struct {
	*Service
	actor
	work        *undoWork
	ownProposal *id.ID // the proposal whose events are the undo itself; nil while it is planned

	// tx is the open transaction in which everything happens, or nil while an undo is planned. Inside of it, nothing
	// may call out.
	tx   *db.Tx
	read func(context.Context, func(context.Context, *db.Tx) error) error

	seen      map[id.ID]*undoRow
	order     []*undoRow
	unmerges  []automation.Step // the inverse of merges
	skipped   []Skipped
	rowOfStep map[string]*undoRow // the row of a step, by the step's operation and input
}

func (s *Service) newUndoPlanner(who actor, work *undoWork) *undoPlanner {
	return &undoPlanner{Service: s, actor: who, work: work, seen: map[id.ID]*undoRow{},
		rowOfStep: map[string]*undoRow{}}
}

// useTransaction makes everything happen in an open transaction.
func (u *undoPlanner) useTransaction(tx *db.Tx) {
	u.tx = tx
	u.read = func(ctx context.Context, fn func(context.Context, *db.Tx) error) error { return fn(ctx, tx) }
}

func (u *undoPlanner) skipRow(r *undoRow, field, why, instead string) {
	text, err := json.Marshal(instead)
	if err != nil {
		panic(err) // cannot fail: a string
	}
	u.skipRowWith(r, field, why, text)
}

// skipRowWith notes that a row, or a field of it, stays as it is, why, and what can be
// done instead.
func (u *undoPlanner) skipRowWith(r *undoRow, field, why string, instead jsontext.Value) {
	if len(u.skipped) >= maxEffects {
		return
	}
	out := Skipped{Field: field, Why: cut.Ellipsis(why, 900), Instead: instead}
	if r != nil {
		out.ResourceType, out.ResourceID = r.kind, &r.id
	}
	u.skipped = append(u.skipped, out)
}

// irreversible are the events that nothing takes back, and what can be done instead.
var irreversible = map[string][2]string{
	"message.queued":            {"A mail that was sent cannot be taken back.", "Write another that explains it."},
	"operation.created":         {"A charge cannot be taken back here.", "Ask the registrar for a refund."},
	"invoice.issued":            {"An issued number stays.", "Void the invoice, or write a credit note."},
	"invoice.sent":              {"A sent mail cannot be taken back.", "Void the invoice, or write a credit note."},
	"webhook.tested":            {"A call that was made cannot be taken back.", ""},
	"domain.transfer_requested": {"The transfer was begun at the registrar.", "Withdraw it on the domain's page."},
}

// cancelMessageName is the operation that takes a scheduled message back.
const cancelMessageName = "messages.cancel"

// mergeEvents are the events that merge or unmerge two rows: the operation that takes
// them back, and the field of the event that contains the other row.
var mergeEvents = map[string]struct{ operation, other string }{
	"contact.merged":   {"contacts.unmerge", "merged"},
	"contact.unmerged": {"contacts.merge", "restored"},
}

// noteRefused notes a step that would be, or was, refused.
func (u *undoPlanner) noteRefused(step automation.Step, err error) {
	u.skipRow(u.rowOfStep[step.Operation+string(step.Input)], "", fault.FromError(err).Sentence(), "")
}

// noteKept notes what a step left as it is, according to its answer: that of an unmerge
// lists it in kept.
func (u *undoPlanner) noteKept(a op.Answer) error {
	data, err := decodeAnswerData(a)
	if err != nil || data.Kind() != '{' {
		return err
	}
	var answer struct {
		Kept []Skipped `json:"kept"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil //nolint:nilerr // another noun means something else by it
	}
	for _, k := range answer.Kept {
		if k.ResourceID != nil {
			u.skipRow(&undoRow{kind: k.ResourceType, id: *k.ResourceID}, k.Field, k.Why, "")
		}
	}
	return nil
}

// collectEvents notes what the events did to each row. They come newest first, and are
// processed from the oldest.
func (u *undoPlanner) collectEvents(rows []event.Event) error {
	hidden := map[string]bool{}
	for _, e := range slices.Backward(rows) {
		if !u.mayReadEvent(e.Type) { // what it was is not told, and not brought back
			if kind := event.ResourceType(e.Type); !hidden[kind] {
				hidden[kind] = true
				u.skipped = append(u.skipped, Skipped{ResourceType: kind, Instead: jsontext.Value(`""`),
					Why: "You may not read it, so it stays as it is."})
			}
			continue
		}
		r := u.seen[e.ResourceID]
		if r == nil {
			r = &undoRow{kind: event.ResourceType(e.Type), id: e.ResourceID}
			u.seen[e.ResourceID] = r
			u.order = append(u.order, r)
		}
		r.lastSeq = e.Seq
		data, previous := map[string]any{}, map[string]any{}
		for to, text := range map[*map[string]any][]byte{&data: e.Data, &previous: e.Previous} {
			if len(text) > 0 {
				if err := json.Unmarshal(text, to); err != nil {
					return err
				}
			}
		}
		r.last = data
		if m, ok := mergeEvents[e.Type]; ok {
			if err := u.planUnmerge(r, m.operation, data, m.other); err != nil {
				return err
			}
			continue
		}
		if e.Type == "message.scheduled" || e.Type == "message.created" && data["status"] == "scheduled" {
			r.scheduled = true
			continue
		}
		if e.Type == "message.canceled" {
			r.scheduled = false
		}
		if why, ok := irreversible[e.Type]; ok || e.Type == "message.created" && effectKind(e, data) == KindSend {
			if !ok {
				why = irreversible["message.queued"]
			}
			u.skipRow(r, "", why[0], why[1])
			if e.Type == "message.created" {
				r.kind = "" // nothing else is done about it
			}
			continue
		}
		switch e.Type[strings.LastIndexByte(e.Type, '.')+1:] {
		case "created":
			r.created = true
		case "deleted":
			r.deleted = true
		case "restored":
			if r.deleted {
				r.deleted = false
			} else {
				r.created = true // a restored row was not there before, so its inverse is a deletion
			}
		default:
			if len(previous) > 0 {
				r.events = append(r.events, undoEvent{previous, data})
			}
		}
	}
	return nil
}

// mayReadEvent reports whether the caller may read what an event tells of.
func (u *undoPlanner) mayReadEvent(eventType string) bool {
	return u.door == op.AdminDoor || u.door == op.SystemDoor ||
		u.cfg.Catalog.PermitListening(u.Permissions, eventType) == nil
}

// planUnmerge plans the inverse of a merge. The inverse also takes back the event about
// the other row, so that row gets no step of its own.
func (u *undoPlanner) planUnmerge(r *undoRow, operation string, data map[string]any, other string) error {
	row, _ := data[other].(map[string]any)
	text, err := json.Marshal(map[string]any{"id": r.id, "contactId": row["id"]}, json.Deterministic(true))
	if err != nil {
		return err
	}
	u.unmerges = append(u.unmerges, automation.Step{Operation: operation, Input: jsontext.Value(text)})
	u.rowOfStep[operation+string(text)] = r
	if with, ok := row["id"].(string); ok {
		u.seen[id.ID(with)] = &undoRow{kind: r.kind, id: id.ID(with)}
	}
	return nil
}

// cutAtMerge returns the first of the events, which come newest first, that can be taken
// back together. A merge is taken back by itself: only after that do the rows look
// as the events before it left them. more says that further events follow.
func cutAtMerge(rows []event.Event, more bool) []event.Event {
	for i, e := range rows {
		if _, ok := mergeEvents[e.Type]; !ok {
			continue
		}
		begins := i
		if i > 0 && isSecondOfMerge(rows[i-1], e) {
			begins--
		}
		if begins > 0 {
			return rows[:begins]
		}
		return rows[:i+1]
	}
	if n := len(rows) - 1; more && n > 0 && (rows[n].Type == "contact.deleted" || rows[n].Type == "contact.restored") {
		return rows[:n] // it may be the second event of a merge
	}
	return rows
}

// isSecondOfMerge reports whether an event is the second one that a merge writes, about
// the other row.
func isSecondOfMerge(e, merge event.Event) bool {
	return e.RequestID == merge.RequestID && e.ResourceID != merge.ResourceID && e.At == merge.At &&
		(e.Type == "contact.deleted" || e.Type == "contact.restored")
}

// planSteps makes the inverse calls, those for the newest rows first.
func (u *undoPlanner) planSteps(ctx context.Context) (steps []automation.Step, err error) {
	if err := u.findLaterEdits(ctx); err != nil {
		return nil, err
	}
	steps = u.unmerges
	for _, r := range slices.Backward(u.order) {
		if r.kind == "" || r.created && r.deleted {
			continue
		}
		made, err := u.inverseSteps(ctx, r)
		if err != nil {
			return nil, err
		}
		for _, step := range made {
			u.rowOfStep[step.Operation+string(step.Input)] = r
		}
		steps = append(steps, made...)
	}
	return automation.NormalizeSteps(steps)
}

// inverseSteps makes the steps that take back what happened to one row, or notes why it
// stays. The order of cases matters: a row that was created is deleted, whatever
// happened to it afterwards.
func (u *undoPlanner) inverseSteps(ctx context.Context, r *undoRow) ([]automation.Step, error) {
	switch {
	case r.scheduled:
		return u.buildStep(r, u.cfg.Catalog.Named(cancelMessageName), nil), nil
	case r.created:
		o := u.findOperation(r.kind+".deleted", http.MethodDelete)
		if o == nil {
			u.skipUndeletable(r)
			return nil, nil
		}
		if u.skipIfOutside(r, o) {
			return nil, nil
		}
		if r.touched {
			u.skipRow(r, "", "Somebody changed it since, so it stays.", "Delete it by hand.")
			return nil, nil
		}
		return u.buildStep(r, o, nil), nil
	case r.deleted:
		if o := u.findOperation(r.kind+".restored", http.MethodPost); o != nil {
			steps := u.buildStep(r, o, nil)
			if o := u.findOperation(r.kind+".updated", http.MethodPatch); o != nil {
				steps = append(steps, u.revertFields(o, r, r.last)...)
			}
			return steps, nil
		}
		o := u.findOperation(r.kind+".created", http.MethodPost)
		if o == nil {
			u.skipRow(r, "", "Nothing restores it.", "")
			return nil, nil
		}
		if u.skipIfOutside(r, o) {
			return nil, nil
		}
		fields := map[string]any{}
		for name, v := range r.last {
			if v != nil && o.HasBodyField(name) {
				fields[name] = v
			}
		}
		return u.buildStep(r, o, fields), nil
	case len(r.events) > 0:
		o := u.findOperation(r.kind+".updated", http.MethodPatch)
		if o == nil {
			u.skipRow(r, "", "Nothing changes it back.", "")
			return nil, nil
		}
		if u.skipIfOutside(r, o) {
			return nil, nil
		}
		now, err := u.loadCurrent(ctx, o, r)
		if err != nil {
			return nil, err
		}
		if now == nil {
			u.skipRow(r, "", "It is not there any more.", "")
			return nil, nil
		}
		return u.revertFields(o, r, now), nil
	}
	return nil, nil
}

// skipUndeletable notes a row that no operation deletes. If an operation voids it, as
// with invoices, that call is suggested but not planned: it is a decision of its own.
func (u *undoPlanner) skipUndeletable(r *undoRow) {
	for _, o := range u.cfg.Catalog.All() {
		if !slices.Contains(o.Events, r.kind+".voided") || !isCallable(o) {
			continue
		}
		if steps := u.buildStep(r, o, nil); steps != nil {
			text, err := json.Marshal(map[string]any{"operation": o.Name, "input": steps[0].Input},
				json.Deterministic(true))
			if err != nil {
				panic(err) // it was read from JSON
			}
			u.skipRowWith(r, "", "It stays in the books.", text)
			return
		}
	}
	u.skipRow(r, "", "Nothing deletes it.", "")
}

// skipIfOutside notes and reports an operation that calls out, if it would have to run
// inside a transaction.
func (u *undoPlanner) skipIfOutside(r *undoRow, o *op.Op) bool {
	if u.tx == nil || o.CanJoinSeries() && (o.GetOperation() == nil || o.GetOperation().CanJoinSeries()) {
		return false
	}
	u.skipRow(r, "", "It reaches outside, which a large undo does not.", "Undo its own request.")
	return true
}

// findOperation finds the operation that emits an event, by its method. Operations by
// another key than the id, and merges, are left out.
func (u *undoPlanner) findOperation(eventType, method string) *op.Op {
	below := method != http.MethodPost || strings.HasSuffix(eventType, ".restored") || strings.Count(eventType, ".") > 1
	for _, o := range u.cfg.Catalog.All() {
		if o.Method == method && slices.Contains(o.Events, eventType) && isCallable(o) &&
			len(o.PathFields()) > 0 == below &&
			!strings.Contains(o.Path, "/by-") && !strings.HasSuffix(o.Name, ".merge") {
			return o
		}
	}
	return nil
}

// buildStep makes the call of an operation on a row. The last field of the path names the
// row, the one before it its parent.
func (u *undoPlanner) buildStep(r *undoRow, o *op.Op, fields map[string]any) []automation.Step {
	input := map[string]any{}
	maps.Copy(input, fields)
	path := o.PathFields()
	creates := o.Method == http.MethodPost && o.Status != http.StatusOK // else it acts on what exists
	for i, name := range path {
		if i == len(path)-1 && !creates {
			input[name] = r.id
			continue
		}
		parent := parentID(o.Path, r.last)
		if parent == "" {
			u.skipRow(r, "", "Its parent is not known.", "")
			return nil
		}
		input[name] = parent
	}
	text, err := json.Marshal(input, json.Deterministic(true))
	if err != nil {
		panic(err) // it was read from JSON
	}
	return []automation.Step{{Operation: o.Name, Input: jsontext.Value(text)}}
}

// parentID is the id of the row above a nested one: contactId below /v1/contacts.
func parentID(path string, data map[string]any) string {
	collection := strings.Split(path, "/")[2]
	words := strings.Split(strings.TrimSuffix(strings.TrimSuffix(collection, "s"), "e"), "-")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	name := strings.Join(words, "")
	for _, field := range []string{name + "Id", strings.TrimSuffix(collection, "s") + "Id", "objectId", "parentId"} {
		if v, ok := data[field].(string); ok && v != "" {
			return v
		}
	}
	return ""
}

// findLaterEdits finds the created rows that somebody worked with since: that changed
// again, or that another row by a person, key or agent names. Those are not deleted.
func (u *undoPlanner) findLaterEdits(ctx context.Context) error {
	kinds := map[string][]*undoRow{}
	for _, r := range u.order {
		if r.created && r.kind != "" {
			kinds[r.kind] = append(kinds[r.kind], r)
		}
	}
	// What the undo itself did is no edit either.
	mine := u.work.eventsCondition().Append(" OR proposal_id = $5", u.ownProposal)
	return u.read(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			rows := kinds[kind]
			touched := event.TouchedRows{Table: db.TableOfEventName(kind), After: rows[0].lastSeq}
			for _, r := range rows {
				touched.IDs, touched.After = append(touched.IDs, r.id), min(touched.After, r.lastSeq)
			}
			if u.tx != nil { // locked, so that nobody edits them between this look and their deletion
				if err := db.LockAllEvenIfDeleted(ctx, tx, touched.Table, u.Organization, touched.IDs); err != nil {
					return err
				}
			}
			later, err := event.TouchedSince(ctx, tx, u.Organization, touched, mine)
			if err != nil {
				return err
			}
			for _, r := range rows {
				r.touched = later[r.id] > r.lastSeq
			}
		}
		return nil
	})
}

// revertFields gives fields their former values, unless somebody changed them since. It
// goes back event by event: a field must be as the event left it.
func (u *undoPlanner) revertFields(o *op.Op, r *undoRow, now map[string]any) []automation.Step {
	fields, blocked := map[string]any{}, map[string]bool{}
	for _, e := range slices.Backward(r.events) {
		for _, name := range slices.Sorted(maps.Keys(e.previous)) {
			if blocked[name] || !o.HasBodyField(name) {
				continue
			}
			is, set := fields[name]
			if !set {
				is = now[name]
			}
			if !reflect.DeepEqual(is, e.data[name]) {
				blocked[name] = true
				if !set {
					u.skipRow(r, name, "Somebody changed it since, so it stays.", "")
				}
				continue
			}
			fields[name] = e.previous[name]
		}
	}
	for name, v := range fields { // what is as before needs no step
		if reflect.DeepEqual(v, now[name]) {
			delete(fields, name)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return u.buildStep(r, o, fields)
}

// loadCurrent is the row as GET shows it now, or nil.
func (u *undoPlanner) loadCurrent(ctx context.Context, o *op.Op, r *undoRow) (map[string]any, error) {
	get := o.GetOperation()
	if get == nil {
		return nil, nil
	}
	steps := u.buildStep(r, o, nil)
	if steps == nil {
		return nil, nil
	}
	a, err := u.callGetter(ctx, get, steps[0].Input)
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Data map[string]any `json:"data"`
	}
	err = json.Unmarshal(a.Body, &envelope)
	return envelope.Data, err
}

// callGetter calls the GET of a row as the maker: by itself, or inside the open transaction.
func (u *undoPlanner) callGetter(ctx context.Context, o *op.Op, input []byte) (a op.Answer, err error) {
	body := func() ([]byte, error) { return input, nil }
	if u.tx == nil {
		return u.cfg.Runner.Do(ctx, o, op.Request{Caller: u.Caller, Door: u.door, WholeInput: true, ID: u.requestID,
			Body: body})
	}
	return a, u.cfg.Runner.RunSeriesInTx(ctx, u.tx, &op.Series{Caller: u.Caller, Door: u.door, RequestID: u.requestID,
		Steps:    []op.SeriesStep{{Op: o, Input: body}},
		Answered: func(_ int, answer op.Answer, _ *db.Trace) error { a = answer; return nil }})
}

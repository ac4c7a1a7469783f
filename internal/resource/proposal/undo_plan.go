package proposal

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

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

// undoing turns events into the steps that take them back.
type undoing struct {
	*Service
	who       *op.Caller
	door      op.Door
	requestID string
	work      *undoWork
	own       *id.ID // the proposal whose events are the undo itself; nil while it is planned

	// tx is open when the steps are taken at once. Then nothing outside is asked.
	tx   *db.Tx
	read func(context.Context, func(context.Context, *db.Tx) error) error

	seen    map[id.ID]*undoRow
	order   []*undoRow
	first   []automation.Step // the inverse of merges
	skipped []Skipped
	about   map[string]*undoRow // by the step
}

func (s *Service) newUndoing(who *op.Caller, door op.Door, requestID string, work *undoWork) *undoing {
	return &undoing{Service: s, who: who, door: door, requestID: requestID, work: work, seen: map[id.ID]*undoRow{},
		about: map[string]*undoRow{}}
}

// within has everything happen in an open transaction.
func (u *undoing) within(tx *db.Tx) {
	u.tx = tx
	u.read = func(ctx context.Context, fn func(context.Context, *db.Tx) error) error { return fn(ctx, tx) }
}

func (u *undoing) skip(r *undoRow, field, why, instead string) {
	text, err := json.Marshal(instead)
	if err != nil {
		panic(err) // cannot fail: a string
	}
	u.skipWith(r, field, why, text)
}

// skipWith names what stays, with what can be done instead.
func (u *undoing) skipWith(r *undoRow, field, why string, instead jsontext.Value) {
	if len(u.skipped) >= maxEffects {
		return
	}
	out := Skipped{Field: field, Why: cut(why, 900), Instead: instead}
	if r != nil {
		out.ResourceType, out.ResourceID = r.kind, &r.id
	}
	u.skipped = append(u.skipped, out)
}

// final are the events that nothing takes back, and what can be done instead.
var final = map[string][2]string{
	"message.queued":            {"A mail that was sent cannot be taken back.", "Write another that explains it."},
	"operation.created":         {"A charge cannot be taken back here.", "Ask the registrar for a refund."},
	"invoice.issued":            {"An issued number stays.", "Void the invoice, or write a credit note."},
	"invoice.sent":              {"A sent mail cannot be taken back.", "Void the invoice, or write a credit note."},
	"webhook.tested":            {"A call that was made cannot be taken back.", ""},
	"domain.transfer_requested": {"The transfer was begun at the registrar.", "Withdraw it on the domain's page."},
}

// withdraw is the operation that takes a scheduled message back.
const withdraw = "messages.cancel"

// merges are the events that join or part two rows: the operation that takes them
// back, and the field that shows the other row.
var merges = map[string]struct{ operation, other string }{
	"contact.merged":   {"contacts.unmerge", "merged"},
	"contact.unmerged": {"contacts.merge", "restored"},
}

// refused names a step that would be, or was, refused.
func (u *undoing) refused(step automation.Step, err error) {
	u.skip(u.about[step.Operation+string(step.Input)], "", fault.Of(err).Sentence(), "")
}

// kept names what a step left as it is, by its answer.
func (u *undoing) kept(a op.Answer) error {
	data, err := answerData(a)
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
			u.skip(&undoRow{kind: k.ResourceType, id: *k.ResourceID}, k.Field, k.Why, "")
		}
	}
	return nil
}

// collect notes what the events did, which come newest first.
func (u *undoing) collect(rows []event.Event) error {
	hidden := map[string]bool{}
	for _, e := range slices.Backward(rows) {
		if !u.mayRead(e.Type) { // what it was is not told, and not brought back
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
		for text, to := range map[*map[string]any][]byte{&data: e.Data, &previous: e.Previous} {
			if len(to) > 0 {
				if err := json.Unmarshal(to, text); err != nil {
					return err
				}
			}
		}
		r.last = data
		if m, ok := merges[e.Type]; ok {
			if err := u.unjoin(r, m.operation, data, m.other); err != nil {
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
		if why, ok := final[e.Type]; ok || e.Type == "message.created" && kindOf(e, data) == Send {
			if !ok {
				why = final["message.queued"]
			}
			u.skip(r, "", why[0], why[1])
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
				r.created = true // before, it was not there
			}
		default:
			if len(previous) > 0 {
				r.events = append(r.events, undoEvent{previous, data})
			}
		}
	}
	return nil
}

// mayRead reports whether the caller may read what an event tells of.
func (u *undoing) mayRead(eventType string) bool {
	return u.door == op.Admin || u.door == op.System || u.cfg.Catalog.PermitHearing(u.who.Permissions, eventType) == nil
}

// unjoin plans the inverse of a merge. The event that tells of the other row is taken
// back with it.
func (u *undoing) unjoin(r *undoRow, operation string, data map[string]any, other string) error {
	row, _ := data[other].(map[string]any)
	text, err := json.Marshal(map[string]any{"id": r.id, "contactId": row["id"]}, json.Deterministic(true))
	if err != nil {
		return err
	}
	u.first = append(u.first, automation.Step{Operation: operation, Input: jsontext.Value(text)})
	u.about[operation+string(text)] = r
	if with, ok := row["id"].(string); ok {
		u.seen[id.ID(with)] = &undoRow{kind: r.kind, id: id.ID(with)}
	}
	return nil
}

// atOnce cuts what can be taken back at once from the front of events, which come
// newest first: a merge is by itself, because what came before it is seen only once
// it is taken back. more says that further events follow.
func atOnce(rows []event.Event, more bool) []event.Event {
	for i, e := range rows {
		if _, ok := merges[e.Type]; !ok {
			continue
		}
		begins := i
		if i > 0 && tellsOfOther(rows[i-1], e) {
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

// tellsOfOther reports whether an event is the second one of a merge.
func tellsOfOther(e, merge event.Event) bool {
	return e.RequestID == merge.RequestID && e.ResourceID != merge.ResourceID && e.At == merge.At &&
		(e.Type == "contact.deleted" || e.Type == "contact.restored")
}

// steps are the inverse calls, the newest first.
func (u *undoing) steps(ctx context.Context) (steps []automation.Step, err error) {
	if err := u.lookForEdits(ctx); err != nil {
		return nil, err
	}
	steps = u.first
	for _, r := range slices.Backward(u.order) {
		if r.kind == "" || r.created && r.deleted {
			continue
		}
		made, err := u.inverse(ctx, r)
		if err != nil {
			return nil, err
		}
		for _, step := range made {
			u.about[step.Operation+string(step.Input)] = r
		}
		steps = append(steps, made...)
	}
	return automation.Normalize(steps)
}

func (u *undoing) inverse(ctx context.Context, r *undoRow) ([]automation.Step, error) {
	switch {
	case r.scheduled:
		return u.step(r, u.cfg.Catalog.Named(withdraw), nil), nil
	case r.created:
		o := u.operation(r.kind+".deleted", http.MethodDelete)
		if o == nil {
			u.cannotDelete(r)
			return nil, nil
		}
		if u.outside(r, o) {
			return nil, nil
		}
		if r.touched {
			u.skip(r, "", "Somebody changed it since, so it stays.", "Delete it by hand.")
			return nil, nil
		}
		return u.step(r, o, nil), nil
	case r.deleted:
		if o := u.operation(r.kind+".restored", http.MethodPost); o != nil {
			steps := u.step(r, o, nil)
			if o := u.operation(r.kind+".updated", http.MethodPatch); o != nil {
				steps = append(steps, u.revert(o, r, r.last)...)
			}
			return steps, nil
		}
		o := u.operation(r.kind+".created", http.MethodPost)
		if o == nil {
			u.skip(r, "", "Nothing restores it.", "")
			return nil, nil
		}
		if u.outside(r, o) {
			return nil, nil
		}
		fields := map[string]any{}
		for name, v := range r.last {
			if v != nil && o.TakesBody(name) {
				fields[name] = v
			}
		}
		return u.step(r, o, fields), nil
	case len(r.events) > 0:
		o := u.operation(r.kind+".updated", http.MethodPatch)
		if o == nil {
			u.skip(r, "", "Nothing changes it back.", "")
			return nil, nil
		}
		if u.outside(r, o) {
			return nil, nil
		}
		now, err := u.current(ctx, o, r)
		if err != nil {
			return nil, err
		}
		if now == nil {
			u.skip(r, "", "It is not there any more.", "")
			return nil, nil
		}
		return u.revert(o, r, now), nil
	}
	return nil, nil
}

// cannotDelete names a row that nothing deletes, with the call that voids it where there
// is one: that is a decision of its own.
func (u *undoing) cannotDelete(r *undoRow) {
	for _, o := range u.cfg.Catalog.All() {
		if !slices.Contains(o.Events, r.kind+".voided") || !callable(o) {
			continue
		}
		if steps := u.step(r, o, nil); steps != nil {
			text, err := json.Marshal(map[string]any{"operation": o.Name, "input": steps[0].Input},
				json.Deterministic(true))
			if err != nil {
				panic(err) // it was read from JSON
			}
			u.skipWith(r, "", "It stays in the books.", text)
			return
		}
	}
	u.skip(r, "", "Nothing deletes it.", "")
}

// outside names what reaches outside, when it would have to be one of many steps in
// a transaction.
func (u *undoing) outside(r *undoRow, o *op.Op) bool {
	if u.tx == nil || o.RunsTogether() && (o.Getter() == nil || o.Getter().RunsTogether()) {
		return false
	}
	u.skip(r, "", "It reaches outside, which a large undo does not.", "Undo its own request.")
	return true
}

// operation finds the operation of a noun that emits an event.
func (u *undoing) operation(eventType, method string) *op.Op {
	below := method != http.MethodPost || strings.HasSuffix(eventType, ".restored") || strings.Count(eventType, ".") > 1
	for _, o := range u.cfg.Catalog.All() {
		if o.Method == method && slices.Contains(o.Events, eventType) && callable(o) &&
			len(o.PathFields()) > 0 == below &&
			!strings.Contains(o.Path, "/by-") && !strings.HasSuffix(o.Name, ".merge") {
			return o
		}
	}
	return nil
}

// step calls an operation on a row. The last field of the path names the row, the
// one before its parent.
func (u *undoing) step(r *undoRow, o *op.Op, fields map[string]any) []automation.Step {
	input := map[string]any{}
	maps.Copy(input, fields)
	path := o.PathFields()
	creates := o.Method == http.MethodPost && o.Status != http.StatusOK // else it acts on what exists
	for i, name := range path {
		if i == len(path)-1 && !creates {
			input[name] = r.id
			continue
		}
		parent := parentOf(o.Path, r.last)
		if parent == "" {
			u.skip(r, "", "Its parent is not known.", "")
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

// parentOf is the id of the row above a nested one: contactId below /v1/contacts.
func parentOf(path string, data map[string]any) string {
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

// lookForEdits finds the created rows that somebody worked with since.
func (u *undoing) lookForEdits(ctx context.Context) error {
	kinds := map[string][]*undoRow{}
	for _, r := range u.order {
		if r.created && r.kind != "" {
			kinds[r.kind] = append(kinds[r.kind], r)
		}
	}
	mine, args := u.work.mine()
	// What the undo itself did is no edit either.
	mine += " OR proposal_id = $5"
	args = append(args, u.own)
	return u.read(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			rows := kinds[kind]
			ids, after := make([]id.ID, len(rows)), rows[0].lastSeq
			for i, r := range rows {
				ids[i], after = r.id, min(after, r.lastSeq)
			}
			if u.tx != nil { // so that nobody edits what is looked at
				if err := db.HoldAll(ctx, tx, db.TableOf(kind), u.who.Organization, ids); err != nil {
					return err
				}
			}
			later, err := event.Later(ctx, tx, u.who.Organization, db.TableOf(kind), ids, after, mine, args...)
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

// revert gives fields their former values where they are still as they were left.
func (u *undoing) revert(o *op.Op, r *undoRow, now map[string]any) []automation.Step {
	fields, blocked := map[string]any{}, map[string]bool{}
	for _, e := range slices.Backward(r.events) {
		for _, name := range slices.Sorted(maps.Keys(e.previous)) {
			if blocked[name] || !o.TakesBody(name) {
				continue
			}
			is, set := fields[name]
			if !set {
				is = now[name]
			}
			if !reflect.DeepEqual(is, e.data[name]) {
				blocked[name] = true
				if !set {
					u.skip(r, name, "Somebody changed it since, so it stays.", "")
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
	return u.step(r, o, fields)
}

// current is the row as GET shows it now, or nil.
func (u *undoing) current(ctx context.Context, o *op.Op, r *undoRow) (map[string]any, error) {
	get := o.Getter()
	if get == nil {
		return nil, nil
	}
	steps := u.step(r, o, nil)
	if steps == nil {
		return nil, nil
	}
	a, err := u.get(ctx, get, steps[0].Input)
	if fault.Has(err, fault.NotFound) {
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

func (u *undoing) get(ctx context.Context, o *op.Op, input []byte) (a op.Answer, err error) {
	body := func() ([]byte, error) { return input, nil }
	if u.tx == nil {
		return u.cfg.Runner.Do(ctx, o, op.Request{Caller: u.who, Door: u.door, Whole: true, ID: u.requestID,
			Body: body})
	}
	return a, u.cfg.Runner.RunTogether(ctx, u.tx, &op.Series{Caller: u.who, Door: u.door, RequestID: u.requestID,
		Steps:    []op.SeriesStep{{Op: o, Input: body}},
		Answered: func(_ int, answer op.Answer, _ *db.Trace) error { a = answer; return nil }})
}

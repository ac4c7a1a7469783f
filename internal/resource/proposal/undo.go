package proposal

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An undo walks the events of an agent, a proposal, a request or an import
// backwards and proposes the inverse of each: what was created is deleted, what
// was changed gets its former values where nobody changed it since, what was
// deleted is restored. Whatever cannot be taken back is named.

const (
	undoWindow = 7 * 24 * time.Hour // without since
	maxUndone  = 2000               // events of one undo
	maxInverse = 500                // steps of one undo
)

// NothingToUndo refuses an undo that finds nothing.
var NothingToUndo = fault.Define("NOTHING_TO_UNDO", 404, "Nothing was found that could be undone.")

func (s *Service) undoOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:    "undo.create",
			Route:   "POST /v1/undo",
			Summary: "Plan how to take back what an agent, a proposal, a request or an import did.",
			Description: "Answers with a planned proposal of the inverse steps: execute it to undo. What somebody " +
				"changed since stays as it is and is named in skipped[], and so is what cannot be taken back.",
			Resource: "proposals",
			Doors:    op.REST | op.Console,
			Errors:   []*fault.Kind{NothingToUndo, TooMany, TooLong},
			Events:   []string{"proposal.created"},
			Example:  `{"proposalId": "0c7b1f52-6f0e-4a43-9d5e-2b8a4c6d7e91"}`,
		}, s.undo),
	}
}

type undoInput struct {
	AgentID    *id.ID      `json:"agentId" ref:"-" doc:"all that this agent did; give one of the four"`
	ProposalID *id.ID      `json:"proposalId" ref:"proposals"`
	RequestID  *string     `json:"requestId" min:"1" doc:"the requestId of events"`
	ImportID   *id.ID      `json:"importId" ref:"-"`
	Since      *clock.Time `json:"since" doc:"only what happened from then on; by default the last 7 days"`
}

// Prepare refuses anything but one of the four.
func (in *undoInput) Prepare(context.Context, *op.Call) error {
	n := 0
	for _, given := range []bool{in.AgentID != nil, in.ProposalID != nil, in.RequestID != nil, in.ImportID != nil} {
		if given {
			n++
		}
	}
	if n != 1 {
		return fault.Field("proposalId", "Give one of agentId, proposalId, requestId and importId")
	}
	return nil
}

func (s *Service) undo(ctx context.Context, c *op.Call, in undoInput) (*Proposal, error) {
	rows, err := s.undone(ctx, c, in)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, NothingToUndo.New()
	}
	u := &undoing{Service: s, c: c, set: map[id.ID]bool{}, seen: map[id.ID]*undoRow{}}
	if err := u.collect(rows); err != nil {
		return nil, err
	}
	steps, err := u.steps(ctx)
	if err != nil {
		return nil, err
	}
	return s.proposeUndo(ctx, c, u, steps)
}

// proposeUndo rehearses the inverse steps. One that would be refused is named
// instead.
func (s *Service) proposeUndo(ctx context.Context, c *op.Call, u *undoing, steps []automation.Step) (*Proposal, error) {
	for {
		if len(steps) == 0 && len(u.skipped) == 0 {
			return nil, NothingToUndo.New()
		}
		v := s.newProposal(c.Caller, c.Door, c.Now, "Undo", steps)
		v.Skipped = append(v.Skipped, u.skipped...)
		if v.Steps == nil {
			v.Steps = []ProposalStep{}
		}
		err := s.show(ctx, c.Caller, c.Door, c.RequestID, v)
		var step *op.StepError
		if errors.As(err, &step) && isRefusal(step.Err) {
			about := u.about[steps[step.Step].Operation+string(steps[step.Step].Input)]
			u.skip(about, "", fault.Of(step.Err).Sentence(), "")
			steps = slices.Delete(steps, step.Step, step.Step+1)
			continue
		}
		if err != nil {
			return nil, err
		}
		return op.Finish(ctx, c, func(ctx context.Context) (*Proposal, error) {
			if err := s.insert(ctx, c.Tx, v); err != nil {
				return nil, err
			}
			return v, c.Emit("proposal.created", v.ID, v)
		})
	}
}

// undone reads the events to undo, oldest first.
func (s *Service) undone(ctx context.Context, c *op.Call, in undoInput) (rows []event.Event, err error) {
	since := c.Now.Add(-undoWindow)
	if in.Since != nil {
		since = *in.Since
	}
	which, arg := "proposal_id = $3", any(in.ProposalID)
	switch {
	case in.AgentID != nil:
		which, arg = "actor_kind = 'agent' AND actor_id = $3", in.AgentID
	case in.RequestID != nil:
		which, arg = "request_id = $3", *in.RequestID
	case in.ImportID != nil:
		which, arg = "request_id = $3", string(*in.ImportID)
	}
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err = event.Where(ctx, tx, c.Org, "created_at >= $2 AND "+which+" AND type NOT LIKE 'proposal.%'",
			maxUndone, since, arg)
		return err
	})
	return rows, err
}

// undoRow is what a set of events did to a row.
type undoRow struct {
	kind             string // the resource type
	id               id.ID
	created, deleted bool
	last             map[string]any // the row as the last event left it
	events           []undoEvent    // of changes, oldest first
	lastSeq          int64
}

type undoEvent struct{ previous, data map[string]any }

type undoing struct {
	*Service
	c       *op.Call
	set     map[id.ID]bool // the events
	seen    map[id.ID]*undoRow
	order   []*undoRow
	skipped []Skipped
	about   map[string]*undoRow // by the step
}

func (u *undoing) skip(r *undoRow, field, why, instead string) {
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
	"message.scheduled":         {"It was scheduled.", "Cancel the message before it leaves."},
	"operation.created":         {"A charge cannot be taken back here.", "Ask the registrar for a refund."},
	"invoice.issued":            {"An issued number stays.", "Void the invoice, or write a credit note."},
	"invoice.sent":              {"A sent mail cannot be taken back.", "Void the invoice, or write a credit note."},
	"webhook.tested":            {"A call that was made cannot be taken back.", ""},
	"domain.transfer_requested": {"The transfer was begun at the registrar.", "Withdraw it on the domain's page."},
	"contact.merged":            {"A merge is not taken back here.", "Restore the other contact and move its records."},
}

func (u *undoing) collect(rows []event.Event) error {
	u.about = map[string]*undoRow{}
	for _, e := range rows {
		u.set[e.ID] = true
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

// steps are the inverse calls, the newest first.
func (u *undoing) steps(ctx context.Context) (steps []automation.Step, err error) {
	for _, r := range slices.Backward(u.order) {
		if r.kind == "" || r.created && r.deleted {
			continue
		}
		if len(steps) >= maxInverse {
			u.skip(r, "", "An undo has at most 500 steps.", "Undo the rest after this one.")
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
	case r.created:
		o := u.operation(r.kind+".deleted", http.MethodDelete)
		if o == nil {
			u.skip(r, "", "Nothing deletes it.", "")
			return nil, nil
		}
		touched, err := u.touchedSince(ctx, r)
		if err != nil {
			return nil, err
		}
		if touched {
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
	creates := o.Method == http.MethodPost && !strings.HasSuffix(o.Name, ".restore")
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

// touchedSince reports whether anybody else changed a row after the events.
func (u *undoing) touchedSince(ctx context.Context, r *undoRow) (touched bool, err error) {
	err = u.c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		later, err := event.Where(ctx, tx, u.c.Org, "resource_id = $2 AND seq > $3", 1, r.id, r.lastSeq)
		touched = len(later) > 0
		return err
	})
	return touched, err
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
	a, err := u.cfg.Runner.Do(ctx, get, op.Request{Caller: u.c.Caller, Door: u.c.Door, Whole: true, ID: u.c.RequestID,
		Body: func() ([]byte, error) { return steps[0].Input, nil }})
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

package proposal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/message"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of what is kept of a proposal.
const (
	maxEffects  = 1000
	maxRendered = 1 << 20  // bytes of the inputs of a plan, which are processed inside a transaction
	maxResult   = 64 << 10 // bytes of an answer, to show it
)

// TooLong refuses a proposal with more effects than a person could look at.
var TooLong = fault.DefineKind("PROPOSAL_TOO_LARGE", 422,
	"The steps have more than 1000 effects. Propose them in several parts.")

// outcome is what the steps did, rehearsed or for real.
type outcome struct {
	effects  []Effect
	totals   ProposalTotals
	versions map[string]int64
	results  []op.Answer
	skipped  []int // the steps that could not be rehearsed
	external bool  // somebody outside wrote some of what is shown

	// widened are the steps that the maker may only propose, and withheld the first step
	// from which on the maker is shown nothing; -1 for none.
	widened  []int
	withheld int
}

// showEffects rehearses a proposal and stores in it what it would do.
func (s *Service) showEffects(ctx context.Context, who actor, v *Proposal) error {
	out, err := s.rehearseSteps(ctx, who, v, false)
	if err != nil {
		return err
	}
	if len(out.widened) > 0 {
		v.requireApproval("ask", "The agent may not do this alone.")
	}
	v.setEffects(out, s.cfg.Clock.Now())
	return nil
}

// setEffects stores what the steps would do in the proposal.
func (v *Proposal) setEffects(out *outcome, now clock.Time) {
	v.Effects, v.Totals, v.Versions, v.RehearsedAt = out.effects, out.totals, out.versions, now
	v.EffectsTotal, v.External = len(out.effects), v.External || out.external
	if v.WithheldFrom = nil; out.withheld >= 0 {
		v.WithheldFrom = &out.withheld
	}
}

// rehearseSteps runs the steps in a transaction that is rolled back, to find out what they
// would do. With compare, their inputs must be as they were shown.
func (s *Service) rehearseSteps(ctx context.Context, who actor, v *Proposal, compare bool) (*outcome, error) {
	out := &outcome{}
	err := s.cfg.Runner.RehearseSeries(ctx, s.buildSeries(who, v, out, compare))
	if errors.Is(err, db.ErrHeldTooLong) {
		return nil, TooSlow.New()
	}
	return out, out.withholdRefusal(err)
}

// nameFailedStep turns the error of a step into a refusal that names the step.
func nameFailedStep(err error, n int) error {
	var step *op.StepError
	if errors.As(err, &step) {
		return nameStep(step.Step, n, step.Err)
	}
	return err
}

// buildSeries makes the steps into a series for the Runner, whose hooks fill out with what
// the steps do. The Runner may start over, so Begin resets everything.
func (s *Service) buildSeries(who actor, v *Proposal, out *outcome, compare bool) *op.Series {
	values := map[string]any{}
	rendered, told := 0, 0
	names := continueNames(nil)
	series := &op.Series{Caller: who.Caller, Door: who.door, RequestID: who.requestID,
		WiderCallers: widerCallers(who.Caller)}
	if out.withheld = -1; !compare {
		v.Rendered = []jsontext.Value{}
	}
	series.Begin = func() {
		clear(values)
		names = continueNames(nil)
		out.results, out.widened, out.withheld = nil, nil, -1
		rendered, told = 0, 0
	}
	series.Widened = func(i, n int) {
		if o := s.cfg.Catalog.Named(v.Steps[i].Operation); n > 0 || !who.Permissions.Allow(o.Resource, op.ActionRead) {
			out.withholdFrom(i)
		}
		if n == 0 {
			out.widened = append(out.widened, i)
		}
	}
	for i := range v.Steps {
		step := &v.Steps[i]
		series.Steps = append(series.Steps, op.SeriesStep{
			Op:           s.cfg.Catalog.Named(step.Operation),
			Key:          v.stepKey(i),
			KeepsAnswer:  v.CallKey != nil,
			InputIsFixed: v.hasLiteralInput(i) || !automation.HasPlaceholder(step.Input),
			Input: func() ([]byte, error) {
				text, err := v.renderInput(i, values)
				if err != nil {
					return nil, fault.Field("input", "The input could not be built: "+err.Error())
				}
				if rendered += len(text); rendered > maxRendered && !v.hasLiteralInput(i) {
					return nil, fault.Field("input", "The inputs have more than a megabyte together, once their "+
						"placeholders are filled in. Propose them in several parts.")
				}
				return text, v.keepOrCompareInput(i, text, names, compare)
			},
		})
	}
	series.Answered = func(i int, a op.Answer, t *db.Trace) error {
		names.nameToldRows(t)
		for _, what := range t.Entries {
			if isEffect(what) {
				told++
			}
			e, ok := what.(event.Event)
			out.external = out.external || ok && e.External
		}
		if told > maxEffects { // before more is done that will be undone
			return TooLong.New()
		}
		for len(out.results) < i { // the steps between were not rehearsed
			out.results = append(out.results, op.Answer{})
		}
		out.results = append(out.results, a)
		if v.Steps[i].SaveAs == nil {
			return nil
		}
		data, err := decodeAnswerData(a)
		if err != nil {
			return err
		}
		values[*v.Steps[i].SaveAs], err = automation.DecodeJSON(data)
		return err
	}
	series.Finally = func(ctx context.Context, tx *db.Tx, traces []*db.Trace, skipped []int) error {
		out.skipped = skipped
		return s.newDescriber(tx, v, names).describeSteps(ctx, who.Caller, v, traces, out)
	}
	return series
}

// widerCallers lists the callers that a step may be proposed as, with the permissions that
// the caller may ask for. The first has no additional right to read: if that is
// enough, the step shows the maker nothing that must be withheld.
func widerCallers(c *op.Caller) []*op.Caller {
	if c.Proposable == 0 {
		return nil
	}
	writes, all := c.WithProposable(), c.WithProposable()
	writes.Permissions = c.Permissions | c.Proposable&^op.ReadEverything()
	return []*op.Caller{writes, all}
}

// isEffect reports whether something that a step told of becomes an effect.
func isEffect(told any) bool {
	switch told.(type) {
	case event.Event, op.Charge:
		return true
	}
	return false
}

// hasLiteralInput reports whether {{ in the input of a step is ordinary text, because no
// earlier step saved anything that a placeholder could name. So an email template can
// be proposed as it is written.
func (v *Proposal) hasLiteralInput(i int) bool {
	return !slices.ContainsFunc(v.Steps[:i], func(s ProposalStep) bool { return s.SaveAs != nil })
}

func (v *Proposal) renderInput(i int, values map[string]any) ([]byte, error) {
	if v.hasLiteralInput(i) {
		return v.Steps[i].Input, nil
	}
	return automation.RenderInput(v.Steps[i].Input, values)
}

// stepKey is the idempotency key of a step: the key of the agent's call that waited, or
// one made from proposal and step.
func (v *Proposal) stepKey(i int) string {
	if v.CallKey != nil {
		return *v.CallKey
	}
	return op.ProposalKeyPrefix + string(v.ID) + ":" + strconv.Itoa(i)
}

func decodeAnswerData(a op.Answer) (jsontext.Value, error) {
	if len(a.Body) == 0 {
		return jsontext.Value("null"), nil
	}
	var envelope struct {
		Data jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		return nil, fmt.Errorf("proposal: an answer: %w", err)
	}
	if len(envelope.Data) == 0 {
		return jsontext.Value("null"), nil
	}
	return envelope.Data.Clone(), nil
}

// describeSteps turns what all steps did into effects, for a caller.
func (d *describer) describeSteps(ctx context.Context, c *op.Caller, v *Proposal, traces []*db.Trace,
	out *outcome) error {
	out.effects, out.versions = []Effect{}, map[string]int64{}
	for i, trace := range traces {
		if slices.Contains(out.skipped, i) {
			out.effects = append(out.effects, unrehearsedEffect(i, d.cfg.Catalog.Named(v.Steps[i].Operation)))
			continue
		}
		if err := d.describeStep(ctx, i, trace, out); err != nil {
			return err
		}
		if slices.Contains(out.widened, i) && !d.mayReadEvents(c, trace) {
			out.withholdFrom(i)
		}
	}
	out.totals = sumTotals(out.effects)
	return nil
}

// mayReadEvents reports whether a caller may read all events of a step.
func (s *Service) mayReadEvents(c *op.Caller, t *db.Trace) bool {
	for _, told := range t.Entries {
		if e, ok := told.(event.Event); ok && s.cfg.Catalog.PermitListening(c.Permissions, e.Type) != nil {
			return false
		}
	}
	return true
}

// describer turns what steps told of into effects.
type describer struct {
	*Service
	tx    *db.Tx
	org   id.ID
	names *newRowNames
	heard map[string][]EffectTrigger
	mails int // mails so far; the first maxWholeMails are kept whole
}

// newDescriber describes the steps of a proposal. names has the rows that they make.
func (s *Service) newDescriber(tx *db.Tx, v *Proposal, names *newRowNames) *describer {
	return &describer{Service: s, tx: tx, org: v.OrganizationID, names: names, heard: map[string][]EffectTrigger{}}
}

// describeStep adds the effects of a step.
func (d *describer) describeStep(ctx context.Context, i int, trace *db.Trace, out *outcome) error {
	for row, at := range trace.Versions {
		if _, ok := out.versions[string(row)]; !ok && !d.names.isNewRow(row) {
			out.versions[string(row)] = int64(at)
		}
	}
	for _, told := range trace.Entries {
		var e *Effect
		var err error
		switch told := told.(type) {
		case event.Event:
			if told, err = d.asSent(ctx, told); err != nil {
				return err
			}
			if e, err = effectOfEvent(told, d.names, d.mails < maxWholeMails); err == nil {
				e.Triggers, err = d.findTriggers(ctx, d.tx, d.org, told.Type, d.heard)
			}
		case op.Charge:
			e = effectOfCharge(told)
		default:
			continue
		}
		if err != nil {
			return err
		}
		if e.Kind == KindSend {
			d.mails++
		}
		if e.Step = i; len(out.effects) == maxEffects {
			return TooLong.New()
		}
		out.effects = append(out.effects, *e)
	}
	return nil
}

// asSent puts the letterhead around what an event tells of a mail that is sent, so that it is
// shown, and compared, as its readers will see it.
func (d *describer) asSent(ctx context.Context, e event.Event) (event.Event, error) {
	if event.ResourceType(e.Type) != "message" || d.mails >= maxWholeMails {
		return e, nil
	}
	var data map[string]any
	if err := json.Unmarshal(e.Data, &data); err != nil || effectKind(e, data) != KindSend ||
		data["letterhead"] != true {
		return e, err
	}
	html, text, err := message.AsSent(ctx, d.tx, d.org, e.ResourceID)
	if fault.IsKind(err, fault.NotFound) {
		return e, nil // a later step deletes it
	}
	if err != nil || html == nil {
		return e, err
	}
	d.names.replaceNewIDs(e.Data) // new rows get their names in the order of the event itself
	data["html"], data["text"] = *html, text
	e.Data, err = json.Marshal(data, json.Deterministic(true))
	return e, err
}

// findTriggers lists the automations and webhooks that listen for a type of event. known
// caches the answers.
func (s *Service) findTriggers(ctx context.Context, tx *db.Tx, org id.ID, eventType string,
	known map[string][]EffectTrigger) ([]EffectTrigger, error) {
	if list, ok := known[eventType]; ok {
		return list, nil
	}
	listeners, err := event.Listeners(ctx, tx, org, eventType)
	if err != nil {
		return nil, err
	}
	list := []EffectTrigger{}
	for _, l := range listeners {
		name := s.cfg.Names[l.Kind]
		if name == nil {
			continue
		}
		text, err := name(ctx, tx, org, l.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, EffectTrigger{Kind: l.Kind, ID: l.ID, Name: cut.Ellipsis(text, maxQuoted)})
	}
	known[eventType] = list
	return list, nil
}

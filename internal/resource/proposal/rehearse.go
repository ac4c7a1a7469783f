package proposal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

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

// The bounds of what is kept of a proposal.
const (
	maxEffects  = 1000
	maxRendered = 1 << 20  // of the inputs of a plan; they are cleaned while others wait to write
	maxResult   = 64 << 10 // of an answer, to show it
)

// TooLong refuses a proposal with more effects than a person could look at.
var TooLong = fault.Define("PROPOSAL_TOO_LARGE", 422,
	"The steps have more than 1000 effects. Propose them in several parts.")

// outcome is what the steps did, rehearsed or for real.
type outcome struct {
	effects  []Effect
	totals   ProposalTotals
	versions map[string]int64
	results  []op.Answer
	skipped  []int // the steps that could not be rehearsed
}

// show rehearses a proposal and puts what it would do into it.
func (s *Service) show(ctx context.Context, c *op.Caller, d op.Door, requestID string, v *Proposal) error {
	out, err := s.rehearse(ctx, c, d, requestID, v)
	if err != nil {
		return err
	}
	v.shows(out, s.cfg.Clock.Now())
	return nil
}

// shows puts what the steps would do into the proposal.
func (v *Proposal) shows(out *outcome, now clock.Time) {
	v.Effects, v.Totals, v.Versions, v.RehearsedAt = out.effects, out.totals, out.versions, now
}

// rehearse finds out what the steps would do, and leaves no trace.
func (s *Service) rehearse(ctx context.Context, c *op.Caller, d op.Door, requestID string, v *Proposal) (
	*outcome, error) {
	out := &outcome{}
	return out, s.cfg.Runner.Rehearse(ctx, s.series(c, d, requestID, v, out))
}

// stepFault names the step that was refused.
func stepFault(err error, n int) error {
	var step *op.StepError
	if errors.As(err, &step) {
		return inStep(step.Step, n, step.Err)
	}
	return err
}

// series is the steps as the Runner takes them, and fills out with what they do.
func (s *Service) series(c *op.Caller, d op.Door, requestID string, v *Proposal, out *outcome) *op.Series {
	full := c.WithAsks()
	values := map[string]any{}
	rendered, told := 0, 0
	unknown := map[string]bool{} // saved by steps that were not rehearsed
	series := &op.Series{Caller: full, Door: d, RequestID: requestID}
	for i := range v.Steps {
		step := &v.Steps[i]
		series.Steps = append(series.Steps, op.SeriesStep{
			Op:    s.cfg.Catalog.Named(step.Operation),
			Key:   v.key(i),
			Keeps: v.CallKey != nil,
			Fixed: v.literal(i) || !automation.HasPlaceholder(step.Input),
			Input: func() ([]byte, error) {
				if i == 0 {
					clear(values)
					clear(unknown)
					out.results = nil
					rendered, told = 0, 0
				}
				text, err := v.render(i, values)
				if err != nil && len(unknown) > 0 {
					return nil, op.ErrCannotRehearse
				}
				if err != nil {
					return nil, fault.Field("input", "The input could not be built: "+err.Error())
				}
				if rendered += len(text); rendered > maxRendered && !v.literal(i) {
					return nil, fault.Field("input", "The inputs have more than a megabyte together, once their "+
						"placeholders are filled in. Propose them in several parts.")
				}
				return text, nil
			},
		})
	}
	series.Answered = func(i int, a op.Answer, t *db.Trace) error {
		for _, what := range t.Told {
			if shown(what) {
				told++
			}
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
		data, err := answerData(a)
		if err != nil {
			return err
		}
		values[*v.Steps[i].SaveAs], err = automation.Decode(data)
		return err
	}
	series.Skipped = func(i int) {
		if name := v.Steps[i].SaveAs; name != nil {
			unknown[*name] = true
		}
	}
	series.Finally = func(ctx context.Context, tx *db.Tx, traces []*db.Trace, skipped []int) error {
		out.skipped = skipped
		return s.describe(ctx, tx, c.Organization, v, traces, out)
	}
	return series
}

// shown reports whether what a step told of is an effect.
func shown(told any) bool {
	switch told.(type) {
	case event.Event, op.Charge:
		return true
	}
	return false
}

// literal reports whether braces in the input of a step mean nothing, because no
// earlier step saved anything: a template may be proposed as it is written.
func (v *Proposal) literal(i int) bool {
	return !slices.ContainsFunc(v.Steps[:i], func(s ProposalStep) bool { return s.SaveAs != nil })
}

func (v *Proposal) render(i int, values map[string]any) ([]byte, error) {
	if v.literal(i) {
		return v.Steps[i].Input, nil
	}
	return automation.Render(v.Steps[i].Input, values)
}

// key is the idempotency key of a step: of an agent's call that waited, its own.
func (v *Proposal) key(i int) string {
	if v.CallKey != nil {
		return *v.CallKey
	}
	return op.ProposalKeys + string(v.ID) + ":" + strconv.Itoa(i)
}

func answerData(a op.Answer) (jsontext.Value, error) {
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

// describe turns what the steps did into effects.
func (s *Service) describe(ctx context.Context, tx *db.Tx, org id.ID, v *Proposal, traces []*db.Trace,
	out *outcome) error {
	out.effects, out.versions = []Effect{}, map[string]int64{}
	heard, papers := map[string][]EffectTrigger{}, 0
	names := &freshNames{traces: traces, names: map[id.ID]string{}}
	for i, trace := range traces {
		o := s.cfg.Catalog.Named(v.Steps[i].Operation)
		if slices.Contains(out.skipped, i) {
			out.effects = append(out.effects, notRehearsed(i, o))
			continue
		}
		for row, at := range trace.Versions {
			if !names.fresh(row) {
				if _, ok := out.versions[string(row)]; !ok {
					out.versions[string(row)] = int64(at)
				}
			}
		}
		for _, told := range trace.Told {
			var e *Effect
			var err error
			switch told := told.(type) {
			case event.Event:
				if e, err = ofEvent(told, names, papers < maxPapers); err == nil {
					e.Triggers, err = s.triggers(ctx, tx, org, told.Type, heard)
				}
			case op.Charge:
				e = ofCharge(told)
			default:
				continue
			}
			if err != nil {
				return err
			}
			if e.Kind == Send {
				papers++
			}
			if e.Step = i; len(out.effects) == maxEffects {
				return TooLong.New()
			}
			out.effects = append(out.effects, *e)
		}
	}
	out.totals = totalsOf(out.effects)
	return nil
}

// triggers are the automations and webhooks that would hear of an event.
func (s *Service) triggers(ctx context.Context, tx *db.Tx, org id.ID, eventType string,
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
		list = append(list, EffectTrigger{Kind: l.Kind, ID: l.ID, Name: cut(text, maxQuoted)})
	}
	known[eventType] = list
	return list, nil
}

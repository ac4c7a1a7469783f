package proposal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"frontdesk/internal/kernel/clock"
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

// What was approved is what is done. A plan of Writes is compared as a whole, in the
// transaction that does it. One that reaches outside is done step by step, and other
// callers may change data between its steps. So each input is rendered again and
// compared with the one that was shown, and so are the effects of each step, before
// they are committed. A Flow, whose effects cannot be rolled back, is rehearsed once
// more right before it begins.

// notAsShownError ends a proposal because something is not as it was shown.
type notAsShownError struct{ found []string }

func (e *notAsShownError) Error() string { return "proposal: it is not as it was shown" }

// newRowNames gives names to rows that a rehearsal creates. Their ids are random, so
// two rehearsals could not be compared by them; the names new:1, new:2 and so on, in
// the order in which the rows are mentioned, are the same every time. A row that has
// not been mentioned yet has an empty name.
type newRowNames struct {
	of    map[id.ID]string
	named int
}

// continueNames makes names that continue those of the rows which earlier steps made.
func continueNames(made map[id.ID]string) *newRowNames {
	n := &newRowNames{of: make(map[id.ID]string, len(made))}
	for row, name := range made {
		if n.of[row] = name; name != "" {
			n.named++
		}
	}
	return n
}

// noteMadeRows notes the rows that a step made.
func (n *newRowNames) noteMadeRows(t *db.Trace) {
	for row := range t.InsertedIDs() {
		if _, ok := n.of[row]; !ok {
			n.of[row] = ""
		}
	}
}

// isNewRow reports whether the steps themselves made a row.
func (n *newRowNames) isNewRow(row id.ID) bool {
	_, ok := n.of[row]
	return ok
}

// replaceNewIDs replaces the ids of new rows by their names. It searches for them by hand,
// because a regular expression takes long for a large mail, inside a transaction
// that others wait for.
func (n *newRowNames) replaceNewIDs(text []byte) []byte {
	if len(n.of) == 0 {
		return text
	}
	var out []byte
	from := 0 // what is before it is in out
	for at := 0; ; {
		dash := bytes.IndexByte(text[at:], '-')
		if dash < 0 {
			break
		}
		at += dash
		begin := at - 8
		at++
		if begin < from || begin+36 > len(text) {
			continue
		}
		name, ok := n.of[id.ID(text[begin:begin+36])]
		if !ok {
			continue
		}
		if name == "" {
			n.named++
			name = "new:" + strconv.Itoa(n.named)
			n.of[id.ID(text[begin:begin+36])] = name
		}
		out = append(append(out, text[from:begin]...), name...)
		from, at = begin+36, begin+36
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

// decodeObject decodes a JSON object, with the ids of new rows replaced by their names.
func (n *newRowNames) decodeObject(text []byte) (map[string]any, error) {
	out := map[string]any{}
	if len(text) == 0 {
		return out, nil
	}
	err := json.Unmarshal(n.replaceNewIDs(text), &out)
	return out, err
}

// nameToldRows gives names to the rows that a step's events mention, in their order.
func (n *newRowNames) nameToldRows(t *db.Trace) {
	n.noteMadeRows(t)
	for _, told := range t.Entries {
		if e, ok := told.(event.Event); ok {
			n.replaceNewIDs(e.Data)
			n.replaceNewIDs(e.Previous)
		}
	}
}

// keepOrCompareInput keeps the input of a step with its placeholders filled in. With
// compare, it compares it with the one that was kept when the proposal was shown. An
// input without placeholders is always the same and needs neither.
func (v *Proposal) keepOrCompareInput(i int, text []byte, names *newRowNames, compare bool) error {
	if v.hasLiteralInput(i) || !automation.HasPlaceholder(v.Steps[i].Input) {
		return nil
	}
	now := jsontext.Value(names.replaceNewIDs(text))
	if !compare {
		for len(v.Rendered) < len(v.Steps) {
			v.Rendered = append(v.Rendered, jsontext.Value("null"))
		}
		v.Rendered[i] = now
		return nil
	}
	if i >= len(v.Rendered) || v.Rendered[i].Kind() == 'n' {
		return nil // it was proposed by an earlier version, or could not be rehearsed
	}
	var was, is any
	if err := errors.Join(json.Unmarshal(v.Rendered[i], &was), json.Unmarshal(now, &is)); err != nil {
		return err
	}
	c := &comparison{}
	if c.compareValue(fmt.Sprintf("steps[%d].input", i), was, is); len(c.found) > 0 {
		return &notAsShownError{c.found}
	}
	return nil
}

// renderStepInput renders the input of a step that is about to be taken by itself, and
// refuses one that is not as it was shown.
func (v *Proposal) renderStepInput(i int) ([]byte, error) {
	values := map[string]any{}
	for n := range v.Steps[:i] {
		step := &v.Steps[n]
		if step.SaveAs == nil || step.Result == nil {
			continue
		}
		value, err := automation.DecodeJSON(*step.Result)
		if err != nil {
			return nil, err
		}
		values[*step.SaveAs] = value
	}
	input, err := v.renderInput(i, values)
	if err != nil {
		return nil, fault.Field("input", "The input could not be built: "+err.Error())
	}
	return input, v.keepOrCompareInput(i, input, continueNames(v.Made), true)
}

// verifyUnchanged rehearses a Flow right before it begins, and refuses it if it is no longer
// as it was shown. What a Write does is compared in its own transaction, by
// watchStep.
func (s *Service) verifyUnchanged(ctx context.Context, who actor, v *Proposal, step stepCall) error {
	i := step.index
	o := s.cfg.Catalog.Named(v.Steps[i].Operation)
	if o.CanJoinSeries() {
		return nil
	}
	var found []string
	series := &op.Series{Caller: who.Caller, Door: who.door, RequestID: who.requestID, Steps: []op.SeriesStep{{Op: o,
		Key: v.stepKey(i), InputIsFixed: true, Input: func() ([]byte, error) { return step.input, nil }}}}
	series.Finally = func(ctx context.Context, tx *db.Tx, traces []*db.Trace, skipped []int) error {
		if found = nil; len(skipped) > 0 {
			return nil
		}
		p := *v // a copy, because stepDifferences notes rows in it that the rehearsal does not keep
		var err error
		found, err = s.newDescriber(tx, &p, continueNames(p.Made)).stepDifferences(ctx, &p, i, traces[0], false)
		return err
	}
	err := s.cfg.Runner.RehearseSeries(ctx, series)
	var refused *op.StepError
	if errors.As(err, &refused) && fault.IsKind(refused.Err, fault.Forbidden) {
		return refused.Err // its maker, or who approved it, has lost the right
	}
	if errors.As(err, &refused) && op.IsRefusal(refused.Err) {
		return &notAsShownError{[]string{fmt.Sprintf("steps[%d]: %s", i,
			cut.Ellipsis(fault.FromError(refused.Err).Sentence(), 500))}}
	}
	if err == nil && len(found) > 0 {
		err = &notAsShownError{found}
	}
	return err
}

// watchStep returns the function that compares what the transactions of a step do before
// they are committed. Of a Flow only mail is compared, which is sent after the
// commit; whatever else it does has happened outside by then.
func (s *Service) watchStep(v *Proposal, i int) op.Watch {
	mails := !s.cfg.Catalog.Named(v.Steps[i].Operation).CanJoinSeries()
	return func(ctx context.Context, tx *db.Tx, t *db.Trace) error {
		p := *v
		p.Versions = maps.Clone(v.Versions)
		found, err := s.newDescriber(tx, &p, continueNames(p.Made)).stepDifferences(ctx, &p, i, t, mails)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return &notAsShownError{found}
		}
		for row := range t.Versions {
			p.Versions[string(row)] = ownChangeVersion
		}
		_, err = db.Exec(ctx, tx,
			"UPDATE proposals SET made = $3, versions = $4 WHERE organization_id = $1 AND id = $2",
			v.OrganizationID, v.ID, p.Made, p.Versions)
		return err
	}
}

// ownChangeVersion stands for the version of a row that an earlier step of the same plan
// changed: such a row does not count as changed by others.
const ownChangeVersion = 0

// stepDifferences compares what a step did with what was shown of it: all of it, or only
// its mail. It also notes in v.Made the rows that the step made.
func (d *describer) stepDifferences(ctx context.Context, v *Proposal, i int, t *db.Trace, mails bool) ([]string,
	error) {
	was, now := &outcome{}, &outcome{versions: map[string]int64{}}
	for n := range v.Effects {
		e := v.Effects[n]
		switch {
		case e.Step < i && e.Kind == KindSend:
			d.mails++
		case e.Step == i && (!mails || e.Kind == KindSend):
			was.effects = append(was.effects, e)
		}
	}
	d.names.noteMadeRows(t)
	if err := d.describeStep(ctx, i, t, now); err != nil {
		return nil, err
	}
	v.Made = d.names.of
	if mails {
		kept := now.effects[:0]
		for _, e := range now.effects {
			if e.Kind == KindSend {
				kept = append(kept, e)
			}
		}
		if now.effects = kept; len(kept) == 0 {
			return nil, nil // this transaction sends nothing; another of the step may
		}
	}
	shown := *v
	shown.Effects = was.effects
	return shown.listDifferences(now, d.cfg.Clock.Now()), nil
}

// markStale ends a proposal whose step i is not as it was shown. What earlier steps did
// stays, and is visible in steps.
func (s *Service) markStale(a carryOutArgs, i int, found []string) func(v *Proposal, now clock.Time) (string, error) {
	return func(v *Proposal, now clock.Time) (string, error) {
		v.Steps[i].StartedAt = nil
		v.Status, v.Difference, v.CompletedAt = Stale, found, &now
		return "proposal.stale", nil
	}
}

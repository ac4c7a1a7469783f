package op

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
)

// A Series is several calls of operations by one caller in one transaction: all
// happen or none does. It is run for real, or rehearsed, which undoes it again.
type Series struct {
	Caller    *Caller
	Door      Door
	RequestID string
	Steps     []SeriesStep
	Spend     func(more int) error // as of a Request

	// Begin is told when the transaction begins, or is run again; nil for nobody.
	Begin func()
	// Answered is told of each answer, before the next step's input is asked for.
	// A transaction may be run again, so it may be told of the first step again.
	Answered func(step int, a Answer, t *db.Trace) error
	// Skipped is told of each step that cannot be rehearsed; nil for nobody.
	Skipped func(step int)
	// Refused is told of each step that is refused, which then leaves nothing, and the
	// others go on; with nil a refusal ends the series.
	Refused func(step int, err error)
	// Wider are callers who may do more, the nearest first: a step that the caller is not
	// permitted is tried as each of them, and Widened is told which one it takes.
	Wider   []*Caller
	Widened func(step, caller int)
	// Finally runs last, in the same transaction, with the trace of each step and
	// the steps that could not be rehearsed.
	Finally func(ctx context.Context, tx *db.Tx, traces []*db.Trace, skipped []int) error
}

// SeriesStep is one call of a Series.
type SeriesStep struct {
	Op  *Op
	Key string // what an operation that binds its key is given
	// Keeps says that Key is the caller's, and the answer is kept under it as that of any
	// other call.
	Keeps bool
	// Input is the whole input as JSON. It may depend on the earlier answers.
	Input func() ([]byte, error)
	// Fixed says that it does not.
	Fixed bool

	asked any
	err   error // of asking

	ready reflect.Value // the input, where it was prepared before the transaction
	as    *Caller       // for whom
}

// ErrCannotRehearse says that nobody can tell what a step would do, because it needs
// the outside world, or the answer of a step that does.
var ErrCannotRehearse = errors.New("op: this cannot be rehearsed")

// StepError is what went wrong with a step of a Series.
type StepError struct {
	Step int
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d: %v", e.Step+1, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

// Rehearsable reports whether a step can be rehearsed at all.
func (o *Op) Rehearsable() bool {
	return o.shape == readShape || o.shape == writeShape || o.shape == flowShape && o.Rehearses
}

// RunsTogether reports whether the operation can be one of several in one
// transaction.
func (o *Op) RunsTogether() bool { return o.shape == readShape || o.shape == writeShape }

// Asks has a Flow ask the outside world before it is rehearsed: a price, for
// one. What fn answers is what Asked tells during the rehearsal.
func Asks[In any](o *Op, fn func(context.Context, *Call, In) (any, error)) *Op {
	o.asks = func(ctx context.Context, c *Call, in any) (any, error) { return fn(ctx, c, in.(In)) }
	return o
}

// Rehearsing reports whether everything the call does will be undone. A Flow that
// can be rehearsed leaves the outside world alone then.
func (c *Call) Rehearsing() bool { return c.rehearsing }

// Asked is what the operation asked the outside world before its rehearsal; nil
// outside of a rehearsal.
func (c *Call) Asked() any { return c.asked }

// Rehearse runs the series in a transaction that is undone. A step that cannot be
// rehearsed is left out.
func (r *Runner) Rehearse(ctx context.Context, s *Series) error {
	ctx = db.WithLabel(ctx, "rehearsal")
	r.Ready(ctx, s)
	for i := range s.Steps {
		s.Steps[i].asked, s.Steps[i].err = r.ask(ctx, s, i)
	}
	return r.DB.Rehearse(ctx, func(ctx context.Context, tx *db.Tx) error { return r.series(ctx, tx, s, true) })
}

// Warmer is an input with work that takes long and needs no database, like compiling
// what the caller wrote. Warm does it and remembers what came of it.
type Warmer interface{ Warm() }

// Ready does before the transaction what can be done there, because everybody else waits
// for its end: it prepares the first input, which nothing comes before, and warms the
// others.
func (r *Runner) Ready(ctx context.Context, s *Series) {
	for _, as := range append([]*Caller{s.Caller}, s.Wider...) {
		err := r.readyFirst(ctx, s, as)
		if !fault.Has(err, fault.Forbidden) {
			break // a refusal comes up again in the transaction
		}
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		in := step.Op.fresh()
		w, ok := in.Addr().Interface().(Warmer)
		if !ok || !step.Fixed {
			continue
		}
		if text, err := step.Input(); err == nil && step.Op.decode(in, text, Automation) == nil {
			w.Warm()
		}
	}
}

// readyFirst prepares the first input for a caller.
func (r *Runner) readyFirst(ctx context.Context, s *Series, as *Caller) error {
	if len(s.Steps) == 0 || !s.Steps[0].Fixed || !s.Steps[0].Op.RunsTogether() {
		return nil
	}
	step := &s.Steps[0]
	if err := step.Op.Permit(as, s.Door); err != nil {
		return err
	}
	text, err := step.Input()
	if err != nil {
		return err
	}
	in := step.Op.fresh()
	if err := step.Op.prepare(ctx, r.seriesCall(s, 0, as), Automation, in, text); err != nil {
		return err
	}
	step.ready, step.as = in, as
	return nil
}

// RunTogether runs the series in an open transaction.
func (r *Runner) RunTogether(ctx context.Context, tx *db.Tx, s *Series) error {
	return r.series(ctx, tx, s, false)
}

// Together runs the series in a transaction of its own.
func (r *Runner) Together(ctx context.Context, s *Series) error {
	ctx = db.WithLabel(ctx, s.Steps[len(s.Steps)-1].Op.Name)
	return r.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return r.RunTogether(ctx, tx, s) })
}

func (r *Runner) ask(ctx context.Context, s *Series, i int) (any, error) {
	step := &s.Steps[i]
	if step.Op.asks == nil {
		return nil, nil
	}
	if !step.Fixed {
		return nil, ErrCannotRehearse
	}
	as := s.Caller
	if len(s.Wider) > 0 {
		as = s.Wider[len(s.Wider)-1]
	}
	c := r.seriesCall(s, i, as)
	if err := step.Op.Permit(as, s.Door); err != nil {
		return nil, err
	}
	text, err := step.Input()
	if err != nil {
		return nil, err
	}
	in := step.Op.fresh()
	if err := step.Op.prepare(ctx, c, Automation, in, text); err != nil {
		return nil, err
	}
	return step.Op.asks(ctx, c, in.Interface())
}

func (r *Runner) seriesCall(s *Series, i int, as *Caller) *Call {
	step := &s.Steps[i]
	return &Call{Caller: as, Org: as.Organization, Now: r.Clock.Now(), Door: s.Door,
		RequestID: s.RequestID, Key: step.Key, op: step.Op, runner: r, spend: s.Spend, status: step.Op.Status}
}

func (r *Runner) series(ctx context.Context, tx *db.Tx, s *Series, rehearse bool) error {
	if s.Begin != nil {
		s.Begin()
	}
	var traces []*db.Trace
	var skipped []int
	for i := range s.Steps {
		trace := tx.FollowAnew()
		a, err := r.seriesTry(ctx, tx, s, i, rehearse)
		switch {
		case err != nil && s.Refused != nil && IsRefusal(err):
			s.Refused(i, err)
		case errors.Is(err, ErrCannotRehearse):
			if skipped = append(skipped, i); s.Skipped != nil {
				s.Skipped(i)
			}
		case err == nil && s.Answered != nil:
			err = s.Answered(i, a, trace)
			fallthrough
		default:
			if err != nil {
				return &StepError{i, err}
			}
		}
		traces = append(traces, trace)
	}
	tx.Unfollow()
	if s.Finally == nil {
		return nil
	}
	return s.Finally(ctx, tx, traces, skipped)
}

// seriesTry takes a step, by itself where a refusal does not end the series.
func (r *Runner) seriesTry(ctx context.Context, tx *db.Tx, s *Series, i int, rehearse bool) (a Answer, err error) {
	if s.Refused == nil && s.Wider == nil {
		return r.seriesStep(ctx, tx, s, i, s.Caller, rehearse)
	}
	try := func(as *Caller) error {
		return tx.Try(ctx, func(ctx context.Context) error {
			a, err = r.seriesStep(ctx, tx, s, i, as, rehearse)
			return err
		})
	}
	err = try(s.Caller)
	for n, as := range s.Wider {
		if !fault.Has(err, fault.Forbidden) {
			break
		}
		s.Widened(i, n)
		err = try(as)
	}
	return a, err
}

// IsRefusal reports whether an error says something about the call, and not about
// the service.
func IsRefusal(err error) bool {
	var f *fault.Fault
	return errors.As(err, &f) && f.Status < 500 && f.Kind != fault.KeyInFlight && f.Kind != fault.RateLimited
}

func (r *Runner) seriesStep(ctx context.Context, tx *db.Tx, s *Series, i int, as *Caller, rehearse bool) (
	Answer, error) {
	step := &s.Steps[i]
	o := step.Op
	switch {
	case step.err != nil:
		return Answer{}, step.err
	case o.RunsTogether():
	case !rehearse:
		return Answer{}, fmt.Errorf("op: %s does not run in a transaction", o.Name)
	case !o.Rehearsable():
		return Answer{}, ErrCannotRehearse
	}
	if err := o.Permit(as, s.Door); err != nil {
		return Answer{}, err
	}
	c := r.seriesCall(s, i, as)
	c.Tx, c.within, c.rehearsing, c.asked = tx, true, rehearse, step.asked
	text, err := step.Input()
	if err != nil {
		return Answer{}, err
	}
	in := o.fresh()
	if step.ready.IsValid() && step.as == as {
		in.Set(step.ready)
	} else if err := o.prepare(ctx, c, Automation, in, text); err != nil {
		return Answer{}, err
	}
	tx.NextStep()
	out, err := o.call(ctx, c, in, nil)
	if err != nil {
		return Answer{}, err
	}
	body, data, err := o.encode(out)
	if err != nil {
		return Answer{}, fmt.Errorf("op: %s: encode: %w", o.Name, err)
	}
	if err := c.record(ctx, out, data); err != nil {
		return Answer{}, err
	}
	if err := c.count(ctx); err != nil {
		return Answer{}, err
	}
	a := Answer{Status: c.status, Body: body, Replay: c.replay}
	if step.Keeps && o.shape == writeShape && !rehearse && !c.replay {
		k := &key{org: c.Org, value: step.Key, print: o.Fingerprint(text)}
		if err := k.finish(ctx, c, a); errors.Is(err, errStored) {
			return Answer{}, fault.Unavailable.Because(err)
		} else if err != nil {
			return Answer{}, err
		}
	}
	return a, nil
}

// ProposalKeys begins the keys of proposals' steps, which only they may use.
const ProposalKeys = "proposal:"

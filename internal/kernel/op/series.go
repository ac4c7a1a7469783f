package op

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
)

// A Series is several calls of operations by one caller in one transaction: all of them happen, or none. RunSeries runs
// it for real. RehearseSeries runs it and rolls it back, to show what it would do. Proposals of agents are series.
//
// The functions of a Series are called inside the transaction. The database may run the transaction again, so they may
// be called again from the first step on; Begin is where to forget what they have collected.
type Series struct {
	Caller       *Caller
	Door         Door
	RequestID    string
	Steps        []SeriesStep
	UseAllowance func(more int) error // see Request.UseAllowance

	// Begin is called when the transaction begins, and again when it is run again; nil for nothing.
	Begin func()
	// Answered is called with the answer of each step and the trace of what the step did, before the input of the next
	// step is built. An error ends the series.
	Answered func(step int, a Answer, t *db.Trace) error
	// Skipped is called for each step that cannot be rehearsed; nil for nothing.
	Skipped func(step int)
	// Refused is called for each step that is refused. The step leaves no change behind, and the series goes on. With
	// nil, a refusal ends the series.
	Refused func(step int, err error)
	// WiderCallers have more permissions than Caller, each more than the one before. A step that Caller is not
	// permitted is tried as each of them, and Widened is called with the index of each that is tried.
	WiderCallers []*Caller
	Widened      func(step, caller int)
	// Finally is called at the end with the trace of each step and the steps that could not be rehearsed.
	Finally func(ctx context.Context, tx *db.Tx, traces []*db.Trace, skipped []int) error

	external bool // a step has answered with text from outside the organization
}

// SeriesStep is one call of a Series.
type SeriesStep struct {
	Op  *Op
	Key string // the idempotency key, for an operation that keeps its keys itself (Spec.BindsKey)
	// KeepsAnswer says that Key is one that the caller sent, so that the answer is stored under it like that of any
	// other call.
	KeepsAnswer bool
	// Input builds the whole input as JSON. It may depend on the answers of the steps before.
	Input func() ([]byte, error)
	// InputIsFixed says that Input depends on no other step, so that it can be read before the transaction.
	InputIsFixed bool

	quote    any   // what the operation fetched for its rehearsal, see WithQuote
	quoteErr error // why it could not be fetched

	preparedInput reflect.Value // the input, if PrepareSeries has prepared it; else the zero Value
	preparedFor   *Caller       // the caller it was prepared for
}

// stepAuthor is whose words a step writes. Once a step has read text from outside the organization, later steps may
// repeat it, so all they write is marked as external.
func (s *Series) stepAuthor(c *Call) db.Author {
	if s.external {
		return db.AuthorExternal
	}
	return c.textAuthor()
}

// ErrCannotRehearse says that what a step would do cannot be found out without doing it, because it calls the outside
// world or needs the answer of a step that does.
var ErrCannotRehearse = errors.New("op: this cannot be rehearsed")

// StepError is what went wrong with a step of a Series.
type StepError struct {
	Step int
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d: %v", e.Step+1, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

// Rehearsable reports whether the operation can be a step of a rehearsal.
func (o *Op) Rehearsable() bool {
	return o.shape == readShape || o.shape == writeShape || o.shape == flowShape && o.Rehearses
}

// CanJoinSeries reports whether the operation can run inside the transaction of a Series.
func (o *Op) CanJoinSeries() bool { return o.shape == readShape || o.shape == writeShape }

// WithQuote has a Flow fetch something from outside before it is rehearsed, such as a price, because a rehearsal itself
// runs in a transaction and calls nobody. The operation gets what fn returned from Call.Quote.
func WithQuote[In any](o *Op, fn func(context.Context, *Call, In) (any, error)) *Op {
	o.fetchQuote = func(ctx context.Context, c *Call, in any) (any, error) { return fn(ctx, c, in.(In)) }
	return o
}

// Rehearsing reports whether everything that the call does will be rolled back. A Flow with Spec.Rehearses must not
// call the outside world then.
func (c *Call) Rehearsing() bool { return c.rehearsing }

// Quote is what the operation fetched from outside before its rehearsal (WithQuote); nil outside of a rehearsal.
func (c *Call) Quote() any { return c.quote }

// RehearseSeries runs the series in a transaction that is rolled back. A step that cannot be rehearsed is left out.
func (r *Runner) RehearseSeries(ctx context.Context, s *Series) error {
	ctx = db.WithLabel(ctx, "rehearsal")
	r.PrepareSeries(ctx, s)
	for i := range s.Steps {
		s.Steps[i].quote, s.Steps[i].quoteErr = r.fetchQuote(ctx, s, i)
	}
	return r.DB.Rehearse(ctx, func(ctx context.Context, tx *db.Tx) error { return r.runSteps(ctx, tx, s, true) })
}

// Warmer is an input with slow work that needs no database, like compiling an expression that the caller wrote. Warm
// does the work and caches the result, so that Prepare finds it later.
type Warmer interface{ Warm() }

// PrepareSeries does before the transaction what can be done there, because on SQLite all other writers wait until the
// transaction ends. It prepares the first input, which cannot depend on other steps, and warms the others.
func (r *Runner) PrepareSeries(ctx context.Context, s *Series) {
	for _, as := range append([]*Caller{s.Caller}, s.WiderCallers...) {
		err := r.prepareFirstStep(ctx, s, as)
		if !fault.IsKind(err, fault.Forbidden) {
			break // prepared; or refused, and runStep will meet the refusal again
		}
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		in := step.Op.newBlankInput()
		w, ok := in.Addr().Interface().(Warmer)
		if !ok || !step.InputIsFixed {
			continue
		}
		if text, err := step.Input(); err == nil && step.Op.decodeInput(in, text, AutomationDoor) == nil {
			w.Warm()
		}
	}
}

// prepareFirstStep prepares the input of the first step as one of the callers.
func (r *Runner) prepareFirstStep(ctx context.Context, s *Series, as *Caller) error {
	if len(s.Steps) == 0 || !s.Steps[0].InputIsFixed || !s.Steps[0].Op.CanJoinSeries() {
		return nil
	}
	step := &s.Steps[0]
	if err := step.Op.PermitCaller(as, s.Door); err != nil {
		return err
	}
	text, err := step.Input()
	if err != nil {
		return err
	}
	in := step.Op.newBlankInput()
	if err := step.Op.prepareInput(ctx, r.newStepCall(s, 0, as), AutomationDoor, in, text); err != nil {
		return err
	}
	step.preparedInput, step.preparedFor = in, as
	return nil
}

// RunSeriesInTx runs the series in an open transaction.
func (r *Runner) RunSeriesInTx(ctx context.Context, tx *db.Tx, s *Series) error {
	return r.runSteps(ctx, tx, s, false)
}

// RunSeries runs the series in a transaction of its own and commits it.
func (r *Runner) RunSeries(ctx context.Context, s *Series) error {
	ctx = db.WithLabel(ctx, s.Steps[len(s.Steps)-1].Op.Name)
	return r.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return r.RunSeriesInTx(ctx, tx, s) })
}

// fetchQuote fetches what step i needs from outside for its rehearsal, as the caller with the most permissions.
func (r *Runner) fetchQuote(ctx context.Context, s *Series, i int) (any, error) {
	step := &s.Steps[i]
	if step.Op.fetchQuote == nil {
		return nil, nil
	}
	if !step.InputIsFixed {
		return nil, ErrCannotRehearse
	}
	as := s.Caller
	if len(s.WiderCallers) > 0 {
		as = s.WiderCallers[len(s.WiderCallers)-1]
	}
	c := r.newStepCall(s, i, as)
	if err := step.Op.PermitCaller(as, s.Door); err != nil {
		return nil, err
	}
	text, err := step.Input()
	if err != nil {
		return nil, err
	}
	in := step.Op.newBlankInput()
	if err := step.Op.prepareInput(ctx, c, AutomationDoor, in, text); err != nil {
		return nil, err
	}
	return step.Op.fetchQuote(ctx, c, in.Interface())
}

// newStepCall is the call of step i. It has no transaction yet.
func (r *Runner) newStepCall(s *Series, i int, as *Caller) *Call {
	step := &s.Steps[i]
	return &Call{Caller: as, Org: as.Organization, Now: r.Clock.Now(), Door: s.Door,
		RequestID: s.RequestID, Key: step.Key, op: step.Op, runner: r, useAllowance: s.UseAllowance,
		status: step.Op.Status}
}

// runSteps runs the steps one after the other, each with a trace of its own.
func (r *Runner) runSteps(ctx context.Context, tx *db.Tx, s *Series, rehearse bool) error {
	if s.Begin != nil {
		s.Begin()
	}
	var traces []*db.Trace
	var skipped []int
	s.external = false
	for i := range s.Steps {
		trace := tx.RestartTrace()
		a, err := r.tryStep(ctx, tx, s, i, rehearse)
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
	tx.StopTrace()
	if s.Finally == nil {
		return nil
	}
	return s.Finally(ctx, tx, traces, skipped)
}

// tryStep runs a step, in a savepoint if the series can go on without it or try it as a wider caller.
func (r *Runner) tryStep(ctx context.Context, tx *db.Tx, s *Series, i int, rehearse bool) (a Answer, err error) {
	run := func(ctx context.Context, as *Caller) (Answer, error) {
		c := r.newStepCall(s, i, as)
		c.Tx, c.inSeries, c.rehearsing, c.quote = tx, true, rehearse, s.Steps[i].quote
		return r.runStep(ctx, c, s, i)
	}
	if s.Refused == nil && s.WiderCallers == nil {
		return run(ctx, s.Caller)
	}
	try := func(as *Caller) error {
		return tx.RunInSavepoint(ctx, func(ctx context.Context) error {
			a, err = run(ctx, as)
			return err
		})
	}
	err = try(s.Caller)
	for n, as := range s.WiderCallers {
		if !fault.IsKind(err, fault.Forbidden) {
			break
		}
		s.Widened(i, n)
		err = try(as)
	}
	return a, err
}

// IsRefusal reports whether an error is the answer to the call, which a retry would get again. A failure of the
// service, a key in use and a rate limit are not.
func IsRefusal(err error) bool {
	var f *fault.Fault
	return errors.As(err, &f) && f.Status < 500 && f.Kind != fault.KeyInFlight && f.Kind != fault.RateLimited
}

// runStep makes the call of one step: the same path as Runner.Do, but inside the transaction of the series.
func (r *Runner) runStep(ctx context.Context, c *Call, s *Series, i int) (Answer, error) {
	step := &s.Steps[i]
	o := step.Op
	switch {
	case step.quoteErr != nil:
		return Answer{}, step.quoteErr
	case o.CanJoinSeries():
	case !c.rehearsing:
		return Answer{}, fmt.Errorf("op: %s does not run in a transaction", o.Name)
	case !o.Rehearsable():
		return Answer{}, ErrCannotRehearse
	}
	if err := o.PermitCaller(c.Caller, s.Door); err != nil {
		return Answer{}, err
	}
	text, err := step.Input()
	if err != nil {
		return Answer{}, err
	}
	in := o.newBlankInput()
	if step.preparedInput.IsValid() && step.preparedFor == c.Caller {
		in.Set(step.preparedInput)
	} else if err := o.prepareInput(ctx, c, AutomationDoor, in, text); err != nil {
		return Answer{}, err
	}
	c.Tx.ForgetRowsBefore() // the step's events compare rows with what the steps before made of them
	c.Tx.SetAuthor(s.stepAuthor(c))
	out, err := o.invoke(ctx, c, in, nil)
	if err != nil {
		return Answer{}, err
	}
	body, data, err := o.encodeAnswer(out)
	if err != nil {
		return Answer{}, fmt.Errorf("op: %s: encode: %w", o.Name, err)
	}
	if err := c.writeEvents(ctx, out, data); err != nil {
		return Answer{}, err
	}
	if err := c.meterTransaction(ctx); err != nil {
		return Answer{}, err
	}
	a := Answer{Status: c.status, Body: body, Replay: c.replayed, Exposure: c.exposureIfNeeded(out)}
	s.external = s.external || a.Exposure.External
	if step.KeepsAnswer && o.shape == writeShape && !c.rehearsing && !c.replayed {
		k := &requestKey{org: c.Org, value: step.Key, fingerprint: o.Fingerprint(text)}
		if err := k.storeAnswer(ctx, c, a); errors.Is(err, errAlreadyStored) {
			return Answer{}, fault.Unavailable.Because(err)
		} else if err != nil {
			return Answer{}, err
		}
	}
	return a, nil
}

// ProposalKeyPrefix begins the keys of proposals' steps, which only they may use.
const ProposalKeyPrefix = "proposal:"

package proposal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An undo of many events is a proposal of one step, undo.create. A job takes the
// events back from the newest to the oldest, some in each transaction, which also
// notes how far it came: a process that takes over goes on there. Each row is
// looked at in the transaction that takes it back, so such a proposal cannot become
// stale: what somebody changed by then stays, and is named in skipped.

const (
	undoBatch   = 100 // events in one transaction
	undoPreview = 50  // events whose inverse is shown beforehand
	// undoTime is how long one undo may keep a worker before it goes back to the
	// queue, so that others get their turn.
	undoTime = 20 * time.Second
)

// undoWork is whose events are taken back, and how far that has come.
type undoWork struct {
	Of    undoInput `json:"of"`
	From  int64     `json:"from"`  // when the events begin, as a clock.Time, whose text is shorter
	Until int64     `json:"until"` // the last sequence number that is taken back; later events are not
	// At and Before are where to go on: with the events before this time, and among
	// those of the same time the ones with a lower sequence number.
	At     int64 `json:"at"`
	Before int64 `json:"before"`
}

// UndoProgress is how far a large undo has come, and the result of its step.
type UndoProgress struct {
	Events int `json:"events"`
	Done   int `json:"done"`
	Kept   int `json:"kept"` // stay as they are; skipped names the first of them
}

// proposeLargeUndo proposes an undo that a job carries out. rows are its newest events.
func (s *Service) proposeLargeUndo(ctx context.Context, c *op.Call, work *undoWork, rows []event.Event) (*Proposal,
	error) {
	var n event.Counts
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = event.CountWhere(ctx, tx, c.Org, work.eventsCondition().Append(" AND created_at <= $5", work.At))
		return err
	})
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(work.Of, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	v := s.newProposal(c.Caller, c.Door, c.Now, fmt.Sprintf("Undo %d events", n.Events),
		[]automation.Step{{Operation: undoOperation, Input: jsontext.Value(input)}})
	v.Undo, v.UndoesImportID = work, work.Of.ImportID
	if err := v.setUndoProgress(UndoProgress{Events: n.Events}); err != nil {
		return nil, err
	}
	u := s.newUndoPlanner(callingActor(c), work)
	out, err := s.previewUndo(ctx, u, cutAtMerge(rows[:min(len(rows), undoPreview)], true))
	if err != nil {
		return nil, err
	}
	v.setEffects(out, s.cfg.Clock.Now())
	v.Totals.Deletions, v.EffectsTotal = n.Created, max(n.Events, len(v.Effects))
	v.Skipped = append(v.Skipped, u.skipped...)
	return s.storeUndo(ctx, c, v)
}

// previewUndo rehearses the inverse of the newest events, to show some effects.
func (s *Service) previewUndo(ctx context.Context, u *undoPlanner, rows []event.Event) (*outcome, error) {
	out := &outcome{withheld: -1}
	err := s.cfg.DB.Rehearse(ctx, func(ctx context.Context, tx *db.Tx) error {
		u.resetIn(tx)
		steps, series, err := u.buildSeries(ctx, rows, true)
		if err != nil {
			return err
		}
		shown := s.newProposal(u.Caller, u.door, s.cfg.Clock.Now(), "", steps)
		series.Finally = func(ctx context.Context, tx *db.Tx, traces []*db.Trace, _ []int) error {
			names := continueNames(nil)
			for _, t := range traces {
				names.noteMadeRows(t)
			}
			err := s.newDescriber(tx, shown, names).describeSteps(ctx, u.Caller, shown, traces, out)
			if fault.IsKind(err, TooLong) {
				return nil // the first are enough here
			}
			return err
		}
		return s.cfg.Runner.RunSeriesInTx(ctx, tx, series)
	})
	for i := range out.effects {
		out.effects[i].Step = 0
	}
	out.versions = map[string]int64{}
	if errors.Is(err, db.ErrHeldTooLong) {
		err = TooSlow.New()
	}
	return out, err
}

// resetIn forgets what was collected, because the transaction may be run again, and
// uses tx from now on.
func (u *undoPlanner) resetIn(tx *db.Tx) {
	fresh := u.newUndoPlanner(u.actor, u.work)
	fresh.ownProposal = u.ownProposal
	*u = *fresh
	u.useTransaction(tx)
}

// buildSeries makes the steps that take events back, and the series that runs them.
// Guarded, each step has a savepoint: one that is refused is named in skipped, and
// the others go on.
func (u *undoPlanner) buildSeries(ctx context.Context, rows []event.Event, guarded bool) ([]automation.Step,
	*op.Series, error) {
	if err := u.collectEvents(rows); err != nil {
		return nil, nil, err
	}
	steps, err := u.planSteps(ctx)
	if err != nil {
		return nil, nil, err
	}
	series := &op.Series{Caller: u.Caller, Door: u.door, RequestID: u.requestID,
		Answered: func(_ int, a op.Answer, _ *db.Trace) error { return u.noteKept(a) }}
	for _, step := range steps {
		series.Steps = append(series.Steps, op.SeriesStep{Op: u.cfg.Catalog.Named(step.Operation), InputIsFixed: true,
			Input: func() ([]byte, error) { return step.Input, nil }})
	}
	if guarded {
		series.Refused = func(i int, err error) { u.noteRefused(steps[i], err) }
	}
	return steps, series, nil
}

// carryOutUndo carries out a large undo, part by part, until its time is up.
func (s *Service) carryOutUndo(ctx context.Context, j job.Job, a carryOutArgs, v *Proposal) (job.Outcome, error) {
	begin := time.Now() //nolint:forbidigo // a duration, not a time
	who, err := s.actingCaller(ctx, v, v.DecidedBy)
	for err == nil {
		if time.Since(begin) > undoTime {
			return nil, job.RunAgainAfter(0)
		}
		var more bool
		more, err = s.undoNextBatch(ctx, j, a, who, false)
		// A savepoint around each step costs as much as the step, and few steps are refused. So it is tried without
		// them first.
		if op.IsRefusal(err) {
			more, err = s.undoNextBatch(ctx, j, a, who, true)
		}
		if err == nil && !more {
			return s.executedOutcome(a), nil
		}
	}
	switch {
	case errors.Is(err, job.ErrLeaseLost):
		return nil, nil
	case !op.IsRefusal(err) && !j.IsLastAttempt():
		return nil, err
	}
	return s.failedOutcome(a, 0, err), nil
}

// undoNextBatch takes back the next events in one transaction, and notes it there.
func (s *Service) undoNextBatch(ctx context.Context, j job.Job, a carryOutArgs, who actor, guarded bool) (
	more bool, err error) {
	err = s.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := j.RenewLease(ctx, tx); err != nil {
			return err
		}
		if err := db.LockOrganization(ctx, tx, a.Organization); err != nil {
			return err
		}
		v, err := proposals.Lock(ctx, tx, a.Organization, a.Proposal)
		if err != nil {
			return err
		}
		if v.Status != Executing {
			return job.ErrLeaseLost
		}
		if err := s.checkMayAct(ctx, tx, v, who.ApprovedBy); err != nil {
			return err
		}
		rows, err := v.Undo.nextEvents(ctx, tx, a.Organization, undoBatch+1)
		if more = len(rows) > 0; err != nil || !more {
			return err
		}
		rows = cutAtMerge(rows[:min(len(rows), undoBatch)], len(rows) > undoBatch)
		u := s.newUndoPlanner(who, v.Undo)
		u.ownProposal = &v.ID
		u.useTransaction(tx)
		_, series, err := u.buildSeries(ctx, rows, guarded)
		if err != nil {
			return err
		}
		if err := s.cfg.Runner.RunSeriesInTx(ctx, tx, series); err != nil {
			return err
		}
		return v.saveUndoProgress(ctx, tx, rows, u.skipped, s.cfg.Clock.Now())
	})
	return more, err
}

// saveUndoProgress saves how far an undo has come.
func (v *Proposal) saveUndoProgress(ctx context.Context, tx *db.Tx, rows []event.Event, skipped []Skipped,
	now clock.Time) error {
	p, err := v.Progress()
	if err != nil {
		return err
	}
	if p.Done == 0 { // the first part: it names again what the preview has named
		v.Skipped = []Skipped{}
	}
	p.Done += len(rows)
	p.Kept += len(skipped)
	v.Skipped = append(v.Skipped, skipped[:min(len(skipped), maxEffects-len(v.Skipped))]...)
	last := &rows[len(rows)-1]
	v.Undo.At, v.Undo.Before, v.UpdatedAt = int64(last.At), last.Seq, now
	if v.Steps[0].StartedAt == nil {
		v.Steps[0].StartedAt = &now
	}
	if p.Done >= p.Events {
		v.Steps[0].CompletedAt = &now
	}
	if err := v.setUndoProgress(*p); err != nil {
		return err
	}
	return proposals.Save(ctx, tx, v)
}

// Progress is how far a large undo has come; nil for any other proposal.
func (v *Proposal) Progress() (*UndoProgress, error) {
	if len(v.Steps) != 1 || v.Steps[0].Operation != undoOperation || v.Steps[0].Result == nil {
		return nil, nil
	}
	p := &UndoProgress{}
	return p, json.Unmarshal(*v.Steps[0].Result, p)
}

func (v *Proposal) setUndoProgress(p UndoProgress) error {
	text, err := json.Marshal(p)
	result := jsontext.Value(text)
	v.Steps[0].Result = &result
	return err
}

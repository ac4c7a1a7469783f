package proposal

import (
	"context"
	"errors"
	"math"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/transfer"
)

// An undo walks the events of an agent, a proposal, a request or an import
// backwards and proposes the inverse of each: what was created is deleted, what
// was changed gets its former values where nobody changed it since, what was
// deleted is restored. Whatever cannot be taken back is named.
//
// Start reading at createUndo. How events become steps is in undo_plan.go, and how a
// job takes back what is too much for one transaction in undo_large.go.

const (
	undoWindow = 7 * 24 * time.Hour // how far back an undo looks, without since
	maxUndone  = 500                // events that one transaction takes back

	// A requestId contains the time of the request. Its events are looked for from a little before that time, as
	// clocks differ, to an hour after it.
	requestTime = time.Hour
	requestSkew = time.Minute
)

const undoOperation = "undo.create"

// NothingToUndo refuses an undo that finds nothing.
var NothingToUndo = fault.DefineKind("NOTHING_TO_UNDO", 404, "Nothing was found that could be undone.")

func (s *Service) undoOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:    undoOperation,
			Route:   "POST /v1/undo",
			Summary: "Plan how to take back what an agent, a proposal, a request or an import did.",
			Description: "Answers with a planned proposal of the inverse steps: execute it to undo. That of an agent " +
				"is pending, for a person to decide. What somebody changed since stays as it is and is named in " +
				"skipped[], and so is what cannot be taken back. More than 500 events are taken back in parts, " +
				"newest first: effects[] shows the first of them, and once executed the only step's result tells " +
				"how far it has come.",
			Resource: "proposals",
			Doors:    op.RESTDoor | op.ConsoleDoor | op.AgentDoor,
			Errors:   []*fault.Kind{NothingToUndo, TooMany, TooLong, TooSlow},
			Events:   []string{"proposal.created"},
			Example:  `{"proposalId": "0c7b1f52-6f0e-4a43-9d5e-2b8a4c6d7e91"}`,
		}, s.createUndo),
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

// createUndo proposes the inverse of what was done. If that is too much for one transaction,
// or takes too long, a job does it in parts.
func (s *Service) createUndo(ctx context.Context, c *op.Call, in undoInput) (*Proposal, error) {
	var work *undoWork
	var rows []event.Event
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		work, rows, err = in.findEvents(ctx, tx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, NothingToUndo.New()
	}
	if len(rows) > maxUndone || len(cutAtMerge(rows, false)) < len(rows) {
		return s.proposeLargeUndo(ctx, c, work, rows)
	}
	u := s.newUndoPlanner(callingActor(c), work)
	u.read = c.Read
	if err := u.collectEvents(rows); err != nil {
		return nil, err
	}
	steps, err := u.planSteps(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.proposeUndo(ctx, c, u, steps)
	if fault.IsKind(err, TooSlow) {
		return s.proposeLargeUndo(ctx, c, work, rows)
	}
	return v, err
}

// findEvents reads the newest events to undo. No index leads to the events of a request or
// an import, so they are looked for in the span of time in which they must be.
func (in *undoInput) findEvents(ctx context.Context, tx *db.Tx, c *op.Call) (work *undoWork, rows []event.Event,
	err error) {
	work = &undoWork{Of: *in, From: int64(c.Now.Add(-undoWindow)), At: math.MaxInt64}
	if work.Until, err = event.NewestSeq(ctx, tx); err != nil {
		return nil, nil, err
	}
	work.Before = work.Until + 1
	whole := *work
	if in.RequestID != nil {
		if at, ok := id.ID(*in.RequestID).Time(); ok {
			work.From, work.At = int64(clock.FromStd(at.Add(-requestSkew))), int64(clock.FromStd(at.Add(requestTime)))
		}
	}
	if in.ImportID != nil {
		from, to, err := transfer.WriteSpan(ctx, tx, c.Org, *in.ImportID)
		if err != nil {
			return nil, nil, err
		}
		work.From, work.At = int64(from), int64(to)
		if err := work.includeCaused(ctx, tx, c.Org); err != nil {
			return nil, nil, err
		}
	}
	if in.Since != nil {
		whole.From = int64(*in.Since)
		if work.From = max(work.From, whole.From); in.AgentID != nil || in.ProposalID != nil {
			work.From = whole.From
		}
	}
	rows, err = work.nextEvents(ctx, tx, c.Org, maxUndone+1)
	if err != nil || len(rows) > 0 || in.RequestID == nil {
		return work, rows, err
	}
	rows, err = whole.nextEvents(ctx, tx, c.Org,
		maxUndone+1) // the requestId contains no time, or the request took longer
	return &whole, rows, err
}

// proposeUndo rehearses the inverse steps and proposes them. A step that would be
// refused is left out, and named in skipped.
func (s *Service) proposeUndo(ctx context.Context, c *op.Call, u *undoPlanner, steps []automation.Step) (*Proposal,
	error) {
	held := db.WithSharedHold(ctx) // one time limit for all rehearsals together; storing the proposal is not part of it
	for {
		if len(steps) == 0 && len(u.skipped) == 0 {
			return nil, NothingToUndo.New()
		}
		v := s.newProposal(c.Caller, c.Door, c.Now, "Undo", steps)
		v.UndoesImportID = u.work.Of.ImportID
		if v.Steps == nil {
			v.Steps = []ProposalStep{}
		}
		out, err := s.rehearseSteps(held, callingActor(c), v, false)
		var step *op.StepError
		if errors.As(err, &step) && op.IsRefusal(step.Err) && !fault.IsKind(err, TooLong) {
			// A savepoint around each step costs as much as the step, and most undos have none that is refused.
			refused := map[int]error{step.Step: step.Err}
			series := s.buildSeries(callingActor(c), v, &outcome{}, false)
			series.Finally, series.Refused = nil, func(i int, err error) { refused[i] = err }
			if err := s.cfg.Runner.RehearseSeries(held, series); errors.Is(err, db.ErrHeldTooLong) {
				return nil, TooSlow.New()
			} else if err != nil {
				return nil, err
			}
			var left []automation.Step
			for i, step := range steps {
				if err := refused[i]; err != nil {
					u.noteRefused(step, err)
				} else {
					left = append(left, step)
				}
			}
			steps = left
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, a := range out.results {
			if err := u.noteKept(a); err != nil {
				return nil, err
			}
		}
		v.Skipped = append(v.Skipped, u.skipped...)
		v.setEffects(out, s.cfg.Clock.Now())
		return s.storeUndo(ctx, c, v)
	}
}

// storeUndo writes the undo that a caller planned. An agent never takes anything back by itself, whatever it may do:
// nobody but a person can tell whether what was done should be undone.
func (s *Service) storeUndo(ctx context.Context, c *op.Call, v *Proposal) (*Proposal, error) {
	if c.Door == op.AgentDoor {
		v.requireApproval("ask", "An agent cannot undo anything without a person.")
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Proposal, error) {
		if err := s.insertProposal(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		return s.viewFor(c, v), c.Emit("proposal.created", v.ID, v.eventView())
	})
}

// eventsCondition is the condition for the events to undo. Its arguments are an id, the time when the
// events begin, and the last sequence number in the log.
func (w *undoWork) eventsCondition() event.Condition {
	// The plus keeps SQLite from preferring the time to the id.
	which, arg := "proposal_id = $2 AND +created_at >= $3", any(w.Of.ProposalID)
	switch {
	case w.Of.AgentID != nil:
		which, arg = "actor_kind = 'agent' AND actor_id = $2 AND +created_at >= $3", w.Of.AgentID
	case w.Of.RequestID != nil:
		which, arg = "request_id = $2 AND created_at >= $3", *w.Of.RequestID
	case w.Of.ImportID != nil:
		which, arg = importEventsSQL, string(*w.Of.ImportID)
	}
	return event.Condition{
		SQL:  which + " AND seq <= $4 AND resource_type NOT IN ('proposal', 'import', 'automation_execution')",
		Args: []any{arg, w.From, w.Until},
	}
}

// nextEvents reads the events that are not taken back yet, newest first.
func (w *undoWork) nextEvents(ctx context.Context, tx *db.Tx, org id.ID, limit int) ([]event.Event, error) {
	mine := w.eventsCondition().Append(" AND (created_at, seq) < ($5, $6)", w.At, w.Before)
	return event.ListWhere(ctx, tx, org, mine, limit)
}

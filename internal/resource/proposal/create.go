package proposal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
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

const (
	defaultLifetime = 7 * 24 * time.Hour
	maxLifetime     = 30 * 24 * time.Hour
)

type proposalCreate struct {
	Title      string            `json:"title" min:"1" max:"200"`
	Reason     *string           `json:"reason" max:"2000" doc:"for the person who decides"`
	Steps      []automation.Step `json:"steps" min:"1" max:"50"`
	ExpiresAt  *clock.Time       `json:"expiresAt" doc:"by default in 7 days; at most in 30"`
	ReplacesID *id.ID            `json:"replacesId" ref:"proposals" doc:"the proposal that this one changes"`
}

// Prepare puts the steps into one format.
func (in *proposalCreate) Prepare(_ context.Context, c *op.Call) (err error) {
	if in.ExpiresAt != nil && (*in.ExpiresAt <= c.Now || *in.ExpiresAt > c.Now.Add(maxLifetime)) {
		return fault.Field("expiresAt", "Must be in the future, and within 30 days")
	}
	in.Steps, err = automation.NormalizeSteps(in.Steps)
	return err
}

// isCallable tells which operations a proposal may hold: those that an agent could
// call, except for proposals themselves and for operations that only evaluate what
// the caller wrote. The latter take long, and others wait while steps run.
func isCallable(o *op.Op) bool {
	return automation.Callable(o) && o.Resource != account.Proposals && !o.IsPreview()
}

// createProposal rehearses a plan and stores it, as planned if the caller may do all of it
// alone, or else as pending.
func (s *Service) createProposal(ctx context.Context, c *op.Call, in proposalCreate) (*Proposal, error) {
	if err := automation.CheckSteps(s.cfg.Catalog, in.Steps, nil, "proposals",
		isCallable).Fault(fault.Invalid); err != nil {
		return nil, err
	}
	if err := s.checkPlaceholders(in.Steps).Fault(fault.Invalid); err != nil {
		return nil, err
	}
	rows := 0
	for _, step := range in.Steps {
		rows += s.cfg.Catalog.Named(step.Operation).CountBatchRows(step.Input)
	}
	if rows > maxEffects {
		return nil, TooLong.New()
	}
	v := s.newProposal(c.Caller, c.Door, c.Now, in.Title, in.Steps)
	v.Reason, v.ReplacesID = in.Reason, in.ReplacesID
	if in.ExpiresAt != nil {
		v.ExpiresAt = *in.ExpiresAt
	}
	if err := c.UseAllowance(s.countRequests(v.Steps)); err != nil {
		return nil, err
	}
	if err := s.permitSteps(c.Caller, c.Door, v); err != nil {
		return nil, err
	}
	if err := s.showEffects(ctx, callingActor(c), v); err != nil {
		return nil, stepRefusalFault(err, len(v.Steps))
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Proposal, error) {
		if in.ReplacesID != nil {
			if _, err := proposals.Find(ctx, c.Tx, visibleTo(c).And("id = ?", *in.ReplacesID)); err != nil {
				return nil, op.NoSuchReference("replacesId")
			}
		}
		if err := s.insertProposal(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		return s.viewFor(c, v), c.Emit("proposal.created", v.ID, v.eventView())
	})
}

// countRequests is how many requests the steps count as for the limit per minute.
func (s *Service) countRequests(steps []ProposalStep) (n int) {
	for i := range steps {
		n += s.cfg.Catalog.Named(steps[i].Operation).RequestCost(steps[i].Input)
	}
	return n
}

// checkPlaceholders refuses placeholders whose values cannot be shown beforehand: those
// over the answer of an operation that calls out, which may answer something else
// when the plan is carried out, and those in the input of an operation that cannot
// be rehearsed.
func (s *Service) checkPlaceholders(steps []automation.Step) (tree *fault.Tree) {
	outside := map[string]string{} // the operation, by the name that its answer has
	for i := range steps {
		if o := s.cfg.Catalog.Named(steps[i].Operation); !o.Rehearsable() {
			automation.EachPlaceholder(steps[i].Input, func(path []any, _ string) {
				tree = tree.At(append([]any{"steps", i, "input"}, path...),
					o.Name+" cannot be rehearsed, so its input must be written out: a placeholder could not be shown")
			})
		}
		if len(outside) > 0 {
			automation.EachPlaceholder(steps[i].Input, func(path []any, root string) {
				if name := outside[root]; name != "" {
					tree = tree.At(append([]any{"steps", i, "input"}, path...),
						strconv.Quote(root)+" is the answer of "+
							name+", which asks outside: its value when the plan is carried out cannot be shown before")
				}
			})
		}
		if o := s.cfg.Catalog.Named(steps[i].Operation); steps[i].SaveAs != nil && o.AnswersFromOutside() {
			outside[*steps[i].SaveAs] = o.Name
		}
	}
	return tree
}

// newProposal makes a proposal that was not rehearsed yet. It is planned until
// something requires approval.
func (s *Service) newProposal(c *op.Caller, d op.Door, now clock.Time, title string,
	steps []automation.Step) *Proposal {
	v := &Proposal{
		Made:        map[id.ID]string{},
		Rendered:    []jsontext.Value{},
		Record:      op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: c.Organization},
		Title:       title,
		Status:      Planned,
		Effects:     []Effect{},
		Skipped:     []Skipped{},
		LeftOut:     []LeftOutStep{},
		Difference:  []string{},
		Versions:    map[string]int64{},
		MakerKind:   string(c.Kind),
		MakerID:     c.ActorIDOrNil(),
		MakerUserID: c.UserIDOrNil(),
		BusinessID:  c.Business,
		Door:        d.String(),
		ExpiresAt:   now.Add(defaultLifetime),
		RehearsedAt: now,
	}
	if c.Kind == op.AgentActor {
		v.AgentID = c.ActorIDOrNil()
	}
	for _, step := range steps {
		v.Steps = append(v.Steps, ProposalStep{Operation: step.Operation, Input: step.Input, SaveAs: step.SaveAs})
	}
	v.SHA256 = v.hashSteps()
	v.ApprovalURL = s.approvalURL(v)
	return v
}

// hashSteps is the SHA-256 of the steps in their canonical form. If the proposal was shown
// before, the old sum is hashed too, so that every showing has a sum of its own.
func (v *Proposal) hashSteps() string {
	h := sha256.New()
	h.Write([]byte(v.SHA256))
	for _, step := range v.Steps {
		input := step.Input.Clone()
		// PostgreSQL reformats JSON; this gives it one form again.
		_ = input.Format(jsontext.ReorderRawObjects(true), jsontext.SpaceAfterColon(false),
			jsontext.SpaceAfterComma(false), jsontext.Multiline(false))
		name := ""
		if step.SaveAs != nil {
			name = *step.SaveAs
		}
		fmt.Fprintf(h, "%s\n%s\n%s\n", step.Operation, name, input)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// permitSteps refuses steps that the caller may neither take nor propose. If one of them
// may only be proposed, a person must decide.
func (s *Service) permitSteps(c *op.Caller, d op.Door, v *Proposal) error {
	full := c.WithProposable()
	for i := range v.Steps {
		o := s.cfg.Catalog.Named(v.Steps[i].Operation)
		if err := o.PermitCaller(full, d); err != nil {
			return stepRefusalFault(&op.StepError{Step: i, Err: err}, len(v.Steps))
		}
		if d != op.AdminDoor && d != op.SystemDoor && !o.NeedsNoProposal(c, v.Steps[i].Input) {
			v.requireApproval("ask", "The agent may not do this alone.")
		}
	}
	return nil
}

// requireApproval makes the proposal wait for a person's decision. The first reason stays.
func (v *Proposal) requireApproval(because, text string) {
	if v.Because == nil {
		v.Status, v.Because, v.BecauseText = Pending, &because, &text
	}
}

// nameStep adds the number of the step to a refusal, if there are several steps.
func nameStep(i, n int, err error) error {
	var f *fault.Fault
	if n == 1 || !errors.As(err, &f) {
		return err
	}
	named := *f
	named.Text = fmt.Sprintf("steps[%d]: %s", i, f.Sentence())
	if tree, ok := f.Details.(*fault.Tree); ok {
		named.Details = (*fault.Tree)(nil).SetField("steps", (*fault.Tree)(nil).SetItem(i,
			(*fault.Tree)(nil).SetField("input", tree)).PadItems(n))
	}
	return &named
}

// stepRefusalFault turns the refusal of a step into the answer to a plan. Input that is
// invalid or cannot be read, a missing permission, a rate limit, too many effects and
// every failure of the service (5xx) keep their own code; any other refusal becomes
// StepRefused, with the step's code in the details.
func stepRefusalFault(err error, n int) error {
	var step *op.StepError
	var f *fault.Fault
	if !errors.As(err, &step) || !errors.As(step.Err, &f) {
		return err
	}
	if f.Kind == TooLong {
		return f
	}
	if f.Kind == withheldRefusal {
		out := StepRefused.Say("Step %d would be refused. %s", step.Step+1, f.Sentence())
		out.Details = map[string]any{"step": step.Step, "withheld": true}
		return out
	}
	if f.Status >= 500 || slices.Contains([]*fault.Kind{fault.Invalid, fault.BadInput, fault.Forbidden,
		fault.RateLimited}, f.Kind) {
		return nameStep(step.Step, n, f)
	}
	out := StepRefused.Say("Step %d would be refused: %s", step.Step+1, f.Sentence())
	out.Details = map[string]any{"step": step.Step, "code": f.Code, "message": f.Sentence(), "details": f.Details}
	return out
}

// insertProposal writes a new proposal, unless its maker has too many, and mails those who
// decide if it waits for a person.
func (s *Service) insertProposal(ctx context.Context, tx *db.Tx, v *Proposal) error {
	w := db.InOrganization(v.OrganizationID).And("status = 'pending'").And("maker_kind = ?", v.MakerKind)
	db.FilterEqual(w, "maker_id", v.MakerID)
	n, err := proposals.Count(ctx, tx, w)
	if err != nil {
		return err
	}
	if n >= maxPendingOfMaker {
		return TooMany.New()
	}
	if err := proposals.Insert(ctx, tx, v); err != nil || v.Status != Pending {
		return err
	}
	return s.notifyReviewers(ctx, tx, v)
}

// noticeInterval is how long no further mail is sent after a proposal of the same maker.
const noticeInterval = 10 * time.Minute

// notifyReviewers mails those who want to know that a proposal waits. If the same maker has
// made another one shortly before, its mail is enough.
func (s *Service) notifyReviewers(ctx context.Context, tx *db.Tx, v *Proposal) error {
	w := db.InOrganization(v.OrganizationID).And("status = 'pending'").And("created_at > ?",
		v.CreatedAt.Add(-noticeInterval)).
		And("id <> ?", v.ID).And("maker_kind = ?", v.MakerKind)
	db.FilterEqual(w, "maker_id", v.MakerID)
	n, err := proposals.Count(ctx, tx, w)
	if err != nil || n > 0 {
		return err
	}
	to, err := agent.ReviewMailAddresses(ctx, tx, v.OrganizationID)
	if err != nil || len(to) == 0 {
		return err
	}
	notice := Notice{To: to, Title: cut.Ellipsis(v.Title, maxQuoted), URL: s.approvalURL(v)}
	return s.cfg.Notify(ctx, tx, v.OrganizationID, notice)
}

// agentCall is an agent's call of one operation, which a person must decide.
type agentCall struct {
	op.Request
	op          *op.Op
	input       []byte
	fingerprint []byte // of the input: equal calls have the same
}

func newAgentCall(o *op.Op, q op.Request) (*agentCall, error) {
	input, err := q.Body()
	if err != nil {
		return nil, err
	}
	if len(input) == 0 {
		input = []byte("{}")
	}
	fingerprint := o.Fingerprint(input)
	return &agentCall{q, o, input, fingerprint[:]}, nil
}

// Find looks for the proposal of an equal call, whatever became of it since. There may
// be none.
func (s *Service) Find(ctx context.Context, o *op.Op, q op.Request) (v *Proposal, err error) {
	a, err := newAgentCall(o, q)
	if err != nil {
		return nil, err
	}
	err = s.cfg.DB.Read(db.WithStatementGuess(ctx, &s.earlierGuess), func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = s.findEarlier(ctx, tx, a)
		return err
	})
	return v, err
}

// Propose makes a proposal of one call, after Find has found none. If an equal call
// was quicker, it returns that one's proposal, and made is false.
func (s *Service) Propose(ctx context.Context, o *op.Op, q op.Request, because, text string) (v *Proposal, made bool,
	err error) {
	a, err := newAgentCall(o, q)
	if err != nil {
		return nil, false, err
	}
	if err := s.checkKeyUnused(ctx, a); err != nil {
		return nil, false, err
	}
	p, err := s.rehearseCall(ctx, a, because, text)
	if err != nil {
		return nil, false, err
	}
	err = s.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		// The agent is locked, so that two equal calls at once make one proposal.
		if err := db.Lock(ctx, tx, "agents", p.OrganizationID, a.Caller.ID); err != nil {
			return db.AsNotFound(err, "agent")
		}
		if v, err = s.findEarlier(ctx, tx, a); err != nil || v != nil {
			made = false
			return err
		}
		v, made = s.viewFor(&op.Call{Door: op.AgentDoor}, p), true
		if err := s.insertProposal(ctx, tx, p); err != nil {
			return err
		}
		cause := op.EventCauseOf(a.Caller, op.AgentDoor, p.CreatedAt, a.ID)
		return s.emitEvent(ctx, tx, cause, "proposal.created", p)
	})
	return v, made, err
}

// checkKeyUnused refuses a call whose idempotency key was used by a call that was made:
// its proposal could never be carried out.
func (s *Service) checkKeyUnused(ctx context.Context, a *agentCall) error {
	if a.Key == "" {
		return nil
	}
	return s.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		used, err := s.cfg.Runner.WasKeyUsed(ctx, tx, op.KeyedCall{Op: a.op, Organization: a.Caller.Organization,
			Key: a.Key, Fingerprint: a.fingerprint})
		if used {
			err = fault.KeyReused.Say("This call was made already with the same idempotencyKey. Use a new key for a " +
				"new call.")
		}
		return err
	})
}

// rehearseCall rehearses a call and returns it as a proposal that waits for a person.
func (s *Service) rehearseCall(ctx context.Context, a *agentCall, because, text string) (*Proposal, error) {
	if err := a.op.CheckInput(a.input); err != nil {
		return nil, err
	}
	steps, err := automation.NormalizeSteps([]automation.Step{{Operation: a.op.Name, Input: jsontext.Value(a.input)}})
	if err != nil {
		return nil, fault.Invalid.New()
	}
	v := s.newProposal(a.Caller, op.AgentDoor, s.cfg.Clock.Now(), a.op.Summary, steps)
	v.requireApproval(because, text)
	v.CallPrint = a.fingerprint
	if a.Key != "" {
		v.CallKey = &a.Key
	}
	err = s.showEffects(ctx, actor{a.Caller, op.AgentDoor, a.ID}, v)
	var f *fault.Fault
	if errors.As(err, &f) && f.Kind == withheldRefusal {
		return nil, stepRefusalFault(err, 1)
	}
	return v, nameFailedStep(err, 1)
}

// findEarlier finds the proposal of an equal call, with the same key or the same
// arguments, while it is undecided or its end is recent.
func (s *Service) findEarlier(ctx context.Context, tx *db.Tx, a *agentCall) (*Proposal, error) {
	w := db.InOrganization(a.Caller.Organization).And("agent_id = ?", a.Caller.ID)
	if a.Key != "" {
		w.And("call_key = ?", a.Key)
	} else {
		w.And("fingerprint = ?", a.fingerprint).And("call_key IS NULL")
	}
	w.And("(completed_at IS NULL AND decided_at IS NULL AND expires_at > ? OR updated_at > ?)",
		s.cfg.Clock.Now(), s.cfg.Clock.Now().Add(-op.KeyLifetime))
	// After these the same call may be tried anew.
	w.And("status NOT IN ('canceled', 'stale', 'expired')")
	rows, err := proposals.List(ctx, tx, w, db.Page{Limit: 1})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	v := &rows[0]
	if string(v.CallPrint) != string(a.fingerprint) {
		return nil, fault.KeyReused.New()
	}
	c := &op.Call{Caller: a.Caller, Org: a.Caller.Organization, Door: op.AgentDoor}
	return s.viewWithSecrets(c, v)
}

func (s *Service) emitEvent(ctx context.Context, tx *db.Tx, cause event.Event, kind string, v *Proposal) error {
	data, err := json.Marshal(v.eventView(), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("proposal: event %s: %w", kind, err)
	}
	cause.Type, cause.ResourceID, cause.Data = kind, v.ID, data
	return s.cfg.Events.Append(ctx, tx, cause)
}

package proposal

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json/jsontext"
)

// Status is how far a proposal has come.
type Status string

// A proposal is planned when its maker may do every step alone, and pending when a
// person must decide.
const (
	Planned   Status = "planned"
	Pending   Status = "pending"
	Approved  Status = "approved"
	Executing Status = "executing"
	Executed  Status = "executed"
	Failed    Status = "failed"
	Rejected  Status = "rejected"
	Canceled  Status = "canceled"
	Expired   Status = "expired"
	Stale     Status = "stale"
)

// Proposal is a list of operation calls that was rehearsed and can be decided.
type Proposal struct {
	op.Record
	Title  string  `json:"title"`
	Reason *string `json:"reason" max:"2000" doc:"why the maker wants it, in its own words"`
	Status Status  `json:"status" enum:"planned,pending,approved,executing,executed,failed,rejected,canceled,expired,stale"`
	// Because is why a person must decide.
	Because     *string `json:"because" enum:"ask,limit,guard" doc:"why a person must decide; null when nobody must"`
	BecauseText *string `json:"becauseText" max:"2000"`

	Steps   []ProposalStep `json:"steps" max:"500" doc:"at most 50; of an undo 500, or one, undo.create"`
	LeftOut []LeftOutStep  `json:"leftOut" max:"50" doc:"steps of the plan that a person left out; they are not done"`
	Effects []Effect       `json:"effects" max:"1000" doc:"what the steps would do, or did"`
	Skipped []Skipped      `json:"skipped" max:"1000" doc:"of an undo: what stays as it is, and why"`
	Totals  ProposalTotals `json:"totals"`
	// Says is the first effect in a sentence.
	Says         string `json:"summary" db:"-" max:"1000" doc:"the first effect in a sentence"`
	EffectsTotal int    `json:"effectsTotal" doc:"how many effects it has; effects[] may show fewer"`
	Withheld     bool   `json:"withheld" db:"-" doc:"some is shown to its maker only once a person has approved it"`

	Difference  []string    `json:"difference" max:"100" doc:"of a stale one: what is no longer as it was shown"`
	SHA256      string      `json:"sha256" db:"sha256" doc:"of its canonical steps; another one once it was shown anew"`
	MakerKind   string      `json:"makerKind" enum:"user,agent,api,automation,system"`
	MakerID     *id.ID      `json:"makerId"`
	AgentID     *id.ID      `json:"agentId"`
	BusinessID  id.ID       `json:"businessId"`
	ExpiresAt   clock.Time  `json:"expiresAt"`
	DecidedBy   *id.ID      `json:"decidedBy" doc:"the person who approved or rejected it"`
	DecidedAt   *clock.Time `json:"decidedAt"`
	Rejection   *string     `json:"rejectionReason" db:"rejection" max:"2000"`
	CompletedAt *clock.Time `json:"completedAt" doc:"when it was carried out, or failed"`
	ReplacesID  *id.ID      `json:"replacesId" doc:"the proposal that this one changes"`
	// UndoesImportID is set by undo.create.
	UndoesImportID *id.ID `json:"undoesImportId" doc:"the import that it takes back"`
	ApprovalURL    string `json:"approvalUrl" db:"-" max:"2048" doc:"where a person decides, after signing in"`

	Versions    map[string]int64 `json:"-" db:"versions"` // of the rows that the steps relied on, when it was shown
	MakerUserID *id.ID           `json:"-" db:"maker_user_id"`
	Door        string           `json:"-" db:"door"`
	RehearsedAt clock.Time       `json:"-" db:"rehearsed_at"`
	CallPrint   []byte           `json:"-" db:"fingerprint"` // of an agent's call: equal calls have the same
	CallKey     *string          `json:"-" db:"call_key"`    // of an agent's call: its idempotency key
	Secrets     []byte           `json:"-" db:"secrets"`     // answers that show a secret, sealed
	Undo        *undoWork        `json:"-" db:"undo"`        // of an undo that is too large for one transaction

	// What as_shown.go compares: the inputs with their placeholders filled in, and the names
	// of the rows that the steps made so far.
	Rendered []jsontext.Value `json:"-" db:"rendered"`
	Made     map[id.ID]string `json:"-" db:"made"`
	// WithheldFrom is the first step of which the maker sees nothing; nil for none.
	WithheldFrom *int `json:"-" db:"withheld_from"`
}

// ProposalStep is one operation call, and what came of it.
type ProposalStep struct {
	Operation string          `json:"operation"`
	Input     jsontext.Value  `json:"input" view:"full" kinds:"object" doc:"the whole input, path fields included"`
	SaveAs    *string         `json:"saveAs"`
	Result    *jsontext.Value `json:"result" view:"name" doc:"the answer's data; of a large undo events, done and kept"`
	// ResultOmitted says that the answer is too large to keep, or a secret that only
	// the maker is shown.
	ResultOmitted bool        `json:"resultOmitted"`
	Withheld      bool        `json:"withheld" doc:"its maker is shown no more until a person has approved it"`
	Error         *StepError  `json:"error"`
	StartedAt     *clock.Time `json:"startedAt"`
	CompletedAt   *clock.Time `json:"completedAt"`
}

// StepError is a refusal as the API words it.
type StepError = automation.StepError

// ProposalTotals stand on top of what a person decides.
type ProposalTotals struct {
	AmountCents int64   `json:"amountCents"`
	Currency    *string `json:"currency"`
	Mails       int     `json:"mails" doc:"recipients of mail"`
	Deletions   int     `json:"deletions"`
}

// Skipped is something that an undo leaves as it is.
type Skipped struct {
	ResourceType string `json:"resourceType"`
	ResourceID   *id.ID `json:"resourceId"`
	Field        string `json:"field" doc:"empty for the whole record"`
	Why          string `json:"why" max:"1000"`
	// Instead is a sentence, which may be empty, or a call that can be made.
	Instead jsontext.Value `json:"instead" kinds:"string,object" doc:"what to do in its place: words, or a call"`
}

var proposals = db.NewTable[Proposal]("proposals", db.Life{
	Noun:         "proposal",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("maker_id", "", db.Keeps),
		db.RefTo("maker_user_id", "users", db.Keeps),
		db.RefTo("agent_id", "agents", db.Keeps),
		db.RefTo("business_id", "businesses", db.Keeps),
		db.RefTo("decided_by", "users", db.Keeps),
		db.RefTo("replaces_id", "proposals", db.Keeps),
		db.RefTo("undoes_import_id", "imports", db.Keeps),
	},
	Permanent: true,
	Expire: db.Expiry{
		After: func(r config.Retention) time.Duration { return r.Events },
		Where: "status NOT IN ('planned', 'pending', 'approved', 'executing')",
	},
	Sealed:     []db.Sealed{{Column: "secrets", Place: "'proposals/' || id"}},
	Unexported: []string{"fingerprint", "call_key", "undo", "rendered", "made", "withheld_from"},
	Erase: life.BlankColumns(`steps = '[]', left_out = '[]', effects = '[]', skipped = '[]', title = 'Erased',
		reason = NULL, secrets = NULL,
		because_text = NULL, rejection = NULL, difference = '[]', rendered = '[]'`).AlsoFind(findProposalsOfPerson),
})

// findProposalsOfPerson finds the proposals whose steps or effects mention an erased person.
func findProposalsOfPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	return e.ScanEach(ctx, tx, "proposals", "organization_id = $1 AND ("+tx.ContainsSQL("steps")+" OR "+
		tx.ContainsSQL("effects")+" OR "+tx.ContainsSQL("rendered")+" OR "+tx.ContainsSQL("left_out")+")",
		e.PersonIDs())
}

// The refusals of proposals.
var (
	OutOfDate = fault.DefineKind("PROPOSAL_STALE", 409,
		"Something changed since the proposal was shown, so it was not carried out. Propose it anew.")
	NotOpen = fault.DefineKind("PROPOSAL_NOT_OPEN", 409,
		"This proposal can no longer be decided or carried out.")
	ApprovalNeeded = fault.DefineKind("PROPOSAL_NEEDS_APPROVAL", 403,
		"A person must approve this proposal in the console.")
	StepRefused = fault.DefineKind("PROPOSAL_STEP_REFUSED", 409,
		"A step would be refused. The details say which, and with what.")
	TooMany = fault.DefineKind("PROPOSAL_LIMIT_REACHED", 409,
		"200 proposals wait for a decision already. Wait until some are decided, or cancel some.")
	TooSlow = fault.DefineKind("PROPOSAL_TOO_SLOW", 409,
		"The rehearsal took longer than others can wait for it. Propose the steps in smaller parts.")
	BecamePending = fault.DefineKind("PROPOSAL_BECAME_PENDING", 409,
		"You may no longer do all of this alone, so a person must decide it now. The details have the link.")
)

const maxPendingOfMaker = 200 // of one maker

const exampleID = `"id": "0c7b1f52-6f0e-4a43-9d5e-2b8a4c6d7e91"`

// Operations lists everything that can be done with proposals.
func (s *Service) Operations() []*op.Op {
	return append([]*op.Op{
		op.Flow(op.Spec{
			Name:    "proposals.create",
			Words:   "several steps, one plan, rehearse",
			Route:   "POST /v1/proposals",
			Summary: "Rehearse operation calls and propose them.",
			Description: "The steps run for real and are undone; a planned one is yours to execute, a pending one " +
				"waits for a person. effects[] tells what the steps would do. It is planned when you may do every " +
				"step yourself; not executed, it is a dry run. A step's texts may have placeholders over what " +
				"earlier steps saved.",
			Errors: []*fault.Kind{StepRefused, TooMany, TooLong, TooSlow},
			Events: []string{"proposal.created"},
			Example: `{"title": "Clean up a contact", "reason": "The owner asked for it by mail.", "steps": [` +
				`{"operation": "contacts.create", "input": {"firstName": "Ada"}, "saveAs": "ada"}, {"operation": ` +
				`"tasks.create", "input": {"title": "Call Ada", "contactId": "{{ ada.id }}"}}]}`,
		}, s.createProposal),
		op.Read(op.Spec{
			Name:        "proposals.list",
			NounWords:   "plan, approval, decision, propose",
			Words:       "wait, approve, my yes, pending, decide, waits for me, my approval",
			Route:       "GET /v1/proposals",
			Summary:     "List proposals, newest first.",
			Description: "A key or an agent sees its own, a person those of the whole organization.",
			Example:     `{"status": ["pending"], "limit": 20}`,
		}, s.listProposals),
		op.Flow(op.Spec{
			Name:    "proposals.get",
			Words:   "decided, approved",
			Route:   "GET /v1/proposals/{id}",
			Summary: "Get a proposal, and wait for its decision.",
			Description: "With waitSeconds it answers once the proposal has come to an end, or when the time is up. " +
				"An agent that waits is then told how it stands without steps and effects, unless view is full.",
			Example: `{` + exampleID + `, "waitSeconds": 45}`,
		}, s.getProposal),
		op.Flow(op.Spec{
			Name:    "proposals.execute",
			Words:   "go ahead, carry out, do it, as shown, as planned",
			Route:   "POST /v1/proposals/{id}/execute",
			Summary: "Carry out a planned proposal, exactly as it was shown.",
			Status:  200,
			Outward: true,
			Errors:  []*fault.Kind{OutOfDate, NotOpen, ApprovalNeeded, BecamePending, TooSlow},
			Events:  []string{"proposal.executed", "proposal.failed", "proposal.stale", "proposal.updated"},
			Example: `{` + exampleID + `}`,
		}, s.executeProposal),
		op.Write(op.Spec{
			Name:    "proposals.cancel",
			Words:   "never mind, forget plan",
			Route:   "POST /v1/proposals/{id}/cancel",
			Summary: "Withdraw a proposal that was not carried out.",
			Status:  200,
			Errors:  []*fault.Kind{NotOpen},
			Events:  []string{"proposal.canceled"},
			Example: `{` + exampleID + `}`,
		}, s.cancelProposal),
		op.Flow(op.Spec{
			Name:     "proposals.approve",
			Decides:  true,
			Summary:  "Approve a proposal, which carries it out.",
			Resource: "proposals",
			Doors:    op.ConsoleDoor,
			Status:   200,
			Errors:   []*fault.Kind{OutOfDate, NotOpen, TooSlow},
			Events:   []string{"proposal.approved", "proposal.executed", "proposal.failed", "proposal.stale"},
			Example: `{` + exampleID +
				`, "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}`,
		}, s.approveProposal),
		op.Write(op.Spec{
			Name:     "proposals.reject",
			Decides:  true,
			Summary:  "Reject a proposal, with a reason that its maker reads.",
			Resource: "proposals",
			Doors:    op.ConsoleDoor,
			Status:   200,
			Errors:   []*fault.Kind{NotOpen},
			Events:   []string{"proposal.rejected"},
			Example:  `{` + exampleID + `, "reason": "We do not write to this customer."}`,
		}, s.rejectProposal),
		op.Flow(op.Spec{
			Name:     "proposals.refresh",
			Summary:  "Show a proposal as it would be now, also without some of its steps, to decide it anew.",
			Decides:  true,
			Resource: "proposals",
			Doors:    op.ConsoleDoor,
			Status:   200,
			Errors:   []*fault.Kind{StepRefused, OutOfDate, NotOpen, TooMany, TooLong, TooSlow},
			Events:   []string{"proposal.updated"},
			Example:  `{` + exampleID + `, "leaveOut": [1]}`,
		}, s.refreshProposal),
		op.Read(op.Spec{
			Name:     "proposals.deletions",
			Summary:  "Count what goes with the rows that a proposal deletes, and what stays without them.",
			Resource: "proposals",
			Doors:    op.ConsoleDoor,
			Example:  `{` + exampleID + `}`,
		}, s.listDeletions),
	}, s.undoOperations()...)
}

// Happenings are the events that the jobs emit, without an operation.
var Happenings = []op.BackgroundEvent{
	{Type: "proposal.expired", When: "`expiresAt` of an undecided proposal passes"},
	{Type: "proposal.executed", When: "the last step of a proposal that reaches outside is done"},
	{Type: "proposal.failed", When: "a step of a proposal that reaches outside is refused"},
	{Type: "proposal.stale", When: "a step of a proposal that reaches outside is no longer as it was shown"},
}

type proposalRef struct {
	ID id.ID `path:"id" doc:"the proposal"`
}

type proposalList struct {
	op.Browse
	SortBy  string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt"`
	Status  []Status `query:"status" enum:"planned,pending,approved,executing,executed,failed,rejected,canceled,expired,stale"`
	AgentID *id.ID   `query:"agentId"`

	UndoesImportID *id.ID `query:"undoesImportId" doc:"those that take this import back"`
}

// visibleTo filters the proposals that a caller sees: a key or an agent its own, a
// person all of the organization.
func visibleTo(c *op.Call) *db.Where {
	w := db.InOrganization(c.Org)
	if c.Door == op.ConsoleDoor || c.Door == op.AdminDoor || c.Door == op.SystemDoor {
		return w
	}
	return w.And("maker_kind = ?", string(c.Caller.Kind)).And("maker_id = ?", c.Caller.ID)
}

func (s *Service) listProposals(ctx context.Context, c *op.Call, in proposalList) (*op.List[Proposal], error) {
	w := visibleTo(c)
	db.FilterOneOf(w, "status", in.Status)
	db.FilterEqual(w, "agent_id", in.AgentID)
	db.FilterEqual(w, "undoes_import_id", in.UndoesImportID)
	l, err := op.BrowseRows(ctx, c, proposals, op.ListQuery{Browse: in.Browse, SortBy: in.SortBy}, w)
	if err != nil {
		return nil, err
	}
	for i := range l.Data {
		l.Data[i] = *s.viewFor(c, &l.Data[i])
	}
	return l, nil
}

type proposalGet struct {
	proposalRef
	WaitSeconds int    `query:"waitSeconds" default:"0" min:"0" max:"45" doc:"how long to wait for its end"`
	View        string `query:"view" default:"auto" enum:"auto,short,full" doc:"short leaves out steps and effects"`
}

const pollInterval = 400 * time.Millisecond

// getProposal answers with a proposal, and waits for its end if asked to.
func (s *Service) getProposal(ctx context.Context, c *op.Call, in proposalGet) (*Proposal, error) {
	v, err := s.awaitEnd(ctx, c, in)
	// An agent that waits again and again would otherwise read all of it each time.
	if err == nil && (in.View == "short" || in.View == "auto" && c.Door == op.AgentDoor && in.WaitSeconds > 0 &&
		(v.isOpen() || v.isRunning())) {
		v.Steps, v.Effects, v.Skipped = []ProposalStep{}, []Effect{}, []Skipped{}
	}
	return v, err
}

// awaitEnd polls the database until the proposal has ended, because any process may
// decide it. If maxWaiting requests wait in this process already, it answers at once.
func (s *Service) awaitEnd(ctx context.Context, c *op.Call, in proposalGet) (*Proposal, error) {
	v, err := s.findVisible(ctx, c, in.ID)
	if err != nil || in.WaitSeconds == 0 {
		return v, err
	}
	select {
	case s.waiters <- struct{}{}:
		defer func() { <-s.waiters }()
	default:
		return v, nil
	}
	end := time.After(time.Duration(in.WaitSeconds) * time.Second)
	for v.isOpen() || v.isRunning() {
		select {
		case <-end:
			return v, nil
		case <-ctx.Done():
			return v, nil
		case <-time.After(pollInterval):
		}
		if v, err = s.findVisible(ctx, c, in.ID); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// findVisible reads a proposal that the caller may see, or answers 404.
func (s *Service) findVisible(ctx context.Context, c *op.Call, proposal id.ID) (v *Proposal, err error) {
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err = proposals.Find(ctx, tx, visibleTo(c).And("id = ?", proposal))
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.viewWithSecrets(c, v)
}

// viewFor is a proposal as a caller may see it: a person sees all of it, its maker
// nothing that is withheld.
func (s *Service) viewFor(c *op.Call, v *Proposal) *Proposal {
	if c.Door != op.ConsoleDoor && c.Door != op.AdminDoor && c.Door != op.SystemDoor {
		v = v.viewForMaker()
	}
	v.ApprovalURL, v.Says = s.approvalURL(v), v.Summary()
	v.EffectsTotal = max(v.EffectsTotal, len(v.Effects)) // rows of older versions have 0
	return v
}

// viewWithSecrets is viewFor, with the secrets in the answers if the caller is the maker.
func (s *Service) viewWithSecrets(c *op.Call, v *Proposal) (*Proposal, error) {
	v = s.viewFor(c, v)
	if v.Secrets == nil || !v.isMadeBy(c.Caller) {
		return v, nil
	}
	return v, s.fillSecretResults(v)
}

func (v *Proposal) isMadeBy(c *op.Caller) bool {
	return v.MakerKind == string(c.Kind) && v.MakerID != nil && *v.MakerID == c.ID
}

// isOpen reports whether it can still be decided or carried out.
func (v *Proposal) isOpen() bool { return v.Status == Planned || v.Status == Pending }

func (v *Proposal) isRunning() bool { return v.Status == Approved || v.Status == Executing }

// Asked is how many proposals an agent made, and what became of them.
type Asked struct {
	Made     int `db:"made"`
	Approved int `db:"approved"`
	Rejected int `db:"rejected"`
}

// CountByAgent counts the proposals that agents made from one time until before another.
func CountByAgent(ctx context.Context, tx *db.Tx, org id.ID, from, to clock.Time) (map[id.ID]Asked, error) {
	rows, err := db.QueryAll[struct {
		Agent id.ID `db:"agent_id"`
		Asked
	}](ctx, tx, `
		SELECT agent_id, count(*) AS made,
			count(CASE WHEN decided_by IS NOT NULL AND status <> 'rejected' THEN 1 END) AS approved,
			count(CASE WHEN status = 'rejected' THEN 1 END) AS rejected
		FROM proposals
		WHERE organization_id = $1 AND deleted_at IS NULL AND created_at >= $2 AND created_at < $3
			AND agent_id IS NOT NULL
		GROUP BY agent_id`, org, from, to)
	out := map[id.ID]Asked{}
	for _, r := range rows {
		out[r.Agent] = r.Asked
	}
	return out, err
}

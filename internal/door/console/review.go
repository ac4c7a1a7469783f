package console

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/account/agent"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/proposal"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The pages on which people decide what agents propose. What an agent wrote is
// shown as its words, cut, and never as ours.

// reviewRoutes are the pages of everybody, reviewManagerRoutes those of owners and
// admins.
var (
	reviewRoutes = []any{
		"GET /review", (*visit).reviewPage,
		"POST /review/mail", (*visit).setReviewMail,
		"GET /review/{id}", of((*visit).proposalPage), "POST /review/{id}", of((*visit).decide),
		"GET /review/{id}/mails/{effect}", of((*visit).proposedMail),
		"GET /review/{id}/change", deciding((*visit).changeProposalPage),
		"POST /review/{id}/change", deciding((*visit).changeProposal),
	}
	reviewManagerRoutes = []any{
		"POST /review/pause", (*visit).pauseAgents,
		"POST /review/resume", (*visit).resumeAgents,
		"GET /review/{id}/allow", ofAgent((*visit).alwaysAllowPage),
		"POST /review/{id}/allow", ofAgent((*visit).alwaysAllow),
		"POST /agents/{id}/asking", (*visit).saveAsking,
	}
)

var _ = desk.AddPlaces("/review") && desk.AddCounter("review", func(*desk.Visit) (string, desk.Fields) {
	return "proposals.list", desk.Fields{"status": []string{string(proposal.Pending)}}
})

func init() {
	maps.Copy(sentences, map[string]string{
		"approved":  "Approved. It is being carried out.",
		"executed":  "Done, exactly as it was shown.",
		"rejected":  "Rejected. The agent is told your reason.",
		"withdrawn": "Withdrawn. Nothing was done.",
		"refreshed": "This is what it would do now.",
		"stopped":   "All agents are paused. Nothing that they ask for is done.",
		"going":     "Agents may act again.",
		"mail":      "You will get a mail when something waits.",
		"nomail":    "You will get no more mail about what waits.",
		"allowed":   "From now on the agent does this without asking. This proposal still waits for you.",
		"changed":   "This is the proposal with your changes. The agent's own is rejected.",
	})
}

// proposalStates are the statuses as people read them.
var proposalStates = map[proposal.Status]badge{
	proposal.Planned:   {"planned", ""},
	proposal.Pending:   {"waits for you", "warn"},
	proposal.Approved:  {"approved", "good"},
	proposal.Executing: {"being carried out", "warn"},
	proposal.Executed:  {"done", "good"},
	proposal.Failed:    {"failed", "bad"},
	proposal.Rejected:  {"rejected", ""},
	proposal.Canceled:  {"withdrawn", ""},
	proposal.Expired:   {"expired", ""},
	proposal.Stale:     {"out of date", "bad"},
}

// reviewRow is a proposal in the list.
type reviewRow struct {
	proposal.Proposal
	Who, Says, More string
	State           badge
}

// Path is its page.
func (r *reviewRow) Path() string { return reviewPath(&r.Proposal) }

// agentNames are the organization's agents by id.
func (v *visit) agentNames() (map[id.ID]string, error) {
	offers, err := listFirst[agent.Offer](v, "agents.offered", nil)
	names := map[id.ID]string{}
	for _, o := range offers {
		names[o.ID] = o.Name
	}
	return names, err
}

func (v *visit) reviewRow(names map[id.ID]string, p proposal.Proposal) reviewRow {
	r := reviewRow{Proposal: p, State: proposalStates[p.Status], Says: cut.Ellipsis(p.Summary(), 200)}
	if n := len(p.Effects) - 1; n > 0 {
		r.More = "and " + count(n, "more effect")
	}
	switch {
	case p.AgentID != nil:
		r.Who = cmp.Or(names[*p.AgentID], "An agent that is gone")
	case p.MakerKind == "user":
		r.Who = "A colleague"
		if p.MakerID != nil && *p.MakerID == v.session.User {
			r.Who = "You"
		}
	default:
		r.Who = map[string]string{"api": "An API key", "automation": "An automation"}[p.MakerKind]
	}
	return r
}

func (v *visit) reviewPage() error {
	d := struct {
		Rows     sheet[reviewRow]
		Filters  []filter
		Filtered bool
		Pause    agent.Pause
	}{}
	statuses := []string{"pending", "executed", "rejected", "failed", "expired", "stale"}
	words, status := v.filters(statuses...)
	for i, s := range statuses {
		words[i+1].Text = capital(proposalStates[proposal.Status(s)].Text)
	}
	d.Filters, d.Filtered = words, status != ""
	input := fields{}
	if status != "" {
		input["status"] = []string{status}
	}
	found, err := listPage[proposal.Proposal](v, "proposals.list", input)
	if err != nil {
		return err
	}
	names, err := v.agentNames()
	if err != nil {
		return err
	}
	d.Rows.Earlier, d.Rows.Later = found.Earlier, found.Later
	for _, p := range found.Rows {
		d.Rows.Rows = append(d.Rows.Rows, v.reviewRow(names, p))
	}
	if err := v.do("agents.paused", fields{}, &d.Pause); err != nil {
		return err
	}
	return v.show(http.StatusOK, "review", view{Title: "Review", Section: "review", Data: d})
}

// change is a field of an effect.
type change struct{ Name, Before, After string }

// shownEffect is an effect with the words that the page shows.
type shownEffect struct {
	proposal.Effect
	Kind    badge
	Changes []change
	Hears   string
	Open    bool  // the fields are shown at once
	Mail    *mail // that it sends
}

// mail is one that an effect sends, without the letterhead that it may get when it leaves.
type mail struct {
	From    string `json:"from"`
	Subject string `json:"subject"`
	HTML    string `json:"html"`
	Text    string `json:"text"`
	Paper   string `json:"-"` // its page
}

var effectKinds = map[string]badge{
	proposal.KindCreate:  {"create", "good"},
	proposal.KindUpdate:  {"change", ""},
	proposal.KindDelete:  {"delete", "bad"},
	proposal.KindSend:    {"send", "warn"},
	proposal.KindCharge:  {"charge", "warn"},
	proposal.KindPublish: {"publish", "warn"},
	proposal.KindCallOut: {"call", "warn"},
}

const maxChange = 600 // of a value on the page

func showEffect(p *proposal.Proposal, i int) shownEffect {
	e := p.Effects[i]
	out := shownEffect{Effect: e, Kind: effectKinds[e.Kind], Mail: mailOf(p, i)}
	var before, after map[string]any
	_ = json.Unmarshal(e.Before, &before) // objects that the service wrote
	_ = json.Unmarshal(e.After, &after)
	keys := slices.Collect(maps.Keys(after))
	for k := range before {
		if _, ok := after[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if out.Mail != nil && slices.Contains([]string{"html", "text", "from", "subject", "to"}, k) {
			continue
		}
		name := capital(proposal.FieldWords(k))
		out.Changes = append(out.Changes, change{name, shownValue(before, k), shownValue(after, k)})
	}
	var names []string
	for _, t := range e.Triggers {
		names = append(names, t.Kind+" “"+cut.Ellipsis(t.Name, 60)+"”")
	}
	out.Hears = joinAnd(names)
	out.Open = out.Mail == nil && len(out.Changes) <= 6
	return out
}

// mailOf is the mail that an effect sends, or nil.
func mailOf(p *proposal.Proposal, i int) *mail {
	e := p.Effects[i]
	m := &mail{Paper: fmt.Sprintf("%s/mails/%d", reviewPath(p), i)}
	if e.Kind != proposal.KindSend || json.Unmarshal(e.After, m) != nil || m.HTML+m.Text == "" {
		return nil
	}
	return m
}

// Short mails need little room.
func (m *mail) Short() bool { return len(m.HTML)+len(m.Text) < 1000 }

// proposedMail shows such a mail as a page of its own.
func (v *visit) proposedMail(p *proposal.Proposal) error {
	i, err := strconv.Atoi(v.r.PathValue("effect"))
	if err != nil || i < 0 || i >= len(p.Effects) {
		return fault.NotFound.New()
	}
	m := mailOf(p, i)
	if m == nil {
		return fault.NotFound.New()
	}
	return v.desk().Paper(http.StatusOK, &m.HTML, &m.Text)
}

func shownValue(of map[string]any, key string) string {
	v, ok := of[key]
	switch v := v.(type) {
	case string:
		return cut.Ellipsis(v, maxChange)
	case nil:
		if ok {
			return "nothing"
		}
		return ""
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return cut.Ellipsis(string(text), maxChange)
}

type proposalData struct {
	reviewRow
	Title, Reason string // the maker's words, cut
	Effects       []shownEffect
	Money         string
	Progress      *proposal.UndoProgress // of a large undo
	Results       []shownData
	Problem       string
	Open, Mine    bool
	Decides       bool     // the reader may
	Anew          bool     // it is out of date and can be shown as it is now
	Allow         []string // what "always allow" would include
	Manager       bool
}

func (v *visit) proposal() (*proposal.Proposal, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var p proposal.Proposal
	return &p, v.do("proposals.get", fields{"id": ref}, &p)
}

// of finds the proposal that a page is about.
func of(page func(*visit, *proposal.Proposal) error) func(*visit) error {
	return func(v *visit) error {
		p, err := v.proposal()
		if err != nil {
			return err
		}
		return page(v, p)
	}
}

// deciding is the same for those who may decide.
func deciding(page func(*visit, *proposal.Proposal) error) func(*visit) error {
	return of(func(v *visit, p *proposal.Proposal) error {
		if err := v.Catalog.Named("proposals.approve").PermitCaller(v.caller, op.ConsoleDoor); err != nil {
			return err
		}
		return page(v, p)
	})
}

// ofAgent is the same for what only an agent's proposal has.
func ofAgent(page func(*visit, *proposal.Proposal) error) func(*visit) error {
	return of(func(v *visit, p *proposal.Proposal) error {
		if p.AgentID == nil {
			return fault.NotFound.New()
		}
		return page(v, p)
	})
}

func reviewPath(p *proposal.Proposal) string { return "/review/" + string(p.ID) }

func (v *visit) proposalPage(p *proposal.Proposal) error { return v.showProposal(http.StatusOK, p, "") }

const maxReason = 1000 // of the maker's reason on the page

func (v *visit) showProposal(status int, p *proposal.Proposal, problem string) error {
	names, err := v.agentNames()
	if err != nil {
		return err
	}
	d := proposalData{reviewRow: v.reviewRow(names, *p), Title: cut.Ellipsis(p.Title, 200), Problem: problem,
		Open: p.Status == proposal.Pending, Decides: v.may("proposals.approve"), Manager: v.session.Manager(),
		Mine: p.Status == proposal.Planned && p.MakerKind == "user" && p.MakerID != nil && *p.MakerID == v.session.User}
	d.Anew = p.Status == proposal.Stale && p.Because != nil &&
		!slices.ContainsFunc(p.Steps, func(s proposal.ProposalStep) bool { return s.CompletedAt != nil })
	if p.Reason != nil {
		d.Reason = cut.Ellipsis(*p.Reason, maxReason)
	}
	for i := range p.Effects {
		d.Effects = append(d.Effects, showEffect(p, i))
	}
	if p.Totals.AmountCents > 0 && p.Totals.Currency != nil {
		d.Money = locale.AmountWithCode(p.Totals.AmountCents, *p.Totals.Currency)
	}
	for i, s := range p.Steps {
		label := fmt.Sprintf("Step %d: %s", i+1, v.operationWords(s.Operation))
		if s.CompletedAt != nil && p.Status == proposal.Stale {
			label += " (done)"
		}
		d.Results = append(d.Results, shownData{label, pretty(string(s.Input))})
	}
	if d.Progress, err = p.Progress(); err != nil {
		return err
	}
	if d.Open && p.AgentID != nil {
		d.Allow = v.included(p)
	}
	title := "Proposal by " + d.Who
	if d.Who == "You" {
		title = "Your proposal"
	}
	return v.show(status, "proposal", view{Title: title, Section: "review",
		Crumbs: []crumb{{"Review", "/review"}, {d.Says, ""}}, Badge: d.State, Data: d})
}

func (v *visit) decide(p *proposal.Proposal) error {
	path := reviewPath(p)
	var done string
	var out proposal.Proposal
	var err error
	switch v.value("decision") {
	case "approve":
		err = v.do("proposals.approve", fields{"id": p.ID, "sha256": v.value("sha256")}, &out)
		if done = "approved"; out.Status == proposal.Executed {
			done = "executed"
		}
	case "execute":
		err, done = v.do("proposals.execute", fields{"id": p.ID}, &out), "executed"
	case "reject":
		input := fields{"id": p.ID}
		if reason := strings.TrimSpace(v.value("reason")); reason != "" {
			input["reason"] = reason
		}
		err, done = v.do("proposals.reject", input, nil), "rejected"
	case "refresh":
		err, done = v.do("proposals.refresh", fields{"id": p.ID}, nil), "refreshed"
	case "cancel":
		err, done = v.do("proposals.cancel", fields{"id": p.ID}, nil), "withdrawn"
	default:
		return v.showProposal(http.StatusBadRequest, p, "Choose Approve or Reject.")
	}
	if err == nil {
		return v.done(path, done)
	}
	f, status, err := v.refused(err, nil)
	if err != nil {
		return err
	}
	if p, err = v.proposal(); err != nil {
		return err
	}
	return v.showProposal(status, p, f.Error)
}

// cells are the permissions that the steps of a proposal ask for.
func (v *visit) cells(p *proposal.Proposal) map[string]string {
	out := map[string]string{}
	for _, s := range p.Steps {
		if o := v.Catalog.Named(s.Operation); o != nil {
			out[o.Resource+"."+o.Action.String()] = "allow"
		}
	}
	return out
}

// included are the tools that always allowing a proposal's steps would open.
func (v *visit) included(p *proposal.Proposal) (out []string) {
	cells := v.cells(p)
	for _, o := range v.Catalog.All() {
		if isTool(o) && cells[o.Resource+"."+o.Action.String()] != "" {
			out = append(out, o.Summary)
		}
	}
	return out
}

func (v *visit) alwaysAllowPage(p *proposal.Proposal) error {
	names, err := v.agentNames()
	if err != nil {
		return err
	}
	return v.ask(question{Title: "Always allow this", Section: "review",
		Crumbs: []crumb{{"Review", "/review"}, {"Proposal", reviewPath(p)}, {"Always allow", ""}},
		Lead: names[*p.AgentID] + " will do all of this without asking, from now on. You can take it back on the " +
			"agent's page.",
		Lost: v.included(p), Button: "Always allow", Back: reviewPath(p)})
}

func (v *visit) alwaysAllow(p *proposal.Proposal) error {
	if err := v.do("agents.set_permissions", fields{"id": *p.AgentID, "permissions": v.cells(p)}, nil); err != nil {
		return err
	}
	return v.done(reviewPath(p), "allowed")
}

// set is a switch on the list of proposals.
func (v *visit) set(operation string, input fields, done string) error {
	if err := v.do(operation, input, nil); err != nil {
		return err
	}
	return v.done("/review", done)
}

func (v *visit) pauseAgents() error { return v.set("agents.pause_all", fields{}, "stopped") }

func (v *visit) resumeAgents() error { return v.set("agents.resume_all", fields{}, "going") }

func (v *visit) setReviewMail() error {
	wanted := v.value("wanted") == "yes"
	return v.set("users.set_review_mail", fields{"wanted": wanted},
		map[bool]string{true: "mail", false: "nomail"}[wanted])
}

// changedStep is a step whose input a person edits.
type changedStep struct {
	Label string
	Field field
}

func (v *visit) changeProposalPage(p *proposal.Proposal) error {
	f := blank()
	for i, s := range p.Steps {
		f.Values.Set(fmt.Sprintf("input-%d", i), pretty(string(s.Input)))
	}
	return v.showChange(http.StatusOK, p, f)
}

func (v *visit) showChange(status int, p *proposal.Proposal, f *form) error {
	if p.Status != proposal.Pending {
		return v.showProposal(http.StatusConflict, p, "This proposal can no longer be decided.")
	}
	d := struct {
		Path  string
		Form  *form
		Steps []changedStep
	}{Path: reviewPath(p), Form: f}
	for i, s := range p.Steps {
		d.Steps = append(d.Steps, changedStep{v.operationWords(s.Operation),
			f.Text(fmt.Sprintf("input-%d", i), fmt.Sprintf("Step %d: %s", i+1, v.operationWords(s.Operation)), "code",
				"")})
	}
	return v.show(status, "proposal_change", view{Title: "Approve with changes", Section: "review",
		Crumbs: []crumb{{"Review", "/review"}, {"Proposal", d.Path}, {"Change", ""}}, Data: d})
}

// changeProposal makes a proposal of the person's own from what they changed, and
// rejects the agent's.
func (v *visit) changeProposal(p *proposal.Proposal) error {
	f := blank()
	f.Errors = map[string]string{}
	var steps []fields
	for i, s := range p.Steps {
		name := fmt.Sprintf("input-%d", i)
		text := v.value(name)
		f.Values.Set(name, text)
		value := jsontext.Value(text)
		if !value.IsValid() || value.Kind() != '{' {
			f.Errors[name] = "Must be a JSON object"
			return v.showChange(http.StatusBadRequest, p, f)
		}
		step := fields{"operation": s.Operation, "input": value}
		if s.SaveAs != nil {
			step["saveAs"] = *s.SaveAs
		}
		steps = append(steps, step)
	}
	var made proposal.Proposal
	err := v.do("proposals.create", fields{"title": cut.Ellipsis(p.Title, 180) + " (changed)", "steps": steps,
		"replacesId": p.ID}, &made)
	if err == nil {
		err = v.do("proposals.reject", fields{"id": p.ID, "reason": "A person changed it and does it themselves."}, nil)
	}
	if err != nil {
		refused, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		f.Error = refused.Error
		return v.showChange(status, p, f)
	}
	return v.done(reviewPath(&made), "changed")
}

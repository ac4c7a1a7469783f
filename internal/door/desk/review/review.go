// Package review is the room in which people decide what agents propose. What an
// agent wrote is shown as its words, cut, and never as ours.
package review

import (
	"cmp"
	"embed"
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

//go:embed pages/*.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "pages/*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddPages(desk.SignedIn, desk.Pages{
		"GET /review":       reviewPage,
		"POST /review/mail": setReviewMail,
		"GET /review/{id}":  of(proposalPage), "POST /review/{id}": of(decideProposal),
		"GET /review/{id}/mails/{effect}": of(proposedMail),
		"GET /review/{id}/change":         deciding(changeProposalPage),
		"POST /review/{id}/change":        deciding(changeProposal),
	})
	d.AddPages(desk.Managers, desk.Pages{
		"POST /review/pause":      pauseAgents,
		"POST /review/resume":     resumeAgents,
		"GET /review/{id}/allow":  ofAgent(alwaysAllowPage),
		"POST /review/{id}/allow": ofAgent(alwaysAllow),
	})
}

var _ = desk.AddCounter("review", func(*desk.Visit) (string, desk.Fields) {
	return "proposals.list", desk.Fields{"status": []string{string(proposal.Pending)}}
})

var _ = desk.AddDoneTexts(map[string]string{
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
	"amended":   "This is the proposal with your changes. The agent's own is rejected.",
})

// proposalStates are the statuses as people read them.
var proposalStates = map[proposal.Status]desk.Pill{
	proposal.Planned:   {Text: "planned"},
	proposal.Pending:   {Text: "waits for you", Tone: "warn"},
	proposal.Approved:  {Text: "approved", Tone: "good"},
	proposal.Executing: {Text: "being carried out", Tone: "warn"},
	proposal.Executed:  {Text: "done", Tone: "good"},
	proposal.Failed:    {Text: "failed", Tone: "bad"},
	proposal.Rejected:  {Text: "rejected"},
	proposal.Canceled:  {Text: "withdrawn"},
	proposal.Expired:   {Text: "expired"},
	proposal.Stale:     {Text: "out of date", Tone: "bad"},
}

// reviewRow is a proposal in the list.
type reviewRow struct {
	proposal.Proposal
	Who, Says, More string
	State           desk.Pill
}

// Path is its page.
func (r *reviewRow) Path() string { return reviewPath(&r.Proposal) }

// agentNames are the organization's agents by id.
func agentNames(v *desk.Visit) (map[id.ID]string, error) {
	offers, err := desk.ListFirst[agent.Offer](v, "agents.offered", nil)
	names := map[id.ID]string{}
	for _, o := range offers {
		names[o.ID] = o.Name
	}
	return names, err
}

func newReviewRow(v *desk.Visit, names map[id.ID]string, p proposal.Proposal) reviewRow {
	r := reviewRow{Proposal: p, State: proposalStates[p.Status], Says: cut.Ellipsis(p.Summary(), 200)}
	if n := len(p.Effects) - 1; n > 0 {
		r.More = "and " + desk.Count(n, "more effect", "more effects")
	}
	switch {
	case p.AgentID != nil:
		r.Who = cmp.Or(names[*p.AgentID], "An agent that is gone")
	case p.MakerKind == "user":
		r.Who = "A colleague"
		if p.MakerID != nil && *p.MakerID == v.Session.User {
			r.Who = "You"
		}
	default:
		r.Who = map[string]string{"api": "An API key", "automation": "An automation"}[p.MakerKind]
	}
	return r
}

func reviewPage(v *desk.Visit) error {
	d := struct {
		Rows     desk.Sheet[reviewRow]
		Filters  []desk.StatusLink
		Filtered bool
		Pause    agent.Pause
	}{}
	statuses := []string{"pending", "executed", "rejected", "failed", "expired", "stale"}
	words, status := v.StatusLinks(statuses...)
	for i, s := range statuses {
		words[i+1].Text = desk.Capital(proposalStates[proposal.Status(s)].Text)
	}
	d.Filters, d.Filtered = words, status != ""
	input := desk.Fields{}
	if status != "" {
		input["status"] = []string{status}
	}
	found, err := desk.ListSheet[proposal.Proposal](v, "proposals.list", input)
	if err != nil {
		return err
	}
	names, err := agentNames(v)
	if err != nil {
		return err
	}
	d.Rows.Earlier, d.Rows.Later = found.Earlier, found.Later
	for _, p := range found.Rows {
		d.Rows.Rows = append(d.Rows.Rows, newReviewRow(v, names, p))
	}
	if err := v.Do("agents.paused", desk.Fields{}, &d.Pause); err != nil {
		return err
	}
	return v.ShowView(http.StatusOK, "review", desk.View{Title: "Review", Section: "review", Data: d})
}

// change is a field of an effect.
type change struct{ Name, Before, After string }

// shownEffect is an effect with the words that the page shows.
type shownEffect struct {
	proposal.Effect
	Kind    desk.Pill
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

var effectKinds = map[string]desk.Pill{
	proposal.KindCreate:  {Text: "create", Tone: "good"},
	proposal.KindUpdate:  {Text: "change"},
	proposal.KindDelete:  {Text: "delete", Tone: "bad"},
	proposal.KindSend:    {Text: "send", Tone: "warn"},
	proposal.KindCharge:  {Text: "charge", Tone: "warn"},
	proposal.KindPublish: {Text: "publish", Tone: "warn"},
	proposal.KindCallOut: {Text: "call", Tone: "warn"},
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
		name := desk.Capital(proposal.FieldWords(k))
		out.Changes = append(out.Changes, change{name, shownValue(before, k), shownValue(after, k)})
	}
	var names []string
	for _, t := range e.Triggers {
		names = append(names, t.Kind+" “"+cut.Ellipsis(t.Name, 60)+"”")
	}
	out.Hears = desk.JoinAnd(names)
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
func proposedMail(v *desk.Visit, p *proposal.Proposal) error {
	i, err := strconv.Atoi(v.R.PathValue("effect"))
	if err != nil || i < 0 || i >= len(p.Effects) {
		return fault.NotFound.New()
	}
	m := mailOf(p, i)
	if m == nil {
		return fault.NotFound.New()
	}
	return v.Paper(http.StatusOK, &m.HTML, &m.Text)
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
	Results       []desk.Data
	Problem       string
	Open, Mine    bool
	Decides       bool     // the reader may
	Anew          bool     // it is out of date and can be shown as it is now
	Allow         []string // what "always allow" would include
	Manager       bool
}

func readProposal(v *desk.Visit) (*proposal.Proposal, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var p proposal.Proposal
	return &p, v.Do("proposals.get", desk.Fields{"id": ref}, &p)
}

// of finds the proposal that a page is about.
func of(page func(*desk.Visit, *proposal.Proposal) error) func(*desk.Visit) error {
	return func(v *desk.Visit) error {
		p, err := readProposal(v)
		if err != nil {
			return err
		}
		return page(v, p)
	}
}

// deciding is the same for those who may decide.
func deciding(page func(*desk.Visit, *proposal.Proposal) error) func(*desk.Visit) error {
	return of(func(v *desk.Visit, p *proposal.Proposal) error {
		if err := v.Catalog.Named("proposals.approve").PermitCaller(v.Caller, op.ConsoleDoor); err != nil {
			return err
		}
		return page(v, p)
	})
}

// ofAgent is the same for what only an agent's proposal has.
func ofAgent(page func(*desk.Visit, *proposal.Proposal) error) func(*desk.Visit) error {
	return of(func(v *desk.Visit, p *proposal.Proposal) error {
		if p.AgentID == nil {
			return fault.NotFound.New()
		}
		return page(v, p)
	})
}

func reviewPath(p *proposal.Proposal) string { return "/review/" + string(p.ID) }

func proposalPage(v *desk.Visit, p *proposal.Proposal) error {
	return showProposal(v, http.StatusOK, p, "")
}

const maxReason = 1000 // of the maker's reason on the page

func showProposal(v *desk.Visit, status int, p *proposal.Proposal, problem string) error {
	names, err := agentNames(v)
	if err != nil {
		return err
	}
	d := proposalData{reviewRow: newReviewRow(v, names, *p), Title: cut.Ellipsis(p.Title, 200), Problem: problem,
		Open: p.Status == proposal.Pending, Decides: v.May("proposals.approve"), Manager: v.Session.Manager(),
		Mine: p.Status == proposal.Planned && p.MakerKind == "user" && p.MakerID != nil && *p.MakerID == v.Session.User}
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
		label := fmt.Sprintf("Step %d: %s", i+1, v.OperationWords(s.Operation))
		if s.CompletedAt != nil && p.Status == proposal.Stale {
			label += " (done)"
		}
		d.Results = append(d.Results, desk.Data{Label: label, Text: desk.IndentJSON(string(s.Input))})
	}
	if d.Progress, err = p.Progress(); err != nil {
		return err
	}
	if d.Open && p.AgentID != nil {
		d.Allow = allowedToolSummaries(v, p)
	}
	title := "Proposal by " + d.Who
	if d.Who == "You" {
		title = "Your proposal"
	}
	return v.ShowView(status, "proposal", desk.View{Title: title, Section: "review",
		Crumbs: []desk.Crumb{{Text: "Review", Href: "/review"}, {Text: d.Says}}, Badge: d.State, Data: d})
}

func decideProposal(v *desk.Visit, p *proposal.Proposal) error {
	path := reviewPath(p)
	var done string
	var out proposal.Proposal
	var err error
	switch v.Value("decision") {
	case "approve":
		err = v.Do("proposals.approve", desk.Fields{"id": p.ID, "sha256": v.Value("sha256")}, &out)
		if done = "approved"; out.Status == proposal.Executed {
			done = "executed"
		}
	case "execute":
		err, done = v.Do("proposals.execute", desk.Fields{"id": p.ID}, &out), "executed"
	case "reject":
		input := desk.Fields{"id": p.ID}
		if reason := strings.TrimSpace(v.Value("reason")); reason != "" {
			input["reason"] = reason
		}
		err, done = v.Do("proposals.reject", input, nil), "rejected"
	case "refresh":
		err, done = v.Do("proposals.refresh", desk.Fields{"id": p.ID}, nil), "refreshed"
	case "cancel":
		err, done = v.Do("proposals.cancel", desk.Fields{"id": p.ID}, nil), "withdrawn"
	default:
		return showProposal(v, http.StatusBadRequest, p, "Choose Approve or Reject.")
	}
	if err == nil {
		return v.Done(path, done, nil)
	}
	f, status, err := v.Refused(err, nil)
	if err != nil {
		return err
	}
	if p, err = readProposal(v); err != nil {
		return err
	}
	return showProposal(v, status, p, f.Error)
}

// permissionCells are the permissions that the steps of a proposal ask for.
func permissionCells(v *desk.Visit, p *proposal.Proposal) map[string]string {
	out := map[string]string{}
	for _, s := range p.Steps {
		if o := v.Catalog.Named(s.Operation); o != nil {
			out[o.Resource+"."+o.Action.String()] = "allow"
		}
	}
	return out
}

// allowedToolSummaries are the tools that always allowing a proposal's steps would open.
func allowedToolSummaries(v *desk.Visit, p *proposal.Proposal) (out []string) {
	cells := permissionCells(v, p)
	for _, o := range v.Catalog.All() {
		if desk.IsTool(o) && cells[o.Resource+"."+o.Action.String()] != "" {
			out = append(out, o.Summary)
		}
	}
	return out
}

func alwaysAllowPage(v *desk.Visit, p *proposal.Proposal) error {
	names, err := agentNames(v)
	if err != nil {
		return err
	}
	return v.Ask(desk.Question{Title: "Always allow this", Section: "review",
		Crumbs: []desk.Crumb{{Text: "Review", Href: "/review"}, {Text: "Proposal", Href: reviewPath(p)},
			{Text: "Always allow"}},
		Lead: names[*p.AgentID] + " will do all of this without asking, from now on. You can take it back on the " +
			"agent's page.",
		Lost: allowedToolSummaries(v, p), Button: "Always allow", Back: reviewPath(p)})
}

func alwaysAllow(v *desk.Visit, p *proposal.Proposal) error {
	if err := v.Do("agents.set_permissions", desk.Fields{"id": *p.AgentID, "permissions": permissionCells(v, p)},
		nil); err != nil {
		return err
	}
	return v.Done(reviewPath(p), "allowed", nil)
}

// runAndReturn runs an operation and goes back to the list of proposals.
func runAndReturn(v *desk.Visit, operation string, input desk.Fields, done string) error {
	if err := v.Do(operation, input, nil); err != nil {
		return err
	}
	return v.Done("/review", done, nil)
}

func pauseAgents(v *desk.Visit) error {
	return runAndReturn(v, "agents.pause_all", desk.Fields{}, "stopped")
}

func resumeAgents(v *desk.Visit) error {
	return runAndReturn(v, "agents.resume_all", desk.Fields{}, "going")
}

func setReviewMail(v *desk.Visit) error {
	wanted := v.Value("wanted") == "yes"
	return runAndReturn(v, "users.set_review_mail", desk.Fields{"wanted": wanted},
		map[bool]string{true: "mail", false: "nomail"}[wanted])
}

// changedStep is a step whose input a person edits.
type changedStep struct {
	Label string
	Field desk.Input
}

func changeProposalPage(v *desk.Visit, p *proposal.Proposal) error {
	f := desk.NewTyped()
	for i, s := range p.Steps {
		f.Values.Set(fmt.Sprintf("input-%d", i), desk.IndentJSON(string(s.Input)))
	}
	return showChange(v, http.StatusOK, p, f)
}

func showChange(v *desk.Visit, status int, p *proposal.Proposal, f *desk.Typed) error {
	if p.Status != proposal.Pending {
		return showProposal(v, http.StatusConflict, p, "This proposal can no longer be decided.")
	}
	d := struct {
		Path  string
		Form  *desk.Typed
		Steps []changedStep
	}{Path: reviewPath(p), Form: f}
	for i, s := range p.Steps {
		d.Steps = append(d.Steps, changedStep{v.OperationWords(s.Operation),
			f.Text(fmt.Sprintf("input-%d", i), fmt.Sprintf("Step %d: %s", i+1, v.OperationWords(s.Operation)), "code",
				"")})
	}
	return v.ShowView(status, "proposal_change", desk.View{Title: "Approve with changes", Section: "review",
		Crumbs: []desk.Crumb{{Text: "Review", Href: "/review"}, {Text: "Proposal", Href: d.Path},
			{Text: "Change"}}, Data: d})
}

// changeProposal makes a proposal of the person's own from what they changed, and
// rejects the agent's.
func changeProposal(v *desk.Visit, p *proposal.Proposal) error {
	f := desk.NewTyped()
	f.Errors = map[string]string{}
	var steps []desk.Fields
	for i, s := range p.Steps {
		name := fmt.Sprintf("input-%d", i)
		text := v.Value(name)
		f.Values.Set(name, text)
		value := jsontext.Value(text)
		if !value.IsValid() || value.Kind() != '{' {
			f.Errors[name] = "Must be a JSON object"
			return showChange(v, http.StatusBadRequest, p, f)
		}
		step := desk.Fields{"operation": s.Operation, "input": value}
		if s.SaveAs != nil {
			step["saveAs"] = *s.SaveAs
		}
		steps = append(steps, step)
	}
	var made proposal.Proposal
	err := v.Do("proposals.create", desk.Fields{"title": cut.Ellipsis(p.Title, 180) + " (changed)", "steps": steps,
		"replacesId": p.ID}, &made)
	if err == nil {
		err = v.Do("proposals.reject", desk.Fields{"id": p.ID,
			"reason": "A person changed it and does it themselves."}, nil)
	}
	if err != nil {
		refused, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		f.Error = refused.Error
		return showChange(v, status, p, f)
	}
	return v.Done(reviewPath(&made), "amended", nil)
}

// Package review is the room in which people decide what agents propose and which values
// they have found. Everything is told in words, never as JSON or an id, and nothing that will
// be done is left out. What an agent wrote is shown as its words and never as ours.
//
// Start reading at reviewPage. card.go makes a proposal into a card, effects.go and mail.go
// tell what it would do, decide.go decides, and suggested.go has the values.
package review

import (
	"cmp"
	"embed"
	"fmt"
	"net/http"
	"slices"

	"frontdesk/internal/account/agent"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/proposal"
)

//go:embed pages/*.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "pages/*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddPages(desk.SignedIn, desk.Pages{
		"GET /review":         reviewPage,
		"POST /review/decide": decideSeveral,
		"POST /review/mail":   setReviewMail,
		"GET /review/{id}":    of(proposalPage), "POST /review/{id}": of(decideProposal),
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

var _ = desk.AddCounter("values", func(*desk.Visit) (string, desk.Fields) { return "suggestions.list", desk.Fields{} })

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
	"left-out":  "Left out. This is what it would do without it.",
	"put-back":  "Put back. This is what it would do now.",

	"several-approved": "Approved.",
	"several-rejected": "Rejected.",
	"some-refused":     "Some could not be decided: they are still here, or out of date. Decided.",
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
	Avatar          *desk.Avatar
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
	r := reviewRow{Proposal: p, State: proposalStates[p.Status],
		Says: desk.Visible(cut.Ellipsis(p.Summary(), 200)), Avatar: desk.RobotAvatar("bot")}
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
		r.Avatar = desk.AvatarOf(r.Who, "")
	default:
		r.Who = map[string]string{"api": "An API key", "automation": "An automation"}[p.MakerKind]
	}
	return r
}

// earlierPage lists the proposals of a state, or all of them.
func earlierPage(v *desk.Visit) error {
	d := struct {
		Rows    desk.Sheet[reviewRow]
		Filters []desk.StatusLink
	}{}
	statuses := []string{"all", "pending", "executed", "rejected", "failed", "expired", "stale"}
	words, status := v.StatusLinks(statuses...)
	for i, s := range statuses[1:] {
		words[i+2].Text = desk.Capital(proposalStates[proposal.Status(s)].Text)
	}
	d.Filters = words[1:] // without a status the page is the queue
	input := desk.Fields{}
	if status != "all" {
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
	return v.ShowView(http.StatusOK, "review-list", desk.View{Title: "Earlier proposals", Section: "review",
		Crumbs: []desk.Crumb{{Text: "Review", Href: "/review"}, {Text: "Earlier"}}, Data: d})
}

// queue is everything that waits for the reader. Its template is "review".
type queue struct {
	Cards   []*card
	Values  []suggestedRow
	Card    *card         // the current one, unless it is a value
	Value   *suggestedRow // the current one
	Place   string        // of the current one: "1 of 9"
	Next    string        // links to the neighbours of the current one
	Before  string
	More    string // says that there are more
	Paused  *desk.TimeText
	Decides bool // the reader may decide something of it
}

const maxWaiting = 50 // proposals in the queue

// reviewPage shows what waits: proposals first, then suggested values, one of them the current
// one.
func reviewPage(v *desk.Visit) error {
	if v.R.URL.Query().Get("status") != "" {
		return earlierPage(v)
	}
	q, err := readQueue(v)
	if err != nil {
		return err
	}
	var pause agent.Pause
	if err := v.Do("agents.paused", desk.Fields{}, &pause); err != nil {
		return err
	}
	w := desk.View{Title: "Review", Section: "review", Own: true, Data: q, API: v.Samples("proposals.list", nil),
		Watch: "proposal contact.property customer.property business.property",
		More:  []desk.Button{{Text: "Earlier proposals", Href: "/review?status=all", Icon: "pulse"}}}
	if n := len(q.Cards) + len(q.Values); n > 0 {
		w.Sub = desk.Count(n, "waits for you", "wait for you")
	}
	mail := desk.Button{Text: "Mail me when something waits", Href: "/review/mail?wanted=yes", Icon: "mail", Post: true}
	if pause.ReviewMail {
		mail.Text, mail.Href = "No more mail when something waits", "/review/mail?wanted=no"
	}
	w.More = append(w.More, mail)
	if pause.PausedAt != nil {
		q.Paused = v.When(*pause.PausedAt)
	}
	if v.Session.Manager() && pause.PausedAt == nil {
		w.Buttons = []desk.Button{{Text: "Pause all agents", Href: "/review/pause", Icon: "bot", Post: true}}
	} else if v.Session.Manager() {
		w.Buttons = []desk.Button{{Text: "Let agents act again", Href: "/review/resume", Icon: "bot", Post: true}}
	}
	return v.Show(http.StatusOK, "review", w)
}

func readQueue(v *desk.Visit) (*queue, error) {
	q := &queue{Decides: v.May("proposals.approve")}
	found, page, err := desk.List[proposal.Proposal](v, "proposals.list", desk.Fields{"limit": maxWaiting,
		"status": []proposal.Status{proposal.Pending, proposal.Stale}})
	if err != nil {
		return nil, err
	}
	names, err := agentNames(v)
	if err != nil {
		return nil, err
	}
	for i := range found {
		p := &found[i]
		if p.ExpiresAt <= v.Now() || p.Status == proposal.Stale && !p.CanBeShownAnew() {
			continue
		}
		c, err := newCard(v, names, p, true)
		if err != nil {
			return nil, err
		}
		q.Cards = append(q.Cards, c)
	}
	more := false
	if q.Values, more, err = listSuggestions(v); err != nil {
		return nil, err
	}
	q.Decides = q.Decides || slices.ContainsFunc(q.Values, func(s suggestedRow) bool { return s.May })
	if more || page.HasMore {
		q.More = fmt.Sprintf("The newest %d of each are shown. Decide on some to see more.", maxWaiting)
	}
	q.choose(v.R.URL.Query().Get("at"))
	return q, nil
}

// choose makes one the current one: that of the address, or the first. After a decision the
// page goes on with the next.
func (q *queue) choose(at string) {
	all := []string{}
	for _, c := range q.Cards {
		all = append(all, c.Anchor)
	}
	for _, s := range q.Values {
		all = append(all, s.Anchor)
	}
	if len(all) == 0 {
		return
	}
	i := max(0, slices.Index(all, at))
	to := func(n int) string { return "/review?at=" + all[(n+len(all))%len(all)] }
	q.Place, q.Next, q.Before = fmt.Sprintf("%d of %d", i+1, len(all)), to(i+1), to(i-1)
	for n, c := range q.Cards {
		c.Back = to(n + 1)
	}
	if i < len(q.Cards) {
		q.Card = q.Cards[i]
		q.Card.On = true
	} else {
		q.Value = &q.Values[i-len(q.Cards)]
		q.Value.On = true
	}
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

func showProposal(v *desk.Visit, status int, p *proposal.Proposal, problem string) error {
	names, err := agentNames(v)
	if err != nil {
		return err
	}
	c, err := newCard(v, names, p, false)
	if err != nil {
		return err
	}
	c.Problem, c.On = problem, true
	d := struct {
		Card  *card
		Allow bool // what it asks for can be allowed for good
	}{Card: c, Allow: c.Open && p.AgentID != nil && v.Session.Manager()}
	title := "Proposal by " + c.Who
	if c.Who == "You" {
		title = "Your proposal"
	}
	return v.Show(status, "proposal", desk.View{Title: title, Section: "review", Own: true, Watch: "proposal",
		Crumbs: []desk.Crumb{{Text: "Review", Href: "/review"}, {Text: c.Heading}}, Badge: c.State, Data: d})
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
	wanted := v.R.FormValue("wanted") == "yes"
	return runAndReturn(v, "users.set_review_mail", desk.Fields{"wanted": wanted},
		map[bool]string{true: "mail", false: "nomail"}[wanted])
}

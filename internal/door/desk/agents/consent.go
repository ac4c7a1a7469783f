package agents

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// offer is an agent to choose, with what it may do in plain words.
type offer struct {
	agent.Offer
	Tools         int
	May, Ask, Not []string
	Propose       bool // what it must ask for, it proposes
	Chosen        bool
}

type consentData struct {
	Request  *grant.Request
	Offline  bool // it stays connected without asking again
	Offers   []offer
	Refused  string // why there is nothing to choose, in the words of the specification
	Left     []string
	Next     string // this page
	Error    string
	Agree    string // where agreements are accepted
	NewAgent string
}

// readRequest finds the request that waits for consent.
func (room *Room) readRequest(v *desk.Visit) (*grant.Request, error) {
	if room.Grants == nil {
		return nil, fault.NotFound.New()
	}
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	return room.Grants.Request(v.R.Context(), ref)
}

func (room *Room) consentPage(v *desk.Visit) error {
	r, err := room.readRequest(v)
	if err != nil {
		return err
	}
	return showConsent(v, http.StatusOK, r, "")
}

const notAccepted = "Business agreement not accepted"

// showConsent asks for every request: an earlier consent never covers a later
// one.
func showConsent(v *desk.Visit, status int, r *grant.Request, problem string) error {
	standings, err := desk.ListFirst[account.Standing](v, "agreements.list", nil)
	if err != nil {
		return err
	}
	offers, err := desk.ListFirst[agent.Offer](v, "agents.offered", nil)
	if err != nil {
		return err
	}
	d := consentData{Request: r, Offline: slices.Contains(r.Scopes, grant.ScopeOffline),
		Left: desk.Unaccepted(standings),
		Next: v.R.URL.Path, Error: problem, Agree: "/agreements?next=" + url.QueryEscape(v.R.URL.Path),
		NewAgent: "/agents/new?next=" + url.QueryEscape(v.R.URL.Path)}
	if len(d.Left) == len(standings) {
		d.Refused = notAccepted
	}
	chosen := v.R.FormValue("agent_id")
	for _, o := range offers {
		if !o.Agreed {
			continue
		}
		row := offer{Offer: o, Tools: countTools(v, &account.Agent{Permissions: o.Permissions, AskMode: o.AskMode}),
			Propose: o.AskMode == account.AskPropose, Chosen: string(o.ID) == chosen}
		row.May, row.Ask, row.Not = permissionWords(o.Permissions)
		d.Offers = append(d.Offers, row)
	}
	if len(d.Offers) > 0 && !slices.ContainsFunc(d.Offers, func(o offer) bool { return o.Chosen }) {
		d.Offers[0].Chosen = true
	}
	// Chrome applies form-action to where the form's answer redirects to.
	v.FormTargets = desk.FormTarget(r.RedirectURI)
	return v.ShowView(status, "consent", desk.View{Title: "Connect " + r.ClientName, Bare: true, Data: d})
}

func (room *Room) answerConsent(v *desk.Visit) error {
	r, err := room.readRequest(v)
	if err != nil {
		return err
	}
	var to string
	switch v.Value("decision") {
	case "decline":
		to, err = room.Grants.DeclineRequest(v.R.Context(), r.ID)
	case "approve":
		chosen, ok := id.Parse(v.Value("agent_id"))
		if !ok {
			return showConsent(v, http.StatusBadRequest, r, "Choose an agent.")
		}
		to, err = room.approveRequest(v, r, chosen)
	default:
		return showConsent(v, http.StatusBadRequest, r, "Choose Approve or Decline.")
	}
	if f := fault.FromError(err); err != nil && (f.Kind == fault.AgreementNeeded || f.Kind == grant.AgentInactive) {
		return showConsent(v, f.Status, r, f.Sentence())
	}
	if err != nil {
		return err
	}
	v.FormTargets = desk.FormTarget(r.RedirectURI)
	desk.SetHeaders(v.W, v.FormTargets)
	// The address was checked when the client registered, and again when it asked.
	http.Redirect(v.W, v.R, to, http.StatusSeeOther)
	return nil
}

// approve accepts only an agent that the page offers, so none of another
// organization that the user belongs to.
func (room *Room) approveRequest(v *desk.Visit, r *grant.Request, chosen id.ID) (string, error) {
	offers, err := desk.ListFirst[agent.Offer](v, "agents.offered", nil)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(offers, func(o agent.Offer) bool { return o.ID == chosen }) {
		return "", fault.NotFound.Say("There is no such agent.")
	}
	return room.Grants.ApproveRequest(v.R.Context(), r.ID, v.Session.User, chosen)
}

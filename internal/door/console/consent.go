package console

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/peer"
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

// request finds the request that waits for consent.
func (v *visit) request() (*grant.Request, error) {
	if v.Grants == nil {
		return nil, fault.NotFound.New()
	}
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	return v.Grants.Request(v.r.Context(), ref)
}

func (v *visit) consentPage() error {
	r, err := v.request()
	if err != nil {
		return err
	}
	return v.showConsent(http.StatusOK, r, "")
}

const notAccepted = "Business agreement not accepted"

// showConsent asks for every request: an earlier consent never covers a later
// one.
func (v *visit) showConsent(status int, r *grant.Request, problem string) error {
	standings, err := listFirst[account.Standing](v, "agreements.list", nil)
	if err != nil {
		return err
	}
	offers, err := listFirst[agent.Offer](v, "agents.offered", nil)
	if err != nil {
		return err
	}
	d := consentData{Request: r, Offline: slices.Contains(r.Scopes, grant.ScopeOffline), Left: unaccepted(standings),
		Next: v.r.URL.Path, Error: problem, Agree: agreementsThen(v.r.URL.Path),
		NewAgent: "/agents/new?next=" + url.QueryEscape(v.r.URL.Path)}
	if len(d.Left) == len(standings) {
		d.Refused = notAccepted
	}
	chosen := v.r.FormValue("agent_id")
	for _, o := range offers {
		if !o.Agreed {
			continue
		}
		row := offer{Offer: o, Tools: v.tools(&account.Agent{Permissions: o.Permissions, AskMode: o.AskMode}),
			Propose: o.AskMode == account.AskPropose, Chosen: string(o.ID) == chosen}
		row.May, row.Ask, row.Not = permissionWords(o.Permissions)
		d.Offers = append(d.Offers, row)
	}
	if len(d.Offers) > 0 && !slices.ContainsFunc(d.Offers, func(o offer) bool { return o.Chosen }) {
		d.Offers[0].Chosen = true
	}
	// Chrome applies form-action to where the form's answer redirects to.
	v.policy = formTarget(r.RedirectURI)
	return v.show(status, "consent", view{Title: "Connect " + r.ClientName, Bare: true, Data: d})
}

func (v *visit) consent() error {
	r, err := v.request()
	if err != nil {
		return err
	}
	var to string
	switch v.value("decision") {
	case "decline":
		to, err = v.Grants.DeclineRequest(v.r.Context(), r.ID)
	case "approve":
		chosen, ok := id.Parse(v.value("agent_id"))
		if !ok {
			return v.showConsent(http.StatusBadRequest, r, "Choose an agent.")
		}
		to, err = v.approve(r, chosen)
	default:
		return v.showConsent(http.StatusBadRequest, r, "Choose Approve or Decline.")
	}
	if f := fault.FromError(err); err != nil && (f.Kind == fault.AgreementNeeded || f.Kind == grant.AgentInactive) {
		return v.showConsent(f.Status, r, f.Sentence())
	}
	if err != nil {
		return err
	}
	v.policy = formTarget(r.RedirectURI)
	v.setHeaders()
	// The address was checked when the client registered, and again when it asked.
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// approve accepts only an agent that the page offers, so none of another
// organization that the user belongs to.
func (v *visit) approve(r *grant.Request, chosen id.ID) (string, error) {
	offers, err := listFirst[agent.Offer](v, "agents.offered", nil)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(offers, func(o agent.Offer) bool { return o.ID == chosen }) {
		return "", fault.NotFound.Say("There is no such agent.")
	}
	return v.Grants.ApproveRequest(v.r.Context(), r.ID, v.session.User, chosen)
}

// What a policy may contain: anything else could end the directive.
var (
	policyScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	policyHost   = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)
)

// formTarget is a validated redirect URI's origin as form-action takes it. For
// an app's own scheme it is the scheme, because such a URI has no origin.
func formTarget(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil || !policyScheme.MatchString(u.Scheme) {
		return ""
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return " " + u.Scheme + ":"
	}
	if policyHost.MatchString(u.Host) {
		return " " + u.Scheme + "://" + u.Host
	}
	// A policy cannot name an IPv6 address. Only the user's own machine gets
	// the whole scheme for it.
	if peer.IsLoopback(u.Hostname()) {
		return " " + u.Scheme + ":"
	}
	return ""
}

package console

import (
	"net/http"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/op"
)

// step is one thing to set up.
type step struct {
	Title, Text  string
	Done         bool
	Next         bool // the first that is not done: the one highlighted
	Button, Href string
}

type todayData struct {
	Steps    []step
	Left     int
	Usage    *account.Usage
	Clients  int
	Activity []activity
	AgentURL string
	Waits    bool // the visitor is a member, and some business has yet to accept
}

// setupSteps shows what is left to set up, and what belongs to the account.
func (v *visit) setupSteps() error {
	standings, err := listFirst[account.Standing](v, "agreements.list", nil)
	if err != nil {
		return err
	}
	d := todayData{AgentURL: v.AgentURL}
	open := unaccepted(standings)
	if v.session.Manager() {
		if err := v.fillToday(&d, open); err != nil {
			return err
		}
	}
	d.Waits = len(open) > 0 && !v.session.Manager()
	return v.show(http.StatusOK, "today", view{Title: "Set up", Section: "today", Data: d})
}

// unaccepted names the businesses that have yet to accept.
func unaccepted(standings []account.Standing) (names []string) {
	for _, s := range standings {
		if s.AcceptedAt == nil {
			names = append(names, s.BusinessName)
		}
	}
	return names
}

func (v *visit) fillToday(d *todayData, open []string) error {
	d.Usage = &account.Usage{}
	if err := v.do("organizations.usage", fields{}, d.Usage); err != nil {
		return err
	}
	clients, err := v.connections()
	if err != nil {
		return err
	}
	d.Clients = len(clients)
	agreement := "API keys and agents work once a business has accepted it."
	if len(open) > 1 {
		agreement = joinAnd(open) + " have yet to accept it."
	}
	d.Steps = []step{
		{Title: "Accept the business agreement", Text: agreement, Done: len(open) == 0, Button: "Read and accept",
			Href: "/agreements"},
		{Title: "Create an API key", Text: "For programs that read and write your data.", Done: d.Usage.Keys > 0,
			Button: "Create key", Href: "/settings/keys/new"},
		{Title: "Create an agent", Text: "It decides what an AI assistant may see and do.", Done: d.Usage.Agents > 0,
			Button: "Create agent", Href: "/agents/new"},
		{Title: "Connect a client", Text: "Give your assistant an address, then approve it here.", Done: d.Clients > 0,
			Button: "How to connect", Href: "/agents#connect"},
	}
	for i := range d.Steps {
		if !d.Steps[i].Done {
			d.Steps[i].Next = d.Left == 0
			d.Left++
		}
	}
	events, _, err := listRows[account.Activity](v, "organizations.activity", nil, 8, 0)
	if err != nil {
		return err
	}
	for _, e := range events {
		d.Activity = append(d.Activity, activity{e, actorWords(e), activityWords(e)})
	}
	return nil
}

// connections are the clients that act as the organization's agents.
func (v *visit) connections() ([]grant.Connection, error) {
	if v.Grants == nil {
		return nil, nil
	}
	return v.Grants.ListConnections(v.r.Context(), v.session.Org)
}

type activity struct {
	account.Activity
	Who, What string
}

// actorWords says who did it: a person, an agent, a key, an automation.
func actorWords(e account.Activity) string {
	if e.ActorName == nil {
		return map[string]string{string(op.SystemActor): "Frontdesk", string(op.UserActor): "A former member",
			string(op.AgentActor): "A deleted agent",
			string(op.APIActor):   "An API key", string(op.AutomationActor): "An automation"}[e.ActorKind]
	}
	switch op.ActorKind(e.ActorKind) {
	case op.AgentActor:
		return *e.ActorName + " (agent)"
	case op.APIActor:
		return *e.ActorName + " (API key)"
	}
	return *e.ActorName
}

// nouns have words of their own where spaces for underscores read badly.
var nouns = map[string]string{"api_key": "API key", "session": "", "payment_method": "card", "invite": "invitation",
	"user": "member"}

// verbs are for events whose type ends in a word that says too little.
var verbs = map[string]string{"session.created": "signed in", "session.deleted": "signed out",
	"session.switched": "switched to this organization", "user.created": "joined",
	"user.role_changed": "changed the role of", "user.password_changed": "changed the password of",
	"user.password_reset": "reset the password of", "session.confirmed": "confirmed who they are",
	"user.factor_added": "added a second factor for", "user.factor_removed": "removed a second factor of",
	"user.factors_reset": "removed all second factors of", "user.recovery_code_used": "used a recovery code of",
	"user.recovery_codes_created": "created recovery codes for",
	"user.sign_in_link_created":   "created a sign-in link for", "user.identity_linked": "linked the account of",
	"user.identity_unlinked":     "unlinked the account of",
	"user.password_link_created": "created a password link for", "domain.renewal_failed": "could not renew the domain",
	"invoice.overdue":              "marked the invoice {name} overdue",
	"invoice.reminded":             "sent a reminder of the invoice",
	"payment_method.setup_started": "began to save a card", "agent.connected": "connected",
	"agent.disconnected": "disconnected", "payment_method.created": "saved a card",
	"payment_method.deleted": "deleted a card",
	"invite.accepted":        "accepted the invitation for", "invite.created": "invited"}

// activityWords says what happened, in a few words.
func activityWords(e account.Activity) string {
	if e.Type == "user.created" && e.ActorKind != string(op.UserActor) && e.Name != nil {
		return "added the member " + *e.Name // by the operator
	}
	if v := verbs[e.Type]; v != "" {
		alone := strings.HasPrefix(e.Type, "session.") || e.Type == "user.created" ||
			e.Type == "payment_method.setup_started"
		switch {
		case e.Name == nil || alone:
			return strings.Replace(v, " {name}", "", 1)
		case strings.Contains(v, "{name}"):
			return strings.Replace(v, "{name}", *e.Name, 1)
		}
		return v + " " + *e.Name
	}
	i := strings.LastIndexByte(e.Type, '.')
	noun, verb := e.Type[:max(i, 0)], e.Type[i+1:]
	word, ok := nouns[noun]
	if !ok {
		word = strings.NewReplacer("_", " ", ".", " ").Replace(noun)
	}
	if part := strings.LastIndexByte(verb, '_'); part > 0 { // secret_rotated
		word, verb = strings.ReplaceAll(verb[:part], "_", " ")+" of the "+word, verb[part+1:]
	}
	text := verb + " the " + word
	if e.Name != nil {
		text += " " + *e.Name
	}
	return text
}

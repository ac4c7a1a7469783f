package settings

import (
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
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
	AgentURL string
	Waits    bool // the visitor is a member, and some business has yet to accept
}

// setupSteps shows what is left to set up, and what belongs to the account.
func (room *Room) setupSteps(v *desk.Visit) error {
	standings, err := desk.ListFirst[account.Standing](v, "agreements.list", nil)
	if err != nil {
		return err
	}
	d := todayData{AgentURL: v.AgentURL}
	open := desk.Unaccepted(standings)
	if v.Session.Manager() {
		if err := room.fillToday(v, &d, open); err != nil {
			return err
		}
	}
	d.Waits = len(open) > 0 && !v.Session.Manager()
	return v.ShowView(http.StatusOK, "setup-steps", desk.View{Title: "Set up", Section: "today", Data: d})
}

func (room *Room) fillToday(v *desk.Visit, d *todayData, open []string) error {
	d.Usage = &account.Usage{}
	if err := v.Do("organizations.usage", desk.Fields{}, d.Usage); err != nil {
		return err
	}
	clients, err := room.Connections(v)
	if err != nil {
		return err
	}
	d.Clients = len(clients)
	agreement := "API keys and agents work once a business has accepted it."
	if len(open) > 1 {
		agreement = desk.JoinAnd(open) + " have yet to accept it."
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
	return nil
}

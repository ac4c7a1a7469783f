package agents

import (
	"net/http"
	"net/url"

	"frontdesk/internal/account"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
)

func agentCrumbs(more ...desk.Crumb) []desk.Crumb {
	return append([]desk.Crumb{{Text: "Agents", Href: "/agents"}}, more...)
}

func agentPath(agent id.ID) string { return "/agents/" + url.PathEscape(string(agent)) }

// agentRow is an agent as the list shows it.
type agentRow struct {
	account.Agent
	Business string
	Tools    int
	Clients  int
	State    desk.Pill
}

func (room *Room) agentsPage(v *desk.Visit) error {
	agents, err := desk.ListSheet[account.Agent](v, "agents.list", nil)
	if err != nil {
		return err
	}
	names := v.BusinessNames()
	connected, err := room.ListConnections(v)
	if err != nil {
		return err
	}
	clients := map[id.ID]int{}
	for _, c := range connected {
		clients[c.AgentID]++
	}
	rows := desk.Sheet[agentRow]{Earlier: agents.Earlier, Later: agents.Later}
	for _, g := range agents.Rows {
		rows.Rows = append(rows.Rows,
			agentRow{g, names[g.BusinessID], countTools(v, &g), clients[g.ID], agentState(g.Status)})
	}
	return v.ShowView(http.StatusOK, "agents", desk.View{Title: "Agents", Section: "agents", Crumbs: agentCrumbs(),
		Main: desk.MainUnless(len(rows.Rows) == 0, "Create agent", "/agents/new"), Data: struct {
			Agents desk.Sheet[agentRow]
			URL    string
		}{rows, v.AgentURL}})
}

func agentState(status account.Status) desk.Pill {
	if status == account.Active {
		return desk.Pill{Text: string(status), Tone: "good"}
	}
	return desk.Pill{Text: string(status), Tone: "warn"}
}

// presets are what can fill the permission table.
var presets = []desk.Option{{Value: "none", Text: "Nothing"}, {Value: "read", Text: "Reads only"},
	{Value: "helper", Text: "Helper"}, {Value: "all", Text: "Everything"}}

// presetHelp says what each is for.
var presetHelp = []desk.Option{
	{Value: "read", Text: "Reads only: sees everything, changes nothing"},
	{Value: "helper", Text: "Helper: also keeps contacts, customers, properties and tasks up to date"},
	{Value: "all", Text: "Everything: also sends, charges and deletes"},
	{Value: "none", Text: "Nothing yet: you choose each permission"},
}

type newAgentData struct {
	Form       *desk.Typed
	Businesses []desk.Option
	Presets    []desk.Option
	Next       string
}

func newAgentPage(v *desk.Visit) error {
	return showNewAgent(v, http.StatusOK, desk.NewTyped("preset", "read", "business_id", string(v.Session.Business)))
}

func showNewAgent(v *desk.Visit, status int, f *desk.Typed) error {
	return v.ShowView(status, "agent-new", desk.View{Title: "Create an agent", Section: "agents",
		Crumbs: agentCrumbs(desk.Crumb{Text: "New"}),
		Data:   newAgentData{f, v.BusinessOptions(), presetHelp, v.R.FormValue("next")}})
}

func createAgent(v *desk.Visit) error {
	var g account.Agent
	err := v.Do("agents.create",
		desk.Fields{"businessId": v.Value("business_id"), "name": v.Value("name"), "preset": v.Value("preset")}, &g)
	if err != nil {
		f, status, err := v.Refused(err, map[string]string{"businessId": "business_id"})
		if err != nil {
			return err
		}
		return showNewAgent(v, status, f)
	}
	if next := v.R.PostFormValue("next"); next != "" {
		return v.Redirect(desk.LocalPath(next))
	}
	return v.Done(agentPath(g.ID), "created", nil)
}

// ListConnections are the clients that act as the organization's agents.
func (room *Room) ListConnections(v *desk.Visit) ([]grant.Connection, error) {
	if room.Grants == nil {
		return nil, nil
	}
	return room.Grants.ListConnections(v.R.Context(), v.Session.Org)
}

package console

import (
	"net/http"
	"net/url"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/id"
)

func agentCrumbs(more ...crumb) []crumb { return append([]crumb{{"Agents", "/agents"}}, more...) }

func agentPath(agent id.ID) string { return "/agents/" + url.PathEscape(string(agent)) }

// agentRow is an agent as the list shows it.
type agentRow struct {
	account.Agent
	Business string
	Tools    int
	Clients  int
	State    badge
}

func (v *visit) agentsPage() error {
	agents, err := listPage[account.Agent](v, "agents.list", nil)
	if err != nil {
		return err
	}
	names, err := v.businessNames()
	if err != nil {
		return err
	}
	connected, err := v.connections()
	if err != nil {
		return err
	}
	clients := map[id.ID]int{}
	for _, c := range connected {
		clients[c.AgentID]++
	}
	rows := sheet[agentRow]{Earlier: agents.Earlier, Later: agents.Later}
	for _, g := range agents.Rows {
		rows.Rows = append(rows.Rows,
			agentRow{g, names[g.BusinessID], v.tools(&g), clients[g.ID], agentState(g.Status)})
	}
	return v.show(http.StatusOK, "agents", view{Title: "Agents", Section: "agents", Crumbs: agentCrumbs(),
		Main: mainUnless(len(rows.Rows) == 0, "Create agent", "/agents/new"), Data: struct {
			Agents sheet[agentRow]
			URL    string
		}{rows, v.AgentURL}})
}

func agentState(status account.Status) badge {
	if status == account.Active {
		return badge{string(status), "good"}
	}
	return badge{string(status), "warn"}
}

// presets are what can fill the permission table.
var presets = []option{{"none", "Nothing"}, {"read", "Reads only"}, {"helper", "Helper"}, {"all", "Everything"}}

// presetHelp says what each is for.
var presetHelp = []option{
	{"read", "Reads only: sees everything, changes nothing"},
	{"helper", "Helper: also keeps contacts, customers, properties and tasks up to date"},
	{"all", "Everything: also sends, charges and deletes"},
	{"none", "Nothing yet: you choose each permission"},
}

type newAgentData struct {
	Form       *form
	Businesses []option
	Presets    []option
	Next       string
}

func (v *visit) newAgentPage() error {
	return v.showNewAgent(http.StatusOK, blank("preset", "read", "business_id", string(v.session.Business)))
}

func (v *visit) showNewAgent(status int, f *form) error {
	businesses, err := v.businessChoice()
	if err != nil {
		return err
	}
	return v.show(status, "agent-new", view{Title: "Create an agent", Section: "agents",
		Crumbs: agentCrumbs(crumb{"New", ""}),
		Data:   newAgentData{f, businesses, presetHelp, v.r.FormValue("next")}})
}

func (v *visit) createAgent() error {
	var g account.Agent
	err := v.do("agents.create",
		fields{"businessId": v.value("business_id"), "name": v.value("name"), "preset": v.value("preset")}, &g)
	if err != nil {
		f, status, err := v.refused(err, map[string]string{"businessId": "business_id"})
		if err != nil {
			return err
		}
		return v.showNewAgent(status, f)
	}
	if next := v.r.PostFormValue("next"); next != "" {
		v.redirect(localPath(next))
		return nil
	}
	return v.done(agentPath(g.ID), "created")
}

package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/proposal"
)

type agentData struct {
	Agent    *account.Agent
	Business string
	Table    []permissionRow
	Tools    int
	Free     int // tools that need no permission
	Presets  []option
	Preset   string // filled in and not saved yet
	Clients  []grant.Connection
	Form     *form
	URL      string
	Asking   asking
	Since    string // from when on its doings are offered to be undone
}

func (v *visit) agent() (*account.Agent, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var g account.Agent
	return &g, v.do("agents.get", fields{"id": ref}, &g)
}

func (v *visit) agentPage() error {
	g, err := v.agent()
	if err != nil {
		return err
	}
	return v.showAgent(http.StatusOK, g, blank("name", g.Name))
}

func (v *visit) showAgent(status int, g *account.Agent, f *form) error {
	names, err := v.businessNames()
	if err != nil {
		return err
	}
	d := agentData{Agent: g, Business: names[g.BusinessID], Presets: presets, Form: f, URL: v.AgentURL,
		Asking: v.askingOf(g), Since: v.desk().Now().Add(-24 * time.Hour).Std().In(v.desk().Zone()).Format(inputTime)}
	_, _, d.Free = v.openedBy()
	table := g.Permissions
	if p := v.r.URL.Query().Get("preset"); slices.ContainsFunc(presets, func(o option) bool { return o.Value == p }) {
		table, d.Preset = agent.PresetPermissions(p), optionText(presets, p)
	}
	d.Table = v.permissionTable(table)
	d.Tools = v.tools(&account.Agent{Permissions: table, AskMode: g.AskMode})
	clients, err := v.connections()
	if err != nil {
		return err
	}
	for _, c := range clients {
		if c.AgentID == g.ID {
			d.Clients = append(d.Clients, c)
		}
	}
	return v.show(status, "agent",
		view{Title: g.Name, Section: "agents", Crumbs: agentCrumbs(crumb{g.Name, ""}), Badge: agentState(g.Status),
			Data: d})
}

// inputTime is how a browser sends a date and a time.
const inputTime = "2006-01-02T15:04"

// undoAgent plans how to take back what an agent did, and shows the plan.
func (v *visit) undoAgent() error {
	g, err := v.agent()
	if err != nil {
		return err
	}
	since, issue := v.desk().ReadTime(v.value("since"))
	if issue != "" {
		return v.showAgent(http.StatusBadRequest, g, &form{Values: url.Values{"name": {g.Name}}, Error: issue + "."})
	}
	var p proposal.Proposal
	err = v.do("undo.create", fields{"agentId": g.ID, "since": since}, &p)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		f.Values.Set("name", g.Name)
		return v.showAgent(status, g, f)
	}
	v.redirect("/review/" + string(p.ID))
	return nil
}

// saveAgent sets every cell that the form has.
func (v *visit) saveAgent() error {
	g, err := v.agent()
	if err != nil {
		return err
	}
	cells := map[string]string{}
	for _, r := range op.Resources() {
		for _, a := range actions {
			if name := r + "." + a.String(); v.r.PostForm.Has(name) {
				cells[name] = v.value(name)
			}
		}
	}
	if err := v.do("agents.set_permissions", fields{"id": g.ID, "permissions": cells}, nil); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		f.Values.Set("name", g.Name)
		return v.showAgent(status, g, f)
	}
	return v.done(agentPath(g.ID), "saved")
}

func (v *visit) renameAgent() error {
	g, err := v.agent()
	if err != nil {
		return err
	}
	if err := v.do("agents.rename", fields{"id": g.ID, "name": v.value("name")}, nil); err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showAgent(status, g, f)
	}
	return v.done(agentPath(g.ID), "renamed")
}

func (v *visit) activateAgent() error {
	return v.act("agents.activate", strings.TrimSuffix(v.r.URL.Path, "/activate"), "activated")
}

func (v *visit) deactivateAgentPage() error {
	return v.askAgent("Deactivate", "You can activate it again, but its clients must then reconnect.",
		"Deactivate agent")
}

func (v *visit) deactivateAgent() error {
	return v.act("agents.deactivate", strings.TrimSuffix(v.r.URL.Path, "/deactivate"), "deactivated")
}

func (v *visit) deleteAgentPage() error {
	return v.askAgent("Delete", "This deletes the agent and its permissions. It cannot be undone.", "Delete agent")
}

func (v *visit) deleteAgent() error { return v.act("agents.delete", "/agents", "deleted") }

// askAgent asks before an agent stops, and names the clients that it disconnects.
func (v *visit) askAgent(verb, lead, button string) error {
	g, err := v.agent()
	if err != nil {
		return err
	}
	q := question{Title: verb + " " + g.Name, Section: "agents",
		Crumbs: agentCrumbs(crumb{g.Name, agentPath(g.ID)}, crumb{verb, ""}),
		Lead:   lead, Button: button, Back: agentPath(g.ID)}
	clients, err := v.connections()
	if err != nil {
		return err
	}
	for _, c := range clients {
		if c.AgentID == g.ID {
			q.Lost = append(q.Lost, c.ClientName+" is disconnected.")
		}
	}
	return v.ask(q)
}

// client finds a connected client of the agent in the path.
func (v *visit) client() (*account.Agent, *grant.Connection, error) {
	g, err := v.agent()
	if err != nil {
		return nil, nil, err
	}
	ref, err := v.pathID("client")
	if err != nil {
		return nil, nil, err
	}
	clients, err := v.connections()
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(clients, func(c grant.Connection) bool { return c.ID == ref && c.AgentID == g.ID })
	if i < 0 {
		return nil, nil, fault.NotFound.Say("This client is no longer connected.")
	}
	return g, &clients[i], nil
}

func (v *visit) disconnectPage() error {
	g, c, err := v.client()
	if err != nil {
		return err
	}
	return v.ask(question{Title: "Disconnect " + c.ClientName, Section: "agents",
		Crumbs: agentCrumbs(crumb{g.Name, agentPath(g.ID)}, crumb{"Disconnect", ""}),
		Lead: c.ClientName + " can no longer act as " + g.Name +
			". To reconnect, it must ask for your approval again.",
		Button: "Disconnect client", Back: agentPath(g.ID)})
}

// disconnect calls the authorization server, which logs it; there is no
// operation for it. Only managers reach this page.
func (v *visit) disconnect() error {
	g, c, err := v.client()
	if err != nil {
		return err
	}
	if err := v.Grants.Disconnect(v.r.Context(), v.session.Org, c.ID, v.session.User); err != nil {
		return err
	}
	return v.done(agentPath(g.ID), "disconnected")
}

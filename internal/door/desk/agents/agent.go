package agents

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/door/desk"
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
	Presets  []desk.Option
	Preset   string // filled in and not saved yet
	Clients  []grant.Connection
	Form     *desk.Typed
	URL      string
	Asking   asking
	Since    string // from when on its doings are offered to be undone
}

func readAgent(v *desk.Visit) (*account.Agent, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var g account.Agent
	return &g, v.Do("agents.get", desk.Fields{"id": ref}, &g)
}

func (room *Room) agentPage(v *desk.Visit) error {
	g, err := readAgent(v)
	if err != nil {
		return err
	}
	return room.showAgent(v, http.StatusOK, g, desk.NewTyped("name", g.Name))
}

func (room *Room) showAgent(v *desk.Visit, status int, g *account.Agent, f *desk.Typed) error {
	names := v.BusinessNames()
	d := agentData{Agent: g, Business: names[g.BusinessID], Presets: presets, Form: f, URL: v.AgentURL,
		Asking: askingOf(v, g), Since: v.Now().Add(-24 * time.Hour).Std().In(v.Zone()).Format(inputTime)}
	_, _, d.Free = openedBy(v)
	table := g.Permissions
	if p := v.R.URL.Query().Get("preset"); slices.ContainsFunc(presets,
		func(o desk.Option) bool { return o.Value == p }) {
		table, d.Preset = agent.PresetPermissions(p), desk.OptionText(presets, p)
	}
	d.Table = permissionTable(v, table)
	d.Tools = countTools(v, &account.Agent{Permissions: table, AskMode: g.AskMode})
	clients, err := room.ListConnections(v)
	if err != nil {
		return err
	}
	for _, c := range clients {
		if c.AgentID == g.ID {
			d.Clients = append(d.Clients, c)
		}
	}
	return v.ShowView(status, "agent",
		desk.View{Title: g.Name, Section: "agents", Crumbs: agentCrumbs(desk.Crumb{Text: g.Name}),
			Badge: agentState(g.Status),
			Data:  d})
}

// inputTime is how a browser sends a date and a time.
const inputTime = "2006-01-02T15:04"

// undoAgent plans how to take back what an agent did, and shows the plan.
func (room *Room) undoAgent(v *desk.Visit) error {
	g, err := readAgent(v)
	if err != nil {
		return err
	}
	since, issue := v.ReadTime(v.Value("since"))
	if issue != "" {
		return room.showAgent(v, http.StatusBadRequest, g,
			&desk.Typed{Values: url.Values{"name": {g.Name}}, Error: issue + "."})
	}
	var p proposal.Proposal
	err = v.Do("undo.create", desk.Fields{"agentId": g.ID, "since": since}, &p)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		f.Values.Set("name", g.Name)
		return room.showAgent(v, status, g, f)
	}
	return v.Redirect("/review/" + string(p.ID))
}

// saveAgent sets every cell that the form has.
func (room *Room) saveAgent(v *desk.Visit) error {
	g, err := readAgent(v)
	if err != nil {
		return err
	}
	cells := map[string]string{}
	for _, r := range op.Resources() {
		for _, a := range desk.Actions {
			if name := r + "." + a.String(); v.R.PostForm.Has(name) {
				cells[name] = v.Value(name)
			}
		}
	}
	steps := []desk.Step{{Operation: "agents.set_permissions", Input: func() desk.Fields {
		return desk.Fields{"id": g.ID, "permissions": cells}
	}}}
	done := "saved"
	if g.AskMode != account.AskPropose && choosesAsk(g.Permissions, cells) {
		done = "asks"
		steps = append(steps, desk.Step{Operation: "agents.configure", Input: func() desk.Fields {
			return desk.Fields{"id": g.ID, "askMode": account.AskPropose}
		}})
	}
	if err := v.Together(steps...); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		f.Values.Set("name", g.Name)
		return room.showAgent(v, status, g, f)
	}
	return v.Done(agentPath(g.ID), done, nil)
}

// choosesAsk reports whether something is set to ask that was not before. Then asking must mean
// something: whoever switched proposing off, and saves the table as it is, keeps it off.
func choosesAsk(before, after map[string]string) bool {
	for cell, level := range after {
		if level == account.LevelAsk && before[cell] != account.LevelAsk {
			return true
		}
	}
	return false
}

var _ = desk.AddDoneTexts(map[string]string{
	"asks": "Saved. From now on it may propose what is set to ask, and you decide under Review.",
})

func (room *Room) renameAgent(v *desk.Visit) error {
	g, err := readAgent(v)
	if err != nil {
		return err
	}
	if err := v.Do("agents.rename", desk.Fields{"id": g.ID, "name": v.Value("name")}, nil); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return room.showAgent(v, status, g, f)
	}
	return v.Done(agentPath(g.ID), "renamed", nil)
}

func activateAgent(v *desk.Visit) error {
	return v.DoWithID("agents.activate", strings.TrimSuffix(v.R.URL.Path, "/activate"), "activated")
}

func (room *Room) deactivateAgentPage(v *desk.Visit) error {
	return room.askAgent(v, "Deactivate", "You can activate it again, but its clients must then reconnect.",
		"Deactivate agent")
}

func deactivateAgent(v *desk.Visit) error {
	return v.DoWithID("agents.deactivate", strings.TrimSuffix(v.R.URL.Path, "/deactivate"), "deactivated")
}

func (room *Room) deleteAgentPage(v *desk.Visit) error {
	return room.askAgent(v, "Delete", "This deletes the agent and its permissions. It cannot be undone.",
		"Delete agent")
}

func deleteAgent(v *desk.Visit) error { return v.DoWithID("agents.delete", "/agents", "deleted") }

// askAgent asks before an agent stops, and names the clients that it disconnects.
func (room *Room) askAgent(v *desk.Visit, verb, lead, button string) error {
	g, err := readAgent(v)
	if err != nil {
		return err
	}
	q := desk.Question{Title: verb + " " + g.Name, Section: "agents",
		Crumbs: agentCrumbs(desk.Crumb{Text: g.Name, Href: agentPath(g.ID)}, desk.Crumb{Text: verb}),
		Lead:   lead, Button: button, Back: agentPath(g.ID)}
	clients, err := room.ListConnections(v)
	if err != nil {
		return err
	}
	for _, c := range clients {
		if c.AgentID == g.ID {
			q.Lost = append(q.Lost, c.ClientName+" is disconnected.")
		}
	}
	return v.Ask(q)
}

// readClient finds a connected client of the agent in the path.
func (room *Room) readClient(v *desk.Visit) (*account.Agent, *grant.Connection, error) {
	g, err := readAgent(v)
	if err != nil {
		return nil, nil, err
	}
	ref, err := v.PathID("client")
	if err != nil {
		return nil, nil, err
	}
	clients, err := room.ListConnections(v)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(clients, func(c grant.Connection) bool { return c.ID == ref && c.AgentID == g.ID })
	if i < 0 {
		return nil, nil, fault.NotFound.Say("This client is no longer connected.")
	}
	return g, &clients[i], nil
}

func (room *Room) disconnectPage(v *desk.Visit) error {
	g, c, err := room.readClient(v)
	if err != nil {
		return err
	}
	return v.Ask(desk.Question{Title: "Disconnect " + c.ClientName, Section: "agents",
		Crumbs: agentCrumbs(desk.Crumb{Text: g.Name, Href: agentPath(g.ID)}, desk.Crumb{Text: "Disconnect"}),
		Lead: c.ClientName + " can no longer act as " + g.Name +
			". To reconnect, it must ask for your approval again.",
		Button: "Disconnect client", Back: agentPath(g.ID)})
}

// disconnect calls the authorization server, which logs it; there is no
// operation for it. Only managers reach this page.
func (room *Room) disconnect(v *desk.Visit) error {
	g, c, err := room.readClient(v)
	if err != nil {
		return err
	}
	if err := room.Grants.Disconnect(v.R.Context(), v.Session.Org, c.ID, v.Session.User); err != nil {
		return err
	}
	return v.Done(agentPath(g.ID), "disconnected", nil)
}

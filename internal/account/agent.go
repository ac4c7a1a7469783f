package account

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Agent is an AI agent of a business and what it may do.
type Agent struct {
	op.Record
	BusinessID id.ID  `json:"businessId"`
	Name       string `json:"name"`
	Status     Status `json:"status" enum:"active,inactive"`
	// Permissions has a cell like "contacts.read" for every resource and action.
	Permissions map[string]string `json:"permissions"`
	AskMode     string            `json:"askMode" enum:"unavailable,propose" doc:"what asking means for this agent"`
	Guard       *string           `json:"guard" enum:"on,off" doc:"against strangers' words; null is on"`
	Limits      Limits            `json:"limits" doc:"per day"`
	ToolList    string            `json:"toolList" enum:"all,compact" doc:"which tools its clients are told of"`

	AgentReading
}

// AgentReading are the columns that hold what an agent has read of text written by
// people outside the organization. Reading converts them to an op.ExternalReading.
type AgentReading struct {
	OutsideReadAt  *clock.Time `json:"-" db:"outside_read_at"`
	GuardThreadID  *id.ID      `json:"-" db:"guard_thread_id"`
	GuardContactID *id.ID      `json:"-" db:"guard_contact_id"`
	GuardOthers    bool        `json:"-" db:"guard_others"`
}

var agents = db.NewTable[Agent]("agents", db.Life{
	Noun:         "agent",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("business_id", "businesses", db.Keeps),
		db.RefTo("guard_thread_id", "threads", db.Keeps),
		db.RefTo("guard_contact_id", "contacts", db.Keeps),
	},
	Unexported: []string{"guard_thread_id", "guard_contact_id", "guard_others"},
})

// The levels of a cell in an agent's permission table. What "ask" means is decided by
// the agent's AskMode.
const (
	levelAllow = "allow"
	levelAsk   = "ask"
	levelDeny  = "deny"
)

// helperResources are the resources that the preset "helper" may create and update
// without asking: people and the work on them. It must ask for whatever is sent out,
// costs money or runs by itself.
var helperResources = []string{"contacts", "customers", "properties", "tasks"}

// PresetPermissions returns the permission table of a preset: all, helper, read or none. Any
// other name denies everything, as none does.
func PresetPermissions(name string) map[string]string {
	table := map[string]string{}
	for _, r := range op.Resources() {
		for _, a := range []op.Action{op.ActionRead, op.ActionCreate, op.ActionUpdate, op.ActionDelete} {
			level := levelDeny
			switch {
			case name == "all", (name == "read" || name == "helper") && a == op.ActionRead:
				level = levelAllow
			case name == "helper" && a != op.ActionDelete && slices.Contains(helperResources, r):
				level = levelAllow
			case name == "helper" && r == Proposals:
				level = levelDeny // AllowedPermissions adds its own proposals, by AskMode
			case name == "helper":
				level = levelAsk
			}
			table[r+"."+a.String()] = level
		}
	}
	return table
}

// AllowedPermissions returns what the agent may do without asking.
func (g *Agent) AllowedPermissions() (p op.Permissions) {
	p = g.permissionsAtLevel(levelAllow)
	if g.AskMode == AskPropose { // it reads, makes and changes its own proposals
		for _, a := range []op.Action{op.ActionRead, op.ActionCreate, op.ActionUpdate} {
			p = p.With(Proposals, a)
		}
	}
	return p
}

func (a *Accounts) agentOperations() []*op.Op {
	const one = `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`
	spec := func(name, summary, event, example string) op.Spec {
		return op.Spec{
			Name:     "agents." + name,
			Summary:  summary,
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"agent." + event},
			Example:  example,
		}
	}
	create := spec("create", "Create an agent for a business.", "created",
		`{"businessId": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "name": "Assistant", "preset": "read"}`)
	create.Status = 201
	remove := spec("delete", "Delete an agent; its connections end.", "deleted", one)
	remove.Status = 204
	list := spec("list", "List the organization's agents.", "", `{}`)
	list.Events = nil
	get := spec("get", "Show an agent.", "", one)
	get.Events = nil
	// Free, because members who do not manage agents may connect a client to one, too.
	offered := spec("offered",
		"List the active agents that a client can be connected to, and whether their business accepted the agreement.",
		"",
		`{}`)
	offered.Events, offered.Resource = nil, op.Unrestricted
	return []*op.Op{
		WriteByManager(create, a.createAgent),
		op.Read(list, a.listAgents),
		op.Read(get, a.getAgent),
		op.Read(offered, a.listOfferedAgents),
		WriteByManager(spec("rename", "Give an agent another name.", "updated",
			`{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "name": "Assistant"}`), a.renameAgent),
		WriteByManager(spec("set_permissions", "Set what an agent may do.", "updated",
			`{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "permissions": {"contacts.create": "allow"}}`),
			a.setAgentPermissions),
		WriteByManager(spec("activate", "Activate an agent.", "activated", one),
			a.setAgentStatus(Active, "agent.activated")),
		WriteByManager(spec("deactivate", "Deactivate an agent; its connections end.", "deactivated", one),
			a.setAgentStatus(Inactive, "agent.deactivated")),
		WriteByManager(spec("move", "Move an agent to another business.", "moved",
			`{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "businessId": "7f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`),
			a.moveAgent),
		WriteByManager(remove, a.deleteAgent),
	}
}

type agentCreate struct {
	BusinessID id.ID  `json:"businessId"`
	Name       string `json:"name" min:"1"`
	Preset     string `json:"preset" default:"none" enum:"all,helper,read,none"`
}

func (a *Accounts) createAgent(ctx context.Context, c *op.Call, in agentCreate) (*Agent, error) {
	if err := db.Lock(ctx, c.Tx, "businesses", c.Org, in.BusinessID); err != nil {
		return nil, db.AsNotFound(err, "business")
	}
	g := &Agent{Record: c.NewRecord(), BusinessID: in.BusinessID, Name: in.Name, Status: Active,
		AskMode: AskUnavailable, ToolList: ToolsAll, Permissions: PresetPermissions(in.Preset)}
	if err := agents.Insert(ctx, c.Tx, g); err != nil {
		return nil, err
	}
	return g, c.Emit("agent.created", g.ID, g)
}

type agentList struct{ op.Page }

func (a *Accounts) listAgents(ctx context.Context, c *op.Call, in agentList) (*op.List[Agent], error) {
	rows, err := agents.List(ctx, c.Tx, db.InOrganization(c.Org), in.ToDBPage())
	return op.NewList(in.Page, rows), err
}

func (a *Accounts) getAgent(ctx context.Context, c *op.Call, in byID) (*Agent, error) {
	return agents.Get(ctx, c.Tx, c.Org, in.ID)
}

// Offer is an agent that a client can be connected to.
type Offer struct {
	ID           id.ID             `json:"id"`
	Name         string            `json:"name"`
	BusinessName string            `json:"businessName"`
	Agreed       bool              `json:"agreed" doc:"the business accepted the current agreement"`
	Permissions  map[string]string `json:"permissions"`
	AskMode      string            `json:"askMode" enum:"unavailable,propose"`
}

func (a *Accounts) listOfferedAgents(ctx context.Context, c *op.Call, in agentList) (*op.List[Offer], error) {
	rows, err := db.QueryAll[Offer](ctx, c.Tx, `
		SELECT a.id, a.name, b.name, EXISTS (SELECT 1 FROM agreements g WHERE g.organization_id = $1
			AND g.business_id = b.id
			AND g.kind = 'business' AND g.version = $2 AND g.deleted_at IS NULL), a.permissions, a.ask_mode
		FROM agents a JOIN businesses b ON b.id = a.business_id AND b.deleted_at IS NULL
		WHERE a.organization_id = $1 AND a.status = 'active' AND a.deleted_at IS NULL
		ORDER BY b.seq, a.seq LIMIT $3 OFFSET $4`,
		c.Org, a.config.BusinessAgreement, in.Limit, in.Offset)
	return op.NewList(in.Page, rows), err
}

type agentRename struct {
	ID   id.ID  `json:"id"`
	Name string `json:"name" min:"1"`
}

func (a *Accounts) renameAgent(ctx context.Context, c *op.Call, in agentRename) (*Agent, error) {
	return a.changeAgent(ctx, c, in.ID, "agent.updated", func(g *Agent) (bool, error) {
		changed := g.Name != in.Name
		g.Name = in.Name
		return changed, nil
	})
}

type agentPermissions struct {
	ID          id.ID             `json:"id"`
	Permissions map[string]string `json:"permissions" doc:"cells to set, like contacts.create, each allow, ask or deny"`
}

func (in *agentPermissions) Prepare(context.Context, *op.Call) error {
	known := PresetPermissions("none")
	var tree *fault.Tree
	for cell, level := range in.Permissions {
		if known[cell] == "" {
			tree = tree.At([]any{"permissions", cell},
				"Unknown; a cell is <resource>.<action> with read, create, update or delete and one of "+
					strings.Join(op.Resources(), ", "))
		} else if !slices.Contains([]string{levelAllow, levelAsk, levelDeny}, level) {
			tree = tree.At([]any{"permissions", cell}, "Invalid option: expected one of allow, ask, deny")
		}
	}
	return tree.Fault(fault.Invalid)
}

func (a *Accounts) setAgentPermissions(ctx context.Context, c *op.Call, in agentPermissions) (*Agent, error) {
	return a.changeAgent(ctx, c, in.ID, "agent.updated", func(g *Agent) (bool, error) {
		return g.setPermissionLevels(in.Permissions), nil
	})
}

// setPermissionLevels sets the levels of these cells, and reports whether one changed.
func (g *Agent) setPermissionLevels(levels map[string]string) (changed bool) {
	for cell, level := range levels {
		changed = changed || g.Permissions[cell] != level
		g.Permissions[cell] = level
	}
	return changed
}

func (a *Accounts) setAgentStatus(status Status, event string) func(context.Context, *op.Call, byID) (*Agent, error) {
	return func(ctx context.Context, c *op.Call, in byID) (*Agent, error) {
		return a.changeAgent(ctx, c, in.ID, event, func(g *Agent) (bool, error) {
			changed := g.Status != status
			g.Status = status
			if changed && status != Active {
				return changed, a.connections.EndConnectionsOfAgent(ctx, c, g.ID, AgentDeactivated)
			}
			return changed, nil
		})
	}
}

// changeAgent locks an agent, changes it, and emits the event if anything changed.
func (a *Accounts) changeAgent(ctx context.Context, c *op.Call, agent id.ID, event string,
	change func(*Agent) (bool, error)) (*Agent, error) {
	g, err := agents.Lock(ctx, c.Tx, c.Org, agent)
	if err != nil {
		return nil, err
	}
	changed, err := change(g)
	if err != nil || !changed {
		return g, err
	}
	g.UpdatedAt = c.Now
	if err := agents.Save(ctx, c.Tx, g); err != nil {
		return nil, err
	}
	a.ClearCallersOnCommit(c)
	return g, c.Emit(event, g.ID, g)
}

type agentMove struct {
	ID         id.ID `json:"id"`
	BusinessID id.ID `json:"businessId"`
}

// moveAgent lets the operator move an agent to any business, even in another
// organization. In the console it stays within the organization.
func (a *Accounts) moveAgent(ctx context.Context, c *op.Call, in agentMove) (*Agent, error) {
	to, err := db.QueryOne[id.ID](ctx, c.Tx,
		"SELECT organization_id FROM businesses WHERE id = $1 AND deleted_at IS NULL", in.BusinessID)
	if err == nil && to != c.Org && c.Door != op.AdminDoor {
		err = db.ErrNoRow
	}
	if err == nil { // so that it is not deleted meanwhile
		err = db.LockShared(ctx, c.Tx, "businesses", to, in.BusinessID)
	}
	if err != nil {
		return nil, db.AsNotFound(err, "business")
	}
	g, err := agents.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil || g.BusinessID == in.BusinessID {
		return g, err
	}
	g.BusinessID, g.UpdatedAt = in.BusinessID, c.Now
	if _, err := db.Exec(ctx, c.Tx, `
		UPDATE agents
		SET organization_id = $3, business_id = $4, updated_at = $5
		WHERE organization_id = $1 AND id = $2`,
		c.Org, g.ID, to, in.BusinessID, c.Now); err != nil {
		return nil, err
	}
	a.ClearCallersOnCommit(c)
	if to != c.Org {
		if err := a.connections.EndConnectionsOfAgent(ctx, c, g.ID, AgentMoved); err != nil {
			return nil, err
		}
		// Both organizations get the event: this one for the one it leaves, the last
		// line for the one it joins.
		if err := c.Emit("agent.moved", g.ID, g); err != nil {
			return nil, err
		}
		c.Org = to
	}
	moved := *g
	moved.OrganizationID = to
	return &moved, c.Emit("agent.moved", g.ID, &moved)
}

func (a *Accounts) deleteAgent(ctx context.Context, c *op.Call, in byID) (op.Nothing, error) {
	g, err := agents.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := a.connections.EndConnectionsOfAgent(ctx, c, g.ID, AgentDeleted); err != nil {
		return op.Nothing{}, err
	}
	a.ClearCallersOnCommit(c)
	return op.Nothing{}, c.Emit("agent.deleted", g.ID, g)
}

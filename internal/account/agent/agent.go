// Package agent manages the AI agents of an organization: who they are, what they may
// do alone and what they propose (agent.go, control.go), and what they use up in a day
// (use.go). Start reading at Service in this file.
//
// The row, account.Agent, is in package account: an agent is a caller, and seven
// statements of account and of package grant read it when they tell who a caller is.
// Those depend on none of the operations here.
package agent

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Config is what agents need. All of it is required but the agreement.
type Config struct {
	Accounts *account.Accounts
	// Connections ends what package grant gave to clients.
	Connections Connections
	// BusinessAgreement is the current version, without which no agent of a business
	// may act.
	BusinessAgreement string
}

// Connections ends connections for good, in the transaction of the call.
type Connections interface {
	// EndConnectionsOfAgent ends every connection that acts as an agent. The agent is
	// deleted, deactivated or moved to another organization.
	EndConnectionsOfAgent(ctx context.Context, c *op.Call, agent id.ID, reason string) error
}

// Service has the operations on agents.
type Service struct{ config Config }

// New returns the agents of a service. It panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "Accounts", "Connections")
	return &Service{c}
}

// Operations lists the operations on agents.
func (s *Service) Operations() []*op.Op { return append(s.agentOperations(), s.controlOperations()...) }

// byID names one agent.
type byID struct {
	ID id.ID `json:"id"`
}

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
			level := account.LevelDeny
			switch {
			case name == "all", (name == "read" || name == "helper") && a == op.ActionRead:
				level = account.LevelAllow
			case name == "helper" && a != op.ActionDelete && slices.Contains(helperResources, r):
				level = account.LevelAllow
			case name == "helper" && r == account.Proposals:
				level = account.LevelDeny // AllowedPermissions adds its own proposals, by AskMode
			case name == "helper":
				level = account.LevelAsk
			}
			table[r+"."+a.String()] = level
		}
	}
	return table
}

func (s *Service) agentOperations() []*op.Op {
	const one = `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`
	spec := func(name, summary, event, example string) op.Spec {
		return op.Spec{
			Name:     "agents." + name,
			Summary:  summary,
			Resource: op.Account,
			Doors:    account.Doors,
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
		account.WriteByManager(create, s.createAgent),
		op.Read(list, s.listAgents),
		op.Read(get, s.getAgent),
		op.Read(offered, s.listOfferedAgents),
		account.WriteByManager(spec("rename", "Give an agent another name.", "updated",
			`{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "name": "Assistant"}`), s.renameAgent),
		account.WriteByManager(spec("set_permissions", "Set what an agent may do.", "updated",
			`{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "permissions": {"contacts.create": "allow"}}`),
			s.setAgentPermissions),
		account.WriteByManager(spec("activate", "Activate an agent.", "activated", one),
			s.setAgentStatus(account.Active, "agent.activated")),
		account.WriteByManager(spec("deactivate", "Deactivate an agent; its connections end.", "deactivated", one),
			s.setAgentStatus(account.Inactive, "agent.deactivated")),
		account.WriteByManager(spec("move", "Move an agent to another business.", "moved",
			`{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "businessId": "7f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`),
			s.moveAgent),
		account.WriteByManager(remove, s.deleteAgent),
	}
}

type agentCreate struct {
	BusinessID id.ID  `json:"businessId"`
	Name       string `json:"name" min:"1"`
	Preset     string `json:"preset" default:"none" enum:"all,helper,read,none"`
}

func (s *Service) createAgent(ctx context.Context, c *op.Call, in agentCreate) (*account.Agent, error) {
	if err := db.Lock(ctx, c.Tx, "businesses", c.Org, in.BusinessID); err != nil {
		return nil, db.AsNotFound(err, "business")
	}
	g := &account.Agent{Record: c.NewRecord(), BusinessID: in.BusinessID, Name: in.Name, Status: account.Active,
		AskMode: account.AskUnavailable, ToolList: account.ToolsAll, Permissions: PresetPermissions(in.Preset)}
	if err := account.Agents.Insert(ctx, c.Tx, g); err != nil {
		return nil, err
	}
	return g, c.Emit("agent.created", g.ID, g)
}

type agentList struct{ op.Page }

func (s *Service) listAgents(ctx context.Context, c *op.Call, in agentList) (*op.List[account.Agent], error) {
	rows, err := account.Agents.List(ctx, c.Tx, db.InOrganization(c.Org), in.ToDBPage())
	return op.NewList(in.Page, rows), err
}

func (s *Service) getAgent(ctx context.Context, c *op.Call, in byID) (*account.Agent, error) {
	return account.Agents.Get(ctx, c.Tx, c.Org, in.ID)
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

func (s *Service) listOfferedAgents(ctx context.Context, c *op.Call, in agentList) (*op.List[Offer], error) {
	rows, err := db.QueryAll[Offer](ctx, c.Tx, `
		SELECT a.id, a.name, b.name, EXISTS (SELECT 1 FROM agreements g WHERE g.organization_id = $1
			AND g.business_id = b.id
			AND g.kind = 'business' AND g.version = $2 AND g.deleted_at IS NULL), a.permissions, a.ask_mode
		FROM agents a JOIN businesses b ON b.id = a.business_id AND b.deleted_at IS NULL
		WHERE a.organization_id = $1 AND a.status = 'active' AND a.deleted_at IS NULL
		ORDER BY b.seq, a.seq LIMIT $3 OFFSET $4`,
		c.Org, s.config.BusinessAgreement, in.Limit, in.Offset)
	return op.NewList(in.Page, rows), err
}

type agentRename struct {
	ID   id.ID  `json:"id"`
	Name string `json:"name" min:"1"`
}

func (s *Service) renameAgent(ctx context.Context, c *op.Call, in agentRename) (*account.Agent, error) {
	return s.changeAgent(ctx, c, in.ID, "agent.updated", func(g *account.Agent) (bool, error) {
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
		} else if !slices.Contains([]string{account.LevelAllow, account.LevelAsk, account.LevelDeny}, level) {
			tree = tree.At([]any{"permissions", cell}, "Invalid option: expected one of allow, ask, deny")
		}
	}
	return tree.Fault(fault.Invalid)
}

func (s *Service) setAgentPermissions(ctx context.Context, c *op.Call, in agentPermissions) (*account.Agent, error) {
	return s.changeAgent(ctx, c, in.ID, "agent.updated", func(g *account.Agent) (bool, error) {
		return setPermissionLevels(g, in.Permissions), nil
	})
}

// setPermissionLevels sets the levels of these cells, and reports whether one changed.
func setPermissionLevels(g *account.Agent, levels map[string]string) (changed bool) {
	for cell, level := range levels {
		changed = changed || g.Permissions[cell] != level
		g.Permissions[cell] = level
	}
	return changed
}

func (s *Service) setAgentStatus(status account.Status, event string) func(context.Context, *op.Call,
	byID) (*account.Agent, error) {
	return func(ctx context.Context, c *op.Call, in byID) (*account.Agent, error) {
		return s.changeAgent(ctx, c, in.ID, event, func(g *account.Agent) (bool, error) {
			changed := g.Status != status
			g.Status = status
			if changed && status != account.Active {
				return changed, s.config.Connections.EndConnectionsOfAgent(ctx, c, g.ID, account.AgentDeactivated)
			}
			return changed, nil
		})
	}
}

// changeAgent locks an agent, changes it, and emits the event if anything changed.
func (s *Service) changeAgent(ctx context.Context, c *op.Call, agent id.ID, event string,
	change func(*account.Agent) (bool, error)) (*account.Agent, error) {
	g, err := account.Agents.Lock(ctx, c.Tx, c.Org, agent)
	if err != nil {
		return nil, err
	}
	changed, err := change(g)
	if err != nil || !changed {
		return g, err
	}
	g.UpdatedAt = c.Now
	if err := account.Agents.Save(ctx, c.Tx, g); err != nil {
		return nil, err
	}
	s.config.Accounts.ClearCallersOnCommit(c)
	return g, c.Emit(event, g.ID, g)
}

type agentMove struct {
	ID         id.ID `json:"id"`
	BusinessID id.ID `json:"businessId"`
}

// moveAgent lets the operator move an agent to any business, even in another
// organization. In the console it stays within the organization.
func (s *Service) moveAgent(ctx context.Context, c *op.Call, in agentMove) (*account.Agent, error) {
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
	g, err := account.Agents.Lock(ctx, c.Tx, c.Org, in.ID)
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
	s.config.Accounts.ClearCallersOnCommit(c)
	if to != c.Org {
		if err := s.config.Connections.EndConnectionsOfAgent(ctx, c, g.ID, account.AgentMoved); err != nil {
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

func (s *Service) deleteAgent(ctx context.Context, c *op.Call, in byID) (op.Nothing, error) {
	g, err := account.Agents.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := s.config.Connections.EndConnectionsOfAgent(ctx, c, g.ID, account.AgentDeleted); err != nil {
		return op.Nothing{}, err
	}
	s.config.Accounts.ClearCallersOnCommit(c)
	return op.Nothing{}, c.Emit("agent.deleted", g.ID, g)
}

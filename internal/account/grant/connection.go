package grant

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Connection is a grant as people see it: a client that acts as an agent.
type Connection struct {
	ID         id.ID       `json:"id"`
	AgentID    id.ID       `json:"agentId"`
	UserID     id.ID       `json:"userId"`
	ClientID   string      `json:"clientId"`
	ClientName string      `json:"clientName"`
	CreatedAt  clock.Time  `json:"createdAt"`
	LastUsedAt *clock.Time `json:"lastUsedAt"`
}

// ListConnections lists the live connections of an organization, newest first.
func (g *Grants) ListConnections(ctx context.Context, org id.ID) (out []Connection, err error) {
	err = g.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = db.QueryAll[Connection](ctx, tx, `
			SELECT id, agent_id, user_id, client_id, client_name, connected_at, last_used_at FROM agent_grants
			WHERE organization_id = $1 AND ended_at IS NULL AND connected_at IS NOT NULL AND expires_at > $2
			ORDER BY seq DESC`, org, g.clock.Now())
		return err
	})
	return out, err
}

// Disconnect ends a connection of the organization; user is who did it.
func (g *Grants) Disconnect(ctx context.Context, org, connection, user id.ID) error {
	return g.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, err := lockGrant(ctx, tx, org, connection)
		if err != nil {
			return db.AsNotFound(err, "connection")
		}
		return g.endGrant(ctx, tx, v, "Disconnected", actor{kind: "user", id: user, door: "console"})
	})
}

// actor is whom the event log names.
type actor struct {
	kind    string
	id      id.ID
	door    string
	request string
}

var bySystem = actor{kind: "system", door: "system"}

// endGrant ends a grant, and with it every code, token and session: they are checked
// against their grant. The caller has locked it.
func (g *Grants) endGrant(ctx context.Context, tx *db.Tx, v *grantRow, reason string, by actor) error {
	if v.EndedAt != nil {
		return nil
	}
	now := g.clock.Now()
	v.EndedAt, v.EndReason = &now, &reason
	if _, err := db.Exec(ctx, tx, `
		UPDATE agent_grants
		SET ended_at = $3, end_reason = $4
		WHERE organization_id = $1 AND id = $2`, v.Org, v.ID, now, reason); err != nil {
		return err
	}
	if v.ConnectedAt == nil {
		return nil // a consent that was never used
	}
	return g.logConnection(ctx, tx, v, "agent.disconnected", by)
}

// markConnected records that a client exchanged the code of its grant. Until then the
// grant is only a consent, and no list shows it.
func (g *Grants) markConnected(ctx context.Context, tx *db.Tx, v *grantRow) error {
	now := g.clock.Now()
	v.ConnectedAt = &now
	if _, err := db.Exec(ctx, tx, "UPDATE agent_grants SET connected_at = $3 WHERE organization_id = $1 AND id = $2",
		v.Org, v.ID, now); err != nil {
		return err
	}
	return g.logConnection(ctx, tx, v, "agent.connected", actor{kind: "user", id: v.User, door: "agent"})
}

// logConnection writes an event about an agent's connection.
func (g *Grants) logConnection(ctx context.Context, tx *db.Tx, v *grantRow, kind string, by actor) error {
	text, err := json.Marshal(struct {
		Connection `json:",inline"`
		EndedAt    *clock.Time `json:"endedAt"`
		Reason     *string     `json:"reason"`
	}{Connection{ID: v.ID, AgentID: v.Agent, UserID: v.User, ClientID: v.Client, ClientName: v.ClientName,
		CreatedAt: *v.ConnectedAt}, v.EndedAt, v.EndReason})
	if err != nil {
		return err
	}
	e := event.Event{Organization: v.Org, At: g.clock.Now(), Type: kind, ResourceID: v.Agent, ActorKind: by.kind,
		Door: by.door, RequestID: by.request, Data: text}
	if by.id != "" {
		e.ActorID = &by.id
	}
	if e.RequestID == "" {
		e.RequestID = string(id.NewRequestID())
	}
	return g.events.Append(ctx, tx, e)
}

// EndConnectionsOfAgent ends every grant of an agent, in the transaction that ended the
// agent and on behalf of the same caller. Activating the agent again, or moving
// it back, revives none.
func (g *Grants) EndConnectionsOfAgent(ctx context.Context, c *op.Call, agent id.ID, reason string) error {
	return g.endMatchingGrants(ctx, c, reason, "organization_id = $1 AND agent_id = $2", c.Org, agent)
}

// EndConnectionsOfUser ends every grant of a user, in the call's organization or in all of
// them, in the call's transaction.
func (g *Grants) EndConnectionsOfUser(ctx context.Context, c *op.Call, user id.ID, everywhere bool,
	reason string) error {
	if everywhere {
		return g.endMatchingGrants(ctx, c, reason, "user_id = $1", user)
	}
	return g.endMatchingGrants(ctx, c, reason, "organization_id = $1 AND user_id = $2", c.Org, user)
}

// endMatchingGrants locks and ends the grants that match the condition which and have not ended.
func (g *Grants) endMatchingGrants(ctx context.Context, c *op.Call, reason, which string, args ...any) error {
	text := "SELECT " + grantColumns + " FROM agent_grants WHERE " + which + " AND ended_at IS NULL ORDER BY seq"
	if c.Tx.Engine() == db.Postgres {
		text += " FOR NO KEY UPDATE"
	}
	rows, err := db.QueryAll[grantRow](ctx, c.Tx, text, args...)
	if err != nil {
		return err
	}
	by := actor{string(c.Caller.Kind), c.Caller.ID, c.Door.String(), c.RequestID}
	for i := range rows {
		if err := g.endGrant(ctx, c.Tx, &rows[i], reason, by); err != nil {
			return err
		}
	}
	return nil
}

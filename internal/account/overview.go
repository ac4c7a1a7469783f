package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Usage is how much of the account there is.
type Usage struct {
	Businesses int `json:"businesses"`
	Members    int `json:"members"`
	Keys       int `json:"apiKeys" doc:"that were not revoked"`
	Agents     int `json:"agents"`
	Cards      int `json:"paymentMethods"`

	StorageBytes int64 `json:"storageBytes" doc:"of files and mail, with what was deleted and is not yet removed for good"`
}

// Activity is one thing that happened, as people read it.
type Activity struct {
	CreatedAt clock.Time `json:"createdAt"`
	Type      string     `json:"type"`
	ActorKind string     `json:"actorKind"`
	ActorName *string    `json:"actorName"`
	Name      *string    `json:"name" doc:"of what it happened to"`
}

func (a *Accounts) overviewOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{Name: "organizations.usage", Summary: "Count what belongs to the account.",
			Resource: op.Account, Doors: doors, Example: `{}`}, a.usage),
		op.Read(op.Spec{Name: "organizations.activity", Summary: "List what happened last, and who did it.",
			Resource: op.Account, Doors: doors, Example: `{"limit": 5}`}, a.activity),
	}
}

func (a *Accounts) usage(ctx context.Context, c *op.Call, _ struct{}) (*Usage, error) {
	u, err := db.One[Usage](ctx, c.Tx, `SELECT
		(SELECT count(*) FROM businesses WHERE organization_id = $1 AND deleted_at IS NULL),
		(SELECT count(*) FROM memberships WHERE organization_id = $1 AND deleted_at IS NULL),
		(SELECT count(*) FROM api_keys WHERE organization_id = $1 AND deleted_at IS NULL AND revoked_at IS NULL),
		(SELECT count(*) FROM agents WHERE organization_id = $1 AND deleted_at IS NULL),
		(SELECT count(*) FROM payment_methods WHERE organization_id = $1 AND deleted_at IS NULL),
		CAST((SELECT coalesce(sum(size_bytes), 0) FROM files WHERE organization_id = $1) + (SELECT coalesce(sum(size_bytes), 0) FROM messages WHERE organization_id = $1) AS bigint)`, c.Org)
	return &u, err
}

type activityList struct{ op.Page }

type activityRow struct {
	CreatedAt clock.Time `db:"created_at"`
	Type      string     `db:"type"`
	ActorKind string     `db:"actor_kind"`
	ActorID   *id.ID     `db:"actor_id"`
	Actor     *string    `db:"actor"`
	Data      db.JSON    `db:"data"`
}

func (a *Accounts) activity(ctx context.Context, c *op.Call, in activityList) (*op.List[Activity], error) {
	rows, err := db.All[activityRow](ctx, c.Tx, `
		SELECT e.created_at, e.type, e.actor_kind, e.actor_id,
			CASE e.actor_kind
				WHEN 'user' THEN (SELECT u.name FROM users u WHERE u.id = e.actor_id)
				WHEN 'agent' THEN (SELECT g.name FROM agents g WHERE g.organization_id = $1 AND g.id = e.actor_id)
				WHEN 'api' THEN (SELECT k.name FROM api_keys k WHERE k.organization_id = $1 AND k.id = e.actor_id)
			END, e.data
		FROM events e WHERE e.organization_id = $1 ORDER BY e.created_at DESC, e.seq DESC LIMIT $2 OFFSET $3`, c.Org, in.Limit, in.Offset)
	if err != nil {
		return nil, err
	}
	out := make([]Activity, len(rows))
	for i, r := range rows {
		out[i] = Activity{CreatedAt: r.CreatedAt, Type: r.Type, ActorKind: r.ActorKind, ActorName: r.Actor, Name: nameIn(r.Data)}
	}
	return op.ListOf(in.Page, out), nil
}

// nameIn is what people call the thing that an event is about.
func nameIn(data []byte) *string {
	var v struct {
		Name         *string `json:"name"`
		FirstName    *string `json:"firstName"`
		LastName     *string `json:"lastName"`
		Organization *string `json:"organizationName"`
		ClientName   *string `json:"clientName"`
		Email        *string `json:"email"`
		Kind         *string `json:"kind"`
	}
	if len(data) == 0 || json.Unmarshal(data, &v) != nil {
		return nil
	}
	if v.FirstName != nil && v.LastName != nil {
		full := *v.FirstName + " " + *v.LastName
		return &full
	}
	for _, s := range []*string{v.Name, v.FirstName, v.LastName, v.Organization, v.ClientName, v.Email, v.Kind} {
		if s != nil && *s != "" {
			return s
		}
	}
	return nil
}

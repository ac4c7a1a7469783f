package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Usage counts what belongs to the account.
type Usage struct {
	Businesses int `json:"businesses"`
	Members    int `json:"members"`
	Keys       int `json:"apiKeys" doc:"keys that are not revoked"`
	Agents     int `json:"agents"`
	Cards      int `json:"paymentMethods" db:"-"`

	StorageBytes int64 `json:"storageBytes" doc:"files and mail, including what is deleted but not yet purged"`
}

// Activity is one event in a form that people read.
type Activity struct {
	CreatedAt clock.Time `json:"createdAt"`
	Type      string     `json:"type"`
	ActorKind string     `json:"actorKind"`
	ActorName *string    `json:"actorName"`
	Name      *string    `json:"name" doc:"name of what it happened to"`
}

func (a *Accounts) overviewOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "organizations.usage",
			Summary:  "Count what belongs to the account.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  `{}`,
		}, a.countUsage),
		op.Read(op.Spec{
			Name:     "organizations.activity",
			Summary:  "List what happened most recently, and who did it.",
			Resource: op.Account,
			Doors:    Doors,
			Example:  `{"limit": 5}`,
		}, a.listActivity),
		op.Read(op.Spec{
			Name:     "actors.list",
			Summary:  "Name the users, agents and API keys that ids stand for.",
			Resource: "webhooks", // whoever reads the event log sees their ids
			Doors:    op.ConsoleDoor,
			Example:  `{"ids": ["6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"]}`,
		}, a.listActors),
	}
}

// Actor is who caused an event.
type Actor struct {
	ID   id.ID  `json:"id"`
	Name string `json:"name"`
}

type actorList struct {
	op.Page
	IDs []id.ID `json:"ids" max:"100" ref:"-"`
}

func (a *Accounts) listActors(ctx context.Context, c *op.Call, in actorList) (*op.List[Actor], error) {
	names, err := loadActorNames(ctx, c.Tx, c.Org, in.IDs)
	out := []Actor{}
	for _, ref := range in.IDs {
		if name := names[ref]; name != nil {
			out = append(out, Actor{ref, *name})
		}
	}
	return op.NewList(in.Page, out), err
}

func (a *Accounts) countUsage(ctx context.Context, c *op.Call, _ struct{}) (*Usage, error) {
	u, err := db.QueryOne[Usage](ctx, c.Tx, `
		SELECT
			(SELECT count(*) FROM businesses WHERE organization_id = $1 AND deleted_at IS NULL),
			(SELECT count(*) FROM memberships WHERE organization_id = $1 AND deleted_at IS NULL),
			(SELECT count(*) FROM api_keys WHERE organization_id = $1 AND deleted_at IS NULL AND revoked_at IS NULL),
			(SELECT count(*) FROM agents WHERE organization_id = $1 AND deleted_at IS NULL),
`+db.StoredBytes("$1"), c.Org)
	if err == nil && a.config.CountCards != nil {
		u.Cards, err = a.config.CountCards(ctx, c.Tx, c.Org)
	}
	return &u, err
}

type activityList struct{ op.Page }

func (a *Accounts) listActivity(ctx context.Context, c *op.Call, in activityList) (*op.List[Activity], error) {
	events, err := event.ListPage(ctx, c.Tx, c.Org, in.Limit, in.Offset)
	if err != nil {
		return nil, err
	}
	names, err := namesOfEventActors(ctx, c, events)
	if err != nil {
		return nil, err
	}
	out := make([]Activity, len(events))
	for i, e := range events {
		out[i] = Activity{CreatedAt: e.At, Type: e.Type, ActorKind: e.ActorKind, Name: nameInEventData(e.Data)}
		if e.ActorID != nil {
			out[i].ActorName = names[*e.ActorID]
		}
	}
	return op.NewList(in.Page, out), nil
}

// namesOfEventActors finds the names of the users, agents and keys that caused events.
func namesOfEventActors(ctx context.Context, c *op.Call, events []event.Event) (map[id.ID]*string, error) {
	var actors []id.ID
	for _, e := range events {
		if e.ActorID != nil {
			actors = append(actors, *e.ActorID)
		}
	}
	return loadActorNames(ctx, c.Tx, c.Org, actors)
}

// loadActorNames finds the names of users, agents and keys. A user of another
// organization has none here, unless they once were a member.
func loadActorNames(ctx context.Context, tx *db.Tx, org id.ID, actors []id.ID) (map[id.ID]*string, error) {
	type named struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
	}
	rows, err := db.QueryAll[named](ctx, tx, `
		SELECT u.id, u.name FROM users u
			WHERE u.id = ANY($2) AND EXISTS (SELECT 1 FROM memberships m
				WHERE m.organization_id = $1 AND m.user_id = u.id)
		UNION ALL SELECT id, name FROM agents WHERE organization_id = $1 AND id = ANY($2)
		UNION ALL SELECT id, name FROM api_keys WHERE organization_id = $1 AND id = ANY($2)`, org, actors)
	out := map[id.ID]*string{}
	for _, r := range rows {
		out[r.ID] = &r.Name
	}
	return out, err
}

// ActorName is the name of the user, agent or key that caused an event; empty for the service itself, for automations
// and for who is gone.
func ActorName(ctx context.Context, tx *db.Tx, org id.ID, actor *id.ID) (string, error) {
	if actor == nil {
		return "", nil
	}
	names, err := loadActorNames(ctx, tx, org, []id.ID{*actor})
	if err != nil || names[*actor] == nil {
		return "", err
	}
	return *names[*actor], nil
}

// nameInEventData finds a name for the thing that an event is about: the first of the fields
// below that its data has.
func nameInEventData(data []byte) *string {
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

package business

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// BusinessOnlinePresence is a place on the web where a business can be found.
type BusinessOnlinePresence struct {
	op.Record
	BusinessID  id.ID   `json:"businessId"`
	Kind        string  `json:"kind" enum:"website,facebook,instagram,linkedin,x,youtube,tiktok,google_business,other"`
	URL         string  `json:"url" format:"url" max:"2048"`
	Handle      *string `json:"handle" doc:"the name there, for example @engines"`
	Description *string `json:"description" max:"10000"`
}

var onlinePresences = op.NewNested[BusinessOnlinePresence]("business_online_presences", db.Life{
	Noun:      "online presence",
	Strangers: db.NobodyOutside,
	Parent:    db.To("business_id", "businesses"),
})

func onlinePresenceOperations() []*op.Op {
	const ref = exampleID + `, "onlinePresenceId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:    "businesses.online_presences.list",
			Route:   "GET /v1/businesses/{id}/online-presences",
			Summary: "List a business's online presences, newest first.",
			Example: `{` + exampleID + `, "kind": ["website"]}`,
		}, listOnlinePresences),
		op.Write(op.Spec{
			Name:    "businesses.online_presences.create",
			Route:   "POST /v1/businesses/{id}/online-presences",
			Summary: "Add an online presence to a business.",
			Events:  []string{"business.online_presence.created"},
			Example: `{` + exampleID +
				`, "kind": "instagram", "url": "https://example.com/engines", "handle": "@engines"}`,
		}, addOnlinePresence),
		op.Read(op.Spec{
			Name:    "businesses.online_presences.get",
			Route:   "GET /v1/businesses/{id}/online-presences/{onlinePresenceId}",
			Summary: "Get an online presence of a business.",
			Example: `{` + ref + `}`,
		}, getOnlinePresence),
		op.Write(op.Spec{
			Name:    "businesses.online_presences.update",
			Route:   "PATCH /v1/businesses/{id}/online-presences/{onlinePresenceId}",
			Summary: "Change an online presence of a business.",
			Events:  []string{"business.online_presence.updated"},
			Example: `{` + ref + `, "url": "https://example.com/new", "handle": null}`,
		}, updateOnlinePresence),
		op.Write(op.Spec{
			Name:    "businesses.online_presences.delete",
			Route:   "DELETE /v1/businesses/{id}/online-presences/{onlinePresenceId}",
			Summary: "Remove an online presence from a business.",
			Events:  []string{"business.online_presence.deleted"},
			Example: `{` + ref + `}`,
		}, removeOnlinePresence),
	}
}

type onlinePresenceList struct {
	op.Page
	businessRef
	Kind []string `query:"kind" enum:"website,facebook,instagram,linkedin,x,youtube,tiktok,google_business,other"`
}

func listOnlinePresences(ctx context.Context, c *op.Call, in onlinePresenceList) (*op.List[BusinessOnlinePresence],
	error) {
	w := onlinePresences.Under(c, in.ID)
	db.OneOf(w, "kind", in.Kind)
	return onlinePresences.ListWhere(ctx, c, in.ID, w, in.Page)
}

type onlinePresenceAdd struct {
	businessRef
	Kind        string  `json:"kind" enum:"website,facebook,instagram,linkedin,x,youtube,tiktok,google_business,other"`
	URL         string  `json:"url" format:"url" max:"2048"`
	Handle      *string `json:"handle" doc:"the name there, for example @engines"`
	Description *string `json:"description" max:"10000"`
}

func addOnlinePresence(ctx context.Context, c *op.Call, in onlinePresenceAdd) (*BusinessOnlinePresence, error) {
	v := &BusinessOnlinePresence{Record: c.NewRecord(), BusinessID: in.ID, Kind: in.Kind, URL: in.URL,
		Handle:      in.Handle,
		Description: in.Description}
	if err := onlinePresences.Add(ctx, c, in.ID, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.online_presence.created", v.ID, v)
}

type onlinePresenceRef struct {
	businessRef
	OnlinePresenceID id.ID `path:"onlinePresenceId"`
}

func getOnlinePresence(ctx context.Context, c *op.Call, in onlinePresenceRef) (*BusinessOnlinePresence, error) {
	return onlinePresences.Get(ctx, c, in.ID, in.OnlinePresenceID)
}

type onlinePresenceUpdate struct {
	onlinePresenceRef
	Kind op.Maybe[string] `json:"kind" enum:"website,facebook,instagram,linkedin,x,youtube,tiktok,google_business,other"`

	URL         op.Maybe[string] `json:"url" format:"url" max:"2048"`
	Handle      op.Opt[string]   `json:"handle" doc:"the name there, for example @engines"`
	Description op.Opt[string]   `json:"description" max:"10000"`
}

func updateOnlinePresence(ctx context.Context, c *op.Call, in onlinePresenceUpdate) (*BusinessOnlinePresence, error) {
	v, changed, err := onlinePresences.Change(ctx, c, in.ID, in.OnlinePresenceID, &in,
		func(v *BusinessOnlinePresence) { v.UpdatedAt = c.Now })
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("business.online_presence.updated", v.ID, v)
}

func removeOnlinePresence(ctx context.Context, c *op.Call, in onlinePresenceRef) (op.Nothing, error) {
	v, err := onlinePresences.Remove(ctx, c, in.ID, in.OnlinePresenceID)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("business.online_presence.deleted", v.ID, v)
}

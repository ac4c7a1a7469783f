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
	BusinessID id.ID `json:"businessId"`
	onlinePresenceFields
}

// onlinePresenceFields are what callers set of an online presence.
type onlinePresenceFields struct {
	Kind        string  `json:"kind" enum:"website,facebook,instagram,linkedin,x,youtube,tiktok,google_business,other"`
	URL         string  `json:"url" format:"url" max:"2048"`
	Handle      *string `json:"handle" doc:"the name there, for example @engines"`
	Description *string `json:"description" max:"10000"`
}

var onlinePresences = op.NewNested[BusinessOnlinePresence]("business_online_presences", db.Life{
	Noun:         "online presence",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("business_id", "businesses"),
})

func onlinePresenceOperations() []*op.Op {
	const ref = exampleID + `, "onlinePresenceId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.ListChildrenWhere(op.Spec{
			Name: "businesses.online_presences.list",
			NounWords: "social, instagram, facebook, linkedin, website, online, twitter, youtube, tiktok, " +
				"social media, web page",
			Example: `{` + exampleID + `, "kind": ["website"]}`,
		}, onlinePresences, func(in *onlinePresenceList, w *db.Where) { db.FilterOneOf(w, "kind", in.Kind) }),
		op.Write(op.Spec{
			Name:    "businesses.online_presences.create",
			Route:   "POST /v1/businesses/{id}/online-presences",
			Summary: "Add an online presence to a business.",
			Events:  []string{"business.online_presence.created"},
			Example: `{` + exampleID +
				`, "kind": "instagram", "url": "https://example.com/engines", "handle": "@engines"}`,
		}, addOnlinePresence),
		op.GetChild(op.Spec{Name: "businesses.online_presences.get"}, onlinePresences),
		op.Write(op.Spec{
			Name:    "businesses.online_presences.update",
			Route:   "PATCH /v1/businesses/{id}/online-presences/{onlinePresenceId}",
			Summary: "Change an online presence of a business.",
			Events:  []string{"business.online_presence.updated"},
			Example: `{` + ref + `, "url": "https://example.com/new", "handle": null}`,
		}, updateOnlinePresence),
		op.DeleteChild(op.Spec{Name: "businesses.online_presences.delete", Words: "leave"}, onlinePresences),
	}
}

type onlinePresenceList struct {
	op.ChildPage
	Kind []string `query:"kind" enum:"website,facebook,instagram,linkedin,x,youtube,tiktok,google_business,other"`
}

type onlinePresenceAdd struct {
	businessRef
	onlinePresenceFields
}

func addOnlinePresence(ctx context.Context, c *op.Call, in onlinePresenceAdd) (*BusinessOnlinePresence, error) {
	v := &BusinessOnlinePresence{Record: c.NewRecord(), BusinessID: in.ID,
		onlinePresenceFields: in.onlinePresenceFields}
	if err := onlinePresences.Add(ctx, c, in.ID, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.online_presence.created", v.ID, v)
}

type onlinePresenceUpdate struct {
	businessRef
	OnlinePresenceID id.ID `path:"onlinePresenceId"`
	op.Changes[onlinePresenceFields]
}

func updateOnlinePresence(ctx context.Context, c *op.Call, in onlinePresenceUpdate) (*BusinessOnlinePresence, error) {
	v, changed, err := onlinePresences.Change(ctx, c, in.ID, in.OnlinePresenceID, &in,
		func(v *BusinessOnlinePresence) { v.UpdatedAt = c.Now })
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("business.online_presence.updated", v.ID, v)
}

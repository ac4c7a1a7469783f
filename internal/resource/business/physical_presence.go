package business

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// BusinessPhysicalPresence is a place where a business can be visited.
type BusinessPhysicalPresence struct {
	op.Record
	BusinessID id.ID `json:"businessId"`
	physicalPresenceFields
}

// physicalPresenceFields are what callers set of a physical presence.
type physicalPresenceFields struct {
	Name        string  `json:"name" min:"1"`
	Description *string `json:"description" max:"10000"`
	Address     *string `json:"address"`
}

var physicalPresences = op.NewNested[BusinessPhysicalPresence]("business_physical_presences", db.Life{
	Noun:         "physical presence",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("business_id", "businesses"),
})

func physicalPresenceOperations() []*op.Op {
	const ref = exampleID + `, "physicalPresenceId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "businesses.physical_presences.list",
			NounWords: "shop, store, office, branch, location, open, workshop, premises, showroom, site, opening"},
			physicalPresences),
		op.Write(op.Spec{
			Name:    "businesses.physical_presences.create",
			Route:   "POST /v1/businesses/{id}/physical-presences",
			Summary: "Add a physical presence to a business.",
			Events:  []string{"business.physical_presence.created"},
			Example: `{` + exampleID + `, "name": "Workshop", "address": "1 Dorset Street, London W1U 4EE"}`,
		}, addPhysicalPresence),
		op.GetChild(op.Spec{Name: "businesses.physical_presences.get"}, physicalPresences),
		op.Write(op.Spec{
			Name:    "businesses.physical_presences.update",
			Route:   "PATCH /v1/businesses/{id}/physical-presences/{physicalPresenceId}",
			Summary: "Change a physical presence of a business.",
			Events:  []string{"business.physical_presence.updated"},
			Example: `{` + ref + `, "description": "Ring twice", "address": null}`,
		}, updatePhysicalPresence),
		op.DeleteChild(op.Spec{Name: "businesses.physical_presences.delete"}, physicalPresences),
	}
}

type physicalPresenceAdd struct {
	businessRef
	physicalPresenceFields
}

func addPhysicalPresence(ctx context.Context, c *op.Call, in physicalPresenceAdd) (*BusinessPhysicalPresence, error) {
	v := &BusinessPhysicalPresence{Record: c.NewRecord(), BusinessID: in.ID,
		physicalPresenceFields: in.physicalPresenceFields}
	if err := physicalPresences.Add(ctx, c, in.ID, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.physical_presence.created", v.ID, v)
}

type physicalPresenceUpdate struct {
	businessRef
	PhysicalPresenceID id.ID `path:"physicalPresenceId"`
	op.Changes[physicalPresenceFields]
}

func updatePhysicalPresence(ctx context.Context, c *op.Call, in physicalPresenceUpdate) (*BusinessPhysicalPresence,
	error) {
	v, changed, err := physicalPresences.Change(ctx, c, in.ID, in.PhysicalPresenceID, &in,
		func(v *BusinessPhysicalPresence) { v.UpdatedAt = c.Now })
	if err != nil || !changed {
		return v, err
	}
	return v, c.Emit("business.physical_presence.updated", v.ID, v)
}

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
	BusinessID  id.ID   `json:"businessId"`
	Name        string  `json:"name"`
	Description *string `json:"description" max:"10000"`
	Address     *string `json:"address"`
}

var physicalPresences = op.NewNested[BusinessPhysicalPresence]("business_physical_presences", db.Life{
	Noun:      "physical presence",
	Strangers: db.NobodyOutside,
	Parent:    db.To("business_id", "businesses"),
})

func physicalPresenceOperations() []*op.Op {
	const ref = exampleID + `, "physicalPresenceId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:    "businesses.physical_presences.list",
			Route:   "GET /v1/businesses/{id}/physical-presences",
			Summary: "List a business's physical presences, newest first.",
			Example: `{` + exampleID + `}`,
		}, listPhysicalPresences),
		op.Write(op.Spec{
			Name:    "businesses.physical_presences.create",
			Route:   "POST /v1/businesses/{id}/physical-presences",
			Summary: "Add a physical presence to a business.",
			Events:  []string{"business.physical_presence.created"},
			Example: `{` + exampleID + `, "name": "Workshop", "address": "1 Dorset Street, London W1U 4EE"}`,
		}, addPhysicalPresence),
		op.Read(op.Spec{
			Name:    "businesses.physical_presences.get",
			Route:   "GET /v1/businesses/{id}/physical-presences/{physicalPresenceId}",
			Summary: "Get a physical presence of a business.",
			Example: `{` + ref + `}`,
		}, getPhysicalPresence),
		op.Write(op.Spec{
			Name:    "businesses.physical_presences.update",
			Route:   "PATCH /v1/businesses/{id}/physical-presences/{physicalPresenceId}",
			Summary: "Change a physical presence of a business.",
			Events:  []string{"business.physical_presence.updated"},
			Example: `{` + ref + `, "description": "Ring twice", "address": null}`,
		}, updatePhysicalPresence),
		op.Write(op.Spec{
			Name:    "businesses.physical_presences.delete",
			Route:   "DELETE /v1/businesses/{id}/physical-presences/{physicalPresenceId}",
			Summary: "Remove a physical presence from a business.",
			Events:  []string{"business.physical_presence.deleted"},
			Example: `{` + ref + `}`,
		}, removePhysicalPresence),
	}
}

type physicalPresenceList struct {
	op.Page
	businessRef
}

func listPhysicalPresences(ctx context.Context, c *op.Call,
	in physicalPresenceList) (*op.List[BusinessPhysicalPresence], error) {
	return physicalPresences.List(ctx, c, in.ID, in.Page)
}

type physicalPresenceAdd struct {
	businessRef
	Name        string  `json:"name" min:"1"`
	Description *string `json:"description" max:"10000"`
	Address     *string `json:"address"`
}

func addPhysicalPresence(ctx context.Context, c *op.Call, in physicalPresenceAdd) (*BusinessPhysicalPresence, error) {
	v := &BusinessPhysicalPresence{Record: c.NewRecord(), BusinessID: in.ID, Name: in.Name, Description: in.Description,
		Address: in.Address}
	if err := physicalPresences.Add(ctx, c, in.ID, v); err != nil {
		return nil, err
	}
	return v, c.Emit("business.physical_presence.created", v.ID, v)
}

type physicalPresenceRef struct {
	businessRef
	PhysicalPresenceID id.ID `path:"physicalPresenceId"`
}

func getPhysicalPresence(ctx context.Context, c *op.Call, in physicalPresenceRef) (*BusinessPhysicalPresence, error) {
	return physicalPresences.Get(ctx, c, in.ID, in.PhysicalPresenceID)
}

type physicalPresenceUpdate struct {
	physicalPresenceRef
	Name        op.Maybe[string] `json:"name" min:"1"`
	Description op.Opt[string]   `json:"description" max:"10000"`
	Address     op.Opt[string]   `json:"address"`
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

func removePhysicalPresence(ctx context.Context, c *op.Call, in physicalPresenceRef) (op.Nothing, error) {
	v, err := physicalPresences.Remove(ctx, c, in.ID, in.PhysicalPresenceID)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("business.physical_presence.deleted", v.ID, v)
}

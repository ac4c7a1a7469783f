package op

import (
	"testing"

	"frontdesk/internal/kernel/fault"
)

type pathID struct {
	ID string `path:"id"`
}

// A refusal names the permission that is missing, not one that the caller has.
func TestMissingPermission(t *testing.T) {
	put := Write(Spec{Name: "pens.put", Route: "PUT /v1/pens/{id}", Summary: "Put.", MayCreate: true,
		Example: `{"id": "x"}`}, handler[pathID])
	patch := Write(Spec{Name: "pens.patch", Route: "PATCH /v1/pens/{id}", Summary: "Patch.", Reads: true,
		Example: `{"id": "x"}`}, handler[pathID])
	get := Read(Spec{Name: "pens.get", Route: "GET /v1/pens/{id}", Summary: "Get.", Example: `{"id": "x"}`},
		handler[pathID])
	read, create := permissionBit("pens", ActionRead), permissionBit("pens", ActionCreate)
	update := permissionBit("pens", ActionUpdate)
	for _, c := range []struct {
		op   *Op
		has  Permissions
		want string
	}{
		{put, read | update, "pens:write"},
		{put, read | create, "pens:write"},
		{put, update, "pens:write"},
		{put, create | update, ""},
		{patch, update, "pens:read"},
		{patch, read, "pens:write"},
		{patch, 0, "pens:write"},
		{get, update, "pens:read"},
	} {
		got := ""
		if err := c.op.PermitCaller(&Caller{Kind: AgentActor, Permissions: c.has}, RESTDoor); err != nil {
			details, _ := fault.FromError(err).Details.(map[string]string)
			got = details["permission"]
		}
		if got != c.want {
			t.Errorf("%s with %v lacks %q, want %q", c.op.Name, c.has.Cells(), got, c.want)
		}
	}
}

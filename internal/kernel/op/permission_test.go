package op

import (
	"testing"

	"frontdesk/internal/kernel/fault"
)

// The resource is one that other tests have as well: there is room for few.
type pathID struct {
	ID string `path:"id"`
}

// A refusal names the permission that is missing, not one that the caller has.
func TestMissingPermission(t *testing.T) {
	put := Write(Spec{Name: "test_pens.put", Route: "PUT /v1/test-pens/{id}", Summary: "Put.", MayCreate: true,
		Example: `{"id": "x"}`}, handler[pathID])
	patch := Write(Spec{Name: "test_pens.patch", Route: "PATCH /v1/test-pens/{id}", Summary: "Patch.", Reads: true,
		Example: `{"id": "x"}`}, handler[pathID])
	get := Read(Spec{Name: "test_pens.get", Route: "GET /v1/test-pens/{id}", Summary: "Get.", Example: `{"id": "x"}`},
		handler[pathID])
	read, create := permissionBit("test_pens", ActionRead), permissionBit("test_pens", ActionCreate)
	update := permissionBit("test_pens", ActionUpdate)
	for _, c := range []struct {
		op   *Op
		has  Permissions
		want string
	}{
		{put, read | update, "test_pens:write"},
		{put, read | create, "test_pens:write"},
		{put, update, "test_pens:write"},
		{put, create | update, ""},
		{patch, update, "test_pens:read"},
		{patch, read, "test_pens:write"},
		{patch, 0, "test_pens:write"},
		{get, update, "test_pens:read"},
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

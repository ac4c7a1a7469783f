package account_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// A key that the operator makes belongs to the oldest owner, or to the named
// user. What is made with it is theirs.
func TestKeyOfOperator(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		add := func(email, role string) id.ID {
			t.Helper()
			return a.AsOperator(t, "users.create", "organization", a.Org,
				fmt.Sprintf(`{"email": %q, "name": "X", "role": %q, "password": "a long password"}`, email, role)).
				ID("id")
		}
		add("second@example.com", "owner")
		grace := add("grace@example.com", "admin")
		add("member@example.com", "member")
		key := func(by string) apptest.Value {
			t.Helper()
			return a.AsOperator(t, "api_keys.create", "business", a.Business,
				fmt.Sprintf(`{"businessId": %q, "name": "K", "permissions": ["*"]%s}`, a.Business, by))
		}
		key("").Same("createdByUserId", a.OwnerID)
		hers := key(`, "by": "GRACE@example.com"`)
		hers.Same("createdByUserId", grace)
		made := a.SendREST(t, hers.Text("key"), "POST", "/v1/email-templates",
			`{"name": "N", "subject": "S", "body": "B"}`).
			OK(t, 201)
		made.Same("createdBy", grace)
		for _, by := range []string{"member@example.com", "nobody@example.com"} {
			_, err := a.Admin.Do(t.Context(), admin.Request{
				Operation: "api_keys.create", Noun: "business", Ref: string(a.Business),
				Input: fmt.Appendf(nil, `{"businessId": %q, "name": "K", "permissions": ["*"], "by": %q}`, a.Business,
					by)})
			if !fault.IsKind(err, fault.Invalid) {
				t.Errorf("by %s: %v", by, err)
			}
		}
		// The key ends with her membership and stays dead when she returns.
		a.AsOperator(t, "users.remove", "organization", a.Org, fmt.Sprintf(`{"id": %q}`, grace))
		a.SendREST(t, hers.Text("key"), "GET", "/v1/me", "").Refused(t, 401, "UNAUTHORIZED")
		// Only owners can take over what somebody made, and the operator is not one.
		second := a.AsOperator(t, "users.list", "organization", a.Org, `{}`).At("0").ID("id")
		_, err := a.Admin.Do(t.Context(), admin.Request{
			Operation: "users.remove", Noun: "organization", Ref: string(a.Org),
			Input: fmt.Appendf(nil, `{"id": %q, "takeOver": [%q]}`, second, id.New())})
		if !fault.IsKind(err, fault.Forbidden) {
			t.Errorf("taken over by the operator: %v", err)
		}
	})
}

// An address that already has a user is not added to another organization, with
// a password or without. A link is created instead.
func TestUserOfAnotherOrganization(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		other := a.NewTenant(t, "free")
		for _, password := range []string{"", `, "password": "a new password"`} {
			v := a.AsOperator(t, "users.create", "organization", a.Org,
				fmt.Sprintf(`{"email": %q, "name": "X", "role": "admin"%s}`, other.Owner, password))
			v.Same("added", false)
			v.Same("id", other.OwnerID)
			if v.At("url").Null() || v.At("next").Null() {
				t.Errorf("no link: %s", v)
			}
		}
		if n := a.AsOperator(t, "users.list", "organization", a.Org, `{}`).Len(); n != 1 {
			t.Errorf("%d members", n)
		}
		_, err := a.Admin.Do(t.Context(), admin.Request{
			Operation: "users.create", Noun: "organization", Ref: string(a.Org),
			Input: fmt.Appendf(nil, `{"email": %q, "name": "X"}`, a.Owner)})
		if !fault.IsKind(err, fault.Invalid) {
			t.Errorf("who belongs to it already: %v", err)
		}
	})
}

package account_test

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// Whoever hands out work finds the person in one call, and sees nobody of another
// organization and nobody who cannot take it.
func TestMembers(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		a.NewTenant(t, "free")
		ada := a.AsOperator(t, "users.create", "organization", a.Org,
			`{"email": "Ada@Engines.example", "name": "Ada Lovelace", "password": "a long password"}`).Text("id")
		a.AsOperator(t, "users.create", "organization", a.Org,
			`{"email": "gone@engines.example", "name": "Ada Gone", "password": "a long password"}`)
		a.AsOperator(t, "users.disable", "", "", `{"email": "gone@engines.example"}`)

		all := call(t, "members.list", `{}`)
		all.Page(t).Same("total", 2)
		first := all.OK(t, 200).At("0")
		first.Same("id", ada)
		first.Same("name", "Ada Lovelace")
		first.Same("email", "Ada@Engines.example")
		first.Same("role", "member")
		if first.Has("status") || first.Has("organizationId") {
			t.Errorf("a member shows more than it should: %s", first)
		}
		for query, n := range map[string]int{
			"lovelace": 1, "LOVE ad": 1, "ada@engines": 1, "owner": 1, "example": 2, "gone": 0, "%": 0, "": 2,
		} {
			if got := call(t, "members.list", fmt.Sprintf(`{"query": %q}`, query)).OK(t, 200).Len(); got != n {
				t.Errorf("%q finds %d, want %d", query, got, n)
			}
		}
		call(t, "members.list", `{"limit": 1, "sortOrder": "asc"}`).OK(t, 200).Same("0.name", "Owner")
		if n := call(t, "members.list", `{"offset": 5}`).OK(t, 200).Len(); n != 0 {
			t.Errorf("%d members behind the end", n)
		}

		task := call(t, "tasks.create", `{"title": "Send the drawings"}`).OK(t, 201).Text("id")
		call(t, "tasks.assignees.create", fmt.Sprintf(`{"id": %q, "userId": %q}`, task, ada)).OK(t, 201)
	})
}

func TestMembersNeedTasks(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		key, _ := a.NewKey(t, a.Tenant, "contacts:read")
		a.SendREST(t, key, "GET", "/v1/members", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS").
			Same("details.permission", "tasks:read")
	})
}

// Everybody learns where and when they are; an agent also what it may still do.
func TestMeTellsPlaceAndTime(t *testing.T) {
	apptest.EachDoorAlone(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		call(t, "businesses.update", fmt.Sprintf(
			`{"id": %q, "timezone": "Europe/London", "locale": "en-GB", "currency": "gbp"}`, a.Business)).OK(t, 200)
		me := call(t, "me.get", `{}`).OK(t, 200)
		me.Same("timezone", "Europe/London")
		me.Same("locale", "en-GB")
		me.Same("currency", "gbp")
		now, err := time.Parse(time.RFC3339, me.Text("now"))
		if err != nil || a.Clock.Now().Std().Sub(now).Abs() > time.Hour {
			t.Errorf("now is %s", me.Text("now"))
		}
		if isAgent := me.Text("actorKind") == "agent"; !me.Has("limits") || me.At("limits").Null() == isAgent {
			t.Errorf("limits: %s", me)
		}
	})
}

func TestMeTellsLimits(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("agent", a.NewTenant(t, "starter"))
		limits := call(t, "me.get", `{}`).OK(t, 200).At("limits")
		limits.Same("perMinute", 30)
		limits.Same("used", 1)
		limits.Same("remaining", 29)
		if n := limits.Number("resetSeconds"); n != 2 && n != 1 { // a second may pass meanwhile
			t.Errorf("resetSeconds is %v", n)
		}
	})
}

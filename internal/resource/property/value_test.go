package property_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// holder is an object with properties, called through one door.
type holder struct {
	t    testing.TB
	call apptest.Door
	path string // contacts
	id   string
}

// newHolder creates an object of each kind in turn.
func newHolder(t testing.TB, a *apptest.App, call apptest.Door, path string) holder {
	t.Helper()
	body := map[string]string{"contacts": `{"firstName": "Ada"}`, "customers": `{"name": "Ada"}`,
		"businesses": `{"name": "Ada"}`}[path]
	return holder{t, call, path, call(t, path+".create", body).OK(t, 201).Text("id")}
}

func (h holder) kind() string {
	return map[string]string{"contacts": "contact", "customers": "customer", "businesses": "business"}[h.path]
}

// define creates a definition for the object's kind.
func (h holder) define(key, valueType string, more ...string) string {
	h.t.Helper()
	return h.call(h.t, "property_definitions.create",
		fmt.Sprintf(`{"objectType": %q, "key": %q, "name": %q, "valueType": %q%s}`,
			h.kind(), key, key, valueType, strings.Join(more, ""))).OK(h.t, 201).Text("id")
}

// do calls an operation on the object's values; fields are added to the input.
func (h holder) do(verb string, fields ...string) apptest.Result {
	h.t.Helper()
	return h.call(h.t, h.path+".properties."+verb,
		`{"id": "`+h.id+`"`+strings.Join(append([]string{""}, fields...), ", ")+"}")
}

// byAgent reports whether the test runs through the agents' door, where a value
// is only suggested unless it says otherwise.
func byAgent(t testing.TB) bool { return strings.HasSuffix(t.Name(), "/agent") }

// add creates a value, confirmed unless more says otherwise.
func (h holder) add(definition, value string, more ...string) apptest.Result {
	h.t.Helper()
	if byAgent(h.t) && !strings.Contains(strings.Join(more, ""), `"status"`) {
		more = append(more, `"status": "confirmed"`)
	}
	return h.do("create",
		append([]string{fmt.Sprintf(`"definitionId": %q, "value": %s`, definition, value)}, more...)...)
}

func (h holder) patch(value, fields string) apptest.Result {
	h.t.Helper()
	more := []string{fmt.Sprintf(`"propertyId": %q`, value)}
	if fields != "" {
		more = append(more, fields)
	}
	return h.do("update", more...)
}

func (h holder) get(value string) apptest.Result {
	h.t.Helper()
	return h.do("get", fmt.Sprintf(`"propertyId": %q`, value))
}

// live lists the values with a status.
func (h holder) live(status string) apptest.Value {
	h.t.Helper()
	return h.do("list", fmt.Sprintf(`"status": %q, "limit": 100`, status)).OK(h.t, 200)
}

var allFields = strings.Fields(`id createdAt updatedAt deletedAt organizationId definitionId valueType
	objectType objectId
	valueText valueNumber valueBoolean valueDate valueTextList status setByKind setByUserId setByAgentId sources`)

func TestValues(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, path := range []string{"contacts", "customers", "businesses"} {
			h := newHolder(t, a, call, path)
			tier, size := h.define("tier", "select", `, "options": ["gold", "silver"]`), h.define("size", "number")
			v := h.add(tier, `"gold"`,
				`"sources": [{"url": "https://example.com/a", "title": "A"}, {"url": "http://example.com/b"}]`).OK(t,
				201)
			v.Same("valueType", "select")
			v.Same("objectType", h.kind())
			v.Same("objectId", h.id)
			v.Same("definitionId", tier)
			v.Same("valueText", "gold")
			v.Same("status", "confirmed")
			v.Same("organizationId", a.Org)
			v.Same("sources.0.title", "A")
			v.Same("sources.1.valueId", v.Text("id"))
			v.Same("sources.1.organizationId", a.Org)
			for _, field := range allFields {
				if !v.Has(field) {
					t.Errorf("%s is missing", field)
				}
			}
			for _, field := range []string{"id", "createdAt", "updatedAt", "deletedAt", "organizationId", "valueId",
				"url",
				"title"} {
				if !v.At("sources.1").Has(field) {
					t.Errorf("the source's %s is missing", field)
				}
			}
			for _, field := range []string{"deletedAt", "valueNumber", "valueBoolean", "valueDate", "valueTextList",
				"setByUserId", "setByAgentId", "sources.1.title"} {
				if !v.At(field).Null() && (field != "setByAgentId" || !byAgent(t)) {
					t.Errorf("%s is not null but %v", field, v.At(field))
				}
			}
			if got := h.get(v.Text("id")).OK(t, 200); got.String() != v.String() {
				t.Errorf("get differs from create:\n%s\n%s", got, v)
			}

			// Another confirmed value replaces it; a suggestion does not.
			h.add(tier, `"silver"`, `"status": "suggested"`).OK(t, 201).Same("status", "suggested")
			h.get(v.Text("id")).OK(t, 200)
			w := h.add(tier, `"silver"`).OK(t, 201)
			h.get(v.Text("id")).Refused(t, 404, "NOT_FOUND")
			h.add(size, `42`).OK(t, 201).Same("valueNumber", "42")

			for filter, want := range map[string]int{`"limit": 100`: 3, `"status": "confirmed"`: 2,
				`"status": "suggested"`:          1,
				`"status": "dismissed"`:          0,
				`"definitionId": "` + tier + `"`: 2, `"definitionId": "` + tier + `", "status": "confirmed"`: 1,
				`"definitionId": "` + string(id.New()) + `"`: 0} {
				list := h.do("list", filter)
				if n := list.OK(t, 200).Len(); n != want {
					t.Errorf("%s finds %d, want %d", filter, n, want)
				}
				list.Page(t).Same("total", want)
			}
			h.do("delete", fmt.Sprintf(`"propertyId": %q`, w.Text("id"))).OK(t, 204)
			h.do("delete", fmt.Sprintf(`"propertyId": %q`, w.Text("id"))).Refused(t, 404, "NOT_FOUND")
			if n := h.live("confirmed").Len(); n != 1 {
				t.Errorf("%d confirmed values are left", n)
			}
			prefix := h.kind() + ".property."
			want := strings.Repeat(prefix+"created ", 4) + prefix + "deleted"
			if events := a.Events(t, prefix); events != want {
				t.Errorf("events %q, want %q", events, want)
			}
		}
	})
}

// What each value type accepts, in which field, and what it refuses.
func TestValueTypes(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		h := newHolder(t, a, call, "customers")
		options := `, "options": ["red", "green", "blue"]`
		definitions := map[string]string{}
		for _, valueType := range []string{"text", "number", "boolean", "date", "url", "select", "multi_select"} {
			definitions[valueType] = h.define(valueType, valueType,
				map[bool]string{true: options}[strings.HasSuffix(valueType, "select")])
		}
		for _, c := range []struct{ valueType, value, field, want string }{
			{"text", `"hello"`, "valueText", "hello"},
			{"text", `""`, "valueText", ""},
			{"text", `"42"`, "valueText", "42"},
			{"text", `"` + strings.Repeat("é", 2000) + `"`, "valueText", strings.Repeat("é", 2000)},
			{"number", `42`, "valueNumber", "42"},
			{"number", `"42.50"`, "valueNumber", "42.5"},
			{"number", `-1.5e3`, "valueNumber", "-1500"},
			{"number", `0.1000000000000000055511151231257827`, "valueNumber", "0.1000000000000000055511151231257827"},
			{"number", `12345678901234567890123456789`, "valueNumber", "12345678901234567890123456789"},
			{"boolean", `true`, "valueBoolean", "true"},
			{"boolean", `false`, "valueBoolean", "false"},
			{"date", `"2024-02-29"`, "valueDate", "2024-02-29"},
			{"url", `"https://example.com/x?y=1"`, "valueText", "https://example.com/x?y=1"},
			{"select", `"red"`, "valueText", "red"},
			{"multi_select", `["blue", "red"]`, "valueTextList", "[blue red]"},
			{"multi_select", `[]`, "valueTextList", "[]"},
		} {
			v := h.add(definitions[c.valueType], c.value).OK(t, 201)
			v.Same(c.field, c.want)
			v.Same("valueType", c.valueType)
			for _, other := range []string{"valueText", "valueNumber", "valueBoolean", "valueDate", "valueTextList"} {
				if other != c.field && !v.At(other).Null() {
					t.Errorf("a %s has %s", c.valueType, other)
				}
			}
			if got := h.get(v.Text("id")).OK(t, 200); got.String() != v.String() {
				t.Errorf("get differs from create:\n%s\n%s", got, v)
			}
		}
		for _, c := range []struct{ valueType, value, place string }{
			{"text", `1`, ""}, {"text", `true`, ""}, {"text", `["a"]`, ""}, {"text", `null`, ""}, {"text", `{}`, ""},
			{"text", `"a\u0000b"`, ""},
			{"text", `"` + strings.Repeat("x", 2001) + `"`, ""},
			{"number", `"NaN"`, ""}, {"number", `"1,5"`, ""}, {"number", `""`, ""}, {"number", `true`, ""},
			{"number", `[1]`, ""}, {"number", `1e101`, ""},
			{"number", `"` + strings.Repeat("9", 101) + `"`, ""}, {"number", `" 1"`, ""},
			{"boolean", `"true"`, ""}, {"boolean", `1`, ""}, {"boolean", `[]`, ""},
			{"date", `"2023-02-29"`, ""}, {"date", `"2024-2-1"`, ""}, {"date", `"2024-02-29T00:00:00Z"`, ""},
			{"date", `20240229`, ""},
			{"url", `"example.com"`, ""}, {"url", `"ftp://example.com"`, ""}, {"url", `"javascript:alert(1)"`, ""},
			{"url", `1`, ""},
			{"select", `"pink"`, ""}, {"select", `"Red"`, ""}, {"select", `["red"]`, ""}, {"select", `""`, ""},
			{"multi_select", `"red"`, ""}, {"multi_select", `["red", "pink"]`, ".1"},
			{"multi_select", `["red", "red"]`, ".1"},
			{"multi_select", `["red", 1]`, ".1"},
			{"multi_select", `[null]`, ".0"}, {"multi_select", `["red", ["blue"]]`, ".1"}, {"multi_select", `{}`, ""},
			{"multi_select", `[` + strings.Repeat(`"red", `, 100) + `"red"]`, ""},
		} {
			h.add(definitions[c.valueType], c.value).Issues(t, "value"+c.place)
			current := h.do("list", fmt.Sprintf(`"definitionId": %q`, definitions[c.valueType])).OK(t, 200)
			h.patch(current.Text("0.id"), `"value": `+c.value).Issues(t, "value"+c.place)
			// Problems with the body are reported before problems with the
			// move.
			h.patch(current.Text("0.id"), `"status": "suggested", "value": `+c.value).Issues(t, "value"+c.place)
		}
		if n := h.live("confirmed").Len(); n != 7 {
			t.Errorf("%d confirmed values", n)
		}
		// A removed option keeps its values and gets no new ones.
		call(t, "property_definitions.update",
			fmt.Sprintf(`{"id": %q, "options": ["green"]}`, definitions["select"])).OK(t, 200)
		red := h.do("list", fmt.Sprintf(`"definitionId": %q`, definitions["select"])).OK(t, 200)
		red.Same("0.valueText", "red")
		h.patch(red.Text("0.id"), `"value": "red"`).Issues(t, "value")
		h.patch(red.Text("0.id"), `"value": "green"`).OK(t, 200).Same("valueText", "green")
	})
}

func TestValueRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		h := newHolder(t, a, call, "customers")
		text := h.define("text", "text")
		other := newHolder(t, a, call, "contacts")
		foreign := newHolder(t, a, a.Door("action", a.NewTenant(t, "free")), "customers").define("text", "text")
		for _, c := range []struct{ fields, place string }{
			{`"value": "x"`, "definitionId"},
			{`"definitionId": "nope", "value": "x"`, "definitionId"},
			{fmt.Sprintf(`"definitionId": %q, "value": "x"`, id.New()), "definitionId"},
			{fmt.Sprintf(`"definitionId": %q, "value": "x"`, foreign), "definitionId"},
			{fmt.Sprintf(`"definitionId": %q, "value": "x"`, other.define("text", "text")), "definitionId"},
			{fmt.Sprintf(`"definitionId": %q`, text), "value"},
			{fmt.Sprintf(`"definitionId": %q, "value": "x", "status": "dismissed"`, text), "status"},
			{fmt.Sprintf(`"definitionId": %q, "value": "x", "sources": [{"title": "x"}]`, text), "sources.0.url"},
			{fmt.Sprintf(`"definitionId": %q, "value": "x", "sources": [{"url": "https://example.com"}, {"url": `+
				`"nope"}]`, text),
				"sources.1.url"},
			{fmt.Sprintf(`"definitionId": %q, "value": "x", "setByKind": "user"`, text), ""},
			{fmt.Sprintf(`"definitionId": %q, "value": "x", "valueText": "x"`, text), ""},
		} {
			h.do("create", c.fields).Issues(t, c.place)
		}
		v := h.add(text, `"x"`).OK(t, 201).Text("id")
		for _, c := range []struct{ fields, place string }{
			{``, ""}, {`"status": null`, "status"}, {`"status": "gone"`, "status"}, {`"value": null`, "value"},
			{`"value": {"a": 1}`, "value"},
			{`"status": "dismissed", "sources": []`, ""}, {`"definitionId": "` + text + `"`, ""},
		} {
			h.patch(v, c.fields).Issues(t, c.place)
		}
		h.get(v).OK(t, 200).Same("valueText", "x")

		// A value is found only below its own object, and an object only among
		// its kind.
		stranger := newHolder(t, a, call, "customers")
		for _, wrong := range []holder{stranger, {t, call, "contacts", h.id}, {t, call, "customers", other.id},
			{t, call, "customers", string(id.New())}} {
			wrong.get(v).Refused(t, 404, "NOT_FOUND")
			wrong.patch(v, `"status": "dismissed"`).Refused(t, 404, "NOT_FOUND")
			wrong.patch(v, `"value": 1`).Refused(t, 404, "NOT_FOUND")
			wrong.do("delete", fmt.Sprintf(`"propertyId": %q`, v)).Refused(t, 404, "NOT_FOUND")
		}
		h.get(v).OK(t, 200).Same("status", "confirmed")

		// Values are deleted with their definition and with their object.
		call(t, "property_definitions.delete", fmt.Sprintf(`{"id": %q}`, text)).OK(t, 204)
		h.get(v).Refused(t, 404, "NOT_FOUND")
		h.patch(v, `"value": "y"`).Refused(t, 404, "NOT_FOUND")
		h.do("delete", fmt.Sprintf(`"propertyId": %q`, v)).Refused(t, 404, "NOT_FOUND")
		if list := h.do("list"); list.OK(t, 200).Len() != 0 {
			t.Error("a value of a deleted definition is listed")
		} else {
			list.Page(t).Same("total", 0)
		}
		h.add(text, `"x"`).Issues(t, "definitionId")
		call(t, "customers.delete", fmt.Sprintf(`{"id": %q}`, h.id)).OK(t, 204)
		h.do("list").Refused(t, 404, "NOT_FOUND")
		h.add(text, `"x"`).Refused(t, 404, "NOT_FOUND")
	})
}

// A value names who set it, and an agent suggests unless it says otherwise.
func TestSetBy(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		for _, c := range []struct {
			kind   op.ActorKind
			door   op.Door
			status string
		}{{op.UserActor, op.ConsoleDoor, "confirmed"}, {op.AgentActor, op.AgentDoor, "suggested"},
			{op.AutomationActor, op.AutomationDoor, "confirmed"}} {
			caller := &op.Caller{Kind: c.kind, ID: id.New(), Organization: a.Org, Business: a.Business,
				Permissions: op.Everything()}
			door := action.New(a.Runner, a.Catalog, c.door)
			call := func(t testing.TB, operation, input string) apptest.Result {
				answer, err := door.Do(context.Background(),
					action.Call{Caller: caller, Operation: operation, Input: []byte(input),
						RequestID: string(id.New())})
				return apptest.ResultOf(t, answer, err)
			}
			h := newHolder(t, a, call, "contacts")
			definition := h.define(string(c.kind), "text")
			v := h.add(definition, `"x"`).OK(t, 201)
			v.Same("status", c.status)
			v.Same("setByKind", c.kind)
			if user := v.Text("setByUserId"); (user == string(caller.ID)) != (c.kind == op.UserActor) {
				t.Errorf("set by %s %s: setByUserId is %q", c.kind, caller.ID, user)
			}
			if agent := v.Text("setByAgentId"); (agent == string(caller.ID)) != (c.kind == op.AgentActor) {
				t.Errorf("set by %s %s: setByAgentId is %q", c.kind, caller.ID, agent)
			}
			h.add(definition, `"y"`, `"status": "confirmed"`).OK(t, 201).Same("status", "confirmed")
			h.add(definition, `"z"`, `"status": "suggested"`).OK(t, 201).Same("status", "suggested")
			if n := h.live("confirmed").Len(); n != 1 {
				t.Errorf("%d confirmed values", n)
			}
		}
	})
}

// Values and definitions need the permission properties, whatever they belong
// to.
func TestPropertyPermission(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	contact := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
	without, _ := a.NewKey(t, a.Tenant, "contacts:read", "contacts:write")
	with, _ := a.NewKey(t, a.Tenant, "properties:read")
	for _, path := range []string{"/v1/contacts/" + contact + "/properties", "/v1/property-definitions"} {
		e := a.SendREST(t, without, http.MethodGet, path, "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		e.Same("details.permission", "properties:read")
		a.SendREST(t, with, http.MethodGet, path, "").OK(t, 200)
		a.SendREST(t, with, http.MethodPost, path, `{}`).Refused(t, 403,
			"INSUFFICIENT_PERMISSIONS").Same("details.permission",
			"properties:write")
	}
}

package property_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
)

func TestDefinitions(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := call(t, "property_definitions.create",
			`{"objectType": "contact", "key": "shoe_size", "name": "Shoe size", "valueType": "number"}`).OK(t, 201)
		v.Same("isRequired", false)
		for _, field := range []string{"deletedAt", "description", "options"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		ref := fmt.Sprintf(`{"id": %q}`, v.Text("id"))
		if got := call(t, "property_definitions.get", ref).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		tier := call(t, "property_definitions.create",
			`{"objectType": "customer", "key": "tier", "name": "Tier", "description": "How dear", "valueType": "select",
			"options": ["gold", "silver"], "isRequired": true}`).OK(t, 201)
		tier.Same("options.1", "silver")
		tier.Same("isRequired", true)

		// A key is unique per object type, and free again once its definition
		// is deleted.
		again := `{"objectType": %q, "key": "shoe_size", "name": "Again", "valueType": "text"}`
		call(t, "property_definitions.create", fmt.Sprintf(again, "contact")).Refused(t, 409, "PROPERTY_KEY_TAKEN")
		call(t, "property_definitions.create", fmt.Sprintf(again, "business")).OK(t, 201)

		update := func(fields string) apptest.Result {
			return call(t, "property_definitions.update", fmt.Sprintf(`{"id": %q, %s}`, tier.Text("id"), fields))
		}
		up := update(`"name": "Service tier", "description": null, "options": ["bronze", "gold"], "isRequired": `+
			`false`).OK(t,
			200)
		up.Same("options.0", "bronze")
		up.Same("key", "tier")
		if up.At("options").Len() != 2 || !up.At("description").Null() {
			t.Errorf("updated to %s", up)
		}
		if same := update(`"options": ["bronze", "gold"]`).OK(t, 200); same.String() != up.String() {
			t.Errorf("what is there already changed something: %s", same)
		}
		call(t, "property_definitions.update", fmt.Sprintf(`{"id": %q, "options": null}`, v.Text("id"))).OK(t, 200)

		for filter, want := range map[string]int{
			`"objectType": "customer"`: 1, `"objectType": "contact"`: 1, `"query": "SHOE"`: 2,
			`"query": "service ti"`:                       1,
			`"query": "shoe_s", "objectType": "business"`: 1,
			`"query": "dear"`:                             0, `"query": "ti"`: 1, ``: 3,
		} {
			if n := call(t, "property_definitions.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
		call(t, "property_definitions.delete", ref).OK(t, 204)
		for _, gone := range []string{"property_definitions.delete", "property_definitions.get",
			"property_definitions.update"} {
			call(t, gone, ref).Refused(t, 404, "NOT_FOUND")
		}
		call(t, "property_definitions.create", fmt.Sprintf(again, "contact")).OK(t, 201)
		want := strings.TrimSpace(strings.Repeat("property_definition.created ", 3) +
			"property_definition.updated property_definition.deleted property_definition.created")
		if events := a.Events(t, "property_definition."); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

func TestDefinitionRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		many := `"` + strings.Join(strings.Split(strings.Repeat("x", 101), ""), `", "`) + `"`
		for _, c := range []struct{ fields, place string }{
			{`"key": "k", "name": "K", "valueType": "text"`, "objectType"},
			{`"objectType": "task", "key": "k", "name": "K", "valueType": "text"`, "objectType"},
			{`"objectType": "contact", "name": "K", "valueType": "text"`, "key"},
			{`"objectType": "contact", "key": "", "name": "K", "valueType": "text"`, "key"},
			{`"objectType": "contact", "key": "Key", "name": "K", "valueType": "text"`, "key"},
			{`"objectType": "contact", "key": "1k", "name": "K", "valueType": "text"`, "key"},
			{`"objectType": "contact", "key": "k-k", "name": "K", "valueType": "text"`, "key"},
			{`"objectType": "contact", "key": "k\n", "name": "K", "valueType": "text"`, "key"},
			{`"objectType": "contact", "key": "` + strings.Repeat("k", 64) + `", "name": "K", "valueType": "text"`,
				"key"},
			{`"objectType": "contact", "key": "k", "valueType": "text"`, "name"},
			{`"objectType": "contact", "key": "k", "name": "", "valueType": "text"`, "name"},
			{`"objectType": "contact", "key": "k", "name": "K"`, "valueType"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "json"`, "valueType"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "text", "options": ["a"]`, "options"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "select"`, "options"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "multi_select", "options": null`,
				"options"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "select", "options": []`, "options"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "select", "options": ["a", "b", "a"]`,
				"options.2"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "select", "options": ["a", ""]`,
				"options.1"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "select", "options": ["a", 1]`,
				"options.1"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "select", "options": [` + many + `]`,
				"options"},
			{`"objectType": "contact", "key": "k", "name": "K", "valueType": "text", "isRequired": null`, "isRequired"},
		} {
			call(t, "property_definitions.create", "{"+c.fields+"}").Issues(t, c.place)
		}
		tier := call(t, "property_definitions.create",
			`{"objectType": "contact", "key": "`+strings.Repeat("k", 63)+
				`", "name": "K", "valueType": "select", "options": ["a"]}`).OK(t, 201).Text("id")
		text := call(t, "property_definitions.create",
			`{"objectType": "contact", "key": "t", "name": "T", "valueType": "text"}`).OK(t, 201).Text("id")
		for _, c := range []struct{ id, fields, place string }{
			{tier, `"name": null`, "name"}, {tier, `"name": ""`, "name"}, {tier, `"options": null`, "options"},
			{tier, `"options": []`, "options"},
			{tier, `"options": ["a", "a"]`, "options.1"}, {text, `"options": ["a"]`, "options"},
			{tier, `"isRequired": null`, "isRequired"},
			{tier, `"valueType": "text"`, ""}, {tier, `"objectType": "contact"`, ""}, {tier, `"key": "other"`, ""},
		} {
			call(t, "property_definitions.update", fmt.Sprintf(`{"id": %q, %s}`, c.id, c.fields)).Issues(t, c.place)
		}
		if n := call(t, "property_definitions.list", `{}`).OK(t, 200).Len(); n != 2 {
			t.Errorf("%d definitions", n)
		}
	})
}

// Of many who want a key at once, one gets it.
func TestKeyRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		for round := range 5 {
			var made, taken atomic.Int64
			apptest.RunAtOnce(16, func(int) {
				r := call(t, "property_definitions.create",
					fmt.Sprintf(`{"objectType": "contact", "key": "k%d", "name": "K", "valueType": "text"}`, round))
				if r.Status == 201 {
					made.Add(1)
					return
				}
				r.Refused(t, 409, "PROPERTY_KEY_TAKEN")
				taken.Add(1)
			})
			if made.Load() != 1 || taken.Load() != 15 {
				t.Errorf("%d made, %d refused", made.Load(), taken.Load())
			}
		}
	})
}

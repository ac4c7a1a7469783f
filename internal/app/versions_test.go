package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Every operation that changes what GET shows minds If-Match: an old version is
// refused and nothing happens, the current one passes. The test is made from the
// list of operations.
func TestEveryChangeMindsIfMatch(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		mine := build(t, a, a.Tenant)
		tried := 0
		all := slices.Clone(a.Catalog.All())
		slices.SortStableFunc(all, func(a, b *op.Op) int { // deletions last, parts before the whole
			if d := strings.Compare(b.Method, a.Method); d != 0 {
				return d
			}
			return len(b.Path) - len(a.Path)
		})
		for _, o := range all {
			if !o.TakesIfMatch() || o.Doors&op.RESTDoor == 0 {
				continue
			}
			path, ok := fill(t, o, func(c string) (id.ID, bool) { return mine[c], mine[c] != "" })
			if !ok {
				t.Errorf("%s: no fixture for %s", o.Name, o.Path)
				continue
			}
			before := a.SendREST(t, a.Key, "GET", path, "")
			tag := before.Header.Get("ETag")
			if before.Status != 200 {
				continue // an earlier operation of this test deleted it
			}
			if tag == "" {
				t.Errorf("GET %s has no ETag", path)
			}
			if r := a.SendREST(t, a.Key, "GET", path, "", "If-None-Match", tag); r.Status != http.StatusNotModified {
				t.Errorf("GET %s with its own ETag: %d", path, r.Status)
			}
			a.SendREST(t, a.Key, o.Method, path, body(t, o), "If-Match", `"other"`).Refused(t, 412, "VERSION_MISMATCH")
			if after := a.SendREST(t, a.Key, "GET", path, ""); string(after.Body) != string(before.Body) {
				t.Errorf("%s changed it in spite of If-Match", o.Name)
			}
			// What is wrong with the example is told, or it works; the version is right.
			input := ""
			if o.Method != "DELETE" {
				input = mine.refer(t, a, a.Tenant, o)
			}
			r := a.SendREST(t, a.Key, o.Method, path, input, "If-Match", `"x", `+tag)
			if r.Status == 412 || r.Status >= 500 {
				t.Errorf("%s with the current version: %d %s", o.Name, r.Status, r.Body)
			}
			tried++
		}
		if tried < 40 {
			t.Errorf("only %d operations were tried", tried)
		}
	})
}

// Of many who change the same version at once, one does.
func TestVersionRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		made := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`)
		path := "/v1/contacts/" + made.OK(t, 201).Text("id")
		tag := made.Header.Get("ETag")
		if got := a.SendREST(t, a.Key, "GET", path, "").Header.Get("ETag"); got != tag || tag == "" {
			t.Fatalf("created with %s, read with %s", tag, got)
		}
		var changed, refused atomic.Int32
		apptest.RunAtOnce(16, func(i int) {
			switch r := a.SendREST(t, a.Key, "PATCH", path, fmt.Sprintf(`{"notes": "%d"}`, i), "If-Match",
				tag); r.Status {
			case 200:
				changed.Add(1)
			case 412:
				refused.Add(1)
			default:
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if changed.Load() != 1 || refused.Load() != 15 {
			t.Errorf("%d changed it, %d were refused", changed.Load(), refused.Load())
		}
		// A part of it counts as well, and * is any version.
		a.SendREST(t, a.Key, "POST", path+"/emails", `{"email": "ada@example.com"}`).OK(t, 201)
		now := a.SendREST(t, a.Key, "GET", path, "").Header.Get("ETag")
		a.SendREST(t, a.Key, "DELETE", path, "", "If-Match", tag).Refused(t, 412, "VERSION_MISMATCH")
		a.SendREST(t, a.Key, "PATCH", path, `{"notes": "any"}`, "If-Match", "*").OK(t, 200)
		a.SendREST(t, a.Key, "DELETE", path, "", "If-Match", now).Refused(t, 412, "VERSION_MISMATCH")
	})
}

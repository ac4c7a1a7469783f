package app_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/op"
)

// Every list of a noun takes every order that it names, in both directions, from
// the beginning and in a walk.
func TestEveryListSorts(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		a.SendREST(t, a.Tenant.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t, 201)
		sorted := 0
		for _, o := range a.Catalog.All() {
			if !o.HasQueryField("cursor") || o.Doors&op.RESTDoor == 0 {
				continue
			}
			for _, p := range o.Parameters(op.Schemas{}) {
				if p.Name != "sortBy" {
					continue
				}
				for _, by := range p.Schema.Enum {
					sorted++
					for _, order := range []string{"asc", "desc"} {
						query := fmt.Sprintf("?sortBy=%s&sortOrder=%s", by, order)
						a.SendREST(t, a.Tenant.Key, "GET", o.Path+query+"&offset=1", "").OK(t, 200)
						a.SendREST(t, a.Tenant.Key, "GET", o.Path+query+"&cursor=first&limit=1", "").OK(t, 200)
					}
				}
			}
		}
		if sorted < 40 {
			t.Errorf("only %d orders", sorted)
		}
	})
}

// A walk with a cursor lists what offsets list, in the same order.
func TestWalks(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, name := range []string{"Émile", "adam", "Zoë", "Eva", "ADA", "zoe", "Änne"} {
			call(t, "contacts.create", fmt.Sprintf(`{"firstName": %q}`, name)).OK(t, 201)
			time.Sleep(2 * time.Millisecond) // callers know times by the millisecond
		}
		for i, due := range []string{"null", `"2026-03-01T00:00:00Z"`, "null", `"2026-01-01T00:00:00Z"`,
			`"2026-02-01T00:00:00Z"`, `"2026-02-01T00:00:00Z"`} {
			status := []string{"open", "in_progress", "completed"}[i%3]
			call(t, "tasks.create",
				fmt.Sprintf(`{"title": "t%d", "dueAt": %s, "status": %q}`, i, due, status)).OK(t, 201)
		}
		names := func(page apptest.Value, field string) (out []string) {
			for i := range page.At("data").Len() {
				out = append(out, page.Text(fmt.Sprintf("data.%d.%s", i, field)))
			}
			return out
		}
		walk := func(operation, field, rest string) string {
			t.Helper()
			var all []string
			cursor := "first"
			for range 10 {
				page := call(t, operation, fmt.Sprintf(`{"limit": 2, "cursor": %q%s}`, cursor, rest)).ParseJSON(t)
				got := names(page, field)
				all = append(all, got...)
				if page.At("meta.pagination.nextCursor").Null() {
					page.Same("meta.pagination.hasMore", false)
					var paged []string
					for offset := 0; offset < len(all); offset += 2 {
						page := call(t, operation, fmt.Sprintf(`{"limit": 2, "offset": %d%s}`, offset,
							rest)).ParseJSON(t)
						paged = append(paged, names(page, field)...)
						if page.At("meta.pagination").Has("nextCursor") {
							t.Error("a page outside of a walk has a cursor")
						}
					}
					if !slices.Equal(all, paged) {
						t.Errorf("%s%s: a walk lists %v, offsets %v", operation, rest, all, paged)
					}
					return strings.Join(all, " ")
				}
				page.Same("meta.pagination.hasMore", true)
				if len(got) != 2 {
					t.Errorf("%s%s: %v", operation, rest, got)
				}
				cursor = page.Text("meta.pagination.nextCursor")
			}
			t.Errorf("%s%s does not end", operation, rest)
			return ""
		}
		for rest, want := range map[string]string{
			"": "t5 t4 t3 t2 t1 t0",
			`, "sortBy": "dueAt", "sortOrder": "asc"`:                        "t3 t4 t5 t1 t0 t2",
			`, "sortBy": "dueAt"`:                                            "t1 t5 t4 t3 t2 t0",
			`, "sortBy": "dueAt", "query": "t"`:                              "t1 t5 t4 t3 t2 t0",
			`, "sortBy": "dueAt", "status": ["open", "completed"]`:           "t5 t3 t2 t0",
			`, "sortBy": "title", "status": "open"`:                          "t3 t0",
			`, "status": "open,in_progress"`:                                 "t4 t3 t1 t0",
			`, "dueBefore": "2026-02-15T00:00:00Z", "status": "in_progress"`: "t4",
			`, "dueAfter": "2026-01-15T00:00:00Z", "sortOrder": "asc"`:       "t1 t4 t5",
		} {
			if got := walk("tasks.list", "title", rest); got != want {
				t.Errorf("%s: %s, want %s", rest, got, want)
			}
		}
		byName := walk("contacts.list", "firstName", `, "sortBy": "name", "sortOrder": "asc"`)
		if !strings.HasPrefix(byName, "ADA adam") {
			t.Errorf("by name: %s", byName)
		}
		backwards := strings.Split(walk("contacts.list", "firstName", `, "sortBy": "name"`), " ")
		slices.Reverse(backwards)
		if strings.Join(backwards, " ") != byName {
			t.Errorf("%s backwards is %v", byName, backwards)
		}

		// What was changed since: the way to keep a copy up to date.
		ada := call(t, "contacts.list",
			`{"query": "ada", "sortBy": "name", "sortOrder": "asc", "limit": 1}`).ParseJSON(t)
		id := ada.Text("data.0.id")
		changed := call(t, "contacts.update", fmt.Sprintf(`{"id": %q, "jobTitle": "x"}`, id)).OK(t, 200)
		newest := call(t, "contacts.list", `{"sortBy": "updatedAt", "limit": 1}`).ParseJSON(t)
		newest.Same("data.0.id", id)
		for filter, n := range map[string]int{
			`"ids": [` + fmt.Sprintf("%q", id) + `]`:                  1,
			`"ids": "` + id + `,` + string(a.Tenant.Business) + `"`:   1,
			`"updatedAfter": "` + changed.Text("updatedAt") + `"`:     0,
			`"updatedBefore": "` + changed.Text("updatedAt") + `"`:    6,
			`"createdBefore": "` + ada.Text("data.0.createdAt") + `"`: 4,
			`"createdAfter": "` + ada.Text("data.0.createdAt") + `"`:  2,
		} {
			if got := call(t, "contacts.list", `{`+filter+`}`).OK(t, 200).Len(); got != n {
				t.Errorf("%s: %d, want %d", filter, got, n)
			}
		}
		refused := func(r apptest.Result, field string) {
			t.Helper()
			if e := r.Refused(t, 400, "INVALID_INPUT"); !strings.HasPrefix(e.Text("message"), field) {
				t.Errorf("%s: %s", field, e)
			}
		}
		for input, field := range map[string]string{
			`{"cursor": "first", "offset": 2}`: "offset",
			`{"cursor": ""}`:                   "cursor",
			`{"cursor": "bm9uc2Vuc2U"}`:        "cursor",
			`{"cursor": "` + forged(`{"b":"createdAt","o":"desc","v":"text","s":1}`) + `"}`: "cursor",
			`{"cursor": "` + forged(`{"b":"createdAt","o":"desc","v":null,"s":1}`) + `"}`:   "cursor",
			`{"cursor": "` + forged(`{"b":"name","o":"desc","v":"a","s":1}`) + `"}`:         "cursor",
			`{"cursor": "` + forged(`{"b":"createdAt","o":"asc","v":1,"s":1}`) + `"}`:       "cursor",
			`{"ids": "x"}`:           "ids",
			`{"sortBy": "birthday"}`: "sortBy",
		} {
			refused(call(t, "contacts.list", input), field)
		}
		many := strings.TrimSuffix(strings.Repeat(id+",", 101), ",")
		refused(call(t, "contacts.list", fmt.Sprintf(`{"ids": %q}`, many)), "ids")
		refused(call(t, "tasks.list", `{"status": "open,lost"}`), "status")

		// Repeated parameters are one list.
		both := a.SendREST(t, a.Tenant.Key, "GET", "/v1/tasks?"+url.Values{"status": {"open", "completed"}}.Encode(),
			"")
		if n := both.OK(t, 200).Len(); n != 4 {
			t.Errorf("%d tasks", n)
		}
		for path, n := range map[string]int{"/v1/files?folderId=none": 0, "/v1/folders?parentFolderId=none": 1} {
			if n > 0 {
				call(t, "folders.create", `{"name": "x"}`).OK(t, 201)
			}
			if got := a.SendREST(t, a.Tenant.Key, "GET", path, "").OK(t, 200).Len(); got < n {
				t.Errorf("%s: %d", path, got)
			}
		}
		refused(a.SendREST(t, a.Tenant.Key, "GET", "/v1/files?folderId=all", ""), "folderId")
	})
}

func forged(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

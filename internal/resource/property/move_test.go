package property_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

const (
	transition   = "PROPERTY_VALUE_TRANSITION_INVALID"
	notConfirmed = "PROPERTY_VALUE_NOT_CONFIRMED"
)

// in creates a value with a given status.
func (h holder) in(definition, status, value string) apptest.Value {
	h.t.Helper()
	if status == "dismissed" {
		v := h.add(definition, value, `"status": "suggested"`).OK(h.t, 201)
		return h.patch(v.Text("id"), `"status": "dismissed"`).OK(h.t, 200)
	}
	return h.add(definition, value, fmt.Sprintf(`"status": %q`, status)).OK(h.t, 201)
}

// Every status, and every move to every status, alone and together with a
// value.
func TestMoves(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		for _, c := range []struct{ from, status, value, want string }{
			// status alone
			{"suggested", "suggested", "", transition},
			{"suggested", "confirmed", "", "confirmed"},
			{"suggested", "dismissed", "", "dismissed"},
			{"confirmed", "suggested", "", transition},
			{"confirmed", "confirmed", "", transition},
			{"confirmed", "dismissed", "", "dismissed"},
			{"dismissed", "suggested", "", "suggested"},
			{"dismissed", "confirmed", "", transition},
			{"dismissed", "dismissed", "", transition},
			// value alone
			{"suggested", "", "new", notConfirmed},
			{"confirmed", "", "new", "confirmed"},
			{"dismissed", "", "new", notConfirmed},
			// both: the status first, where the current one is not a move, then
			// the value on the result
			{"suggested", "suggested", "new", notConfirmed},
			{"suggested", "confirmed", "new", "confirmed"},
			{"suggested", "dismissed", "new", notConfirmed},
			{"confirmed", "suggested", "new", transition},
			{"confirmed", "confirmed", "new", "confirmed"},
			{"confirmed", "dismissed", "new", notConfirmed},
			{"dismissed", "suggested", "new", notConfirmed},
			{"dismissed", "confirmed", "new", transition},
			{"dismissed", "dismissed", "new", notConfirmed},
		} {
			name := fmt.Sprintf("%s with status %q and value %q", c.from, c.status, c.value)
			h := newHolder(t, a, call, "customers")
			text := h.define("k"+h.id[28:], "text")
			v := h.in(text, c.from, `"old"`)
			fields := ""
			if c.status != "" {
				fields = fmt.Sprintf(`"status": %q`, c.status)
			}
			if c.value != "" {
				if fields != "" {
					fields += ", "
				}
				fields += fmt.Sprintf(`"value": %q`, c.value)
			}
			r := h.patch(v.Text("id"), fields)
			if c.want == transition || c.want == notConfirmed {
				r.Refused(t, 409, c.want)
				if after := h.get(v.Text("id")).OK(t, 200); after.String() != v.String() {
					t.Errorf("%s is refused and changed to %s", name, after)
				}
				continue
			}
			got := r.OK(t, 200)
			got.Same("status", c.want)
			if after := h.get(got.Text("id")).OK(t, 200); after.String() != got.String() {
				t.Errorf("%s: get differs from what PATCH answered:\n%s\n%s", name, after, got)
			}
			if c.value == "" {
				got.Same("id", v.Text("id"))
				got.Same("valueText", "old")
				continue
			}
			if got.Text("id") == v.Text("id") || got.Text("id") == "" {
				t.Errorf("%s keeps its id", name)
			}
			got.Same("valueText", "new")
			h.get(v.Text("id")).Refused(t, 404, "NOT_FOUND")
			if n := h.do("list").OK(t, 200).Len(); n != 1 {
				t.Errorf("%s leaves %d values", name, n)
			}
		}
	})
}

// A newly confirmed value replaces the old one, of its own property only.
func TestSupersede(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		h := newHolder(t, a, call, "contacts")
		text, other := h.define("text", "text"), h.define("other", "text")
		beside := h.add(other, `"beside"`).OK(t, 201).Text("id")
		neighbour := newHolder(t, a, call, "contacts")
		away := neighbour.add(text, `"away"`).OK(t, 201).Text("id")
		old := h.add(text, `"old"`, `"sources": [{"url": "https://example.com"}]`).OK(t, 201).Text("id")
		one := h.in(text, "suggested", `"one"`).Text("id")
		two := h.in(text, "suggested", `"two"`).Text("id")

		h.patch(one, `"status": "confirmed"`).OK(t, 200).Same("id", one)
		h.get(old).Refused(t, 404, "NOT_FOUND")
		h.patch(old, `"status": "dismissed"`).Refused(t, 404, "NOT_FOUND")
		// Confirmed and replaced in one request: both the old confirmed value
		// and the suggestion are gone.
		three := h.patch(two, `"status": "confirmed", "value": "three"`).OK(t, 200)
		h.get(one).Refused(t, 404, "NOT_FOUND")
		h.get(two).Refused(t, 404, "NOT_FOUND")
		// A replacement starts without sources.
		sourced := h.add(text, `"x"`, `"sources": [{"url": "https://example.com"}]`).OK(t, 201)
		h.get(three.Text("id")).Refused(t, 404, "NOT_FOUND")
		four := h.patch(sourced.Text("id"), `"value": "four"`).OK(t, 200)
		if four.At("sources").Len() != 0 || four.At("sources").Null() {
			t.Errorf("sources of a replacement: %s", four.At("sources"))
		}
		// A dismissed value returns as a suggestion, is confirmed, and
		// supersedes.
		h.patch(four.Text("id"), `"status": "dismissed"`).OK(t, 200)
		five := h.add(text, `"five"`).OK(t, 201).Text("id")
		h.patch(four.Text("id"), `"status": "suggested"`).OK(t, 200)
		h.get(five).OK(t, 200)
		h.patch(four.Text("id"), `"status": "confirmed"`).OK(t, 200).Same("valueText", "four")
		h.get(five).Refused(t, 404, "NOT_FOUND")

		h.get(beside).OK(t, 200).Same("valueText", "beside")
		neighbour.get(away).OK(t, 200).Same("valueText", "away")
		if n := h.live("confirmed").Len(); n != 2 {
			t.Errorf("%d confirmed values, want one of each property", n)
		}
	})
}

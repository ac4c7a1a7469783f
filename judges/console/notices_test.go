package console_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// find is the id of the first row of a list.
func find(t *testing.T, address, key string) string {
	t.Helper()
	var out struct {
		Data []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(get(t, address, key)), &out); err != nil || len(out.Data) == 0 {
		t.Fatalf("%s: %v", address, err)
	}
	return out.Data[0].ID
}

// Grace is given work while a page is open: the bell rings, the list opens over the page, and what she read is marked.
// On a phone it is a page. She chooses what she is told, and how.
func TestNotices(t *testing.T) {
	service := serve(t)
	s, key := begin(t, service)
	grace := find(t, service.URL+"/v1/members?query=grace", key)
	s.visit(service.URL + "/contacts")
	s.until("a quiet bell", `document.getElementById("bell").dataset.unread === "0"`)
	for _, title := range []string{"Call the harbour", "Order two door seals"} {
		task := data(t, "POST", service.URL+"/v1/tasks", key, fmt.Sprintf(`{"title": %q}`, title))
		data(t, "POST", fmt.Sprintf("%s/v1/tasks/%s/assignees", service.URL, task["id"]), key,
			fmt.Sprintf(`{"userId": %q}`, grace))
	}
	s.until("the bell rings", `document.getElementById("bell").dataset.unread === "2"`)
	s.do(chromedp.Click(chromedp.CSS("#bell")))
	s.shows("Order two door seals")
	s.until("over the page", `location.pathname === "/contacts" && !!document.querySelector(".notices.over")`)
	s.inspect("notices-panel")
	s.do(chromedp.Click(chromedp.CSS(`.notices.over .tell button`)))
	s.until("one is read", `document.getElementById("bell").dataset.unread === "1" &&
		document.querySelectorAll(".notices.over .tell .new").length === 1`)
	s.keys(kb.Escape)
	s.until("it closes", `!document.querySelector(".notices.over") && document.activeElement.id === "bell"`)
	s.do(chromedp.Click(chromedp.CSS("#bell")))
	s.shows("Call the harbour")
	s.do(chromedp.Click(chromedp.CSS(`.notices.over li.new a.on`)))
	s.until("the task", `location.pathname.startsWith("/tasks/") && !document.querySelector(".notices.over")`)
	s.shows("Call the harbour")
	s.until("all are read", `document.getElementById("bell").dataset.unread === "0"`)

	s.size(390, "light")
	s.visit(service.URL + "/contacts") // a record's own page has no room for the bell
	s.do(chromedp.Click(chromedp.CSS("#bell")))
	s.until("a page on a phone", `location.pathname === "/notifications" && !document.querySelector(".notices.over")`)
	s.size(1280, "light")
	s.inspect("notices")

	s.visit(service.URL + "/settings/notices")
	s.inspect("notice-choices")
	s.do(chromedp.Click(chromedp.CSS(`[name="assigned.mail"]`)))
	s.shows("Saved.")
	s.visit(service.URL + "/settings/notices")
	s.until("it is kept", `document.querySelector('[name="assigned.mail"]').checked`)
}

package console_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// A person works on many rows: saves a view, chooses a range and a whole filter, drags a task, ticks one off, and sees
// what is due in a month.
func TestViews(t *testing.T) {
	service := serve(t)
	s, key := begin(t, service)
	for i := range 130 {
		data(t, "POST", service.URL+"/v1/contacts", key,
			fmt.Sprintf(`{"firstName": "Contact", "lastName": "%03d", "tags": ["crowd"]}`, i))
	}

	// A view: saved, renamed, a tab.
	s.visit(service.URL + "/contacts?tag=crowd&sortBy=name&sortOrder=asc")
	s.do(chromedp.Click(chromedp.CSS(`.tools summary.chip.add:has(+ form[action="/views"])`)))
	s.inspect("views-save")
	s.fill("name", "The crowd")
	s.do(chromedp.Click(chromedp.CSS(`form[action="/views"] button[value="new"]`)))
	s.until("the tab", `document.querySelector(".tabs [aria-current]")?.innerText === "The crowd"`)
	s.do(chromedp.Click(chromedp.CSS(`.tools .menu:has(form[action$="/delete"]) summary`)))
	s.inspect("views-menu")

	// A range with Shift, then all that match, a part at a time and without another press.
	s.visit(service.URL + "/contacts?tag=crowd")
	s.do(chromedp.Click(chromedp.CSS(`tbody tr:nth-child(2) [name="id"]`)))
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('tbody tr:nth-child(6) [name="id"]')
		.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true, shiftKey: true}))`))
	s.shows("5 selected")
	s.inspect("views-chosen")
	s.do(chromedp.Click(chromedp.CSS(`.sel [name="all"]`)))
	s.fill("text-tag", "everybody")
	s.do(chromedp.Click(chromedp.CSS(`.sel button[value="tag"]`)))
	s.shows("130 contacts?")
	s.inspect("views-ask")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("Tagged: 130.")
	s.until("the list", `location.pathname === "/contacts"`)
	s.do(chromedp.Click(chromedp.CSS(`.toast button`)))
	s.shows("Undone.")

	// Tasks.
	now := time.Now().UTC()
	for i, title := range []string{"Call Northgate", "Order paper", "Print the drawings"} {
		data(t, "POST", service.URL+"/v1/tasks", key, fmt.Sprintf(`{"title": %q, "dueAt": %q}`, title,
			now.AddDate(0, 0, i).Format(time.RFC3339)))
	}
	s.visit(service.URL + "/tasks")
	s.do(chromedp.Click(chromedp.CSS(`tbody tr:last-child .donebox`)))
	s.shows("Done.")
	s.inspect("views-tasks")
	s.visit(service.URL + "/tasks/board")
	s.until("it can be dragged", `!!document.querySelector(".card[draggable=true]")`)
	s.drag(`[data-lane="open"] .card`, `[data-lane="in_progress"] header`)
	s.until("the lane", `!!document.querySelector('[data-lane="in_progress"] .card')`)
	s.inspect("views-board")
	s.visit(service.URL + "/tasks?view=calendar")
	s.has("Call Northgate", "Order paper")
	s.inspect("views-calendar")
	s.visit(service.URL + "/views")
	s.has("The crowd")
	s.inspect("views-all")

	// Conversations.
	for i := range 3 {
		data(t, "POST", service.URL+"/v1/messages", key, fmt.Sprintf(`{"to": ["ada@example.com"], "text": "Hello",
			"subject": "Letter %d"}`, i))
	}
	s.visit(service.URL + "/inbox")
	s.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.threads [name="id"]').click()`))
	s.shows("1 selected")
	s.inspect("views-inbox")
	s.do(chromedp.Click(chromedp.CSS(`.sel button[value="close"]`)))
	s.shows("Closed.")
}

// drag moves the pointer from one element to another with its button down.
func (s *screen) drag(from, to string) {
	s.t.Helper()
	middle := func(selector string) (x, y float64) {
		at := eval[[]float64](s, `(() => { const r = document.querySelector('`+selector+`').getBoundingClientRect();
			return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
		return at[0], at[1]
	}
	x, y := middle(from)
	tox, toy := middle(to)
	for _, step := range []struct {
		kind input.DispatchMouseEventType
		x, y float64
	}{
		{input.DispatchMouseEventTypeMousePressed, x - 40, y}, {input.DispatchMouseEventTypeMouseMoved, x - 20, y + 4},
		{input.DispatchMouseEventTypeMouseMoved, tox, toy}, {input.DispatchMouseEventTypeMouseMoved, tox + 2, toy + 2},
		{input.DispatchMouseEventTypeMouseReleased, tox + 2, toy + 2},
	} {
		s.do(chromedp.MouseEvent(step.kind, step.x, step.y, chromedp.ButtonLeft))
	}
}

package work

import (
	"net/http"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
)

// lane is one column of the board. A card is dragged to another lane, or moved there with its buttons.
type lane struct {
	Head, Status, Verb string // the verb moves a card here
	Lines              []desk.Line
	Others             []lane // where its cards can go; none for those who may not move them
}

// board shows tasks in lanes by their state.
func board(v *desk.Visit) error {
	lanes := []lane{{Head: "Open", Status: "open", Verb: "Open again"},
		{Head: "In progress", Status: "in_progress", Verb: "Begin"}, {Head: "Done", Status: "completed", Verb: "Done"}}
	for i := range lanes {
		rows, _, err := v.Lines("tasks", v.Chosen("tasks.list", desk.Fields{"status": []string{lanes[i].Status},
			"limit": 50, "sortBy": "updatedAt"}))
		if err != nil {
			return err
		}
		lanes[i].Lines = rows
		for _, other := range lanes {
			if other.Status != lanes[i].Status && v.May("tasks.update") {
				lanes[i].Others = append(lanes[i].Others, lane{Status: other.Status, Verb: other.Verb})
			}
		}
	}
	view := desk.View{Title: "Tasks", Section: "tasks", Watch: "task", Data: lanes}
	if v.May("tasks.create") {
		view.Main = &desk.Button{Text: "New task", Href: "/tasks/new", Icon: "plus"}
	}
	return v.Show(http.StatusOK, "board", view)
}

// setStatus moves a task on the board.
func setStatus(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if err := v.Do("tasks.update", desk.Fields{"id": ref, "status": v.Value("status")}, nil); err != nil {
		if fault.IsKind(err, fault.NotFound) {
			return err
		}
		return v.Explain(err, "tasks", "/tasks/board")
	}
	return v.DoneWith(v.Back("/tasks/board"), "changed", ref)
}

package desk

import (
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/eventlog"
	"frontdesk/internal/resource/proposal"

	"github.com/go-json-experiment/json"
)

// lastEvent is the newest event of an object, if this visit caused it.
func (v *Visit) lastEvent(object id.ID) (id.ID, error) {
	if !v.May("events.list") {
		return "", nil
	}
	rows, _, err := List[eventlog.Event](v, "events.list", Fields{"resourceId": object, "limit": 1})
	if err != nil || len(rows) == 0 || rows[0].RequestID != v.ID || v.undoable(&rows[0]) == "" {
		return "", err
	}
	return rows[0].ID, nil
}

// undoable is the event itself if it can be undone: a change whose former values
// are known, or a deletion or a merge that can be taken back.
func (v *Visit) undoable(e *eventlog.Event) id.ID {
	n := v.ofType(e.ResourceType)
	if n == nil {
		return ""
	}
	switch strings.TrimPrefix(e.Type, e.ResourceType+".") {
	case "updated":
		if len(e.Previous) > 0 && string(e.Previous) != "{}" && v.May(n.ops()+".update") {
			return e.ID
		}
	case "deleted":
		if v.May(n.ops() + ".restore") {
			return e.ID
		}
	case "merged":
		if v.May(n.ops() + ".unmerge") {
			return e.ID
		}
	}
	return ""
}

// undoers take back what rooms have marked, by the first word of the mark.
var undoers = map[string]func(v *Visit, mark string) (page string, err error){}

// AddUndo lets Undo take back more than single events: what a mark names that begins with a
// word and a dot. page is where to read what could not be taken back; empty for all of it.
func AddUndo(word string, f func(v *Visit, mark string) (page string, err error)) bool {
	undoers[word] = f
	return true
}

// canUndo reports whether a text is the id of an event or a mark of a room.
func canUndo(text string) bool {
	_, isEvent := id.Parse(text)
	word, _, _ := strings.Cut(text, ".")
	return isEvent || undoers[word] != nil
}

// undo takes back what a form names. Of events it writes the former values again, or restores
// what was deleted, each by its own operation.
func undo(v *Visit) error {
	back, page := v.Back("/"), ""
	done := 0
	for i, text := range v.R.PostForm["event"] {
		if !canUndo(text) || i >= maxBulk {
			continue
		}
		kept, err := v.undoMark(text)
		if err != nil {
			if done == 0 {
				return v.Explain(err, "", back)
			}
			return err
		}
		if kept != "" {
			page = kept
		}
		done++
	}
	if page != "" {
		return v.Redirect(page)
	}
	if done == 0 {
		return v.Redirect(back)
	}
	return v.Done(back, "undone", nil)
}

// TakeBack undoes everything that an agent, a request or an import did, as far as
// nobody changed it since. What is too much for one transaction goes on in the
// background, and the page of the proposal tells how far it has come.
func (v *Visit) TakeBack(in Fields) (*proposal.Proposal, error) {
	var p proposal.Proposal
	if err := v.Do("undo.create", in, &p); err != nil {
		return nil, err
	}
	if len(p.Steps) == 0 { // all of it stays
		return &p, v.Do("proposals.cancel", Fields{"id": p.ID}, nil)
	}
	return &p, v.Do("proposals.execute", Fields{"id": p.ID}, &p)
}

// SkippedWords says what an undo leaves as it is, and what can be done instead.
func (v *Visit) SkippedWords(s proposal.Skipped) string {
	what := Capital(strings.ReplaceAll(s.ResourceType[strings.LastIndexByte(s.ResourceType, '.')+1:], "_", " "))
	if s.Field != "" {
		what += ", " + proposal.FieldWords(s.Field)
	}
	out := what + ": " + Visible(s.Why)
	var instead struct {
		Operation string `json:"operation"`
	}
	var words string
	if json.Unmarshal(s.Instead, &words) == nil && words != "" {
		return out + " " + Visible(words)
	}
	if json.Unmarshal(s.Instead, &instead) == nil && instead.Operation != "" {
		return out + " Instead: " + v.OperationWords(instead.Operation) + "."
	}
	return out
}

// requestMark marks all changes of a request, which are undone together.
const requestMark = "request."

func init() { // it needs undoers
	AddUndo("request", func(v *Visit, mark string) (string, error) {
		p, err := v.TakeBack(Fields{"requestId": strings.TrimPrefix(mark, requestMark)})
		if err != nil || p.Status == proposal.Executed && len(p.Skipped) == 0 {
			return "", err
		}
		return "/review/" + string(p.ID), nil // it tells how far it is, and what stays
	})
}

func (v *Visit) undoMark(text string) (page string, err error) {
	if ref, ok := id.Parse(text); ok {
		return "", v.undoOne(ref)
	}
	word, _, _ := strings.Cut(text, ".")
	return undoers[word](v, text)
}

func (v *Visit) undoOne(ref id.ID) error {
	var e eventlog.Event
	if err := v.Do("events.get", Fields{"id": ref}, &e); err != nil {
		return err
	}
	if v.undoable(&e) == "" {
		return fault.BadInput.Say("This cannot be undone.")
	}
	n := v.ofType(e.ResourceType)
	if strings.HasSuffix(e.Type, ".deleted") {
		return v.Do(n.ops()+".restore", Fields{"id": e.ResourceID}, nil)
	}
	if strings.HasSuffix(e.Type, ".merged") {
		var merge struct {
			Merged struct {
				ID id.ID `json:"id"`
			} `json:"merged"`
		}
		if err := json.Unmarshal(e.Data, &merge); err != nil {
			return err
		}
		return v.Do(n.ops()+".unmerge", Fields{"id": e.ResourceID, "contactId": merge.Merged.ID}, nil)
	}
	var before map[string]any
	if err := json.Unmarshal(e.Previous, &before); err != nil {
		return err
	}
	in := Fields{"id": e.ResourceID}
	for name, value := range before {
		if v.property(n.ops()+".update", name) != nil {
			in[name] = value
		}
	}
	if len(in) == 1 {
		return fault.BadInput.Say("This cannot be undone.")
	}
	return v.Do(n.ops()+".update", in, nil)
}

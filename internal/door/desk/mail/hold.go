package mail

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
)

// written shows the thread of a mail that was just written, and what became of it.
func written(v *desk.Visit, to string, m *message.Message) error {
	if v.IsHeld(m) {
		return v.Done(to, "held", []string{desk.HeldMark(m.ID)})
	}
	return v.Done(to, doneKey(m), nil)
}

var _ = desk.AddUndo("mail", takeBack)

// takeBack makes a mail that waits a draft again, and opens it.
func takeBack(v *desk.Visit, mark string) (page string, err error) {
	ref, ok := id.Parse(strings.TrimPrefix(mark, desk.HeldMark("")))
	if !ok {
		return "", fault.NotFound.New()
	}
	var m message.Message
	if err := v.Do("messages.get", desk.Fields{"id": ref}, &m); err != nil {
		return "", err
	}
	thread := "/inbox/" + string(m.ThreadID)
	if m.Status != message.Scheduled {
		return thread + "?done=left", nil
	}
	if err := v.Do("messages.unschedule", desk.Fields{"id": ref}, &m); err != nil {
		return "", err
	}
	return thread + "?done=taken-back&write=answer#reply", openAgain(v, m.ThreadID)
}

// openAgain takes back that a thread waits for its answer.
func openAgain(v *desk.Visit, thread id.ID) error {
	var t message.Thread
	if !v.May("threads.update") {
		return nil
	}
	if err := v.Do("threads.get", desk.Fields{"id": thread}, &t); err != nil || t.Status != "waiting" {
		return err
	}
	return v.Do("threads.update", desk.Fields{"id": thread, "status": "open"}, nil)
}

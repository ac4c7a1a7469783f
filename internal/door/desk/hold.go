package desk

import (
	"time"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
)

// What a person sends waits for a moment, in which it can be taken back, unless the writer
// does not want that. It is scheduled mail like any other, so that it leaves whatever happens
// to the page or the process.

// holdTime is how long it waits.
const holdTime = 10 * time.Second

// holdCookie is "no" for whoever wants their mail to leave at once.
const holdCookie = "desk_hold"

// HoldsMail reports whether the writer's mail waits.
func (v *Visit) HoldsMail() bool { return v.Choice(holdCookie) != "no" }

// HoldMail lets a mail that is sent now wait. The form says whether it should, and the choice
// is kept for the next.
func (v *Visit) HoldMail(in Fields) {
	wants := v.HoldsMail()
	if v.R.PostForm.Has("holdable") {
		if chosen := v.Value("hold") == "yes"; chosen != wants {
			wants = chosen
			v.KeepChoice(holdCookie, map[bool]string{true: "", false: "no"}[chosen])
		}
	}
	if wants && in["scheduledAt"] == nil && v.Value("do") != "save" {
		in["scheduledAt"] = v.Now().Add(holdTime).String()
	}
}

// IsHeld reports whether a mail waits for that moment.
func (v *Visit) IsHeld(m *message.Message) bool {
	return m.Status == message.Scheduled && m.ScheduledAt.Sub(v.Now()) <= holdTime
}

// heldWord begins the marks of mails that Undo can take back. The room of mail does it.
const heldWord = "mail"

// HeldMark marks a mail that Undo can take back.
func HeldMark(ref id.ID) string { return heldWord + "." + string(ref) }

package message_test

import (
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/message/messagetest"
)

// A domain that is written in its own letters and as DNS knows it is one: who
// refuses it refuses both.
func TestTwoSpellings(t *testing.T) {
	eachRelay(t, func(t *testing.T, a *apptest.App, call apptest.Door, r *messagetest.Relay) {
		asked := 0
		r.Answer = func(step, _ string) error {
			if step != "RCPT" {
				return nil
			}
			asked++
			return messagetest.Refuse(550, "No such user")
		}
		v := call(t, "messages.create", `{"to": ["ada@bücher.example", "ADA@xn--bcher-kva.example"], "cc": "ada@BÜCHER.example", "subject": "x", "text": "x"}`).OK(t, 201)
		reaches(t, call, v, "bounced").Same("errorMessage", "ada@bücher.example: 550 No such user")
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

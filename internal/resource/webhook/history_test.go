package webhook_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/webhook"
)

// Every attempt keeps its own answer, including redeliveries, up to the length
// of the schedule.
func TestHistory(t *testing.T) {
	webhook.Shorten(t, time.Minute, time.Minute, 30*time.Millisecond, 30*time.Millisecond)
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("action", a.Tenant)
		var calls atomic.Int64
		e := newEndpoint(t, func(w http.ResponseWriter, _ *http.Request) {
			n := calls.Add(1)
			if n < 3 {
				w.WriteHeader(500 + int(n))
			}
			fmt.Fprintf(w, "answer %d", n)
		})
		hook, _ := subscribe(t, call, e.server.URL, "contact.created")
		call(t, "contacts.create", `{"firstName": "Ada"}`).OK(t, 201)
		one := settled(t, call, hook, "succeeded", 1).At("0")
		if !one.At("history").Null() {
			t.Errorf("a list tells of every attempt: %s", one)
		}
		ref := fmt.Sprintf(`{"id": %q, "deliveryId": %q}`, hook, one.Text("id"))
		look := func(attempts int, answers ...string) apptest.Value {
			t.Helper()
			v := call(t, "webhooks.deliveries.get", ref).OK(t, 200)
			v.Same("attempts", attempts)
			h := v.At("history")
			if h.Len() != len(answers) {
				t.Fatalf("%d attempts are told of, want %d: %s", h.Len(), len(answers), h)
			}
			for i, want := range answers {
				at := h.At(fmt.Sprint(i))
				at.Same("responseBody", want)
				at.Same("url", e.server.URL)
				if at.At("durationMs").Null() || at.Text("attemptedAt") == "" {
					t.Errorf("attempt %d: %s", i, at)
				}
			}
			return h
		}
		h := look(3, "answer 1", "answer 2", "answer 3")
		h.At("0").Same("responseStatus", 501)
		h.At("1").Same("errorMessage", "The endpoint answered 502.")
		h.At("2").Same("responseStatus", 200)
		h.At("2").Same("errorMessage", nil)
		call(t, "webhooks.deliveries.redeliver", ref).OK(t, 200)
		call(t, "webhooks.deliveries.redeliver", ref).OK(t, 200)
		look(5, "answer 3", "answer 4", "answer 5")

		// Two at once: each has its own answer, whichever comes first.
		hold := make(chan struct{})
		e.answer = func(w http.ResponseWriter, _ *http.Request) {
			n := calls.Add(1)
			if n == 6 {
				<-hold
			} else {
				close(hold)
				time.Sleep(50 * time.Millisecond)
			}
			fmt.Fprintf(w, "answer %d", n)
		}
		apptest.RunAtOnce(2, func(i int) {
			for i == 1 && calls.Load() < 6 {
				time.Sleep(time.Millisecond)
			}
			call(t, "webhooks.deliveries.redeliver", ref).OK(t, 200)
		})
		look(7, "answer 5", "answer 6", "answer 7")
	})
}

package console

import (
	"net/http"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// What is done with one webhook, and its deliveries.

func (v *visit) rotateWebhookPage() error {
	return v.askWebhook(question{Title: "Rotate the secret", Lead: "The webhook gets a new secret, which is shown once. For 24 hours both the new and the old secret sign, so that the receiver can change in its own time.",
		Button: "Rotate secret"}, "Rotate")
}

func (v *visit) rotateWebhook() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	var w webhook
	if err := v.do("webhooks.rotate_secret", fields{"id": ref}, &w); err != nil {
		return err
	}
	return v.showSecret(&w, "This is the new secret. The old one signs as well for 24 hours.")
}

// testWebhook leads to the delivery of the test, which shows the answer.
func (v *visit) testWebhook() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	var d delivery
	if err := v.do("webhooks.test", fields{"id": ref}, &d); err != nil {
		return err
	}
	return v.done(d.Path(), "tested")
}

func (v *visit) enableWebhook() error { return v.setWebhook("active", "enabled") }

func (v *visit) disableWebhookPage() error {
	return v.askWebhook(question{Title: "Disable the webhook", Lead: "It is told of nothing until it is enabled again, and never of what happens meanwhile.",
		Lost: []string{"What is waiting to be sent to it is canceled."}, Button: "Disable webhook"}, "Disable")
}

func (v *visit) disableWebhook() error { return v.setWebhook("disabled", "disabled") }

func (v *visit) setWebhook(status, done string) error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	if err := v.do("webhooks.update", fields{"id": ref, "status": status}, nil); err != nil {
		return err
	}
	return v.done(webhookPath(ref), done)
}

func (v *visit) deleteWebhookPage() error {
	return v.askWebhook(question{Title: "Delete the webhook", Lead: "The webhook and its secret are gone. This cannot be undone.",
		Lost: []string{"What is waiting to be sent to it is canceled.", "The record of its deliveries is gone."}, Button: "Delete webhook"}, "Delete")
}

func (v *visit) deleteWebhook() error { return v.act("webhooks.delete", "/webhooks", "deleted") }

// askWebhook asks before something is done to the webhook of the path, and
// names it.
func (v *visit) askWebhook(q question, verb string) error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	q.Section, q.Tab, q.Back = "automations", "webhooks", webhookPath(w.ID)
	q.Crumbs = webhookCrumbs(crumb{w.Host(), q.Back}, crumb{verb, ""})
	q.About = w.URL
	return v.ask(q)
}

// delivery is one event for one webhook as its operations answer.
type delivery struct {
	op.Record
	WebhookID      id.ID       `json:"webhookId"`
	EventID        string      `json:"eventId"`
	EventType      string      `json:"eventType"`
	Status         string      `json:"status"`
	Attempts       int         `json:"attempts"`
	URL            *string     `json:"url"`
	AttemptedAt    *clock.Time `json:"attemptedAt"`
	NextAttemptAt  *clock.Time `json:"nextAttemptAt"`
	CompletedAt    *clock.Time `json:"completedAt"`
	DurationMs     *int64      `json:"durationMs"`
	ResponseStatus *int        `json:"responseStatus"`
	ResponseBody   *string     `json:"responseBody"`
	ErrorMessage   *string     `json:"errorMessage"`
	RequestBody    *string     `json:"requestBody"`
	History        []attempt   `json:"history"`
}

// attempt is one time that a delivery was sent.
type attempt struct {
	AttemptedAt    clock.Time `json:"attemptedAt"`
	DurationMs     *int64     `json:"durationMs"`
	ResponseStatus *int       `json:"responseStatus"`
	ResponseBody   *string    `json:"responseBody"`
	ErrorMessage   *string    `json:"errorMessage"`
}

// Answer says what came back, in a few words.
func (a *attempt) Answer() string {
	switch {
	case a.ResponseStatus != nil:
		return statusWords(*a.ResponseStatus)
	case a.ErrorMessage != nil:
		return *a.ErrorMessage
	}
	return "Nobody saw the answer"
}

// Body is the beginning of the answer, or nil.
func (a *attempt) Body() *shownData {
	if a.ResponseBody == nil || *a.ResponseBody == "" {
		return nil
	}
	return &shownData{"What came back", *a.ResponseBody}
}

// Took is how long it took.
func (a *attempt) Took() string {
	if a.DurationMs == nil {
		return ""
	}
	return took(*a.DurationMs)
}

// Path is its page.
func (d *delivery) Path() string { return webhookPath(d.WebhookID) + "/deliveries/" + string(d.ID) }

// Event says what happened.
func (d *delivery) Event() string { return eventWords(d.EventType) }

// State is its status as a coloured word.
func (d *delivery) State() badge { return runState(d.Status) }

// Answer says what came back, in a few words.
func (d *delivery) Answer() string {
	switch {
	case d.ResponseStatus != nil:
		return statusWords(*d.ResponseStatus)
	case d.ErrorMessage != nil:
		return *d.ErrorMessage
	case d.Attempts == 0:
		return "Not sent yet"
	}
	return "No answer"
}

// Took is how long the last attempt took.
func (d *delivery) Took() string {
	if d.DurationMs == nil {
		return ""
	}
	return took(*d.DurationMs)
}

// Before are the attempts before the last, the newest first.
func (d *delivery) Before() (out []attempt) {
	for i := len(d.History) - 2; i >= 0; i-- {
		out = append(out, d.History[i])
	}
	return out
}

// Sent is what was sent, as people read it.
func (d *delivery) Sent() string {
	if d.RequestBody == nil {
		return ""
	}
	return pretty(*d.RequestBody)
}

func (v *visit) deliveryPage() error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	ref, err := v.pathID("delivery")
	if err != nil {
		return err
	}
	var d delivery
	if err := v.do("webhooks.deliveries.get", fields{"id": w.ID, "deliveryId": ref}, &d); err != nil {
		return err
	}
	page := webhookView(d.Event(), webhookCrumbs(crumb{w.Host(), webhookPath(w.ID)}, crumb{"Delivery", ""}), struct {
		Webhook  *webhook
		Delivery *delivery
	}{w, &d})
	page.Badge = d.State()
	return v.show(http.StatusOK, "delivery", page)
}

func (v *visit) redeliver() error {
	hook, err := v.pathID("id")
	if err != nil {
		return err
	}
	ref, err := v.pathID("delivery")
	if err != nil {
		return err
	}
	var d delivery
	if err := v.do("webhooks.deliveries.redeliver", fields{"id": hook, "deliveryId": ref}, &d); err != nil {
		return err
	}
	return v.done(d.Path(), "resent")
}

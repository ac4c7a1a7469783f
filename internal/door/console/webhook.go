package console

import (
	"net/http"

	"frontdesk/internal/resource/webhook"
)

// The actions on one webhook, and its deliveries.

func (v *visit) rotateWebhookPage() error {
	return v.askWebhook(question{Title: "Rotate the secret",
		Lead: "The webhook gets a new secret, which is shown once. For 24 hours both the new and the old secret " +
			"sign, so that you have time to update the receiver.",
		Button: "Rotate secret"}, "Rotate")
}

func (v *visit) rotateWebhook() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	var w shownWebhook
	if err := v.do("webhooks.rotate_secret", fields{"id": ref}, &w); err != nil {
		return err
	}
	return v.showSecret(&w, "This is the new secret. The old one also signs for 24 hours.")
}

// testWebhook redirects to the test's delivery, which shows the answer.
func (v *visit) testWebhook() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	var d shownDelivery
	if err := v.do("webhooks.test", fields{"id": ref}, &d); err != nil {
		return err
	}
	return v.done(d.Path(), "tested")
}

func (v *visit) enableWebhook() error { return v.setWebhook("active", "enabled") }

func (v *visit) disableWebhookPage() error {
	return v.askWebhook(question{Title: "Disable the webhook",
		Lead: "It receives nothing until you enable it again, and never what it missed meanwhile.",
		Lost: []string{"Waiting deliveries are canceled."}, Button: "Disable webhook"}, "Disable")
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
	return v.askWebhook(question{Title: "Delete the webhook",
		Lead: "This deletes the webhook and its secret. It cannot be undone.",
		Lost: []string{"Waiting deliveries are canceled.",
			"The record of its deliveries is deleted too."}, Button: "Delete webhook"}, "Delete")
}

func (v *visit) deleteWebhook() error { return v.act("webhooks.delete", "/webhooks", "deleted") }

// askWebhook asks before something is done to the webhook in the path, and
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

// shownDelivery is a delivery with the words that pages show.
type shownDelivery webhook.Delivery

// shownAttempt is an attempt with the words that pages show.
type shownAttempt webhook.Attempt

// Answer says what came back, in a few words.
func (a *shownAttempt) Answer() string {
	switch {
	case a.ResponseStatus != nil:
		return statusWords(*a.ResponseStatus)
	case a.ErrorMessage != nil:
		return *a.ErrorMessage
	}
	return "The answer was lost"
}

// Body is the beginning of the answer, or nil.
func (a *shownAttempt) Body() *shownData {
	if a.ResponseBody == nil || *a.ResponseBody == "" {
		return nil
	}
	return &shownData{"What came back", *a.ResponseBody}
}

// Took is how long it took.
func (a *shownAttempt) Took() string {
	if a.DurationMs == nil {
		return ""
	}
	return durationWords(*a.DurationMs)
}

// Path is its page.
func (d *shownDelivery) Path() string {
	return webhookPath(d.WebhookID) + "/deliveries/" + string(d.ID)
}

// Event says what happened.
func (d *shownDelivery) Event() string { return eventWords(d.EventType) }

// State is its status as a coloured word.
func (d *shownDelivery) State() badge { return runState(string(d.Status)) }

// Answer says what came back, in a few words.
func (d *shownDelivery) Answer() string {
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
func (d *shownDelivery) Took() string {
	if d.DurationMs == nil {
		return ""
	}
	return durationWords(*d.DurationMs)
}

// Before is the attempts before the last, the newest first.
func (d *shownDelivery) Before() (out []shownAttempt) {
	if d.History == nil {
		return nil
	}
	history := *d.History
	for i := len(history) - 2; i >= 0; i-- {
		out = append(out, shownAttempt(history[i]))
	}
	return out
}

// Sent is what was sent, indented.
func (d *shownDelivery) Sent() string {
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
	var d shownDelivery
	if err := v.do("webhooks.deliveries.get", fields{"id": w.ID, "deliveryId": ref}, &d); err != nil {
		return err
	}
	page := webhookView(d.Event(), webhookCrumbs(crumb{w.Host(), webhookPath(w.ID)}, crumb{"Delivery", ""}), struct {
		Webhook  *shownWebhook
		Delivery *shownDelivery
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
	var d shownDelivery
	if err := v.do("webhooks.deliveries.redeliver", fields{"id": hook, "deliveryId": ref}, &d); err != nil {
		return err
	}
	return v.done(d.Path(), "resent")
}

package automations

import (
	"net/http"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/webhook"
)

// The actions on one webhook, and its deliveries.

func rotateWebhookPage(v *desk.Visit) error {
	return askWebhook(v, desk.Question{Title: "Rotate the secret",
		Lead: "The webhook gets a new secret, which is shown once. For 24 hours both the new and the old secret " +
			"sign, so that you have time to update the receiver.",
		Button: "Rotate secret"}, "Rotate")
}

func rotateWebhook(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var w shownWebhook
	if err := v.Do("webhooks.rotate_secret", desk.Fields{"id": ref}, &w); err != nil {
		return err
	}
	return showSecret(v, &w, "This is the new secret. The old one also signs for 24 hours.")
}

// testWebhook redirects to the test's delivery, which shows the answer.
func testWebhook(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var d shownDelivery
	if err := v.Do("webhooks.test", desk.Fields{"id": ref}, &d); err != nil {
		return err
	}
	return v.Done(d.Path(), "tested", nil)
}

func enableWebhook(v *desk.Visit) error { return setWebhook(v, "active", "hook-enabled") }

func disableWebhookPage(v *desk.Visit) error {
	return askWebhook(v, desk.Question{Title: "Disable the webhook",
		Lead: "It receives nothing until you enable it again, and never what it missed meanwhile.",
		Lost: []string{"Waiting deliveries are canceled."}, Button: "Disable webhook"}, "Disable")
}

func disableWebhook(v *desk.Visit) error { return setWebhook(v, "disabled", "hook-disabled") }

func setWebhook(v *desk.Visit, status, done string) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	if err := v.Do("webhooks.update", desk.Fields{"id": ref, "status": status}, nil); err != nil {
		return err
	}
	return v.Done(webhookPath(ref), done, nil)
}

func deleteWebhookPage(v *desk.Visit) error {
	return askWebhook(v, desk.Question{Title: "Delete the webhook",
		Lead: "This deletes the webhook and its secret. It cannot be undone.",
		Lost: []string{"Waiting deliveries are canceled.",
			"The record of its deliveries is deleted too."}, Button: "Delete webhook"}, "Delete")
}

func deleteWebhook(v *desk.Visit) error { return v.DoWithID("webhooks.delete", "/webhooks", "deleted") }

// askWebhook asks before something is done to the webhook in the path, and
// names it.
func askWebhook(v *desk.Visit, q desk.Question, verb string) error {
	w, err := readWebhook(v)
	if err != nil {
		return err
	}
	q.Section, q.Tab, q.Back = "automations", "webhooks", webhookPath(w.ID)
	q.Crumbs = webhookCrumbs(desk.Crumb{Text: w.Host(), Href: q.Back}, desk.Crumb{Text: verb})
	q.About = w.URL
	return v.Ask(q)
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
func (a *shownAttempt) Body() *desk.Data {
	if a.ResponseBody == nil || *a.ResponseBody == "" {
		return nil
	}
	return &desk.Data{Label: "What came back", Text: *a.ResponseBody}
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
func (d *shownDelivery) Event() string { return desk.EventWords(d.EventType) }

// State is its status as a coloured word.
func (d *shownDelivery) State() desk.Pill { return statusPill(string(d.Status)) }

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
	return desk.IndentJSON(*d.RequestBody)
}

func deliveryPage(v *desk.Visit) error {
	w, err := readWebhook(v)
	if err != nil {
		return err
	}
	ref, err := v.PathID("delivery")
	if err != nil {
		return err
	}
	var d shownDelivery
	if err := v.Do("webhooks.deliveries.get", desk.Fields{"id": w.ID, "deliveryId": ref}, &d); err != nil {
		return err
	}
	page := webhookView(d.Event(), webhookCrumbs(desk.Crumb{Text: w.Host(), Href: webhookPath(w.ID)},
		desk.Crumb{Text: "Delivery"}), struct {
		Webhook  *shownWebhook
		Delivery *shownDelivery
	}{w, &d})
	page.Badge = d.State()
	return v.ShowView(http.StatusOK, "delivery", page)
}

func redeliver(v *desk.Visit) error {
	hook, err := v.PathID("id")
	if err != nil {
		return err
	}
	ref, err := v.PathID("delivery")
	if err != nil {
		return err
	}
	var d shownDelivery
	if err := v.Do("webhooks.deliveries.redeliver", desk.Fields{"id": hook, "deliveryId": ref}, &d); err != nil {
		return err
	}
	return v.Done(d.Path(), "resent", nil)
}

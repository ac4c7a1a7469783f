package console

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// every is the type of event that stands for all of them.
const every = "*"

// webhook is an endpoint as its operations answer.
type webhook struct {
	op.Record
	URL                 string      `json:"url"`
	Events              []string    `json:"events"`
	Description         *string     `json:"description"`
	Status              string      `json:"status"`
	DisabledReason      *string     `json:"disabledReason"`
	PreviousSecretUntil *clock.Time `json:"previousSecretUntil"`
	Secret              *string     `json:"secret"`
}

func webhookCrumbs(more ...crumb) []crumb { return append([]crumb{{"Webhooks", "/webhooks"}}, more...) }

func webhookPath(hook id.ID) string { return "/webhooks/" + url.PathEscape(string(hook)) }

// Host is a short name for it.
func (w *webhook) Host() string {
	if u, err := url.Parse(w.URL); err == nil {
		return u.Host
	}
	return w.URL
}

// EventWords says in a few words what it is told of.
func (w *webhook) EventWords() string {
	if slices.Contains(w.Events, every) {
		return "Every event"
	}
	var words []string
	for i, e := range w.Events {
		if i == 3 && len(w.Events) > 4 {
			words = append(words, count(len(w.Events)-i, "other"))
			break
		}
		words = append(words, eventWords(e))
	}
	return sentence(words)
}

// State is its status as a coloured word.
func (w *webhook) State() badge {
	if w.Status == "active" {
		return badge{w.Status, "good"}
	}
	return badge{w.Status, "warn"}
}

// Reason says why the service disabled it.
func (w *webhook) Reason() string {
	if w.DisabledReason == nil {
		return ""
	}
	return map[string]string{"gone": "It was disabled because it answered 410 Gone.",
		"failing":    "It was disabled because nothing came through to it for three days.",
		"maker_left": "It was disabled because the member who last set its URL left the organization. Check the URL before you enable it."}[*w.DisabledReason]
}

func webhookView(title string, crumbs []crumb, d any) view {
	return view{Title: title, Section: "automations", Tab: "webhooks", Crumbs: crumbs, Data: d}
}

// webhookRow is a webhook as the list shows it.
type webhookRow struct {
	webhook
	Last *delivery
}

func (v *visit) webhooksPage() error {
	hooks, err := list[webhook](v, "webhooks.list", nil)
	if err != nil {
		return err
	}
	refs := make([]id.ID, len(hooks.Rows))
	for i, w := range hooks.Rows {
		refs[i] = w.ID
	}
	last, err := newest(v, "webhooks.deliveries.newest", refs, func(d *delivery) id.ID { return d.WebhookID })
	if err != nil {
		return err
	}
	rows := sheet[webhookRow]{Earlier: hooks.Earlier, Later: hooks.Later}
	for _, w := range hooks.Rows {
		rows.Rows = append(rows.Rows, webhookRow{w, last[w.ID]})
	}
	page := webhookView("Webhooks", webhookCrumbs(), rows)
	page.Main = mainUnless(len(rows.Rows) == 0, "Create webhook", "/webhooks/new")
	return v.show(http.StatusOK, "webhooks", page)
}

func (v *visit) webhook() (*webhook, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var w webhook
	return &w, v.do("webhooks.get", fields{"id": ref}, &w)
}

func (v *visit) webhookPage() error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	return v.showWebhook(w, nil)
}

type webhookData struct {
	Webhook    *webhook
	Once       *secretOnce
	Deliveries sheet[delivery]
	Filters    []filter
	Filtered   bool
}

func (v *visit) showWebhook(w *webhook, once *secretOnce) error {
	v.at = webhookPath(w.ID)
	filters, status := v.filters("pending", "retrying", "succeeded", "failed", "canceled")
	input := fields{"id": w.ID}
	if status != "" {
		input["status"] = status
	}
	deliveries, err := list[delivery](v, "webhooks.deliveries.list", input)
	if err != nil {
		return err
	}
	page := webhookView(w.URL, webhookCrumbs(crumb{w.Host(), ""}), webhookData{w, once, deliveries, filters, status != ""})
	page.Badge, page.Main = w.State(), &action{"Edit", webhookPath(w.ID) + "/edit"}
	return v.show(http.StatusOK, "webhook", page)
}

type webhookForm struct {
	Form   *form
	Groups []eventGroup
	Button string
	Back   string
}

// eventGroup are the types of events about one thing.
type eventGroup struct {
	Label   string
	Chosen  int
	Options []option
}

func (v *visit) showWebhookForm(status int, title string, crumbs []crumb, d webhookForm) error {
	for _, g := range v.eventTypes() {
		group := eventGroup{Label: g.Label, Options: g.Options}
		for _, o := range g.Options {
			if d.Form.Has("events", o.Value) {
				group.Chosen++
			}
		}
		d.Groups = append(d.Groups, group)
	}
	return v.show(status, "webhook-edit", webhookView(title, crumbs, d))
}

// chosenEvents reads the boxes. Every event makes the others superfluous.
func (v *visit) chosenEvents() []string {
	events := v.r.PostForm["events"]
	if slices.Contains(events, every) {
		return []string{every}
	}
	return append([]string{}, events...)
}

// given is a text, or null when there is none.
func given(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (v *visit) newWebhookPage() error { return v.showNewWebhook(http.StatusOK, blank()) }

func (v *visit) showNewWebhook(status int, f *form) error {
	return v.showWebhookForm(status, "Create a webhook", webhookCrumbs(crumb{"New", ""}), webhookForm{Form: f, Button: "Create webhook", Back: "/webhooks"})
}

func (v *visit) createWebhook() error {
	var w webhook
	err := v.do("webhooks.create", fields{"url": v.value("url"), "events": v.chosenEvents(), "description": given(v.value("description"))}, &w)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showNewWebhook(status, f)
	}
	return v.showSecret(&w, "This is the secret of the new webhook. What is sent to it is signed with it, so that the receiver can tell it is yours.")
}

// showSecret shows the webhook with its new secret.
func (v *visit) showSecret(w *webhook, lead string) error {
	return v.showWebhook(w, &secretOnce{lead, *w.Secret, webhookPath(w.ID)})
}

func (v *visit) editWebhookPage() error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	f := blank("url", w.URL)
	if w.Description != nil {
		f.Values.Set("description", *w.Description)
	}
	f.Values["events"] = w.Events
	return v.showEditWebhook(http.StatusOK, w, f)
}

func (v *visit) showEditWebhook(status int, w *webhook, f *form) error {
	return v.showWebhookForm(status, "Edit the webhook", webhookCrumbs(crumb{w.Host(), webhookPath(w.ID)}, crumb{"Edit", ""}), webhookForm{Form: f, Button: "Save webhook", Back: webhookPath(w.ID)})
}

func (v *visit) editWebhook() error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	err = v.do("webhooks.update", fields{"id": w.ID, "url": v.value("url"), "events": v.chosenEvents(), "description": given(v.value("description"))}, nil)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showEditWebhook(status, w, f)
	}
	return v.done(webhookPath(w.ID), "saved")
}

package console

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/webhook"
)

// everyEvent stands for all types of events.
const everyEvent = "*"

// shownWebhook is a webhook with the words that pages show.
type shownWebhook webhook.Webhook

func webhookCrumbs(more ...crumb) []crumb { return append([]crumb{{"Webhooks", "/webhooks"}}, more...) }

func webhookPath(hook id.ID) string { return "/webhooks/" + url.PathEscape(string(hook)) }

// Host is a short name for it.
func (w *shownWebhook) Host() string {
	if u, err := url.Parse(w.URL); err == nil {
		return u.Host
	}
	return w.URL
}

// EventWords says in a few words which events it receives.
func (w *shownWebhook) EventWords() string {
	if slices.Contains(w.Events, everyEvent) {
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
	return joinAnd(words)
}

// State is its status as a coloured word.
func (w *shownWebhook) State() badge {
	if w.Status == "active" {
		return badge{string(w.Status), "good"}
	}
	return badge{string(w.Status), "warn"}
}

// Reason says why the service disabled it.
func (w *shownWebhook) Reason() string {
	if w.DisabledReason == nil {
		return ""
	}
	return map[string]string{"gone": "It was disabled because it answered 410 Gone.",
		"failing": "It was disabled because no delivery succeeded for three days.",
		"maker_left": "It was disabled because the member who last set its URL left the organization. Check the URL " +
			"before you enable it."}[*w.DisabledReason]
}

func webhookView(title string, crumbs []crumb, d any) view {
	return view{Title: title, Section: "automations", Tab: "webhooks", Crumbs: crumbs, Data: d}
}

// webhookRow is a webhook as the list shows it.
type webhookRow struct {
	shownWebhook
	Last *shownDelivery
}

func (v *visit) webhooksPage() error {
	hooks, err := listPage[shownWebhook](v, "webhooks.list", nil)
	if err != nil {
		return err
	}
	refs := make([]id.ID, len(hooks.Rows))
	for i, w := range hooks.Rows {
		refs[i] = w.ID
	}
	last, err := newestByID(v, "webhooks.deliveries.newest", refs, func(d *shownDelivery) id.ID { return d.WebhookID })
	if err != nil {
		return err
	}
	rows := sheet[webhookRow]{Earlier: hooks.Earlier, Later: hooks.Later}
	for _, w := range hooks.Rows {
		rows.Rows = append(rows.Rows, webhookRow{w, last[w.ID]})
	}
	page := webhookView("Webhooks", webhookCrumbs(), rows)
	page.Main = mainUnless(len(rows.Rows) == 0 || !v.may("webhooks.create"),
		"Create webhook", "/webhooks/new")
	return v.show(http.StatusOK, "webhooks", page)
}

func (v *visit) webhook() (*shownWebhook, error) {
	ref, err := v.pathID("id")
	if err != nil {
		return nil, err
	}
	var w shownWebhook
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
	Webhook    *shownWebhook
	Once       *secretOnce
	Deliveries sheet[shownDelivery]
	Filters    []filter
	Filtered   bool
}

func (v *visit) showWebhook(w *shownWebhook, once *secretOnce) error {
	v.at = webhookPath(w.ID)
	filters, status := v.filters("pending", "retrying", "succeeded", "failed", "canceled")
	input := fields{"id": w.ID}
	if status != "" {
		input["status"] = status
	}
	deliveries, err := listPage[shownDelivery](v, "webhooks.deliveries.list", input)
	if err != nil {
		return err
	}
	page := webhookView(w.URL, webhookCrumbs(crumb{w.Host(), ""}),
		webhookData{w, once, deliveries, filters, status != ""})
	page.Badge = w.State()
	if v.may("webhooks.update") {
		page.Main = &action{Text: "Edit", Href: webhookPath(w.ID) + "/edit"}
	}
	return v.show(http.StatusOK, "webhook", page)
}

type webhookForm struct {
	Form   *form
	Groups []eventGroup
	Button string
	Back   string
}

// eventGroup is the types of events about one thing.
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

// chosenEvents reads the boxes. "Every event" makes the others superfluous.
func (v *visit) chosenEvents() []string {
	events := v.r.PostForm["events"]
	if slices.Contains(events, everyEvent) {
		return []string{everyEvent}
	}
	return append([]string{}, events...)
}

// textOrNull is a text, or null if it is empty.
func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (v *visit) newWebhookPage() error { return v.showNewWebhook(http.StatusOK, blank()) }

func (v *visit) showNewWebhook(status int, f *form) error {
	return v.showWebhookForm(status, "Create a webhook", webhookCrumbs(crumb{"New", ""}),
		webhookForm{Form: f, Button: "Create webhook", Back: "/webhooks"})
}

func (v *visit) createWebhook() error {
	var w shownWebhook
	err := v.do("webhooks.create",
		fields{"url": v.value("url"), "events": v.chosenEvents(),
			"description": textOrNull(v.value("description"))}, &w)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showNewWebhook(status, f)
	}
	return v.showSecret(&w,
		"This is the new webhook's secret. It signs every delivery, so that the receiver can tell that it is yours.")
}

// showSecret shows the webhook with its new secret.
func (v *visit) showSecret(w *shownWebhook, lead string) error {
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

func (v *visit) showEditWebhook(status int, w *shownWebhook, f *form) error {
	return v.showWebhookForm(status, "Edit the webhook",
		webhookCrumbs(crumb{w.Host(), webhookPath(w.ID)}, crumb{"Edit", ""}),
		webhookForm{Form: f, Button: "Save webhook", Back: webhookPath(w.ID)})
}

func (v *visit) editWebhook() error {
	w, err := v.webhook()
	if err != nil {
		return err
	}
	err = v.do("webhooks.update",
		fields{"id": w.ID, "url": v.value("url"), "events": v.chosenEvents(),
			"description": textOrNull(v.value("description"))}, nil)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showEditWebhook(status, w, f)
	}
	return v.done(webhookPath(w.ID), "saved")
}

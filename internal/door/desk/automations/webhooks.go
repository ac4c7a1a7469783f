package automations

import (
	"net/http"
	"net/url"
	"slices"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/webhook"
)

// everyEvent stands for all types of events.
const everyEvent = "*"

// shownWebhook is a webhook with the words that pages show.
type shownWebhook webhook.Webhook

func webhookCrumbs(more ...desk.Crumb) []desk.Crumb {
	return append([]desk.Crumb{{Text: "Webhooks", Href: "/webhooks"}}, more...)
}

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
			words = append(words, desk.Count(len(w.Events)-i, "other", "others"))
			break
		}
		words = append(words, desk.EventWords(e))
	}
	return desk.JoinAnd(words)
}

// State is its status as a coloured word.
func (w *shownWebhook) State() desk.Pill {
	if w.Status == "active" {
		return desk.Pill{Text: string(w.Status), Tone: "good"}
	}
	return desk.Pill{Text: string(w.Status), Tone: "warn"}
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

func webhookView(title string, crumbs []desk.Crumb, d any) desk.View {
	return desk.View{Title: title, Section: "automations", Tab: "webhooks", Crumbs: crumbs, Data: d}
}

// webhookRow is a webhook as the list shows it.
type webhookRow struct {
	shownWebhook
	Last *shownDelivery
}

func webhooksPage(v *desk.Visit) error {
	hooks, err := desk.ListSheet[shownWebhook](v, "webhooks.list", nil)
	if err != nil {
		return err
	}
	refs := make([]id.ID, len(hooks.Rows))
	for i, w := range hooks.Rows {
		refs[i] = w.ID
	}
	last, err := desk.NewestByID(v, "webhooks.deliveries.newest", refs,
		func(d *shownDelivery) id.ID { return d.WebhookID })
	if err != nil {
		return err
	}
	rows := desk.Sheet[webhookRow]{Earlier: hooks.Earlier, Later: hooks.Later}
	for _, w := range hooks.Rows {
		rows.Rows = append(rows.Rows, webhookRow{w, last[w.ID]})
	}
	page := webhookView("Webhooks", webhookCrumbs(), rows)
	page.Main = desk.MainUnless(len(rows.Rows) == 0 || !v.May("webhooks.create"),
		"Create webhook", "/webhooks/new")
	return v.ShowView(http.StatusOK, "webhooks", page)
}

func readWebhook(v *desk.Visit) (*shownWebhook, error) {
	ref, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	var w shownWebhook
	return &w, v.Do("webhooks.get", desk.Fields{"id": ref}, &w)
}

func webhookPage(v *desk.Visit) error {
	w, err := readWebhook(v)
	if err != nil {
		return err
	}
	return showWebhook(v, w, nil)
}

type webhookData struct {
	Webhook    *shownWebhook
	Once       *desk.Secret
	Deliveries desk.Sheet[shownDelivery]
	Filters    []desk.StatusLink
	Filtered   bool
}

func showWebhook(v *desk.Visit, w *shownWebhook, once *desk.Secret) error {
	v.PagePath = webhookPath(w.ID)
	filters, status := v.StatusLinks("pending", "retrying", "succeeded", "failed", "canceled")
	input := desk.Fields{"id": w.ID}
	if status != "" {
		input["status"] = status
	}
	deliveries, err := desk.ListSheet[shownDelivery](v, "webhooks.deliveries.list", input)
	if err != nil {
		return err
	}
	page := webhookView(w.URL, webhookCrumbs(desk.Crumb{Text: w.Host()}),
		webhookData{w, once, deliveries, filters, status != ""})
	page.Badge = w.State()
	if v.May("webhooks.update") {
		page.Main = &desk.Button{Text: "Edit", Href: webhookPath(w.ID) + "/edit"}
	}
	return v.ShowView(http.StatusOK, "webhook", page)
}

type webhookForm struct {
	Form   *desk.Typed
	Groups []eventGroup
	Button string
	Back   string
}

// eventGroup is the types of events about one thing.
type eventGroup struct {
	Label   string
	Chosen  int
	Options []desk.Option
}

func showWebhookForm(v *desk.Visit, status int, title string, crumbs []desk.Crumb, d webhookForm) error {
	for _, g := range eventTypes(v) {
		group := eventGroup{Label: g.Label, Options: g.Options}
		for _, o := range g.Options {
			if d.Form.Has("events", o.Value) {
				group.Chosen++
			}
		}
		d.Groups = append(d.Groups, group)
	}
	return v.ShowView(status, "webhook-edit", webhookView(title, crumbs, d))
}

// chosenEvents reads the boxes. "Every event" makes the others superfluous.
func chosenEvents(v *desk.Visit) []string {
	events := v.R.PostForm["events"]
	if slices.Contains(events, everyEvent) {
		return []string{everyEvent}
	}
	return append([]string{}, events...)
}

func newWebhookPage(v *desk.Visit) error { return showNewWebhook(v, http.StatusOK, desk.NewTyped()) }

func showNewWebhook(v *desk.Visit, status int, f *desk.Typed) error {
	return showWebhookForm(v, status, "Create a webhook", webhookCrumbs(desk.Crumb{Text: "New"}),
		webhookForm{Form: f, Button: "Create webhook", Back: "/webhooks"})
}

func createWebhook(v *desk.Visit) error {
	var w shownWebhook
	err := v.Do("webhooks.create",
		desk.Fields{"url": v.Value("url"), "events": chosenEvents(v),
			"description": desk.TextOrNull(v.Value("description"))}, &w)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showNewWebhook(v, status, f)
	}
	return showSecret(v, &w,
		"This is the new webhook's secret. It signs every delivery, so that the receiver can tell that it is yours.")
}

// showSecret shows the webhook with its new secret.
func showSecret(v *desk.Visit, w *shownWebhook, lead string) error {
	return showWebhook(v, w, v.NewSecret(lead, *w.Secret, webhookPath(w.ID)))
}

func editWebhookPage(v *desk.Visit) error {
	w, err := readWebhook(v)
	if err != nil {
		return err
	}
	f := desk.NewTyped("url", w.URL)
	if w.Description != nil {
		f.Values.Set("description", *w.Description)
	}
	f.Values["events"] = w.Events
	return showEditWebhook(v, http.StatusOK, w, f)
}

func showEditWebhook(v *desk.Visit, status int, w *shownWebhook, f *desk.Typed) error {
	return showWebhookForm(v, status, "Edit the webhook",
		webhookCrumbs(desk.Crumb{Text: w.Host(), Href: webhookPath(w.ID)}, desk.Crumb{Text: "Edit"}),
		webhookForm{Form: f, Button: "Save webhook", Back: webhookPath(w.ID)})
}

func editWebhook(v *desk.Visit) error {
	w, err := readWebhook(v)
	if err != nil {
		return err
	}
	err = v.Do("webhooks.update",
		desk.Fields{"id": w.ID, "url": v.Value("url"), "events": chosenEvents(v),
			"description": desk.TextOrNull(v.Value("description"))}, nil)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showEditWebhook(v, status, w, f)
	}
	return v.Done(webhookPath(w.ID), "saved", nil)
}

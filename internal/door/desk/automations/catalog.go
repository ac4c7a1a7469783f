package automations

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/op"
)

// The choices that the catalog offers, in words.

// eventTypes are all types of events, grouped by what they are about.
func eventTypes(v *desk.Visit) (groups []desk.OptionGroup) {
	for _, t := range v.Catalog.EventTypes() {
		noun, _, _ := strings.Cut(t.Type, ".")
		label := desk.EventWords(noun)
		i := slices.IndexFunc(groups, func(g desk.OptionGroup) bool { return g.Label == label })
		if i < 0 {
			i = len(groups)
			groups = append(groups, desk.OptionGroup{Label: label})
		}
		groups[i].Options = append(groups[i].Options, desk.Option{Value: t.Type, Text: desk.EventWords(t.Type)})
	}
	slices.SortFunc(groups, func(a, b desk.OptionGroup) int {
		return strings.Compare(strings.ToLower(a.Label),
			strings.ToLower(b.Label))
	})
	return withUsual(groups, usualEvents)
}

// What most automations are made of comes first.
var (
	usualEvents = []string{"contact.created", "customer.created", "message.received", "message.bounced", "invoice.paid",
		"invoice.overdue", "task.created"}
	usualSteps = []string{"tasks.create", "messages.create", "contacts.notes.create", "contacts.update",
		"customers.update", "invoices.create", "invoices.send", "threads.update"}
)

// withUsual puts a group of what is chosen most before the others.
func withUsual(groups []desk.OptionGroup, usual []string) []desk.OptionGroup {
	first := desk.OptionGroup{Label: "Used most"}
	for _, value := range usual {
		for _, g := range groups {
			for _, o := range g.Options {
				if o.Value == value {
					first.Options = append(first.Options, o)
				}
			}
		}
	}
	if len(first.Options) == 0 {
		return groups
	}
	return append([]desk.OptionGroup{first}, groups...)
}

// isStep reports whether an automation can call an operation.
func isStep(o *op.Op) bool {
	return o != nil && desk.IsTool(o) && o.Doors&op.AutomationDoor != 0
}

// stepChoice is the operations that the visitor's automations may call, grouped
// by resource.
func stepChoice(v *desk.Visit) []desk.OptionGroup {
	groups := make([]desk.OptionGroup, len(op.Resources()))
	for i, r := range op.Resources() {
		groups[i].Label = desk.ResourceWord(r)
	}
	for _, o := range v.Catalog.All() {
		i := slices.Index(op.Resources(), o.Resource)
		if i >= 0 && isStep(o) && o.PermitCaller(v.Caller, op.AutomationDoor) == nil {
			groups[i].Options = append(groups[i].Options, desk.Option{Value: o.Name, Text: desk.ShortSummary(o)})
		}
	}
	return withUsual(slices.DeleteFunc(groups, func(g desk.OptionGroup) bool { return len(g.Options) == 0 }),
		usualSteps)
}

// eventSubject is the path of what the starting event is about.
const eventSubject = "event.resourceId"

// camel is a name as JSON has it: domainContact.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i := range words {
		if i > 0 {
			words[i] = desk.Capital(words[i])
		}
	}
	return strings.Join(words, "")
}

// statusPill is the status of what was sent or run, as a coloured word.
func statusPill(status string) desk.Pill {
	switch status {
	case "succeeded":
		return desk.Pill{Text: status, Tone: "good"}
	case "failed":
		return desk.Pill{Text: status, Tone: "bad"}
	case "retrying", "running", "canceled":
		return desk.Pill{Text: status, Tone: "warn"}
	}
	return desk.Pill{Text: status}
}

// statusWords is an HTTP status with its name.
func statusWords(code int64) string {
	return strings.TrimSpace(strconv.FormatInt(code, 10) + " " + http.StatusText(int(code)))
}

// durationWords is a duration as people say it.
func durationWords(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return strconv.FormatInt(ms, 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return desk.Count(int(d/time.Minute), "minute", "minutes")
	}
	return desk.Count(int(d/time.Hour), "hour", "hours")
}

// weekdays as cron counts them.
var weekdays = []string{"Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"}

var cronNames = map[string]string{"@hourly": "Every hour", "@daily": "Every day at 00:00",
	"@midnight": "Every day at 00:00", "@weekly": "Sundays at 00:00",
	"@monthly": "The 1st of every month at 00:00", "@yearly": "1 January at 00:00", "@annually": "1 January at 00:00"}

// cronWords says when a schedule is due, where that is easier to read than
// the expression itself.
func cronWords(text string) string {
	if words, ok := cronNames[text]; ok {
		return words
	}
	plain := "Schedule " + text
	f := strings.Fields(text)
	if len(f) != 5 || f[3] != "*" {
		return plain
	}
	minute, err := strconv.Atoi(f[0])
	if err != nil {
		step, ok := strings.CutPrefix(f[0], "*/")
		if f[0] == "*" {
			step, ok = "1", true
		}
		n, err := strconv.Atoi(step)
		// Cron starts over each hour, so only a divisor of 60 is evenly spaced.
		if !ok || err != nil || n < 1 || f[1] != "*" || f[2] != "*" || f[4] != "*" || 60%n != 0 {
			return plain
		}
		return "Every " + strings.TrimPrefix(desk.Count(n, "minute", "minutes"), "1 ")
	}
	if f[1] == "*" && f[2] == "*" && f[4] == "*" {
		return "Every hour at minute " + strconv.Itoa(minute)
	}
	hour, err := strconv.Atoi(f[1])
	if err != nil {
		return plain
	}
	at := fmt.Sprintf(" at %02d:%02d", hour, minute)
	day, dayErr := strconv.Atoi(f[4])
	switch {
	case f[2] == "*" && f[4] == "*":
		return "Every day" + at
	case f[2] == "*" && f[4] == "1-5":
		return "Weekdays" + at
	case f[2] == "*" && dayErr == nil && day >= 0 && day < len(weekdays):
		return weekdays[day] + at
	case f[2] == "1" && f[4] == "*":
		return "The 1st of every month" + at
	}
	return plain
}

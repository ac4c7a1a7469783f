package automations

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/resource/automation"

	"github.com/google/jsonschema-go/jsonschema"
)

// Values in the texts of a step are shown as people say them, in brackets: [First name] is
// {{ event.data.firstName }}, and [First name, or there] has a word for when there is none. What has no such name
// here stays as it is stored, and so does a text that would be read back as something else.

// spokenValue is a value that a step can use. Its name is unique within the step.
type spokenValue struct {
	Name string // First name
	Path string // event.data.firstName
	Of   string // what it is a part of: the event, or an earlier step
	Ref  string // the field, where it names another row
}

// Token is how a text has it.
func (s spokenValue) Token() string { return "[" + s.Name + "]" }

type spokenValues []spokenValue

var (
	storedToken = regexp.MustCompile(`\{\{\s*([\w.]+)\s*(?:\|\s*default:\s*"([^"\\\]]*)"\s*)?\}\}`)
	spokenToken = regexp.MustCompile(`\[([^\[\]\n]{1,100})\](\(?)`)
)

// orWord is between a value's name and the words for when there is none.
const orWord = ", or "

// say is a stored text as people read it. It is not ok where reading that would give another text.
func (s spokenValues) say(text string) (said string, ok bool) {
	said = storedToken.ReplaceAllStringFunc(text, func(token string) string {
		m := storedToken.FindStringSubmatch(token)
		i := slices.IndexFunc(s, func(v spokenValue) bool { return v.Path == m[1] })
		switch {
		case i < 0:
			return token
		case strings.Contains(token, "|"):
			return "[" + s[i].Name + orWord + m[2] + "]"
		}
		return s[i].Token()
	})
	return said, s.read(said) == storedToken.ReplaceAllStringFunc(text, func(token string) string {
		m := storedToken.FindStringSubmatch(token)
		return placeholderFor(m[1], m[2], strings.Contains(token, "|"))
	})
}

func placeholderFor(path, fallback string, hasFallback bool) string {
	if hasFallback {
		return "{{ " + path + ` | default: "` + fallback + `" }}`
	}
	return "{{ " + path + " }}"
}

// read is a text as it is stored. Brackets with any other words in them are ordinary text, and so is a link.
func (s spokenValues) read(text string) string {
	return s.eachToken(text, func(token, _ string) string { return token })
}

// eachToken replaces the values that a text names. unknown gets any other brackets, with the words in them.
func (s spokenValues) eachToken(text string, unknown func(token, words string) string) string {
	return spokenToken.ReplaceAllStringFunc(text, func(token string) string {
		m := spokenToken.FindStringSubmatch(token)
		name, fallback, hasFallback := strings.Cut(m[1], orWord)
		i := slices.IndexFunc(s, func(v spokenValue) bool { return strings.EqualFold(v.Name, strings.TrimSpace(name)) })
		if m[2] != "" || i < 0 || strings.ContainsAny(fallback, `"\`) {
			return unknown(token, m[1])
		}
		return placeholderFor(s[i].Path, fallback, hasFallback)
	})
}

// lost is what is wrong with a text that names a value which another event has, but not this one: it would be sent
// as it stands.
func (s spokenValues) lost(v *desk.Visit, text string) (issue string) {
	s.eachToken(text, func(token, words string) string {
		name, _, _ := strings.Cut(words, orWord)
		if issue == "" && !strings.HasSuffix(token, "(") && isValueElsewhere(v, name) {
			issue = "There is no [" + name + "] here. Choose from the values to insert, or take it out"
		}
		return token
	})
	return issue
}

// isValueElsewhere reports whether some event has a value of a name.
func isValueElsewhere(v *desk.Visit, name string) bool {
	for _, t := range v.Catalog.EventTypes() {
		if slices.ContainsFunc(eventValues(v, t.Type), func(s spokenValue) bool { return s.Name == name }) {
			return true
		}
	}
	return false
}

// firstOf are lists of rows that a person has most often one of, and where that one is.
var firstOf = map[string]string{"emails": "email", "phoneNumbers": "phoneNumber"}

// plumbing are fields that nobody puts into a text.
var plumbing = []string{"id", "organizationId", "deletedAt", "data", "properties"}

// eventValues are the values of an event.
func eventValues(v *desk.Visit, eventType string) (out spokenValues) {
	data := automation.EventDataSchema(v.Catalog.All(), eventType)
	if data == nil {
		return nil
	}
	of := desk.EventWords(event.ResourceType(eventType))
	out = spokenValues{{Name: "The " + strings.ToLower(of), Path: "event.resourceId", Of: of,
		Ref: camel(event.ResourceType(eventType)) + "Id"}}
	return out.add(of, "event.data", "", data)
}

// add adds the fields of a schema.
func (s spokenValues) add(of, at, before string, fields *jsonschema.Schema) spokenValues {
	for _, name := range fields.PropertyOrder {
		p := fields.Properties[name]
		value := spokenValue{Name: before + desk.Capital(spacedWords(name)), Path: at + "." + name, Of: of}
		switch kind := schemaKind(p); {
		case slices.Contains(plumbing, name) || kind == "object":
			continue
		case kind == "array" && firstOf[name] != "":
			value.Name, value.Path = before+desk.Capital(spacedWords(strings.TrimSuffix(name, "s"))),
				value.Path+".0."+firstOf[name]
		case kind == "array" && (p.Items == nil || schemaKind(p.Items) != "string"):
			continue
		case p.Format == "uuid":
			value.Ref = name
		}
		if !slices.ContainsFunc(s, func(v spokenValue) bool { return strings.EqualFold(v.Name, value.Name) }) {
			s = append(s, value)
		}
	}
	return s
}

// valuesFor are the values that a step may use: of the event, of the schedule and of what earlier steps save.
func valuesFor(v *desk.Visit, trigger url.Values, before []typedStep) (out spokenValues) {
	switch trigger.Get("trigger.kind") {
	case "event":
		out = eventValues(v, trigger.Get("trigger.event"))
	case "schedule":
		out = spokenValues{{Name: "When it was due", Path: "input.scheduledAt", Of: "Schedule"}}
	}
	for i := range before {
		o, saved := v.Catalog.Named(before[i].Operation), before[i].SaveAs
		if o == nil || saved == "" {
			continue
		}
		words := desk.Capital(spacedWords(saved))
		s, list := o.OutputSchema(nil)
		if s == nil {
			continue
		}
		if list {
			saved, words = saved+".0", "First of "+spacedWords(saved)
		}
		if s.Properties["id"] != nil {
			out = append(out, spokenValue{Name: words, Path: saved + ".id", Of: words, Ref: singular(o.Resource) +
				"Id"})
		}
		out = out.add(words, saved, words+": ", s)
	}
	return out
}

// singular is one of what a resource's name says: "task" of "tasks".
func singular(resource string) string {
	if one, ok := strings.CutSuffix(resource, "ies"); ok {
		return camel(one + "y")
	}
	return camel(strings.TrimSuffix(resource, "s"))
}

// valueGroup is values to insert, of one kind.
type valueGroup struct {
	Label  string
	Values []spokenValue
}

func (s spokenValues) groups() (out []valueGroup) {
	for _, value := range s {
		if n := len(out); n == 0 || out[n-1].Label != value.Of {
			out = append(out, valueGroup{Label: value.Of})
		}
		last := &out[len(out)-1]
		last.Values = append(last.Values, value)
	}
	return out
}

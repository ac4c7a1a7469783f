package proposal

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The kinds of effect.
const (
	Create  = "create"
	Update  = "update"
	Delete  = "delete"
	Send    = "send"
	ChargeK = "charge"
	Publish = "publish"
	CallOut = "call"
)

// Effect is one thing that a step would do, or did.
type Effect struct {
	Step         int             `json:"step" doc:"the step's place in steps, from 0"`
	Kind         string          `json:"kind" enum:"create,update,delete,send,charge,publish,call"`
	ResourceType string          `json:"resourceType"`
	ResourceID   *id.ID          `json:"resourceId" doc:"null for what does not exist yet"`
	Summary      string          `json:"summary" max:"1000"`
	Before       jsontext.Value  `json:"before" kinds:"object" doc:"the former values of the fields that change"`
	After        jsontext.Value  `json:"after" kinds:"object" doc:"their new values; new:1 names a new record"`
	AmountCents  *int64          `json:"amountCents"`
	Currency     *string         `json:"currency"`
	Recipients   []string        `json:"recipients" max:"500"`
	Triggers     []EffectTrigger `json:"triggers" max:"500" doc:"the automations and webhooks that would hear of it"`
	Rehearsed    bool            `json:"rehearsed" doc:"false for what cannot be rehearsed"`
	Withheld     bool            `json:"withheld" doc:"its maker is shown no more until a person has approved it"`
}

// EffectTrigger is an automation or a webhook that hears of an effect.
type EffectTrigger struct {
	Kind string `json:"kind" enum:"automation,webhook"`
	ID   id.ID  `json:"id"`
	Name string `json:"name" max:"500"`
}

// kinds are the events that mean more than a change of a row: something is sent,
// published or called.
var kinds = map[string]string{
	"message.queued":               Send,
	"message.scheduled":            Send,
	"domain.dns_record.created":    Publish,
	"domain.dns_record.updated":    Publish,
	"domain.dns_record.deleted":    Publish,
	"domain.email.created":         Publish,
	"domain.email.updated":         Publish,
	"domain.email.deleted":         Publish,
	"domain.transfer_requested":    Publish,
	"domain_contact.updated":       Publish,
	"file.access_link.created":     Publish,
	"webhook.created":              Publish,
	"webhook.tested":               CallOut,
	"webhook.delivery.redelivered": CallOut,
	"automation_execution.created": CallOut,
}

// kindOf is the kind of effect that an event stands for. A message that is queued or
// scheduled when it is created is sent.
func kindOf(e event.Event, data map[string]any) string {
	if k := kinds[e.Type]; k != "" {
		return k
	}
	if e.Type == "message.created" && (data["status"] == "queued" || data["status"] == "scheduled") {
		return Send
	}
	switch e.Type[strings.LastIndexByte(e.Type, '.')+1:] {
	case "created":
		return Create
	case "deleted", "erased":
		return Delete
	}
	return Update
}

// outward reports whether an effect reaches outside the service.
func (e *Effect) outward() bool { return e.Kind != Create && e.Kind != Update && e.Kind != Delete }

// unsaid are the fields that every row has, which tell nothing about an effect.
var unsaid = []string{"id", "organizationId", "createdAt", "updatedAt", "deletedAt"}

// ofEvent makes the effect that an event stands for. full keeps the whole HTML and
// text of a mail, up to maxMailText.
func ofEvent(e event.Event, names *freshNames, full bool) (*Effect, error) {
	data, err := names.object(e.Data)
	if err != nil {
		return nil, err
	}
	before, err := names.object(e.Previous)
	if err != nil {
		return nil, err
	}
	out := &Effect{ResourceType: event.ResourceType(e.Type), Rehearsed: true, Before: object(before),
		Recipients: []string{}, Triggers: []EffectTrigger{}}
	out.Kind = kindOf(e, data)
	if !names.fresh(e.ResourceID) {
		out.ResourceID = &e.ResourceID
	}
	out.Summary = out.sentence(e, data, before)
	after := map[string]any{}
	switch {
	case out.Kind == Delete:
		out.Before = object(whole(data))
	case out.Kind == Update && len(before) > 0:
		for name := range before {
			after[name] = data[name]
		}
	default:
		after = whole(data)
	}
	if full && out.Kind == Send {
		out.After = object(after, "html", "text")
	} else {
		out.After = object(after)
	}
	if out.Kind == Send {
		for _, field := range []string{"to", "cc", "bcc"} {
			list, _ := data[field].([]any)
			for _, a := range list {
				out.Recipients = append(out.Recipients, fmt.Sprint(a))
			}
		}
	}
	return out, nil
}

// object writes a JSON object with its texts shortened. Those of the fields in long
// may be ten times as long.
func object(v map[string]any, long ...string) jsontext.Value {
	if v == nil {
		return jsontext.Value("{}")
	}
	for k, e := range v {
		if text, ok := e.(string); ok && slices.Contains(long, k) {
			v[k] = digested(text, maxPaper)
		} else {
			v[k] = shorten(e)
		}
	}
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // cannot fail: it was read from JSON
	}
	return text
}

func ofCharge(c op.Charge) *Effect {
	text := fmt.Sprintf("Charge %s for %s.", money(c.AmountCents, c.Currency), quote(c.What))
	return &Effect{Kind: ChargeK, ResourceType: "charge", Summary: text, AmountCents: &c.AmountCents,
		Currency: &c.Currency, Before: object(nil), After: object(map[string]any{"card": c.Card}),
		Recipients: []string{}, Triggers: []EffectTrigger{}, Rehearsed: true}
}

func notRehearsed(i int, o *op.Op) Effect {
	return Effect{Step: i, Kind: CallOut, ResourceType: o.Resource,
		Summary: "This step cannot be rehearsed: " + o.Summary, Before: object(nil), After: object(nil),
		Recipients: []string{}, Triggers: []EffectTrigger{}}
}

func money(cents int64, currency string) string { return locale.Amount(cents, currency) }

// whole is what a row says, without empty fields and those that every row has.
func whole(data map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range data {
		switch v := v.(type) {
		case nil:
			continue
		case []any:
			if len(v) == 0 {
				continue
			}
		case map[string]any:
			if len(v) == 0 {
				continue
			}
		case string:
			if v == "" {
				continue
			}
		}
		if !slices.Contains(unsaid, name) {
			out[name] = v
		}
	}
	return out
}

const (
	maxShown  = 4000   // characters of a text in an effect
	maxPaper  = 40_000 // characters of the HTML or text of a mail, which a person is shown as it looks
	maxPapers = 5      // mails of a proposal that are kept at that length
)

func shorten(v any) any {
	switch v := v.(type) {
	case string:
		return digested(v, maxShown)
	case map[string]any:
		for k, e := range v {
			v[k] = shorten(e)
		}
	case []any:
		for i, e := range v {
			v[i] = shorten(e)
		}
	}
	return v
}

// digested shortens a text and appends a digest of the whole, so that a change
// behind the cut is noticed when the steps are compared with what was shown.
func digested(s string, n int) string {
	letters := utf8.RuneCountInString(s)
	if letters <= n {
		return s
	}
	return cut(s, n) + fmt.Sprintf(" (%d characters, sha256 %.16x)", letters, sha256.Sum256([]byte(s)))
}

// maxQuoted is how many characters of somebody's text are quoted in a sentence.
const maxQuoted = 80

func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// quote puts somebody's text into quotation marks, and replaces those inside of it,
// so that it cannot pass for a sentence of the service.
func quote(s string) string {
	return "“" + cut(strings.Join(strings.Fields(strings.NewReplacer("“", "\"", "”", "\"").Replace(s)), " "),
		maxQuoted) + "”"
}

// titles are the fields that may name a row for people, the best first.
var titles = []string{"name", "title", "subject", "invoiceNumber", "organizationName", "resourceName", "key", "email",
	"phoneNumber", "url", "label", "address1", "body", "content", "question"}

// called is what people call a row.
func called(data map[string]any) string {
	text := func(name string) string {
		s, _ := data[name].(string)
		return s
	}
	if person := strings.TrimSpace(text("firstName") + " " + text("lastName")); person != "" {
		return person
	}
	for _, name := range titles {
		if s := text(name); s != "" {
			return s
		}
	}
	return ""
}

// nouns are the words for types whose name does not give them.
var nouns = map[string]string{"domain.dns_record": "DNS record", "domain.email": "hosted email",
	"customer.transaction": "transaction"}

func noun(resourceType string) string {
	if n := nouns[resourceType]; n != "" {
		return n
	}
	return strings.ReplaceAll(resourceType[strings.LastIndexByte(resourceType, '.')+1:], "_", " ")
}

// sentence describes an effect for people.
func (e *Effect) sentence(ev event.Event, data, before map[string]any) string {
	what := "the " + noun(e.ResourceType)
	if name := called(data); name != "" {
		what += " " + quote(name)
	}
	verb := strings.ReplaceAll(ev.Type[strings.LastIndexByte(ev.Type, '.')+1:], "_", " ")
	switch e.Kind {
	case Create:
		return "Create " + what + "."
	case Delete:
		return "Delete " + what + "."
	case Send:
		var to []string
		for _, field := range []string{"to", "cc", "bcc"} {
			list, _ := data[field].([]any)
			for _, a := range list {
				to = append(to, fmt.Sprint(a))
			}
		}
		subject, _ := data["subject"].(string)
		return "Send a mail to " + cut(strings.Join(to, ", "), 200) + ": " + quote(subject) + "."
	case Publish:
		switch verb {
		case "created":
			return "Publish " + what + "."
		case "deleted":
			return "Withdraw " + what + "."
		}
		return "Publish a change of " + what + "."
	case CallOut:
		return "Call out: " + what + " is " + verb + "."
	}
	if verb != "updated" {
		return strings.ToUpper(what[:1]) + what[1:] + " is " + verb + "."
	}
	fields := slices.Sorted(maps.Keys(before))
	if len(fields) == 0 {
		return "Change " + what + "."
	}
	for i, name := range fields {
		fields[i] = FieldWords(name)
	}
	return "Change " + cut(joined(fields), 200) + " of " + what + "."
}

// FieldWords writes a field's name as people say it: firstName is first name, and
// contactId, whose value is another record, contact.
func FieldWords(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	words := b.String()
	if words == "external id" {
		return "external ID"
	}
	return strings.TrimSuffix(words, " id")
}

// joined lists words: a, b and c.
func joined(words []string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " and " + words[n]
}

// totalsOf sums up what a person looks at first: money, recipients and deletions.
func totalsOf(effects []Effect) (t ProposalTotals) {
	for i := range effects {
		e := &effects[i]
		if e.AmountCents != nil {
			t.AmountCents += *e.AmountCents
			t.Currency = e.Currency
		}
		t.Mails += len(e.Recipients)
		if e.Kind == Delete || e.Kind == Publish && strings.HasPrefix(e.Summary, "Withdraw") {
			t.Deletions++
		}
	}
	return t
}

package proposal

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The kinds of effect.
const (
	KindCreate  = "create"
	KindUpdate  = "update"
	KindDelete  = "delete"
	KindSend    = "send"
	KindCharge  = "charge"
	KindPublish = "publish"
	KindCallOut = "call"
)

// Effect is one thing that a step would do, or did.
type Effect struct {
	Step         int             `json:"step" doc:"the step's place in steps, from 0"`
	Kind         string          `json:"kind" enum:"create,update,delete,send,charge,publish,call"`
	ResourceType string          `json:"resourceType"`
	ResourceID   *id.ID          `json:"resourceId" doc:"null for what does not exist yet"`
	Summary      string          `json:"summary" max:"1000"`
	Before       jsontext.Value  `json:"before" view:"full" kinds:"object" doc:"former values of what changes"`
	After        jsontext.Value  `json:"after" view:"full" kinds:"object" doc:"new values; new:1 names a new record"`
	AmountCents  *int64          `json:"amountCents"`
	Currency     *string         `json:"currency"`
	Recipients   []string        `json:"recipients" max:"500"`
	Triggers     []EffectTrigger `json:"triggers" max:"500" doc:"the automations and webhooks that would hear of it"`
	Rehearsed    bool            `json:"rehearsed" doc:"false for what cannot be rehearsed"`
	Withheld     bool            `json:"withheld" doc:"its maker is shown no more until a person has approved it"`

	deletes bool // something is gone afterwards, also where Kind says that this is published; not stored
}

// EffectTrigger is an automation or a webhook that hears of an effect.
type EffectTrigger struct {
	Kind string `json:"kind" enum:"automation,webhook"`
	ID   id.ID  `json:"id"`
	Name string `json:"name" max:"500"`
}

// eventKinds are the events that mean more than a change of a row: something is sent,
// published or called.
var eventKinds = map[string]string{
	"message.queued":               KindSend,
	"message.scheduled":            KindSend,
	"domain.dns_record.created":    KindPublish,
	"domain.dns_record.updated":    KindPublish,
	"domain.dns_record.deleted":    KindPublish,
	"domain.email.created":         KindPublish,
	"domain.email.updated":         KindPublish,
	"domain.email.deleted":         KindPublish,
	"domain.transfer_requested":    KindPublish,
	"domain_contact.updated":       KindPublish,
	"file.access_link.created":     KindPublish,
	"webhook.created":              KindPublish,
	"webhook.tested":               KindCallOut,
	"webhook.delivery.redelivered": KindCallOut,
	"automation_execution.created": KindCallOut,
}

// effectKind is the kind of effect that an event stands for. A message that is queued or
// scheduled when it is created is sent.
func effectKind(e event.Event, data map[string]any) string {
	if k := eventKinds[e.Type]; k != "" {
		return k
	}
	if e.Type == "message.created" && (data["status"] == "queued" || data["status"] == "scheduled") {
		return KindSend
	}
	switch {
	case strings.HasSuffix(e.Type, ".created"):
		return KindCreate
	case isDeletion(e.Type):
		return KindDelete
	}
	return KindUpdate
}

// isDeletion reports whether a type of event tells that something is gone.
func isDeletion(eventType string) bool {
	return strings.HasSuffix(eventType, ".deleted") || strings.HasSuffix(eventType, ".erased")
}

// isOutward reports whether an effect reaches outside the service.
func (e *Effect) isOutward() bool {
	return e.Kind != KindCreate && e.Kind != KindUpdate && e.Kind != KindDelete
}

// unshownFields are the fields that every row has, which tell nothing about an effect.
var unshownFields = []string{"id", "organizationId", "createdAt", "updatedAt", "deletedAt"}

// effectOfEvent makes the effect that an event stands for. full keeps the whole HTML and
// text of a mail, up to maxMailText.
func effectOfEvent(e event.Event, names *newRowNames, full bool) (*Effect, error) {
	data, err := names.decodeObject(e.Data)
	if err != nil {
		return nil, err
	}
	before, err := names.decodeObject(e.Previous)
	if err != nil {
		return nil, err
	}
	out := &Effect{ResourceType: event.ResourceType(e.Type), Rehearsed: true, Before: marshalShortened(before),
		Recipients: []string{}, Triggers: []EffectTrigger{}, deletes: isDeletion(e.Type)}
	out.Kind = effectKind(e, data)
	if !names.isNewRow(e.ResourceID) {
		out.ResourceID = &e.ResourceID
	}
	out.Summary = out.describe(e, data, before)
	after := map[string]any{}
	switch {
	case out.Kind == KindDelete:
		out.Before = marshalShortened(shownFields(data))
	case out.Kind == KindUpdate && len(before) > 0:
		for name := range before {
			after[name] = data[name]
		}
		if e.Type == "invoice.updated" { // its lines are rows of their own, of which before does not tell
			after["lineItems"] = data["lineItems"]
		}
	default:
		after = shownFields(data)
	}
	if full && out.Kind == KindSend {
		out.After = marshalShortened(after, "html", "text")
	} else {
		out.After = marshalShortened(after)
	}
	if out.Kind == KindSend {
		for _, field := range []string{"to", "cc", "bcc"} {
			list, _ := data[field].([]any)
			for _, a := range list {
				out.Recipients = append(out.Recipients, fmt.Sprint(a))
			}
		}
	}
	return out, nil
}

// marshalShortened writes a JSON object with its texts shortened. Those of the fields in long
// may be ten times as long.
func marshalShortened(v map[string]any, long ...string) jsontext.Value {
	if v == nil {
		return jsontext.Value("{}")
	}
	for k, e := range v {
		if text, ok := e.(string); ok && slices.Contains(long, k) {
			v[k] = cutWithDigest(text, maxMailText)
		} else {
			v[k] = shortenTexts(e)
		}
	}
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // cannot fail: it was read from JSON
	}
	return text
}

func effectOfCharge(c op.Charge) *Effect {
	text := fmt.Sprintf("Charge %s for %s.", formatMoney(c.AmountCents, c.Currency), quoteText(c.What))
	return &Effect{Kind: KindCharge, ResourceType: "charge", Summary: text, AmountCents: &c.AmountCents,
		Currency: &c.Currency, Before: marshalShortened(nil), After: marshalShortened(map[string]any{"card": c.Card}),
		Recipients: []string{}, Triggers: []EffectTrigger{}, Rehearsed: true}
}

func unrehearsedEffect(i int, o *op.Op) Effect {
	return Effect{Step: i, Kind: KindCallOut, ResourceType: o.Resource,
		Summary: "This step cannot be rehearsed: " + o.Summary, Before: marshalShortened(nil),
		After:      marshalShortened(nil),
		Recipients: []string{}, Triggers: []EffectTrigger{}}
}

func formatMoney(cents int64, currency string) string { return locale.AmountWithCode(cents, currency) }

// shownFields is what a row says, without empty fields and those that every row has.
func shownFields(data map[string]any) map[string]any {
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
		if !slices.Contains(unshownFields, name) {
			out[name] = v
		}
	}
	return out
}

const (
	maxShownText  = 4000   // characters of a text in an effect
	maxMailText   = 40_000 // characters of the HTML or text of a mail, which a person is shown as it looks
	maxWholeMails = 5      // mails of a proposal that are kept at that length
)

func shortenTexts(v any) any {
	switch v := v.(type) {
	case string:
		return cutWithDigest(v, maxShownText)
	case map[string]any:
		for k, e := range v {
			v[k] = shortenTexts(e)
		}
	case []any:
		for i, e := range v {
			v[i] = shortenTexts(e)
		}
	}
	return v
}

// cutWithDigest shortens a text and appends a digest of the whole, so that a change
// behind the cut is noticed when the steps are compared with what was shown. A text that
// itself ends like one gets its own, so that nobody can write what passes for a cut text.
func cutWithDigest(s string, n int) string {
	letters := utf8.RuneCountInString(s)
	if letters <= n && !cutText.MatchString(s) {
		return s
	}
	return fmt.Sprintf("%s… (%d characters, sha256 %.16x)", cut.Runes(s, n), letters, sha256.Sum256([]byte(s)))
}

var cutText = regexp.MustCompile(`… \(\d+ characters, sha256 [0-9a-f]{32}\)$`)

// WholeText is the whole of a text that an effect shows, which may have been shortened: the
// steps have it where their maker wrote it. isWhole is false where only the beginning is known.
func (v *Proposal) WholeText(shown string) (text string, isWhole bool) {
	if !cutText.MatchString(shown) {
		return shown, true
	}
	text = shown
	for _, step := range v.Steps {
		automation.EachText(step.Input, func(whole string) {
			if cutWithDigest(whole, maxShownText) == shown || cutWithDigest(whole, maxMailText) == shown {
				text, isWhole = whole, true
			}
		})
	}
	return text, isWhole
}

// maxQuoted is how many characters of somebody's text are quoted in a sentence.
const maxQuoted = 80

// quoteText puts somebody's text into quotation marks, and replaces those inside of it,
// so that it cannot pass for a sentence of the service.
func quoteText(s string) string {
	return "“" + cut.Ellipsis(strings.Join(strings.Fields(strings.NewReplacer("“", "\"", "”", "\"").Replace(s)), " "),
		maxQuoted) + "”"
}

// irregularNouns are the words for types whose name does not give them.
var irregularNouns = map[string]string{"domain.dns_record": "DNS record", "domain.email": "hosted email",
	"customer.transaction": "transaction"}

func resourceNoun(resourceType string) string {
	if n := irregularNouns[resourceType]; n != "" {
		return n
	}
	return strings.ReplaceAll(resourceType[strings.LastIndexByte(resourceType, '.')+1:], "_", " ")
}

// describe describes an effect for people.
func (e *Effect) describe(ev event.Event, data, before map[string]any) string {
	what := "the " + resourceNoun(e.ResourceType)
	if name, _ := op.RowTitle(data); name != "" {
		what += " " + quoteText(name)
	}
	verb := strings.ReplaceAll(ev.Type[strings.LastIndexByte(ev.Type, '.')+1:], "_", " ")
	switch e.Kind {
	case KindCreate:
		return "Create " + what + "."
	case KindDelete:
		return "Delete " + what + "."
	case KindSend:
		var to []string
		for _, field := range []string{"to", "cc", "bcc"} {
			list, _ := data[field].([]any)
			for _, a := range list {
				to = append(to, fmt.Sprint(a))
			}
		}
		subject, _ := data["subject"].(string)
		return "Send a mail to " + cut.Ellipsis(strings.Join(to, ", "), 200) + ": " + quoteText(subject) + "."
	case KindPublish:
		switch verb {
		case "created":
			return "Publish " + what + "."
		case "deleted":
			return "Withdraw " + what + "."
		}
		return "Publish a change of " + what + "."
	case KindCallOut:
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
	return "Change " + cut.Ellipsis(joinWords(fields), 200) + " of " + what + "."
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

// joinWords lists words: a, b and c.
func joinWords(words []string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " and " + words[n]
}

// sumTotals sums up what a person looks at first: money, recipients and deletions.
func sumTotals(effects []Effect) (t ProposalTotals) {
	for i := range effects {
		e := &effects[i]
		if e.AmountCents != nil {
			t.AmountCents += *e.AmountCents
			t.Currency = e.Currency
		}
		t.Mails += len(e.Recipients)
		if e.deletes {
			t.Deletions++
		}
	}
	return t
}

package desk

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/eventlog"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Moment is one thing on a timeline: who did what, when, and the words they
// wrote. The template is "moment".
type Moment struct {
	At     clock.Time
	Time   *TimeText
	Who    Who
	Icon   string // a knot in place of the avatar
	Verb   string // "sent", "changed the job title"
	What   string // "INV-000109"
	Href   string // of what
	After  string // the rest of the sentence
	Pill   Pill
	Said   string // somebody's own words
	Files  []Crumb
	Home   bool // which only the team sees
	Change []Change
	Undo   id.ID  // the event that can be undone, or none
	Full   bool   // every change has its line
	Open   string // the page of the event
}

// Who is who did something.
type Who struct {
	Name   string
	Avatar *Avatar
}

// Change is a field before and after.
type Change struct{ Word, Before, After string }

type day struct {
	Head    string
	Moments []Moment
}

// Days sorts moments, newest first, under the days that people would name.
func (v *Visit) Days(moments []Moment, most int) (out []day) {
	slices.SortStableFunc(moments, func(a, b Moment) int { return int(b.At.Sub(a.At)) })
	now := v.Now().Std().In(v.Zone())
	for _, m := range moments[:min(len(moments), most)] {
		m.Time = v.When(m.At)
		at := m.At.Std().In(v.Zone())
		if word := dayWord(at, now); len(out) == 0 || out[len(out)-1].Head != word {
			out = append(out, day{Head: word})
		}
		last := &out[len(out)-1]
		last.Moments = append(last.Moments, m)
	}
	return out
}

func dayWord(at, now time.Time) string {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch since := midnight.Sub(at); {
	case since <= 0:
		return "Today"
	case since <= 24*time.Hour:
		return "Yesterday"
	case since <= 7*24*time.Hour:
		return "This week"
	case at.Year() == now.Year():
		return at.Format("January")
	}
	return at.Format("January 2006")
}

// Moments turns events into sentences. On an object's own page, "this" stands
// for its name.
func (v *Visit) Moments(events []eventlog.Event, own bool) ([]Moment, error) {
	if err := v.loadActorNames(events); err != nil {
		return nil, err
	}
	out := make([]Moment, 0, len(events))
	for i := range events {
		out = append(out, v.moment(&events[i], own))
	}
	return out, nil
}

// loadActorNames finds the names of those who caused events.
func (v *Visit) loadActorNames(events []eventlog.Event) error {
	if v.names == nil {
		v.names = map[id.ID]Who{}
	}
	var people, machines []id.ID
	for _, e := range events {
		if e.ActorID == nil || v.names[*e.ActorID].Name != "" {
			continue
		}
		if e.ActorKind == string(op.AutomationActor) {
			machines = append(machines, *e.ActorID)
		} else {
			people = append(people, *e.ActorID)
		}
	}
	slices.Sort(people)
	people = slices.Compact(people)
	if len(people) > 0 && v.May("actors.list") {
		rows, _, err := List[account.Actor](v, "actors.list", Fields{"ids": people[:min(len(people), 100)],
			"limit": 100})
		if err != nil {
			return err
		}
		for _, r := range rows {
			v.names[r.ID] = Who{Name: r.Name}
		}
	}
	slices.Sort(machines)
	machines = slices.Compact(machines)
	if len(machines) > 0 && v.May("automations.list") {
		rows, _, err := List[automation.Automation](v, "automations.list",
			Fields{"ids": machines[:min(len(machines), 100)], "limit": 100})
		if err != nil {
			return err
		}
		for _, r := range rows {
			v.names[r.ID] = Who{Name: r.Name}
		}
	}
	return nil
}

// WhoIs is somebody by kind and id, with an avatar.
func (v *Visit) WhoIs(kind string, ref *id.ID) (Who, error) {
	err := v.loadActorNames([]eventlog.Event{{ActorKind: kind, ActorID: ref}})
	return v.Actor(kind, ref), err
}

// Actor is who caused an event, with an avatar.
func (v *Visit) Actor(kind string, ref *id.ID) Who {
	name := ""
	if ref != nil {
		name = v.names[*ref].Name
	}
	switch op.ActorKind(kind) {
	case op.UserActor:
		if ref != nil && *ref == v.Session.User {
			return Who{"You", AvatarOf(v.Session.Name, "")}
		}
		if name == "" && !v.May("actors.list") {
			name = "A colleague" // whom the visitor may not know
		}
		name = orElse(name, "A former member")
		return Who{name, AvatarOf(name, "")}
	case op.AgentActor:
		return Who{orElse(name, "An agent"), RobotAvatar("bot")}
	case op.APIActor:
		return Who{orElse(name, "An API key"), RobotAvatar("key")}
	case op.AutomationActor:
		return Who{orElse(name, "An automation"), RobotAvatar("bolt")}
	}
	return Who{"Frontdesk", RobotAvatar("home")}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// eventVerbs are the verbs of events that say too little by their own name.
var eventVerbs = map[string]string{
	"created": "added", "updated": "changed", "deleted": "deleted", "restored": "brought back", "sent": "sent",
	"issued": "issued", "voided": "voided", "merged": "merged", "unmerged": "took apart",
	"overdue": "marked overdue", "completed": "finished",
	"received": "received", "delivered": "delivered", "bounced": "could not deliver", "failed": "could not send",
	"queued": "queued", "scheduled": "scheduled", "canceled": "canceled", "reminded": "sent a reminder of",
	"payment_recorded": "recorded a payment for",
	"paid":             "received full payment for", "renewed": "renewed", "verified": "verified",
	"expired": "let expire",
	"erased":  "erased", "registered": "registered", "role_changed": "changed the role of",
	"renewal_failed": "could not renew", "switched": "switched to", "password_changed": "changed the password of",
	"connected": "connected", "disconnected": "disconnected", "accepted": "accepted", "purged": "removed for good",
	"activated": "switched on", "deactivated": "switched off", "secret_rotated": "changed the secret of",
	"factor_added": "added a second factor for", "factor_removed": "removed a second factor of",
	"factors_reset": "removed all second factors of", "recovery_code_used": "used a recovery code of",
	"recovery_codes_created": "created recovery codes for", "password_reset": "reset the password of",
	"password_link_created": "created a password link for", "sign_in_link_created": "created a sign-in link for",
	"signature_changed": "changed the signature of", "notices_changed": "changed the notices of",
	"push_added":   "allowed push messages for",
	"push_removed": "removed push messages of", "identity_linked": "linked the account of",
	"identity_unlinked": "unlinked the account of",
}

// wholeSentences are events whose sentence needs no object.
var wholeSentences = map[string]string{
	"session.created": "signed in", "session.deleted": "signed out", "user.created": "joined",
	"session.switched":             "switched to this organization",
	"session.confirmed":            "confirmed who they are",
	"payment_method.setup_started": "began to save a card", "payment_method.created": "saved a card",
	"payment_method.deleted": "deleted a card",
}

// sentencesWith are events whose sentence only needs the name after it.
var sentencesWith = map[string]string{
	"operation.created": "ordered", "operation.started": "began the order of",
	"operation.succeeded": "finished the order of", "operation.failed": "could not finish the order of",
	"customer.transaction.created": "booked", "invite.created": "invited",
	"invite.accepted":         "accepted the invitation of",
	"invoice.payment.created": "recorded a payment", "invoice.payment.voided": "voided a payment",
	"contact.note.created": "wrote a note about a contact", "thread.note.created": "wrote a note in a conversation",
	"message.received": "received", "message.sent": "sent", "message.queued": "queued",
	"business.profile.updated": "changed the profile of the business", "agreement.accepted": "accepted the agreement",
}

// nounWords are resource types whose words do not follow from their names.
var nounWords = map[string]string{"api_key": "API key", "payment_method": "card", "invite": "invitation",
	"user": "member", "email_opt_in": "email consent", "email_template": "email template",
	"property_definition": "property", "automation_execution": "run of an automation", "thread": "conversation",
	"message": "message", "domain_contact": "domain owner", "online_presence": "web page",
	"physical_presence": "place", "access_link": "link", "phone_number": "phone number"}

func nounWord(resourceType string) string {
	last := resourceType[strings.LastIndexByte(resourceType, '.')+1:]
	if w := nounWords[last]; w != "" {
		return w
	}
	return strings.ReplaceAll(last, "_", " ")
}

// moment is an event as a sentence.
func (v *Visit) moment(e *eventlog.Event, own bool) Moment {
	m := Moment{At: e.CreatedAt, Who: v.Actor(e.ActorKind, e.ActorID), Undo: v.undoable(e), Open: "/activity/" +
		string(e.ID)}
	resourceType := event.ResourceType(e.Type)
	verb := strings.TrimPrefix(e.Type, resourceType+".")
	if verb == "updated" && finishes(e) {
		verb = "completed"
	}
	if text := wholeSentences[e.Type]; text != "" && (e.Type != "user.created" || e.ActorKind == string(op.UserActor)) {
		m.Verb = text
		return m
	}
	if text := sentencesWith[e.Type]; text != "" && v.ofType(resourceType) == nil {
		m.Verb, m.What = text, nameIn(e.Data)
		if strings.HasPrefix(e.Type, "message.") && v.Has("/inbox") && v.May("threads.list") {
			m.Href = threadOf(e.Data)
		}
		return m
	}
	m.Verb = eventVerbs[verb]
	if m.Verb == "" {
		m.Verb = strings.ReplaceAll(verb, "_", " ")
	}
	n := v.ofType(resourceType)
	word := nounWord(resourceType)
	name := ""
	if n != nil {
		one, _, icon := n.words()
		word, m.Icon = one, icon
		if len(e.Data) > 0 {
			name, m.After = v.namesIn(n, verb, e.Data)
		}
		if verb != "deleted" && n.mayList(v) {
			m.Href = "/" + n.path() + "/" + string(e.ResourceID)
		}
	} else if len(e.Data) > 0 {
		name = nameIn(e.Data)
	}
	if e.ActorKind != string(op.SystemActor) {
		m.Icon = ""
	}
	m.Change = v.changes(n, e)
	if own && n != nil {
		m.Href = ""
		switch {
		case verb == "updated" && len(m.Change) == 1:
			m.Verb = "changed the " + lowerFirst(m.Change[0].Word)
			return m
		case verb == "updated" && len(m.Change) > 1:
			words := make([]string, len(m.Change))
			for i, c := range m.Change {
				words[i] = lowerFirst(c.Word)
			}
			m.Verb = "changed the " + JoinAnd(words)
			return m
		}
		m.Verb += " this " + word
		return m
	}
	m.Verb += " the " + word
	if verb == "overdue" {
		m.Verb, m.After = "marked", "overdue"
		if name == "" {
			m.Verb = "marked the " + word
		}
	}
	m.What = name
	if name == "" && m.Href != "" {
		m.What = "(no name)"
	}
	return m
}

// finishes reports whether a change completed something: a task.
func finishes(e *eventlog.Event) bool {
	var before, after struct {
		Status string `json:"status"`
	}
	return len(e.Previous) > 0 && json.Unmarshal(e.Previous, &before) == nil &&
		json.Unmarshal(e.Data, &after) == nil && before.Status != "" && after.Status == "completed"
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s // an abbreviation
	}
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// nameOf is the name of the object that an event has.
func (n *Noun[T]) nameOf(v *Visit, data []byte) string {
	var row T
	if json.Unmarshal(data, &row) != nil {
		return ""
	}
	return n.Name(v, &row)
}

// namesIn is the name of the object that an event is about and, of a merge, with
// whom.
func (v *Visit) namesIn(n noun, verb string, data []byte) (name, after string) {
	other, word := "merged", "with "
	switch verb {
	case "merged":
	case "unmerged":
		other, word = "restored", "and "
	default:
		return n.nameOf(v, data), ""
	}
	var both map[string]jsontext.Value
	if json.Unmarshal(data, &both) != nil || both["contact"] == nil || both[other] == nil {
		return "", ""
	}
	return n.nameOf(v, both["contact"]), word + n.nameOf(v, both[other])
}

// nameIn finds a name in the data of an event of something that is no noun here.
func nameIn(data []byte) string {
	var x map[string]any
	if json.Unmarshal(data, &x) != nil {
		return ""
	}
	for _, field := range []string{"resourceName", "name", "title", "subject", "email", "phoneNumber", "url",
		"clientName", "label",
		"description"} {
		if s, ok := x[field].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// threadOf is the page of the conversation that a message belongs to.
func threadOf(data []byte) string {
	var m struct {
		ThreadID id.ID `json:"threadId"`
	}
	if len(data) == 0 || json.Unmarshal(data, &m) != nil || m.ThreadID == "" {
		return ""
	}
	return "/inbox/" + string(m.ThreadID)
}

// silent are fields whose changes say nothing to people.
var silent = []string{"updatedAt", "version", "search", "deletedAt", "id", "organizationId", "createdAt"}

// changes are the fields that an event changed, before and after, in words.
func (v *Visit) changes(n noun, e *eventlog.Event) (out []Change) {
	var before, after map[string]any
	if len(e.Previous) == 0 || json.Unmarshal(e.Previous, &before) != nil || json.Unmarshal(e.Data, &after) != nil {
		return nil
	}
	for name, old := range before {
		if slices.Contains(silent, name) {
			continue
		}
		c := Change{Word: Capital(spaced(name)), Before: v.valueWords(old), After: v.valueWords(after[name])}
		if word, ok := strings.CutSuffix(name, "Cents"); ok { // a sum
			code, _ := after["currency"].(string)
			c = Change{Word: Capital(spaced(word)), Before: v.sumWords(old, code), After: v.sumWords(after[name], code)}
		}
		if n != nil {
			if f := n.field(name); f != nil {
				c.Word = f.Label
				c.Before, c.After = v.fieldWords(f, old), v.fieldWords(f, after[name])
			}
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Word, b.Word) })
	return out
}

// sumWords is an amount in a currency, by default the business's.
func (v *Visit) sumWords(value any, currency string) string {
	cents, ok := value.(float64)
	if !ok {
		return v.valueWords(value)
	}
	return v.Money(int64(cents), cmp.Or(currency, v.Currency()))
}

// fieldWords is a value of a field, in words.
func (v *Visit) fieldWords(f *Field, value any) string {
	if x, ok := value.(float64); ok && f.Kind == "money" {
		return v.Money(int64(x), v.Currency())
	}
	if x, ok := value.(string); ok {
		if ref, isID := id.Parse(x); isID && f.Ref != "" {
			names, err := v.Names(f.Ref, []id.ID{ref})
			if err == nil && names[ref] != "" {
				return names[ref]
			}
			return "(deleted)"
		}
		if w := f.ChoiceLabels[x]; w != "" {
			return w
		}
	}
	return v.valueWords(value)
}

// valueWords is any value, in words.
func (v *Visit) valueWords(value any) string {
	switch x := value.(type) {
	case nil:
		return ""
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case float64:
		return strings.TrimSuffix(strings.TrimRight(decimalText(x), "0"), ".")
	case string:
		if t, err := clock.ParseTime(x); err == nil && strings.Contains(x, "T") {
			return v.When(t).Exact
		}
		return cut.Ellipsis(choice(x, nil), 200)
	case []any:
		words := []string{}
		for _, w := range x {
			words = append(words, v.valueWords(w))
		}
		return cut.Ellipsis(strings.Join(words, ", "), 200)
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return ""
	}
	return cut.Ellipsis(string(text), 200)
}

// members are the visitor's colleagues.
func (v *Visit) members() []account.Colleague {
	if v.team != nil || !v.May("members.list") {
		return v.team
	}
	rows, _, err := List[account.Colleague](v, "members.list", Fields{"limit": 100, "sortOrder": "asc"})
	if err != nil {
		return nil
	}
	v.team = rows
	return rows
}

func (v *Visit) memberNames() (map[id.ID]string, error) {
	out := map[id.ID]string{}
	for _, m := range v.members() {
		out[m.ID] = m.Name
	}
	return out, nil
}

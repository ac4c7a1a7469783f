package review

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/proposal"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// shownStep is a step of a plan with what it would do.
type shownStep struct {
	Number   int // from 1, in the whole plan
	Position int
	Words    string
	LeftOut  bool
	MayLeave bool // it can be left out, or put back
	Effects  []shownEffect
}

// Plain reports whether the step's own words are those of its only effect.
func (s *shownStep) Plain() bool { return len(s.Effects) == 1 }

// shownEffect is an effect in words.
type shownEffect struct {
	Kind   desk.Pill
	Words  string
	Unsure bool          // nobody can tell what it does
	Differ []desk.Change // fields that change, before and after
	Facts  []desk.Change // fields of what is new
	Was    []invoiceLine // the lines of an invoice that change, and what becomes of them
	Lines  []invoiceLine
	Mail   *mail
	Fate   *fate
	Hears  string
	Cut    bool // it holds a text of which only the beginning is known
}

// invoiceLine is a line of an invoice that a step writes.
type invoiceLine struct{ Text, Sum string }

var effectKinds = map[string]desk.Pill{
	proposal.KindCreate:  {Text: "create", Tone: "good"},
	proposal.KindUpdate:  {Text: "change"},
	proposal.KindDelete:  {Text: "delete", Tone: "bad"},
	proposal.KindSend:    {Text: "send", Tone: "warn"},
	proposal.KindCharge:  {Text: "charge", Tone: "warn"},
	proposal.KindPublish: {Text: "publish", Tone: "warn"},
	proposal.KindCallOut: {Text: "call", Tone: "warn"},
}

// plainFields of a mail tell nothing beside what is shown of it anyway.
var plainFields = []string{"direction", "status", "autoSubmitted", "letterhead", "threadId"}

// story tells what a proposal would do.
type story struct {
	v      *desk.Visit
	p      *proposal.Proposal
	teller *desk.Teller
	fates  map[id.ID]*fate
	lines  map[id.ID][]invoiceLine // of invoices, as they are
}

// tell makes the steps twice: the second time the names of what they mention are known.
func tell(v *desk.Visit, p *proposal.Proposal) ([]shownStep, error) {
	s := &story{v: v, p: p, teller: v.NewTeller(), fates: map[id.ID]*fate{},
		lines: map[id.ID][]invoiceLine{}}
	if err := s.loadFates(); err != nil {
		return nil, err
	}
	s.steps()
	if err := s.teller.LoadNames(); err != nil {
		return nil, err
	}
	return s.steps(), nil
}

func (s *story) steps() (out []shownStep) {
	at := 0 // of the steps that stay
	for i, step := range s.p.WholePlan() {
		shown := shownStep{Number: i + 1, Position: i, Words: s.v.OperationWords(step.Operation),
			MayLeave: len(s.p.Steps)+len(s.p.LeftOut) > 1}
		if title := s.inputTitle(&step); title != "" {
			shown.Words += ": “" + desk.Visible(cut.Ellipsis(title, 120)) + "”"
		}
		if slices.ContainsFunc(s.p.LeftOut, func(l proposal.LeftOutStep) bool { return l.Position == i }) {
			shown.LeftOut = true
			out = append(out, shown)
			continue
		}
		for n := range s.p.Effects {
			if s.p.Effects[n].Step == at {
				shown.Effects = append(shown.Effects, s.effect(n))
			}
		}
		if len(shown.Effects) == 1 {
			shown.Words = shown.Effects[0].Words
		}
		at++
		out = append(out, shown)
	}
	return out
}

// inputTitle is the name of the row that a step is about, or what the step calls it.
func (s *story) inputTitle(step *proposal.ProposalStep) string {
	in := stepInput(step)
	if ref, ok := in["id"].(string); ok {
		if at, isID := id.Parse(ref); isID {
			path, _, _ := strings.Cut(step.Operation, ".")
			return s.teller.NameOf(strings.ReplaceAll(path, "_", "-"), at)
		}
	}
	for _, name := range []string{"title", "name", "subject", "firstName"} {
		if text, ok := in[name].(string); ok && text != "" && !strings.Contains(text, "{{") {
			return text
		}
	}
	return ""
}

func (s *story) effect(n int) shownEffect {
	e := &s.p.Effects[n]
	out := shownEffect{Kind: effectKinds[e.Kind], Words: desk.Visible(e.Summary), Unsure: !e.Rehearsed}
	before, after := s.whole(e.Before, &out), s.whole(e.After, &out)
	var names []string
	for _, t := range e.Triggers {
		names = append(names, t.Kind+" “"+desk.Visible(cut.Ellipsis(t.Name, 60))+"”")
	}
	out.Hears = desk.JoinAnd(names)
	switch e.Kind {
	case proposal.KindDelete:
		out.Fate = s.fateOf(e, before)
		return out
	case proposal.KindSend:
		out.Mail = s.mail(n, after)
		for _, name := range slices.Concat(mailFields, plainFields) {
			delete(after, name)
		}
	}
	isChange := len(before) > 0
	s.tellLines(e, before, after, &out)
	if !isChange { // a new row also says what it has not, which tells nothing if nobody asked for it
		maps.DeleteFunc(after, func(name string, value any) bool {
			return (value == false || value == 0.0) && !strings.HasSuffix(name, "Cents") &&
				s.v.IsDefault(e.ResourceType, name, value)
		})
	}
	for _, c := range s.teller.Fields(e.ResourceType, e.ResourceID, before, after) {
		if isChange {
			out.Differ = append(out.Differ, c)
		} else {
			out.Facts = append(out.Facts, c)
		}
	}
	return out
}

// whole reads the fields of an effect, with texts that were shortened as long as they are.
func (s *story) whole(text jsontext.Value, e *shownEffect) map[string]any {
	fields := map[string]any{}
	_ = json.Unmarshal(text, &fields) // an object that the service wrote
	s.lengthen(fields, e)
	return fields
}

// lengthen puts whole texts in the place of shortened ones, at every depth of a value.
func (s *story) lengthen(value any, e *shownEffect) any {
	switch x := value.(type) {
	case string:
		whole, all := s.p.WholeText(x)
		e.Cut = e.Cut || !all
		return whole
	case map[string]any:
		for name, inner := range x {
			x[name] = s.lengthen(inner, e)
		}
	case []any:
		for i, inner := range x {
			x[i] = s.lengthen(inner, e)
		}
	}
	return value
}

// tellLines tells of the lines of an invoice, and of a change also which it has now.
func (s *story) tellLines(e *proposal.Effect, before, after map[string]any, out *shownEffect) {
	isChange, tells := len(before) > 0, after["lineItems"] != nil
	out.Was, out.Lines = s.invoiceLines(before), s.invoiceLines(after)
	if isChange && tells && e.ResourceID != nil && out.Was == nil {
		out.Was = s.linesNow(*e.ResourceID)
	}
	if slices.Equal(out.Was, out.Lines) {
		out.Was, out.Lines = nil, nil
	}
}

// invoiceLines takes the lines of an invoice or a credit note out of its fields.
func (s *story) invoiceLines(fields map[string]any) (out []invoiceLine) {
	rows, _ := fields["lineItems"].([]any)
	delete(fields, "lineItems")
	for _, row := range rows {
		if line, ok := row.(map[string]any); ok {
			out = append(out, s.invoiceLine(line, fields["currency"]))
		}
	}
	return out
}

// linesNow are the lines of an invoice that a step would change: an event does not tell of them.
func (s *story) linesNow(invoice id.ID) []invoiceLine {
	if !s.isOpen() || !s.v.May("invoices.get") {
		return nil
	}
	lines, known := s.lines[invoice]
	if !known {
		stored := map[string]any{}
		if s.v.Do("invoices.get", desk.Fields{"id": invoice}, &stored) == nil { // else it is gone
			lines = s.invoiceLines(stored)
		}
		s.lines[invoice] = lines
	}
	return lines
}

// isOpen reports whether nothing of it was done yet.
func (s *story) isOpen() bool {
	return s.p.Status == proposal.Pending || s.p.Status == proposal.Planned
}

// invoiceLine says what a line is for, and all that makes its sum: what is left after its discount.
func (s *story) invoiceLine(line map[string]any, currency any) invoiceLine {
	text := func(name string) string { t, _ := line[name].(string); return desk.Visible(t) }
	code := text("currency")
	if code == "" {
		code, _ = currency.(string)
	}
	money := func(cents float64) string { return s.v.Money(int64(cents), code) }
	words := []string{text("description")}
	if each, ok := line["unitAmountCents"].(float64); ok {
		words = append(words, text("quantity")+" × "+money(each))
	} else if quantity := text("quantity"); quantity != "" {
		words = append(words, quantity+" of it")
	}
	discount, _ := line["discountCents"].(float64)
	if percent := text("discountPercent"); percent != "" {
		words = append(words, "less "+percent+" % ("+money(discount)+")")
	} else if discount != 0 {
		words = append(words, "less "+money(discount))
	}
	if rate := text("taxRate"); rate != "" {
		words = append(words, rate+" % "+cmp.Or(text("taxName"), "tax"))
	} else {
		words = append(words, "no tax")
	}
	sum, _ := line["amountCents"].(float64)
	return invoiceLine{strings.Join(words, ", "), money(sum - discount)}
}

// fate is what becomes of a deleted row and of what is around it.
type fate struct {
	Goes, Stays, Back []fateLine
	restorable        bool
	isUncounted       bool
	until             string
}

// uncounted stands for the fate of a row when there are too many to look around each.
var uncounted = &fate{isUncounted: true, Goes: []fateLine{{Text: "More may go with it", Bad: true,
	Small: "what goes with this one was not counted, because so many are deleted"}}}

type fateLine struct {
	Text, Small string
	Bad         bool
}

// loadFates counts what goes along with the rows that the proposal deletes.
func (s *story) loadFates() error {
	if s.p.Totals.Deletions == 0 || !s.isOpen() {
		return nil
	}
	var all proposal.ProposalDeletions
	if err := s.v.Do("proposals.deletions", desk.Fields{"id": s.p.ID}, &all); err != nil {
		return err
	}
	until := s.v.Day(s.v.Now().Add(time.Duration(all.KeptHours) * time.Hour).Std().In(s.v.Zone()))
	for _, d := range all.Deletions {
		f := &fate{restorable: d.Restorable, until: until}
		for _, r := range d.Goes {
			f.Goes = append(f.Goes, fateLine{Text: desk.Count(r.Count, r.Noun, plural(r.Noun))})
		}
		for _, r := range d.Stays {
			f.Stays = append(f.Stays, fateLine{Text: desk.Count(r.Count, r.Noun, plural(r.Noun)),
				Small: "without the connection to it"})
		}
		s.fates[d.ResourceID] = f
	}
	for i := range s.p.Effects {
		if at := s.p.Effects[i].ResourceID; all.Uncounted > 0 && at != nil && s.fates[*at] == nil {
			s.fates[*at] = uncounted
		}
	}
	return nil
}

func plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

// fateOf says what a deletion takes, what it leaves, and how long it can be taken back.
func (s *story) fateOf(e *proposal.Effect, row map[string]any) *fate {
	out := &fate{}
	if e.ResourceID != nil && s.fates[*e.ResourceID] != nil {
		*out = *s.fates[*e.ResourceID]
	}
	words := []string{}
	for name, value := range row { // what belongs to the row is counted
		if list, ok := value.([]any); ok && len(list) > 0 {
			if _, isRow := list[0].(map[string]any); isRow {
				delete(row, name)
			}
		}
	}
	for _, c := range s.teller.Fields(e.ResourceType, e.ResourceID, nil, row) {
		words = append(words, c.Word+": "+c.After)
	}
	what := strings.TrimSuffix(strings.TrimPrefix(desk.Visible(e.Summary), "Delete the "), ".")
	out.Goes = append([]fateLine{{Text: desk.Capital(what), Small: strings.Join(words, "; ")}}, out.Goes...)
	out.Stays = append(slices.Clone(out.Stays), fateLine{Text: "A line in Activity",
		Small: "who asked for it, who approved it, and when"})
	switch {
	case out.isUncounted: // nor is it known what comes back
	case out.restorable:
		out.Back = []fateLine{{Text: "All that goes, with its connections", Small: "until " + out.until}}
	case s.isOpen():
		out.Back = []fateLine{{Text: "Not as it was", Bad: true,
			Small: "Undo can only make a new one with the same values"}}
	}
	return out
}

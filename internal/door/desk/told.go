package desk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// Teller says what rows hold to somebody who decides about them. Unlike the timeline it cuts
// nothing and changes no text, it shows what nobody would see, and it names what an id
// stands for. Names are asked for together: whoever needs them tells everything once, loads
// the names, and tells it again.
type Teller struct {
	v      *Visit
	names  map[id.ID]string
	wanted map[string][]id.ID // ids by the path of their noun
	coins  map[id.ID]string   // the currencies of rows
}

// NewTeller is a Teller that knows no names yet.
func (v *Visit) NewTeller() *Teller {
	return &Teller{v: v, names: map[id.ID]string{}, wanted: map[string][]id.ID{}, coins: map[id.ID]string{}}
}

// LoadNames finds the names of everything that was told of so far.
func (t *Teller) LoadNames() error {
	for path, ids := range t.wanted {
		slices.Sort(ids)
		for part := range slices.Chunk(slices.Compact(ids), 100) {
			names, err := t.v.Names(path, part)
			if err != nil {
				return err
			}
			for ref, name := range names {
				t.names[ref] = name
			}
		}
	}
	clear(t.wanted)
	return nil
}

// Fields are the fields of a row of a resource type before and after, in words: those that the
// noun declares first, in its order. row is nil where there is none yet.
func (t *Teller) Fields(resourceType string, row *id.ID, before, after map[string]any) (out []Change) {
	n := t.v.ofType(resourceType)
	return t.fields(n, t.currency(n, row, before, after), before, after)
}

func (t *Teller) fields(n noun, coin string, before, after map[string]any) (out []Change) {
	names := []string{}
	for _, fields := range []map[string]any{before, after} {
		for name := range fields {
			if !slices.Contains(silent, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := fieldOrder(n, a), fieldOrder(n, b); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		c := Change{Word: fieldLabel(n, name), Before: t.value(n, name, before, coin), After: t.value(n, name,
			after, coin)}
		if c.Before != "" || c.After != "" {
			out = append(out, c)
		}
	}
	return out
}

// NameOf is what people call a row of the noun at a path, or nothing while that is not known.
func (t *Teller) NameOf(path string, ref id.ID) string {
	if t.names[ref] == "" {
		t.wanted[path] = append(t.wanted[path], ref)
	}
	return Visible(t.names[ref])
}

// FieldWords are the name of a field as words: "Postal code".
func FieldWords(name string) string { return Capital(spaced(name)) }

func fieldOrder(n noun, name string) int {
	if n != nil {
		if at := n.fieldPlace(name); at >= 0 {
			return at
		}
	}
	return 1000
}

// toldLabels are fields whose own names say too little, or are words of the API.
var toldLabels = map[string]string{"to": "To", "cc": "Copy to", "bcc": "Hidden copy to", "replyTo": "Answers go to",
	"fileIds": "Files", "ttl": "Kept for (seconds)", "externalId": "External ID", "url": "Address", "html": "Design"}

func fieldLabel(n noun, name string) string {
	if n != nil {
		if f := n.field(name); f != nil && f.Label != "" {
			return f.Label
		}
	}
	if label := toldLabels[name]; label != "" {
		return label
	}
	return Capital(spaced(strings.TrimSuffix(strings.TrimSuffix(name, "Cents"), "Ids")))
}

// currency is that of a row's sums. A change tells only of the fields that change, so the row
// itself is asked where they do not say it.
func (t *Teller) currency(n noun, row *id.ID, before, after map[string]any) string {
	for _, fields := range []map[string]any{after, before} {
		if code, ok := fields["currency"].(string); ok {
			return code
		}
	}
	hasSum := func(fields map[string]any) bool {
		for name := range fields {
			if strings.HasSuffix(name, "Cents") {
				return true
			}
		}
		return false
	}
	if n == nil || row == nil || !hasSum(before) && !hasSum(after) || !t.v.May(n.ops()+".get") {
		return ""
	}
	if _, known := t.coins[*row]; !known {
		var stored struct {
			Currency string `json:"currency"`
		}
		if err := t.v.Do(n.ops()+".get", Fields{"id": *row}, &stored); err != nil {
			stored.Currency = "" // it is gone
		}
		t.coins[*row] = stored.Currency
	}
	return t.coins[*row]
}

func (t *Teller) value(n noun, name string, row map[string]any, currency string) string {
	var f *Field
	if n != nil {
		f = n.field(name)
	}
	return t.words(n, f, name, row[name], currency)
}

func (t *Teller) words(n noun, f *Field, name string, value any, currency string) string {
	switch x := value.(type) {
	case bool:
		return map[bool]string{true: "yes", false: "no"}[x]
	case float64:
		if strings.HasSuffix(name, "Cents") || f != nil && f.Kind == "money" {
			return t.v.sumWords(x, currency)
		}
		return t.v.valueWords(x)
	case string:
		return t.text(n, f, name, x)
	case []any:
		between, words := ", ", []string{}
		for _, one := range x {
			if _, isRow := one.(map[string]any); isRow {
				between = "\n"
			}
			words = append(words, t.words(n, f, name, one, currency))
		}
		return strings.Join(words, between)
	case map[string]any:
		words := []string{}
		for _, c := range t.fields(nil, cmp.Or(t.currency(nil, nil, nil, x), currency), nil, x) {
			words = append(words, c.Word+": "+c.After)
		}
		return strings.Join(words, ", ")
	}
	return ""
}

func (t *Teller) text(n noun, f *Field, name, x string) string {
	_, isID := id.Parse(x)
	if (isID || strings.HasPrefix(x, "new:")) && (isReference(name) || f != nil && f.Ref != "") {
		return t.refWords(f, name, x)
	}
	if n != nil && t.v.isChoice(n, name) {
		var own map[string]string
		if f != nil {
			own = f.ChoiceLabels
		}
		return choice(x, own)
	}
	switch name {
	case "currency":
		return strings.ToUpper(Visible(x))
	case "country":
		return t.v.Country(Visible(x))
	}
	if !isTime(name) { // a text of somebody's own stays as it is, whatever it looks like
		return Visible(x)
	}
	if at, err := clock.ParseTime(x); err == nil && strings.Contains(x, "T") {
		return t.v.When(at).Exact
	}
	if day, err := time.Parse(time.DateOnly, x); err == nil {
		return t.v.Day(day)
	}
	return Visible(x)
}

// isTime reports whether a field has a time or a day, by its name.
func isTime(name string) bool {
	return slices.ContainsFunc([]string{"At", "On", "Date", "date", "Until", "Since", "day", "Day"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// isChoice reports whether the API has a fixed set of values for a field of a noun.
func (v *Visit) isChoice(n noun, name string) bool {
	for _, operation := range []string{".update", ".create"} {
		if s := v.property(n.ops()+operation, name); s != nil && len(s.Enum) > 0 {
			return true
		}
	}
	return name == "status"
}

// IsDefault reports whether a value of a new row is the one that it has when nobody says anything.
func (v *Visit) IsDefault(resourceType, name string, value any) bool {
	n := v.ofType(resourceType)
	if n == nil {
		return false
	}
	s := v.property(n.ops()+".create", name)
	return s != nil && string(s.Default) == fmt.Sprint(value)
}

// isReference reports whether a field names another row. An external ID is somebody's own text.
func isReference(name string) bool {
	return name != "externalId" && (strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids") ||
		strings.HasSuffix(name, "By"))
}

// referredTypes are the resource types that fields name by another word.
var referredTypes = map[string]string{"template": "email_template", "parentFolder": "folder", "logoFile": "file",
	"definition": "property_definition"}

// referred is the path of the noun that a field names, and what people call one of it: members, where no noun of the
// desk has its name.
func (v *Visit) referred(name string) (path, one string) {
	word := strings.TrimSuffix(strings.TrimSuffix(name, "Ids"), "Id")
	kind := referredTypes[word]
	if kind == "" {
		kind = strings.ReplaceAll(spaced(word), " ", "_")
	}
	if n := v.ofType(kind); n != nil {
		one, _, _ = n.words()
		return n.path(), one
	}
	return "members", spaced(word)
}

// refWords names what a field refers to. A row that the plan itself makes has no name yet, and
// one that is gone, or that the reader may not see, has none any more.
func (t *Teller) refWords(f *Field, name, value string) string {
	path, one := t.v.referred(name)
	if f != nil && f.Ref != "" {
		path = f.Ref
	}
	if strings.HasPrefix(value, "new:") {
		return "the new " + one
	}
	return cmp.Or(t.NameOf(path, id.ID(value)), "(gone, or not for you to see)")
}

// Visible shows the characters of a text that nobody would see, or that turn the direction of
// others, by their numbers: with them a text can be made to look like another one. The
// joiners U+200C and U+200D are part of how some languages are written, outside of ASCII.
func Visible(s string) string {
	if !strings.ContainsFunc(s, isUnseen) {
		return s
	}
	var b strings.Builder
	before := ' '
	for _, r := range s {
		joins := (r == '\u200c' || r == '\u200d') && before > unicode.MaxASCII
		if isUnseen(r) && !joins {
			fmt.Fprintf(&b, "[U+%04X]", r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func isUnseen(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }

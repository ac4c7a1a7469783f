package desk

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// Cell is one thing that a page shows: a text, a name with its avatar, a state, a
// time, a sum, tags, or a reference that is shown by its name. The template is
// "cell".
type Cell struct {
	Kind   string // text, name, pill, time, tags, ref, long
	Text   string
	Href   string
	Tone   string // good, warn, bad, or none
	Faint  bool
	Num    bool
	Avatar *Avatar
	Tags   []string
	Time   *TimeText
	Tick   string // of the first cell: where a box that ticks the row off posts to

	ref string
	of  id.ID
}

func (c *Cell) empty() bool {
	return c.Text == "" && len(c.Tags) == 0 && c.Time == nil && c.Kind != "ref"
}

// Pill is a state as a small coloured word.
type Pill struct{ Text, Tone string }

// Or is the state with another word when it has none.
func (p Pill) Or(text string) Pill {
	if p.Text == "" {
		p.Text = text
	}
	return p
}

// Avatar is the initials of a person or a company, or an icon.
type Avatar struct {
	Text  string
	Icon  string
	Shape string // "co" for a company, "bot" for a machine
	Hue   string // one of five, by name
}

// Line is a row in a list of one-line rows: who or what, a faint detail, a state
// and a time. The template is "line".
type Line struct {
	ID     id.ID
	Href   string
	Avatar *Avatar
	Icon   string
	Who    string
	Text   string
	Faint  string
	Pill   Pill
	Sum    string
	Time   *TimeText
	Ref    *Ref   // who, by reference
	Tick   string // where a box that ticks the row off posts to
}

// Ref names an object of another noun.
type Ref struct {
	Path string
	ID   id.ID
}

// TimeText is a time in words, with the exact one beside it.
type TimeText struct{ ISO, Exact, Text string }

// Text is a plain cell.
func Text(s string) Cell { return Cell{Kind: "text", Text: s} }

// OptionalText is a text that may be missing.
func OptionalText(s *string) Cell {
	if s == nil {
		return Cell{Kind: "text"}
	}
	return Text(*s)
}

// Long is a text of several lines.
func Long(s string) Cell { return Cell{Kind: "long", Text: s} }

// Code is a text that machines read.
func Code(s string) Cell { return Cell{Kind: "code", Text: s} }

// Link is a text that leads somewhere on this site.
func Link(text, href string) Cell { return Cell{Kind: "text", Text: text, Href: href} }

// State is a cell with a status as a coloured word.
func State(p Pill) Cell { return Cell{Kind: "pill", Text: p.Text, Tone: p.Tone} }

// Tags are words that people gave a row.
func Tags(tags []string) Cell { return Cell{Kind: "tags", Tags: tags} }

// LinkTo is a reference to another noun's object, shown by its name.
func LinkTo(path string, ref *id.ID) Cell {
	if ref == nil {
		return Cell{Kind: "text"}
	}
	return Cell{Kind: "ref", ref: path, of: *ref}
}

// MoneyCell is an amount of money.
func (v *Visit) MoneyCell(cents int64, currency string) Cell {
	return Cell{Kind: "text", Text: v.Money(cents, currency), Num: true}
}

// At is a time.
func (v *Visit) At(t *clock.Time) Cell {
	if t == nil {
		return Cell{Kind: "text"}
	}
	return Cell{Kind: "time", Time: v.When(*t)}
}

// NameCell is a name with its avatar.
func NameCell(name, shape string) Cell {
	return Cell{Kind: "name", Text: name, Avatar: AvatarOf(name, shape)}
}

// AvatarOf is the avatar of a name.
func AvatarOf(name, shape string) *Avatar {
	return &Avatar{Text: initials(name), Shape: shape, Hue: hue(name)}
}

// RobotAvatar is the avatar of a machine.
func RobotAvatar(icon string) *Avatar { return &Avatar{Icon: icon, Shape: "bot"} }

// initials are the first letters of the first and the last word.
func initials(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return "?"
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	out := string(unicode.ToUpper(first))
	if len(words) > 1 {
		last, _ := utf8.DecodeRuneInString(words[len(words)-1])
		out += string(unicode.ToUpper(last))
	}
	return out
}

// hue spreads names over the five colours of avatars.
func hue(name string) string {
	sum := 0
	for _, r := range name {
		sum = sum*31 + int(r)
	}
	return []string{"", "b", "c", "d", "e"}[(sum&0x7fffffff)%5]
}

// Money writes an amount as the business's locale does.
func (v *Visit) Money(cents int64, currency string) string {
	f, _ := v.formats()
	return f.Money(cents, currency)
}

// MoneyOfEach writes amounts by currency, the business's own first. What is in another
// currency stands beside it and is never added to it.
func (v *Visit) MoneyOfEach(cents map[string]int64) string {
	own := v.CurrentBusiness().Currency
	words := []string{}
	if n, ok := cents[own]; ok || len(cents) == 0 {
		words = append(words, v.Money(n, own))
	}
	for _, code := range slices.Sorted(maps.Keys(cents)) {
		if code != own {
			words = append(words, v.Money(cents[code], code))
		}
	}
	return strings.Join(words, " + ")
}

// Amount writes an amount without its currency, for a table that names it; nothing is a dash.
func (v *Visit) Amount(cents int64, currency string) string {
	if cents == 0 {
		return "–"
	}
	return v.Number(Plain(cents, currency))
}

// Number writes a number as the business's locale does.
func (v *Visit) Number(decimal string) string {
	f, _ := v.formats()
	return f.Number(decimal)
}

// OwnFirst are the rows of the business's own currency, then those of the others, each in
// their order.
func OwnFirst[T any](v *Visit, rows []T, currencyOf func(*T) string) []T {
	own := v.CurrentBusiness().Currency
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b T) int {
		isOther := func(row T) int {
			if currencyOf(&row) == own {
				return 0
			}
			return 1
		}
		return isOther(a) - isOther(b)
	})
	return out
}

// When is a time as people say it: a time of today, a weekday, a date.
func (v *Visit) When(t clock.Time) *TimeText {
	_, zone := v.formats()
	at, now := t.Std().In(zone), v.Now().Std().In(zone)
	return &TimeText{ISO: t.String(), Exact: at.Format(v.exactLayout()), Text: v.shortTime(at, now)}
}

// usesTwelveHours reports whether the business's people read the clock in twelve hours.
func (v *Visit) usesTwelveHours() bool {
	tag := v.CurrentBusiness().Locale
	return strings.HasPrefix(tag, "en-US") || strings.HasPrefix(tag, "en-CA") || strings.HasPrefix(tag, "en-AU")
}

func (v *Visit) clockLayout() string {
	if v.usesTwelveHours() {
		return "3:04 PM"
	}
	return "15:04"
}

// dayMonth is how the locale writes a day of this year.
func (v *Visit) dayMonth() string {
	if strings.HasSuffix(v.CurrentBusiness().Locale, "-US") {
		return "Jan 2"
	}
	return "2 Jan"
}

func (v *Visit) exactLayout() string {
	if strings.HasSuffix(v.CurrentBusiness().Locale, "-US") {
		return "January 2, 2006, " + v.clockLayout() + " MST"
	}
	return "2 January 2006, " + v.clockLayout() + " MST"
}

func (v *Visit) shortTime(at, now time.Time) string {
	day := func(t time.Time) int64 {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400
	}
	switch days := day(at) - day(now); {
	case days == 0:
		return at.Format(v.clockLayout())
	case days == -1:
		return "yesterday"
	case days == 1:
		return "tomorrow"
	case days < 0 && days > -7, days > 0 && days < 7:
		return at.Format("Mon")
	case at.Year() == now.Year():
		return at.Format(v.dayMonth())
	}
	return v.Day(at)
}

// Hour is a time of day as the locale writes it.
func (v *Visit) Hour(t time.Time) string { return t.Format(v.clockLayout()) }

// FirstWeekday is the day that a week begins with, where the business is.
func (v *Visit) FirstWeekday() time.Weekday {
	f, _ := v.formats()
	return f.FirstWeekday()
}

// LongDay is a day with its weekday.
func (v *Visit) LongDay(t time.Time) string {
	if strings.HasSuffix(v.CurrentBusiness().Locale, "-US") {
		return t.Format("Monday, January 2")
	}
	return t.Format("Monday, 2 January")
}

// Day is a date with its year.
func (v *Visit) Day(t time.Time) string {
	f, _ := v.formats()
	return f.Date(t)
}

// resolve fills in the names of references, one call for each noun.
func (v *Visit) resolve(cells []*Cell) error {
	byPath := map[string][]id.ID{}
	for _, c := range cells {
		if c.Kind == "ref" {
			byPath[c.ref] = append(byPath[c.ref], c.of)
		}
	}
	for path, ids := range byPath {
		names, err := v.Names(path, ids)
		if err != nil {
			return err
		}
		for _, c := range cells {
			if c.Kind != "ref" || c.ref != path {
				continue
			}
			c.Kind = "text"
			if name, ok := names[c.of]; ok {
				c.Text = name
				if n := v.noun(path); n != nil {
					c.Href = "/" + path + "/" + string(c.of)
				}
			}
		}
	}
	return nil
}

// Names are what people call the objects of a noun, by id. Members are a noun
// here too, of the path "members". What is gone, or not for the visitor, has
// none.
func (v *Visit) Names(path string, ids []id.ID) (map[id.ID]string, error) {
	if path == "members" {
		return v.memberNames()
	}
	n := v.noun(path)
	if n == nil || len(ids) == 0 || !n.mayList(v) {
		return nil, nil
	}
	seen := map[id.ID]bool{}
	unique := []id.ID{}
	for _, x := range ids {
		if !seen[x] {
			seen[x] = true
			unique = append(unique, x)
		}
	}
	return n.resolve(v, unique[:min(len(unique), 100)])
}

func (n *Noun[T]) resolve(v *Visit, ids []id.ID) (map[id.ID]string, error) {
	rows, _, err := List[T](v, n.ops()+".list", Fields{"ids": ids, "limit": 100})
	out := map[id.ID]string{}
	for i := range rows {
		out[rows[i].RowID()] = n.Name(v, &rows[i])
	}
	return out, err
}

package automations

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// When an automation runs, chosen from lists: the times of a schedule, which are
// stored as cron, and conditions on the event's fields, which are stored as CEL.
// What the lists cannot say is shown as it is stored.

// every are the schedules that can be chosen.
var every = []desk.Option{{Value: "hour", Text: "Every hour"}, {Value: "day", Text: "Every day"},
	{Value: "weekdays", Text: "Monday to Friday"},
	{Value: "week", Text: "Every week"}, {Value: "month", Text: "The 1st of every month"}, {Value: "cron",
		Text: "Something else (cron)"}}

var daysOfWeek = []desk.Option{{Value: "1", Text: "Monday"}, {Value: "2", Text: "Tuesday"},
	{Value: "3", Text: "Wednesday"}, {Value: "4", Text: "Thursday"}, {Value: "5", Text: "Friday"},
	{Value: "6", Text: "Saturday"}, {Value: "0", Text: "Sunday"}}

// typedCron is the schedule that was chosen, as cron.
func typedCron(v *desk.Visit) (cron, issue string) {
	kind := v.Value("trigger.every")
	if kind == "" || kind == "cron" {
		return v.Value("trigger.cron"), ""
	}
	hour, minute, ok := strings.Cut(v.Value("trigger.at"), ":")
	h, err := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	if !ok || err != nil || err2 != nil || h < 0 || h > 23 || m < 0 || m > 59 {
		return "", "Write a time, like 09:00"
	}
	switch kind {
	case "hour":
		return fmt.Sprintf("%d * * * *", m), ""
	case "weekdays":
		return fmt.Sprintf("%d %d * * 1-5", m, h), ""
	case "week":
		return fmt.Sprintf("%d %d * * %s", m, h, v.Value("trigger.day")), ""
	case "month":
		return fmt.Sprintf("%d %d 1 * *", m, h), ""
	}
	return fmt.Sprintf("%d %d * * *", m, h), ""
}

var plainCron = regexp.MustCompile(`^(\d{1,2}) (\d{1,2}|\*) (\*|1) \* (\*|1-5|[0-6])$`)

// setCron shows a stored schedule in the lists, or as cron.
func setCron(f *desk.Typed, cron string) {
	f.Values.Set("trigger.every", "cron")
	f.Values.Set("trigger.cron", cron)
	m := plainCron.FindStringSubmatch(cron)
	if m == nil {
		return
	}
	kind := ""
	switch hour, date, day := m[2], m[3], m[4]; {
	case hour == "*" && date == "*" && day == "*":
		kind, m[2] = "hour", "0"
	case hour == "*":
		return
	case date == "1" && day == "*":
		kind = "month"
	case date == "1":
		return
	case day == "*":
		kind = "day"
	case day == "1-5":
		kind = "weekdays"
	default:
		kind = "week"
		f.Values.Set("trigger.day", day)
	}
	h, _ := strconv.Atoi(m[2])
	minute, _ := strconv.Atoi(m[1])
	f.Values.Set("trigger.every", kind)
	f.Values.Set("trigger.at", fmt.Sprintf("%02d:%02d", h, minute))
}

// check is one condition: a field of the event, how it is compared, and with what.
type check struct{ Field, Is, Value string }

// checks are conditions that all must hold, or any of them.
type checks struct {
	Any  bool
	List []check
}

// comparisons are the ways to compare. Those of the first half take a value.
var comparisons = []desk.Option{{Value: "is", Text: "is"}, {Value: "not", Text: "is not"},
	{Value: "contains", Text: "contains"}, {Value: "starts", Text: "starts with"},
	{Value: "over", Text: "is more than"}, {Value: "under", Text: "is less than"},
	{Value: "set", Text: "is filled in"}, {Value: "empty", Text: "is empty"}, {Value: "changed", Text: "was changed"}}

// withoutValue are the comparisons that need none.
var withoutValue = []string{"set", "empty", "changed"}

// expression is the condition in CEL, or what is wrong with it.
func (c checks) expression(data *jsonschema.Schema) (text, issue string) {
	var terms []string
	for _, one := range c.List {
		s := data.Properties[one.Field]
		if s == nil {
			return "", "Choose a field of the event"
		}
		term, issue := one.expression(s)
		if issue != "" {
			return "", desk.Capital(spacedWords(one.Field)) + ": " + issue
		}
		terms = append(terms, term)
	}
	if c.Any {
		return strings.Join(terms, " || "), ""
	}
	return strings.Join(terms, " && "), ""
}

func (c check) expression(s *jsonschema.Schema) (text, issue string) {
	field, list := "event.data."+c.Field, schemaKind(s) == "array"
	switch {
	case c.Is == "changed":
		return fmt.Sprintf("(event.previous != null && %q in event.previous)", c.Field), ""
	case c.Is == "set" && list:
		return "size(" + field + ") > 0", ""
	case c.Is == "empty" && list:
		return "size(" + field + ") == 0", ""
	case c.Is == "set":
		return field + " != null", ""
	case c.Is == "empty":
		return field + " == null", ""
	case c.Value == "":
		return "", "write what to compare it with"
	}
	literal, issue := c.literal(s)
	if issue != "" {
		return "", issue
	}
	word := map[string]string{"contains": "contains", "starts": "startsWith"}[c.Is]
	sign := map[string]string{"over": ">", "under": "<"}[c.Is]
	isText := literal[0] == '"'
	switch {
	case list && (s.Items == nil || schemaKind(s.Items) != "string"):
		return "", "it can be filled in or empty"
	case c.Is == "contains" && list:
		return literal + " in " + field, ""
	case list:
		return "", "a list can contain something, or be empty"
	case word != "" && isText:
		return fmt.Sprintf("(%s != null && %s.%s(%s))", field, field, word, literal), ""
	case sign != "" && (!isText || s.Format == "date" || s.Format == "date-time"):
		return fmt.Sprintf("(%s != null && %s %s %s)", field, field, sign, literal), ""
	case c.Is == "is":
		return field + " == " + literal, ""
	case c.Is == "not":
		return field + " != " + literal, ""
	}
	return "", "it cannot be compared in this way"
}

// literal is the value in CEL, as the field has it.
func (c check) literal(s *jsonschema.Schema) (text, issue string) {
	switch schemaKind(s) {
	case "integer", "number":
		if n := jsontext.Value(c.Value); !n.IsValid() || n.Kind() != '0' {
			return "", "write a number"
		}
		return c.Value, ""
	case "boolean":
		if value, ok := map[string]string{"true": "true", "yes": "true", "false": "false",
			"no": "false"}[strings.ToLower(c.Value)]; ok {
			return value, ""
		}
		return "", "write yes or no"
	}
	quoted, err := json.Marshal(c.Value)
	if err != nil {
		return "", "this is not text"
	}
	return string(quoted), ""
}

// term finds one condition as expression writes it. Each way to write one has its
// field, and most a sign and a value.
var term = func() *regexp.Regexp {
	const field, value = `event\.data\.(\w+)`, `("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false)`
	return regexp.MustCompile(`^(?:\(event\.previous != null && "(\w+)" in event\.previous\)|` +
		`size\(` + field + `\) (>|==) 0|` + field + ` (!=|==) null|` +
		`\(` + field + ` != null && event\.data\.(\w+)(?:\.(contains|startsWith)\(` + value + `\)| (>|<) ` + value +
		`)\)|` +
		value + ` in ` + field + `|` + field + ` (==|!=) ` + value + `)`)
}()

// parseChecks reads a condition that expression wrote. It is not ok for any other.
func parseChecks(text string, data *jsonschema.Schema) (out checks, ok bool) {
	rest, joins := text, map[string]bool{}
	for {
		m := term.FindStringSubmatch(rest)
		if m == nil {
			return checks{}, false
		}
		one := check{}
		literal := ""
		switch {
		case m[1] != "":
			one = check{Field: m[1], Is: "changed"}
		case m[2] != "":
			one = check{Field: m[2], Is: map[string]string{">": "set", "==": "empty"}[m[3]]}
		case m[4] != "":
			one = check{Field: m[4], Is: map[string]string{"!=": "set", "==": "empty"}[m[5]]}
		case m[8] != "":
			one, literal = check{Field: m[6], Is: map[string]string{"contains": "contains",
				"startsWith": "starts"}[m[8]]}, m[9]
		case m[10] != "":
			one, literal = check{Field: m[6], Is: map[string]string{">": "over", "<": "under"}[m[10]]}, m[11]
		case m[12] != "":
			one, literal = check{Field: m[13], Is: "contains"}, m[12]
		default:
			one, literal = check{Field: m[14], Is: map[string]string{"==": "is", "!=": "not"}[m[15]]}, m[16]
		}
		if one.Value = literal; strings.HasPrefix(literal, `"`) && json.Unmarshal([]byte(literal), &one.Value) != nil {
			return checks{}, false
		}
		out.List, rest = append(out.List, one), rest[len(m[0]):]
		if rest == "" {
			break
		}
		if len(rest) < 4 || rest[:4] != " && " && rest[:4] != " || " {
			return checks{}, false
		}
		joins[rest[:4]] = true
		rest = rest[4:]
	}
	out.Any = joins[" || "]
	// The lists must say exactly what was stored.
	again, issue := out.expression(data)
	return out, len(joins) < 2 && issue == "" && again == text
}

// eventFields are the fields of the event that conditions can look at.
func eventFields(v *desk.Visit, trigger url.Values) *jsonschema.Schema {
	if trigger.Get("trigger.kind") != "event" {
		return nil
	}
	return automation.EventDataSchema(v.Catalog.All(), trigger.Get("trigger.event"))
}

// maxChecks bounds how many conditions are read from a form.
const maxChecks = 20

func checkName(i int) string { return "check." + strconv.Itoa(i) }

// typedChecks reads the conditions of the form, without empty ones.
func typedChecks(v *desk.Visit) (c checks) {
	c.Any = v.Value("check.match") == "any"
	for i := range maxChecks {
		at := checkName(i)
		if field := v.Value(at + ".field"); field != "" {
			c.List = append(c.List, check{field, v.Value(at + ".is"), v.Value(at + ".value")})
		}
	}
	return c
}

func setChecks(f *desk.Typed, c checks) {
	for name := range f.Values {
		if strings.HasPrefix(name, "check.") {
			f.Values.Del(name)
		}
	}
	f.Values.Set("check.match", "all")
	if c.Any {
		f.Values.Set("check.match", "any")
	}
	for i, one := range c.List {
		f.Values.Set(checkName(i)+".field", one.Field)
		f.Values.Set(checkName(i)+".is", one.Is)
		f.Values.Set(checkName(i)+".value", one.Value)
	}
}

// typedCondition is the condition of the form in CEL, and what is wrong with it.
func typedCondition(v *desk.Visit) (text, issue string) {
	if v.R.PostForm.Has("condition") {
		return strings.ReplaceAll(v.Value("condition"), "\r\n", "\n"), ""
	}
	c, data := typedChecks(v), eventFields(v, v.R.PostForm)
	if len(c.List) == 0 {
		return "", ""
	}
	if data == nil {
		return "", "Choose an event first"
	}
	return c.expression(data)
}

// conditionWords is a condition as the lists say it, or nothing where they cannot.
func conditionWords(v *desk.Visit, trigger url.Values, condition *string) string {
	data := eventFields(v, trigger)
	if condition == nil || data == nil {
		return ""
	}
	c, ok := parseChecks(*condition, data)
	if !ok {
		return ""
	}
	words := make([]string, len(c.List))
	for i, one := range c.List {
		words[i] = strings.TrimSpace(spacedWords(one.Field) + " " + desk.OptionText(comparisons, one.Is) + " " +
			one.Value)
	}
	between := " and "
	if c.Any {
		between = " or "
	}
	return desk.Capital(strings.Join(words, between))
}

// setCondition shows a condition in the lists where they can say it, or else as CEL.
func setCondition(v *desk.Visit, f *desk.Typed, text string) {
	f.Values.Del("condition")
	if data := eventFields(v, f.Values); data != nil {
		if text == "" {
			return
		}
		if c, ok := parseChecks(text, data); ok {
			setChecks(f, c)
			return
		}
	}
	f.Values.Set("condition", text)
}

// checkRow is one condition as the editor shows it.
type checkRow struct {
	At               string
	Number           int
	Field, Is, Value desk.Input
}

// checkRows are the conditions of the form, and an empty one.
func checkRows(f *desk.Typed, data *jsonschema.Schema) (rows []checkRow) {
	choice := []desk.Option{{Text: "–"}}
	for _, name := range data.PropertyOrder {
		s := data.Properties[name]
		kind := schemaKind(s)
		if kind == "string" || kind == "integer" || kind == "number" || kind == "boolean" ||
			kind == "array" {
			choice = append(choice, desk.Option{Value: name, Text: desk.Capital(spacedWords(name))})
		}
	}
	for i := range maxChecks {
		at := checkName(i)
		name := f.Values.Get(at + ".field")
		row := checkRow{At: at, Number: i + 1, Field: f.Choice(at+".field", "Field", "", choice),
			Is:    f.Choice(at+".is", "Comparison", "", comparisons),
			Value: f.Field(at+".value", "Value", "text", "", "off", "chosen")}
		for _, in := range []*desk.Input{&row.Field, &row.Is, &row.Value} {
			in.Required, in.Quiet = false, i > 0
		}
		if s := data.Properties[name]; s != nil {
			for _, e := range s.Enum {
				if text, ok := e.(string); ok {
					row.Value.List = append(row.Value.List, text)
				}
			}
			if schemaKind(s) == "boolean" {
				row.Value.List = []string{"yes", "no"}
			}
		}
		rows = append(rows, row)
		if name == "" {
			break
		}
	}
	return rows
}

// NeedsValue reports whether a comparison takes a value.
func (r checkRow) NeedsValue() bool { return !slices.Contains(withoutValue, r.Is.Value) }

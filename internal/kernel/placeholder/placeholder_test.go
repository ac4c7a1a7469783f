package placeholder_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"reflect"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/placeholder"
)

const limit = 1 << 20

func parse(t testing.TB, text string) *placeholder.Template {
	t.Helper()
	p, err := placeholder.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return p
}

func values(t testing.TB, text string) placeholder.Lookup {
	t.Helper()
	v, err := placeholder.LookupInJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRender(t *testing.T) {
	v := values(t,
		`{"name": "Ada", "_x": "under", "customer": {"name": "Grace", "none": null, "empty": ""},
			"items": [{"name": "Engine"}, {"name": "Loom"}],
		"total": 0.10, "big": 9007199254740993, "yes": true, "trick": "{{ name }}"}`)
	for text, want := range map[string]string{
		"":                                "",
		"plain { text } }} {":             "plain { text } }} {",
		"Hello {{ name }}.":               "Hello Ada.",
		"{{name}}{{customer.name}}":       "AdaGrace",
		"{{\n\tcustomer.name\r\n}}":       "Grace",
		"{{ items.1.name }}":              "Loom",
		"{{ _x }}":                        "under",
		"{{ total }} {{ big }}":           "0.10 9007199254740993",
		"{{ yes }}":                       "true",
		"{{ trick }}":                     "{{ name }}", // a value is never read as a text
		`{{ nobody | default: "there" }}`: "there",
		`{{ nobody|default:"" }}`:         "",
		`{{ customer.none | default : "said \"\\\"" }}`: `said "\"`,
		`{{ customer.empty | default: "x" }}`:           "", // an empty text is a value
		`{{ name | default: "}} {{ x" }}`:               "Ada",
		`{{ items.2.name | default: "no third" }}`:      "no third",
		`{{ name.first | default: "no first" }}`:        "no first",
		"{{ name }}}":                                   "Ada}",
	} {
		got, err := parse(t, text).Render(v, nil, limit)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	got, err := parse(t, `<b>{{ a }}</b>{{ b | default: "<i>" }}`).Render(values(t, `{"a": "<script>"}`),
		html.EscapeString, limit)
	if want := "<b>&lt;script&gt;</b>&lt;i&gt;"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestVariables(t *testing.T) {
	a, b := parse(t, `{{ z }} {{ a.b }} {{ z | default: "x" }}`), parse(t, "{{ a.b }}{{ c.0 }}")
	if got, want := a.Variables(), []string{"a.b", "z"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := placeholder.Variables(a, b), []string{"a.b", "c.0", "z"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := parse(t, "none").Variables(); got == nil || len(got) > 0 {
		t.Errorf("%v, want an empty list", got)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
	}{
		{"{{", 1, 1},
		{"Dear {{ name", 1, 6},
		{"a\nbé {{ name ", 2, 4},
		{"{{ }}", 1, 4},
		{"{{{ name }}}", 1, 3},
		{"{{ a {{ b }} }}", 1, 6},
		{"{{ name }", 1, 9},
		{"{{ 1a }}", 1, 4},
		{"{{ .a }}", 1, 4},
		{"{{ a. }}", 1, 6},
		{"{{ a..b }}", 1, 6},
		{"{{ naïve }}", 1, 6},
		{"{{ a-b }}", 1, 5},
		{"{{ a() }}", 1, 5},
		{"{{ a[0] }}", 1, 5},
		{"{{ #if a }}", 1, 4},
		{"{{> partial }}", 1, 3},
		{"{{ a | upper }}", 1, 8},
		{"{{ a | default }}", 1, 16},
		{"{{ a | default: b }}", 1, 17},
		{"{{ a | default: 'b' }}", 1, 17},
		{`{{ a | default: "b }}`, 1, 1},
		{`{{ a | default: "b" | default: "c" }}`, 1, 21},
		{`{{ a "b" }}`, 1, 6},
		{"{{ " + strings.Repeat("a", 201) + " }}", 1, 1},
		{`{{ a | default: "` + strings.Repeat("b", 1001) + `" }}`, 1, 1},
		{strings.Repeat("{{ a }}", 1001), 1, 7001},
		{strings.Repeat("a", placeholder.MaxLength+1), 1, 1},
	} {
		_, err := placeholder.Parse(c.text)
		var e *placeholder.ParseError
		if !errors.As(err, &e) || e.Line != c.line || e.Column != c.column || e.Problem == "" {
			t.Errorf("%.40q: %v, want line %d, column %d", c.text, err, c.line, c.column)
		}
	}
}

func TestMissing(t *testing.T) {
	v := values(t, `{"a": null, "o": {"x": 1}, "l": []}`)
	_, err := parse(t, `{{ a }} {{ b.c }} {{ d | default: "d" }}`).Render(v, nil, limit)
	var m *placeholder.MissingError
	if !errors.As(err, &m) || !reflect.DeepEqual(m.Names, []string{"a", "b.c"}) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"o", "l"} {
		_, err := parse(t, "{{ "+name+" }}").Render(v, nil, limit)
		var u *placeholder.UnfitError
		if !errors.As(err, &u) || u.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := placeholder.LookupInJSON([]byte("[1]")); err == nil {
		t.Error("an array has names")
	}
}

func TestValue(t *testing.T) {
	v := values(t, `{"n": 5, "o": {"a": [true]}, "none": null}`)
	for text, want := range map[string]any{
		"{{ n }}":                      json.Number("5"),
		"{{ o.a }}":                    []any{true},
		"{{ none }}":                   nil,
		`{{ none | default: "x" }}`:    "x",
		`{{ missing | default: "x" }}`: "x",
		" {{ n }}":                     " 5",
		"{{ n }}{{ n }}":               "55",
		"text":                         "text",
		"":                             "",
	} {
		got, err := parse(t, text).Value(v, limit)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, %v; want %#v", text, got, err, want)
		}
	}
	var m *placeholder.MissingError
	if _, err := parse(t, "{{ missing }}").Value(v, limit); !errors.As(err, &m) {
		t.Errorf("missing: %v", err)
	}
}

// A large value that is used a thousand times ends at the limit, quickly.
func TestBomb(t *testing.T) {
	p := parse(t, strings.Repeat("{{ a }}", placeholder.MaxPlaceholders))
	v := placeholder.LookupIn(map[string]any{"a": strings.Repeat("&", 1<<20)})
	took := cputest.CPUTimeOf(t, func() {
		_, err := p.Render(v, html.EscapeString, 2<<20)
		var long *placeholder.TooLongError
		if !errors.As(err, &long) || long.Max != 2<<20 {
			t.Errorf("%v", err)
		}
		// As many braces as there can be are read in one go.
		for _, text := range []string{strings.Repeat("{", placeholder.MaxLength),
			strings.Repeat("{{ a", placeholder.MaxLength/4), "{{" + strings.Repeat(" ", placeholder.MaxLength-2),
			"{{ " + strings.Repeat("a.", placeholder.MaxLength/2-2),
			`{{ a | default: "` + strings.Repeat(`\"`, placeholder.MaxLength/2-20)} {
			if _, err := placeholder.Parse(text); err == nil {
				t.Errorf("%.20q is fine", text)
			}
		}
	})
	if t.Logf("%s of CPU", took); took > 2*time.Second {
		t.Errorf("took %s of CPU", took)
	}
}

// FuzzParse: whatever the text, it is read or refused with a place inside it,
// and what was read gives back what was put in.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "{{", "{{ a }}", `x {{ a.b | default: "c\"" }} y`, "{{{ a }}}", "{{ a {{ b }} }}",
		"é\n{{ é"} {
		f.Add(s)
	}
	for _, s := range shapes {
		f.Add(s.Text(100))
	}
	f.Fuzz(func(t *testing.T, text string) {
		cputest.CheckWithin(t, len(text), func() { placeholder.Parse(text) }) //nolint:errcheck // how long it takes
		p, err := placeholder.Parse(text)
		if err != nil {
			var e *placeholder.ParseError
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		said := 0
		out, err := p.Render(func([]string) (any, bool) { said++; return "{{", true },
			func(s string) string { return s },
			placeholder.MaxLength)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if strings.Count(out, "{{") < said || said == 0 && out != text {
			t.Fatalf("%q became %q with %d values", text, out, said)
		}
		for _, name := range p.Variables() {
			if _, err := placeholder.Parse(fmt.Sprintf("{{ %s }}", name)); err != nil {
				t.Fatalf("%q has the variable %q: %v", text, name, err)
			}
		}
	})
}

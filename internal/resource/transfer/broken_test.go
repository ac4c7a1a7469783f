package transfer_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// broken are lines that cannot be imported, each wrong in its own way, and what is
// said of it. The columns are externalId, firstName, lastName, email, phone,
// birthday, tags, line1, country and notes.
var broken = []struct{ text, field, says string }{
	{`b1,Ada,L,no-address,,,,,,`, "email", ""},
	{`b2,Ada,L,@example.com,,,,,,`, "email", ""},
	{`b3,Ada,L,ada@,,,,,,`, "email", ""},
	{`b4,Ada,L,ada@@example.com,,,,,,`, "email", ""},
	{`b5,Ada,L,ada lovelace@example.com,,,,,,`, "email", ""},
	{`b6,Ada,L,` + strings.Repeat("a", 300) + `@example.com,,,,,,`, "email", ""},
	{`b7,Ada,L,"a@x.example,a@x.example b",,,,,,`, "email", ""},
	{`b8,,,x8@example.com,,,,,,`, "", "firstName"},
	{`b9,  ,	,x9@example.com,,,,,,`, "", "firstName"},
	{`b10,` + strings.Repeat("x", 256) + `,,,,,,,,`, "firstName", ""},
	{`b11,Ada,` + strings.Repeat("ü", 256) + `,,,,,,,`, "lastName", ""},
	{`b12,Ada,L,,12,,,,,`, "phoneNumber", ""},
	{`b13,Ada,L,,not a number,,,,,`, "phoneNumber", ""},
	{`b14,Ada,L,,+999123456789012345,,,,,`, "phoneNumber", ""},
	{`b15,Ada,L,,030 123456,,,,,`, "phoneNumber", ""},
	{`b16,Ada,L,,,yesterday,,,,`, "birthday", ""},
	{`b17,Ada,L,,,31.12.1980,,,,`, "birthday", ""},
	{`b18,Ada,L,,,1980-02-30,,,,`, "birthday", ""},
	{`b19,Ada,L,,,2999-01-01,,,,`, "birthday", ""},
	{`b20,Ada,L,,,,` + strings.Repeat("t", 65) + `,,,`, "tags", ""},
	{`b21,Ada,L,,,,"` + tags(51) + `",,,`, "tags", ""},
	{`b22,Ada,L,,,,,,DE,`, "line1", ""},
	{`b23,Ada,L,,,,,Main St 1,Germany,`, "country", ""},
	{`b24,Ada,L,,,,,Main St 1,ZZ,`, "country", ""},
	{`b25,Ada,L,,,,,,,` + strings.Repeat("n", 10_001), "notes", ""},
	{strings.Repeat("e", 256) + `,Ada,L,,,,,,,`, "externalId", ""},
	{`good1,Ada,L,,,,,,,`, "externalId", "same externalId"},
	{`b28,Ada,L,GOOD2@Example.com,,,,,,`, "email", "same email"},
	{`b29,Ada`, "", "2 columns"},
	{`b30,Ada,L,,,,,,,,,`, "", "12 columns"},
	{`b31;Ada;L;;;;;;;`, "", "1 columns"},
	{`b32,"Ada,L,,,,,,,`, "", "quote"},
	{`b33,"Ada"x,L,,,,,,,`, "", "quote"},
	{"b34,\xff\xfeda,L,,,,,,,", "", "UTF-8"},
	{"b35,M\xfcller,L,,,,,,,", "", "UTF-8"},
	{"b36,A\x00da,L,,,,,,,", "", "null"},
	{`b37,Ada,L,,,,,,,"` + strings.Repeat("long ", 20_000) + `"`, "", "quote"},
	{"b38" + strings.Repeat(",", maxCommas), "", "columns"},
	{`b39,` + strings.Repeat("y", 70_000) + `,L,,,,,,,`, "", "longer"},
	{`b40,Ada,L,"` + strings.ReplaceAll(tags(200), ",", "@b40.example,") + `",,,,,,`, "emails", "100"},
	{`b41,Ada,L,,,,"` + tags(200) + `",,,`, "tags", "50"},
	{`b42,Ada,L,,,,,,,` + strings.Repeat("\x01", 30_000), "", "shorten"},
}

const maxCommas = 600

func tags(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("t%d", i)
	}
	return strings.Join(out, ",")
}

// Among broken lines the good ones are imported, and the others named by their
// line: with a mark at the beginning, empty lines, and every kind of line end.
func TestBrokenLines(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		start(t, a)
		for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
			var text strings.Builder
			line, good := 1, 0
			write := func(s string) int {
				text.WriteString(s + end)
				line++
				return line - 1
			}
			write("\ufeffexternalId,firstName,lastName,email,phone,birthday,tags,line1,country,notes")
			write("good1,Ada,Ünï,good1@example.com,,,,,,")
			write("good2,Ada,L,good2@example.com,,,,,,")
			good += 2
			wrong := map[int]int{}
			for i, b := range broken {
				wrong[write(b.text)] = i
				if i%5 == 0 {
					write("")
					write(",,, ,,,,,,")
				}
				write(fmt.Sprintf(`good-%d,"Grace ""%d""",Hopper,g%d@example.com,'+4930%d,1980-02-29,"a, b",Main St,`+
					`DE,"two%slines"`, i, i, i, 1000000+i, end))
				line++
				good++
			}
			v := finish(t, a, upload(t, a, a.Key, name+".csv", text.String(), "objectType", "contacts"))
			v.Same("status", "succeeded")
			if v.Number("counts.failed") != float64(len(broken)) ||
				v.Number("counts.created")+v.Number("counts.unchanged") != float64(good) {
				t.Errorf("%s: %s, want %d failed, %d good", name, v.At("counts"), len(broken), good)
			}
			for i := range v.At("errors").Len() {
				e := v.At(fmt.Sprintf("errors.%d", i))
				at, ok := wrong[int(e.Number("line"))]
				if !ok {
					t.Errorf("%s: a good line is named: %s", name, e)
					continue
				}
				want := broken[at]
				delete(wrong, int(e.Number("line")))
				if want.field == "" && !e.At("field").Null() || want.field != "" && e.Text("field") != want.field ||
					!strings.Contains(e.Text("message"), want.says) {
					t.Errorf("%s: %.60q: %s", name, want.text, e)
				}
			}
			for line, i := range wrong {
				t.Errorf("%s: line %d is not named: %.60q", name, line, broken[i].text)
			}
			if n := a.SendREST(t, a.Key, "GET", "/v1/contacts?externalId=good-1", "").OK(t, 200); n.Len() != 1 ||
				n.Text("0.notes") != "two\nlines" || n.Text("0.firstName") != `Grace "1"` {
				t.Errorf("%s", n)
			}
		}
	})
}

// UTF-16, as spreadsheets write it, and the separators of other countries.
func TestForeignFiles(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		start(t, a)
		wide := []byte{0xff, 0xfe}
		for _, r := range "First Name\tLast Name\r\nJürgen\tMüller\r\n" {
			wide = append(wide, byte(r), byte(r>>8))
		}
		for name, text := range map[string]string{
			"tab":       "First Name\tLast Name\nJürgen\tMüller\n",
			"semicolon": "\"First; Name\";First Name;Last Name\n;Jürgen;Müller",
			"bar":       "First Name|Last Name\nJürgen|Müller\n\n\n",
			"utf16":     string(wide),
		} {
			v := finish(t, a, upload(t, a, a.Key, name, text, "objectType", "contacts"))
			counts(t, v, "total 1 created 1 updated 0 unchanged 0 failed 0")
		}
		if n := a.SendREST(t, a.Key, "GET", "/v1/contacts?query=jürgen+müller", "").OK(t, 200).Len(); n != 4 {
			t.Errorf("%d found", n)
		}
	})
}

package desk

import (
	"encoding/base64"
	"io"
	"regexp"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/template"
)

// QuickFacts are fields of something that belongs to an object and has no page of
// its own, edited in place: the profile of a business. Its template is
// "quick-facts"; SaveQuickFact saves what was changed.
func (v *Visit) QuickFacts(operation, at, to, key string, fields []Field, raw map[string]any) []fact {
	editing := v.R.URL.Query().Get("edit")
	out := []fact{}
	for _, f := range fields {
		x := fact{Word: f.Label, Cell: Text(inputValue(v, f, raw[f.Field]))}
		if f.Kind == "area" {
			x.Cell.Kind = "long"
		}
		if v.May(operation) {
			x.Edit = at + "?edit=" + key + "." + f.Field + "#" + key
			if editing == key+"."+f.Field {
				in := v.Describe(operation, f, inputValue(v, f, raw[f.Field]))
				in.Focus = true
				x.Form = &Form{To: to, Back: at, Button: "Save", Fields: []Input{in},
					Hidden: map[string]string{"field": f.Field}}
			}
		}
		out = append(out, x)
	}
	return out
}

// SaveQuickFact saves one field of what belongs to the object of the path.
func (v *Visit) SaveQuickFact(operation, under string, fields []Field) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	at := under + string(ref)
	for _, f := range fields {
		if f.Field != v.Value("field") {
			continue
		}
		in, wrong := v.Read(operation, []Field{f}, v.R.PostForm)
		for _, text := range wrong {
			return v.Explain(fault.BadInput.Say("%s: %s", f.Label, text), strings.Trim(under, "/"), at)
		}
		in["id"] = ref
		if err := v.Do(operation, in, nil); err != nil {
			return v.Explain(err, strings.Trim(under, "/"), at)
		}
		return v.Done(at, "saved", nil)
	}
	return fault.NotFound.New()
}

// LinesOf are lines as the template "lines" takes them.
func LinesOf(lines ...Line) any { return linesData{Lines: lines} }

// LinesOr are lines, or what to say when there are none.
func LinesOr(text string, lines ...Line) any { return linesData{Lines: lines, Lead: text} }

// Choice is the word of a value that the API has as a name.
func Choice(value string) string { return choice(value, nil) }

// EmbedPicture puts a picture of ours where a mail names it. A reader without the right to
// files sees the text in its place.
func (v *Visit) EmbedPicture(html *string, name string, file id.ID) error {
	place := `src="cid:` + name + `"`
	if !strings.Contains(*html, place) {
		return nil
	}
	c, err := v.Open("files.download", string(file))
	if err != nil && fault.FromError(err).Status < 500 {
		return nil
	}
	if err != nil {
		return err
	}
	defer c.Close()
	picture, err := io.ReadAll(io.LimitReader(c, template.LogoBytes))
	*html = strings.Replace(*html, place,
		`src="data:`+c.Type+`;base64,`+base64.StdEncoding.EncodeToString(picture)+`"`, 1)
	return err
}

// logoFile is where a letterhead has its logo, named by its file.
var logoFile = regexp.MustCompile(`src="cid:([0-9a-f-]{36})"`)

// MailPaper shows a mail that was not sent yet, with its logo.
func (v *Visit) MailPaper(status int, html, text *string) error {
	if html != nil {
		if m := logoFile.FindStringSubmatch(*html); m != nil {
			if err := v.EmbedPicture(html, m[1], id.ID(m[1])); err != nil {
				return err
			}
		}
	}
	return v.Paper(status, html, text)
}

// PartText is a part alone, for Paper.
func PartText(name string, data any) (string, error) {
	text, err := part(name, data)
	return string(text), err
}

// Paper shows a mail as its reader would see it: a page of its own that runs and
// loads nothing, to be shown in a sandboxed frame. A text stands in where there
// is no HTML.
func (v *Visit) Paper(status int, html, text *string) error {
	h := v.W.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "no-referrer")
	images := "img-src 'self' data:"
	if v.R.URL.Query().Get("pictures") == "yes" {
		images += " https:" // the reader asked for them
	}
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; "+images+"; frame-ancestors 'self'; "+
			"sandbox allow-popups allow-popups-to-escape-sandbox") // a link opens a tab of its own
	v.W.WriteHeader(status)
	body := ""
	switch {
	case html != nil && *html != "":
		body = *html
	case text != nil:
		var b strings.Builder
		if err := base.ExecuteTemplate(&b, "paper-text", *text); err != nil {
			return err
		}
		body = b.String()
	}
	_, _ = v.W.Write([]byte("<!doctype html><meta charset=\"utf-8\"><base target=\"_blank\">" +
		"<style>body { font: 15px/1.5 system-ui, sans-serif }</style>" + // as mail programs show what names none
		body))
	return nil
}

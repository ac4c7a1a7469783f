package template

import (
	"bytes"
	"cmp"
	"fmt"
	htmltemplate "html/template"
	"strings"

	"frontdesk/internal/kernel/id"

	"golang.org/x/net/html"
)

// Layout is what surrounds a mail whose author gave no HTML of their own: the
// business's logo or name above it, one button, and who sends it below. Nothing
// in it is fetched from anywhere, so nobody learns when it is read.
type Layout struct {
	Business    string
	Address     string // of the head office; may be empty
	Locale      string
	Logo        string  // the Content-ID of its picture; empty for the name in letters
	LogoFileID  *id.ID  // where the picture is
	Button      *Button // may be nil
	Accent      string  // the color of the button, like #1f4e79; empty for the usual one
	Unsubscribe string  // a link, for marketing mail
}

// Button is the one thing that a mail asks for.
type Button struct {
	Label string `json:"label"`
	URL   string `json:"url" max:"2048"`
}

// IsValid reports whether a button leads to a web page.
func (b *Button) IsValid() bool {
	return b.Label != "" && (strings.HasPrefix(b.URL, "https://") || strings.HasPrefix(b.URL, "http://"))
}

// The styles are in the tags, because some mail programs ignore a style sheet.
// The sheet in the head only adds dark colors and narrow margins on a phone.
var layoutTemplate = htmltemplate.Must(htmltemplate.New("layout").Parse(`<!DOCTYPE html>
<html lang="{{.Locale}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{.Subject}}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (max-width: 480px) { .pad { padding-left: 20px !important; padding-right: 20px !important; } }
@media (prefers-color-scheme: dark) {
.page { background-color: #111418 !important; }
.card { background-color: #1b2027 !important; border-color: #2c333d !important; }
.ink, .ink p, .ink td, .ink th, .ink li, .ink h1, .ink h2, .ink h3 { color: #e8eaed !important; }
.ink a { color: #8ab4f8 !important; }
.ink td, .ink th, .ink hr, .ink blockquote { border-color: #3a424d !important; }
.faint, .faint a { color: #9aa3ad !important; }
.button { background-color: #e8eaed !important; }
.button a { color: #111418 !important; }
.logo { background-color: #ffffff !important; }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f3f4f6;-webkit-text-size-adjust:100%">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0"
 style="background-color:#f3f4f6">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"
 style="width:100%;max-width:600px">
<tr><td class="pad" align="left" style="padding:0 32px 16px 32px">
{{- if .Logo}}<img class="logo" src="{{.Logo}}" alt="{{.Business}}" height="48"
 style="display:block;height:48px;width:auto;max-width:240px;border:0;border-radius:6px;font:600 18px {{.Font}}">
{{- else}}<span class="ink" style="font:600 18px/24px {{.Font}};color:#1f2933">{{.Business}}</span>{{end}}</td></tr>
<tr><td class="card pad ink" align="left" dir="auto"
 style="padding:32px;background-color:#ffffff;border:1px solid #e2e5e9;border-radius:10px;
font:16px/24px {{.Font}};color:#1f2933;word-break:break-word">
{{.Body}}
{{- with .Button}}
<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:24px 0 0 0">
<tr><td class="button" align="center" bgcolor="{{$.Accent}}" style="border-radius:8px;background-color:{{$.Accent}}">
<a href="{{.URL}}" style="display:inline-block;padding:13px 26px;font:600 16px/20px {{$.Font}};color:#ffffff;
text-decoration:none;border-radius:8px">{{.Label}}</a></td></tr>
</table>{{end}}
</td></tr>
<tr><td class="pad faint" align="left" dir="auto"
 style="padding:16px 32px 0 32px;font:13px/19px {{.Font}};color:#5f6b7a">
<strong>{{.Business}}</strong>{{if .Address}}<br>{{.Address}}{{end}}
{{- if .Unsubscribe}}<br><a href="{{.Unsubscribe}}" style="color:#5f6b7a">Unsubscribe</a>{{end}}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`))

const fontFamily = `-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif`

// HTML puts a body, which must be sanitized, into the layout.
func (l *Layout) HTML(subject, body string) (string, error) {
	var b bytes.Buffer
	logo := ""
	if l.Logo != "" {
		logo = "cid:" + l.Logo
	}
	err := layoutTemplate.Execute(&b, map[string]any{
		"Subject":     subject,
		"Business":    l.Business,
		"Address":     escapeLines(l.Address),
		"Locale":      l.Locale,
		"Logo":        htmltemplate.URL(logo), //nolint:gosec // ours, not the author's
		"Button":      l.Button,
		"Unsubscribe": l.Unsubscribe,
		"Font":        htmltemplate.CSS(fontFamily),
		"Accent":      htmltemplate.CSS(cmp.Or(l.Accent, "#1f2933")), //nolint:gosec // a color of ours
		"Body":        htmltemplate.HTML(applyTagStyles(body)),       //nolint:gosec // sanitized before
	})
	if err != nil {
		return "", fmt.Errorf("template: layout: %w", err)
	}
	return b.String(), nil
}

// escapeLines escapes a text of several lines for HTML.
func escapeLines(s string) htmltemplate.HTML {
	return htmltemplate.HTML(strings.ReplaceAll(html.EscapeString(s), "\n", "<br>")) //nolint:gosec // escaped
}

// Text puts a plain text into the same frame: button, sender and link.
func (l *Layout) Text(body string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(body))
	if l.Button != nil {
		b.WriteString("\n\n" + l.Button.Label + ": " + l.Button.URL)
	}
	b.WriteString("\n\n-- \n" + l.Business) // RFC 3676 §4.3: the separator before a signature
	if l.Address != "" {
		b.WriteString("\n" + l.Address)
	}
	if l.Unsubscribe != "" {
		b.WriteString("\n\nUnsubscribe: " + l.Unsubscribe)
	}
	return b.String() + "\n"
}

// tagStyles are the styles given to tags that have none of their own.
var tagStyles = map[string]string{
	"p":          "margin:0 0 16px 0",
	"h1":         "margin:0 0 16px 0;font-size:24px;line-height:30px;font-weight:600",
	"h2":         "margin:24px 0 12px 0;font-size:20px;line-height:26px;font-weight:600",
	"h3":         "margin:20px 0 8px 0;font-size:17px;line-height:24px;font-weight:600",
	"a":          "color:#1a56c4",
	"ul":         "margin:0 0 16px 0;padding-left:24px",
	"ol":         "margin:0 0 16px 0;padding-left:24px",
	"table":      "margin:0 0 16px 0;border-collapse:collapse",
	"th":         "padding:0 24px 0 0;text-align:left;font-weight:600",
	"td":         "padding:8px 24px 8px 0;border-bottom:1px solid #e2e5e9;vertical-align:top",
	"blockquote": "margin:0 0 16px 0;padding-left:16px;border-left:3px solid #e2e5e9",
	"hr":         "margin:24px 0;border:0;border-top:1px solid #e2e5e9",
	"img":        "max-width:100%",
	"pre":        "margin:0 0 16px 0;font-size:14px",
}

// applyTagStyles gives sanitized HTML the styles of the layout.
func applyTagStyles(text string) string {
	var b strings.Builder
	b.Grow(len(text) * 2)
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String() // end of the text
		}
		raw := z.Raw()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			b.Write(raw)
			continue
		}
		raw = bytes.Clone(raw)
		token := z.Token()
		style := tagStyles[token.Data]
		if style == "" || attributeValue(token.Attr, "style") != "" {
			b.Write(raw)
			continue
		}
		token.Attr = append(token.Attr, html.Attribute{Key: "style", Val: style})
		b.WriteString(token.String())
	}
}

package desk

import (
	"html/template"
	"strings"
)

// Body is the rows of a list's table. It is written without templates, which
// would take most of the time of a page; the cells look as the template "cell"
// shows them. Whatever is not a constant goes through esc.
func (d *listData) Body() template.HTML {
	var b strings.Builder
	b.Grow(len(d.Rows) * 900)
	for i := range d.Rows {
		r := &d.Rows[i]
		b.WriteString(`<tr data-row="` + escapeHTML(r.ID) + `">`)
		if d.Away || len(d.Bulk) > 0 {
			b.WriteString(`<td class="pick"><input type="checkbox" name="id" value="` + escapeHTML(r.ID) +
				`" aria-label="Select ` + escapeHTML(r.Name) + `"></td>`)
		}
		for j := range r.Cells {
			writeCell(&b, &r.Cells[j])
		}
		b.WriteString("</tr>\n")
	}
	return template.HTML(b.String()) //nolint:gosec // every value was escaped
}

func escapeHTML(s string) string { return template.HTMLEscapeString(s) }

func writeCell(b *strings.Builder, c *cellIn) {
	if c.First {
		b.WriteString(`<td class="say first ` + escapeHTML(c.Class) + `"><span class="name">`)
		if c.Avatar != nil {
			writeAvatar(b, c.Avatar)
		}
		text := c.Text
		if text == "" {
			text = "(no name)"
		}
		if c.Tick != "" {
			b.WriteString(`<button class="donebox" formaction="` + escapeHTML(c.Tick) +
				`" title="Done"><span class="hide">Done: ` + escapeHTML(text) + `</span></button>`)
		}
		b.WriteString(`<a class="cut" href="` + escapeHTML(c.Href) + `"><bdi>` + escapeHTML(text) +
			`</bdi></a></span></td>`)
		return
	}
	b.WriteString(`<td class="` + escapeHTML(strings.TrimSpace(c.Class+" soft")) + `">`)
	switch {
	case c.Kind == "pill" && c.Text != "":
		b.WriteString(`<span class="` + escapeHTML(strings.TrimSpace("pill "+c.Tone)) + `">` + escapeHTML(c.Text) +
			`</span>`)
	case c.Kind == "pill":
	case c.Kind == "time":
		b.WriteString(`<time datetime="` + escapeHTML(c.Time.ISO) + `" title="` + escapeHTML(c.Time.Exact) + `">` +
			escapeHTML(c.Time.Text) + `</time>`)
	case c.Kind == "tags":
		for _, tag := range c.Tags {
			b.WriteString(`<span class="pill line">` + escapeHTML(tag) + `</span> `)
		}
	case c.Kind == "code":
		b.WriteString(`<bdi class="code">` + escapeHTML(c.Text) + `</bdi>`)
	case c.Cell.Href != "":
		b.WriteString(`<a class="link" href="` + escapeHTML(c.Cell.Href) + `"><bdi>` + escapeHTML(c.Text) +
			`</bdi></a>`)
	case c.Num:
		b.WriteString(`<bdi class="num">` + escapeHTML(c.Text) + `</bdi>`)
	case c.Text != "":
		b.WriteString(`<bdi>` + escapeHTML(c.Text) + `</bdi>`)
	}
	b.WriteString("</td>")
}

func writeAvatar(b *strings.Builder, a *Avatar) {
	class := "av"
	for _, word := range []string{a.Hue, a.Shape} {
		if word != "" {
			class += " " + word
		}
	}
	b.WriteString(`<span class="` + escapeHTML(class) + `" aria-hidden="true">` + escapeHTML(a.Text) + `</span>`)
}

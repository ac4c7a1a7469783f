package house

import (
	"net/http"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/template"
)

var templateKeys = map[string]string{"invoice": "Invoices", "invoice_reminder": "Reminders of invoices",
	"payment_receipt": "Receipts"}

var templates = &desk.Noun[template.EmailTemplate]{
	Path: "templates", Ops: "email_templates", Type: "email_template", RailKey: "businesses",
	One: "template", Many: "templates", Title: "Email templates", Icon: "template",
	EmptyText:  "A template is an email that you write once and send often. {{name}} stands for what changes.",
	SearchHint: "Name", SearchField: "name",
	Tabs: []desk.Tab{{Label: "In use", Query: "status=active"}, {Label: "Archived", Query: "status=archived"},
		{Label: "All"}},
	Columns: []desk.Column[template.EmailTemplate]{
		{Head: "Name", Sort: "name", Width: "w4", Cell: func(_ *desk.Visit, t *template.EmailTemplate) desk.Cell {
			return desk.Text(t.Name)
		}},
		{Head: "Subject", Field: "subject", Fold: "two",
			Cell: func(_ *desk.Visit, t *template.EmailTemplate) desk.Cell {
				return desk.Text(t.Subject)
			}},
		{Head: "Used for", Field: "templateKey", Width: "w3",
			Cell: func(_ *desk.Visit, t *template.EmailTemplate) desk.Cell {
				if t.TemplateKey == nil {
					return desk.Text("")
				}
				return desk.Text(templateKeys[*t.TemplateKey])
			}},
		{Head: "Changed", Field: "updatedAt", Sort: "updatedAt", Width: "w1", End: true, Fold: "four",
			Cell: func(v *desk.Visit, t *template.EmailTemplate) desk.Cell { return v.At(&t.UpdatedAt) }},
	},
	Filters: []desk.Filter{{Field: "status", Label: "Status", HideChoice: true}},
	Bulk: []desk.Bulk[template.EmailTemplate]{
		desk.MaySet[template.EmailTemplate]("email_templates.update", "status", "Status", "check")},
	Name: func(_ *desk.Visit, t *template.EmailTemplate) string { return t.Name },
	ListLine: func(_ *desk.Visit, t *template.EmailTemplate) desk.Line {
		return desk.Line{Icon: "template", Text: t.Name, Faint: t.Subject}
	},
	State: func(_ *desk.Visit, t *template.EmailTemplate) desk.Pill {
		if t.Status == "archived" {
			return desk.Pill{Text: "archived"}
		}
		return desk.Pill{}
	},
	Fields: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "subject", Label: "Subject"},
		{Field: "body", Label: "Text", Kind: "code"},
		{Field: "bodyFormat", Label: "Written in"},
		{Field: "templateKey", Label: "Used for", ChoiceLabels: templateKeys,
			Help: "Frontdesk uses it for these emails automatically."},
		{Field: "status", Label: "Status", ChoiceLabels: map[string]string{"active": "In use"}},
		{Field: "description", Label: "Description"},
		{Field: "variables", Label: "Placeholders", ReadOnly: true},
	},
	Form: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "bodyFormat", Label: "Written in"},
		{Field: "subject", Label: "Subject", Wide: true},
		{Field: "body", Label: "Text", Kind: "area",
			Help: "{{name}} stands for a value that is filled in when it is sent."},
		{Field: "templateKey", Label: "Used for", ChoiceLabels: templateKeys},
		{Field: "description", Label: "Description"},
	},
	MainSections: []desk.Part[template.EmailTemplate]{func(_ *desk.Visit, t *template.EmailTemplate) (*desk.Section,
		error) {
		return &desk.Section{Head: "How it looks", Name: "mail-frame", Data: map[string]string{
			"Src": "/templates/" + string(t.ID) + "/preview", "Title": t.Subject}}, nil
	}},
}

// preview is the rendered mail, in a page of its own that runs nothing.
func preview(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var t template.EmailTemplate
	if err := v.Do("email_templates.get", desk.Fields{"id": ref}, &t); err != nil {
		return err
	}
	var out struct {
		HTML *string `json:"html"`
		Text *string `json:"text"`
	}
	in := desk.Fields{"id": ref, "variables": samples(t.Variables)}
	house := v.CurrentBusiness()
	if house.ID != "" {
		in["businessId"] = house.ID
	}
	if err = v.Do("email_templates.preview", in, &out); err != nil {
		f := fault.FromError(err)
		if f.Status >= 500 {
			return err
		}
		text := f.Sentence()
		out.Text = &text
	}
	if out.HTML != nil && house.LogoFileID != nil {
		if err := v.EmbedPicture(out.HTML, template.LogoID, *house.LogoFileID); err != nil {
			return err
		}
	}
	return v.Paper(http.StatusOK, out.HTML, out.Text)
}

// samples gives every placeholder its own name as a value, in brackets. The
// address of an invoice, to which the button leads, is one that nobody has.
func samples(names []string) map[string]any {
	all := map[string]any{}
	for _, name := range names {
		in, parts := all, strings.Split(name, ".")
		for _, part := range parts[:len(parts)-1] {
			inner, ok := in[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				in[part] = inner
			}
			in = inner
		}
		if last := parts[len(parts)-1]; in[last] == nil {
			in[last] = "[" + name + "]"
		}
	}
	if invoice, ok := all["invoice"].(map[string]any); ok {
		invoice["url"] = "https://example.com/invoice"
	}
	return all
}

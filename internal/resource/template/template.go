// Package template holds the email templates of an organization: texts with
// placeholders from which messages and the mail about invoices are written.
//
// Start reading at EmailTemplate in this file. Content is the part of a template
// that is rendered, and default.go has the built-in ones. Content.Render
// (render.go) fills in the values and turns Markdown into HTML, clean.go and
// style.go reduce the HTML to what a mail may contain, and text.go derives the
// plain text. Layout (layout.go, letterhead.go) is the business's frame around
// the result.
//
// The package sends nothing. No value, template or received mail that passes
// through it may become script, markup or a header, or keep it busy for long:
// intricate.go and clean.go refuse what would.
package template

import (
	"context"
	"errors"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"

	"github.com/go-json-experiment/json/jsontext"
)

// Status says whether a template can be used.
type Status string

const statusActive Status = "active"

const formatMarkdown = "markdown"

// Fields are what callers set of a template.
type Fields struct {
	Name        string  `json:"name" min:"1"`
	Description *string `json:"description" max:"10000"`
	Subject     string  `json:"subject" min:"1" pattern:"^[^\\x00-\\x1f\\x7f]*$" doc:"with placeholders"`
	Body        string  `json:"body" min:"1" max:"500000" doc:"with placeholders like {{ customer.name }}"`
	BodyFormat  string  `json:"bodyFormat" default:"markdown" enum:"markdown,html"`
	Status      Status  `json:"status" default:"active" enum:"active,archived"`
	TemplateKey *string `json:"templateKey" enum:"invoice,invoice_reminder,payment_receipt"`
}

// EmailTemplate is a subject and a body with placeholders.
type EmailTemplate struct {
	op.Record
	CreatedBy      *id.ID `json:"createdBy" doc:"the user, also behind a key or agent; null if unknown"`
	CreatedByAgent bool   `json:"createdByAgent"`
	Fields
	Variables []string `json:"variables" max:"2000" doc:"names in the placeholders of subject and body, sorted"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

var templates = db.NewTable[EmailTemplate]("email_templates", db.Life{
	Noun:         "email template",
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("created_by", "", db.Keeps)},
})

// Archived refuses to send with an archived template.
var Archived = fault.DefineKind("EMAIL_TEMPLATE_ARCHIVED", 409,
	"An archived email template cannot be sent. Make it active first.")

// KeyTaken refuses a second active template with the same key.
var KeyTaken = fault.DefineKind("EMAIL_TEMPLATE_KEY_TAKEN", 409,
	"Another active email template has this key. Archive it first.")

// Operations lists everything that can be done with email templates.
func Operations() []*op.Op {
	const ref = `"id": "4b8e1f02-7c5d-4e9a-8b36-0d2f1a6c9e57"`
	const placeholders = `Placeholders like {{ customer.name }} and {{ name | default: "there" }} name values, and ` +
		`nothing else: there is no logic. `
	return []*op.Op{
		op.ListRows(op.Spec{
			Name: "email_templates.list",
			NounWords: "standard text, ready-made, standard letter, canned, boilerplate, reusable, standard, " +
				"layout, welcome mail, snippet",
			Example: `{"status": ["active"], "limit": 20}`,
		}, templates, filterTemplates),
		op.Write(op.Spec{
			Name:    "email_templates.create",
			Words:   "use again",
			Route:   "POST /v1/email-templates",
			Summary: "Create an email template.",
			Description: placeholders +
				"The active template with a templateKey is used for the service's own mail of " +
				"that kind; there can be only one.",
			Errors: []*fault.Kind{KeyTaken},
			Events: []string{"email_template.created"},
			Example: `{"name": "Welcome", "subject": "Welcome, {{ customer.name }}", "body": "Hello {{ ` +
				`customer.name | ` +
				`default: \"there\" }},\n\nhow good to have you."}`,
		}, createTemplate),
		op.GetRow(op.Spec{Name: "email_templates.get"}, templates),
		op.Write(op.Spec{
			Name:    "email_templates.update",
			Words:   "wording, text",
			Route:   "PATCH /v1/email-templates/{id}",
			Summary: "Change fields of an email template.",
			Errors:  []*fault.Kind{KeyTaken},
			Events:  []string{"email_template.updated"},
			Example: `{` + ref + `, "subject": "A warm welcome, {{ customer.name }}", "description": null}`,
		}, updateTemplate),
		op.DeleteRow(op.Spec{Name: "email_templates.delete"}, templates),
		op.RestoreRow("email-templates", "email_templates", templates, nil),
		op.Read(op.Spec{
			Name:    "email_templates.preview",
			Words:   "look like, look, will look, how it looks",
			Route:   "POST /v1/email-templates/{id}/preview",
			Summary: "Render an email template with values.",
			Status:  200,
			Description: "Nothing is stored or sent. Values appear as they are, never as Markdown or HTML. A " +
				"variable without a value or default is refused. With a businessId, html and text are the whole " +
				"mail, in the letterhead of that business.",
			Errors:  []*fault.Kind{VariableMissing},
			Example: `{` + ref + `, "variables": {"customer": {"name": "Ada"}}}`,
		}, previewTemplate),
	}
}

type templateRef struct {
	ID id.ID `path:"id" doc:"the email template"`
}

type templateList struct {
	op.Browse
	SortBy string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	Status []Status `query:"status" enum:"active,archived"`
	Name   *string  `query:"name" min:"1" max:"200" doc:"part of a name, ignoring case"`
}

func filterTemplates(in *templateList, w *db.Where) {
	db.FilterOneOf(w, "status", in.Status)
	db.FilterByPart(w, in.Name)
}

// parseVariables lists the names in subject and body. A text that does not parse is
// refused at its field, and so is a body that would take too long to render.
func (t Content) parseVariables() ([]string, error) {
	var tree *fault.Tree
	var texts []*placeholder.Template
	for _, f := range []struct{ name, text string }{{"subject", t.Subject}, {"body", t.Body}} {
		text, err := placeholder.Parse(f.text)
		var e *placeholder.ParseError
		if errors.As(err, &e) {
			tree = tree.At([]any{f.name}, e.Error())
			continue
		}
		texts = append(texts, text)
	}
	if t.BodyFormat == formatMarkdown && isIntricateMarkdown(t.Body) {
		tree = tree.At([]any{"body"}, intricateMarkdown)
	}
	return placeholder.Variables(texts...), tree.Fault(fault.Invalid)
}

type templateCreate struct {
	Fields
	variables []string
}

func (in *templateCreate) Prepare(context.Context, *op.Call) (err error) {
	in.variables, err = Content{in.Subject, in.Body, in.BodyFormat}.parseVariables()
	return err
}

func createTemplate(ctx context.Context, c *op.Call, in templateCreate) (*EmailTemplate, error) {
	v := &EmailTemplate{Record: c.NewRecord(), CreatedBy: c.Caller.UserIDOrNil(),
		CreatedByAgent: c.Caller.Kind == op.AgentActor, Fields: in.Fields, Variables: in.variables}
	v.Search = v.searchWords()
	if v.holdsActiveKey() {
		// updateTemplate checks with a SELECT whether the key is free, since an UPDATE has no ON CONFLICT. The lock
		// keeps a key from being taken between its check and its UPDATE.
		if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
			return nil, err
		}
	}
	free, err := templates.TryInsert(ctx, c.Tx, v)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, v.keyTakenFault()
	}
	return v, c.Emit("email_template.created", v.ID, v)
}

// searchWords are the text that a search finds a template by.
func (v *EmailTemplate) searchWords() string { return db.SearchText(&v.Name) }

// holdsActiveKey reports whether the service would use the template.
func (v *EmailTemplate) holdsActiveKey() bool {
	return v.Status == statusActive && v.TemplateKey != nil
}

func (v *EmailTemplate) keyTakenFault() error {
	return KeyTaken.Say("Another active email template has the key %s. Archive it first.", *v.TemplateKey)
}

// toContent is the part that is rendered.
func (v *EmailTemplate) toContent() Content { return Content{v.Subject, v.Body, v.BodyFormat} }

type templateUpdate struct {
	templateRef
	op.Changes[Fields]
}

// updateTemplate changes a template. It takes the lock of the organization only if the
// change could take a key, so that most updates do not wait for one another.
func updateTemplate(ctx context.Context, c *op.Call, in templateUpdate) (*EmailTemplate, error) {
	takes := in.To.TemplateKey != nil || in.To.Status == statusActive
	if takes {
		if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
			return nil, err
		}
	}
	v, err := templates.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	before := *v
	if !op.Apply(v, &in) {
		return v, nil
	}
	if takes && v.holdsActiveKey() {
		others, err := db.QueryAll[id.ID](ctx, c.Tx, `
			SELECT id
			FROM email_templates
			WHERE organization_id = $1 AND template_key = $2 AND status = 'active' AND deleted_at IS NULL AND id <> $3`,
			c.Org, *v.TemplateKey, v.ID)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 {
			return nil, v.keyTakenFault()
		}
	}
	if v.toContent() != before.toContent() {
		if v.Variables, err = v.toContent().parseVariables(); err != nil {
			return nil, err
		}
	}
	v.UpdatedAt = c.Now
	v.Search = v.searchWords()
	if err := templates.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("email_template.updated", v.ID, v)
}

type templatePreview struct {
	templateRef
	Variables  jsontext.Value `json:"variables,omitempty" kinds:"object" doc:"like {\"customer\": {\"name\": \"Ada\"}}"`
	BusinessID *id.ID         `json:"businessId" ref:"businesses" doc:"whose letterhead to show; its logo is cid:logo"`

	shown *Rendered
}

// Prepare does all the work, outside a transaction: rendering takes milliseconds.
func (in *templatePreview) Prepare(ctx context.Context, c *op.Call) error {
	values, err := placeholder.LookupInJSON(in.Variables)
	if err != nil {
		return fault.Field("variables", "Must be an object")
	}
	var v *EmailTemplate
	var layout *Layout
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = templates.Get(ctx, tx, c.Org, in.ID); err != nil || in.BusinessID == nil {
			return err
		}
		if _, err = account.Businesses.Get(ctx, tx, c.Org, *in.BusinessID); fault.IsKind(err, fault.NotFound) {
			return op.NoSuchReference("businessId")
		}
		if err == nil {
			layout, err = LoadLayout(ctx, tx, c.Org, *in.BusinessID)
		}
		return err
	})
	if err != nil {
		return err
	}
	in.shown, err = v.toContent().Render(values) // archived or not: nothing is sent
	if err == nil {
		in.shown.External = v.External
	}
	if err != nil || layout == nil || in.shown.Own {
		return err
	}
	layout.Button = v.invoiceButton(values)
	in.shown.Text = layout.Text(in.shown.Text)
	in.shown.HTML, err = layout.HTML(in.shown.Subject, in.shown.HTML)
	return err
}

// invoiceButton is the button that the service adds to mail about invoices, or nil. The
// preview shows it if the values have a valid invoice.url.
func (v *EmailTemplate) invoiceButton(values placeholder.Lookup) *Button {
	if v.TemplateKey == nil || *v.TemplateKey == PaymentReceipt {
		return nil
	}
	url, _ := values([]string{"invoice", "url"})
	b := &Button{Label: InvoiceButtonLabel}
	if b.URL, _ = url.(string); !b.IsValid() {
		return nil
	}
	return b
}

func previewTemplate(_ context.Context, _ *op.Call, in templatePreview) (*Rendered, error) {
	return in.shown, nil
}

// FindSendable loads the content of a template to send, or answers 404. An archived
// template is refused.
func FindSendable(ctx context.Context, tx *db.Tx, org, ref id.ID) (Content, error) {
	v, err := templates.Get(ctx, tx, org, ref)
	if err == nil && v.Status != statusActive {
		return Content{}, Archived.New()
	}
	return v.toContent(), err
}

// ContentForKey loads the content of the organization's active template for a key, or
// returns the built-in one.
func ContentForKey(ctx context.Context, tx *db.Tx, org id.ID, key string) (Content, error) {
	v, err := templates.Find(ctx, tx, db.InOrganization(org).And("template_key = ?", key).And("status = 'active'"))
	if fault.IsKind(err, fault.NotFound) {
		return DefaultContent(key), nil
	}
	return v.toContent(), err
}

func sortUnique(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

package invoice

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
)

// The public page of an invoice. Whoever follows the link of a mail is unknown to
// the service: the signed token alone says which invoice they may see. The page
// shows what the PDF shows and no ids, and nothing once the invoice is void.

const linkPurpose = "invoice"

// publicRenderSlots bounds how many documents people outside draw at once. Their slots are apart
// from the organizations' own, which they must not be able to occupy.
var publicRenderSlots = make(chan struct{}, 1)

// PublicInvoice is what a customer sees of an invoice, in the words and figures
// of the PDF.
type PublicInvoice struct {
	Business   string          `json:"business"`
	Lines      []string        `json:"lines" doc:"who and where the business is"`
	Title      string          `json:"title"`
	BillTo     *string         `json:"billTo"`
	Due        bool            `json:"due" doc:"something is still to be paid"`
	Overdue    bool            `json:"overdue"`
	AmountDue  string          `json:"amountDue"`
	Facts      []PublicFact    `json:"facts"`
	Heads      []string        `json:"heads"`
	Rows       []PublicRow     `json:"rows"`
	Sums       []PublicFact    `json:"sums"`
	Paragraphs []PublicSection `json:"paragraphs"`
	PDF        string          `json:"pdf" max:"2048" doc:"the path of the PDF"`
}

// PublicFact is a figure with its name.
type PublicFact struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// PublicRow is one line of an invoice.
type PublicRow struct {
	Description string   `json:"description" max:"10000"`
	Remark      string   `json:"remark"`
	Figures     []string `json:"figures"`
}

// PublicSection is a text below the figures.
type PublicSection struct {
	Heading string `json:"heading"`
	Text    string `json:"text" max:"10000"`
}

func (s *Service) publicOperations() []*op.Op {
	const token = `"token": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "invoices.public",
			Summary:  "Show the invoice that a link in a mail names.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Example:  `{` + token + `, "address": "192.0.2.7"}`,
		}, s.showPublicInvoice),
		op.Read(op.Spec{
			Name:     "invoices.public_link",
			Summary:  "Get the address of the page where the customer sees an invoice.",
			Resource: "invoices",
			Doors:    op.ConsoleDoor,
			Example:  `{"id": ` + exampleID + `}`,
		}, s.getPublicLink),
		op.Read(op.Spec{
			Name:     "invoices.preview",
			Summary:  "Show what the customer of an invoice sees behind the link of a mail.",
			Resource: "invoices",
			Doors:    op.ConsoleDoor,
			Example:  `{"id": ` + exampleID + `}`,
		}, previewInvoice),
		op.Bytes(op.Spec{
			Name:        "invoices.public_pdf",
			Route:       "GET /invoice-pdf/{token}",
			Resource:    "invoices",
			Public:      true,
			Summary:     "Get the PDF of the invoice that a link in a mail names.",
			Description: "A link of an invoice that is void or deleted is not found.",
			MediaType:   "application/pdf",
			Errors:      []*fault.Kind{TooLong},
			Example:     `{` + token + `}`,
		}, s.getPublicPDF),
	}
}

// publicLink is the address where a customer sees the invoice; empty if there is no key to sign it
// with.
func (s *Service) publicLink(v *Invoice) string {
	token, err := s.links.Token(linkPurpose, v.OrganizationID, v.ID)
	if err != nil {
		return ""
	}
	return s.links.BaseURL() + "/invoice/" + token
}

// PublicLink is where a customer sees an invoice.
type PublicLink struct {
	URL *string `json:"url" max:"2048" doc:"null for a draft, and for one that is void"`
}

func (s *Service) getPublicLink(ctx context.Context, c *op.Call, in invoiceRef) (*PublicLink, error) {
	v, err := invoices.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil || v.Status == statusDraft || v.Status == statusVoid {
		return &PublicLink{}, err
	}
	if url := s.publicLink(v); url != "" {
		return &PublicLink{URL: &url}, nil
	}
	return &PublicLink{}, nil
}

// notAvailableFault refuses a link whose invoice is missing, a draft or void, without saying which.
func notAvailableFault() error {
	return fault.NotFound.Say("This invoice is not available. Ask whoever sent it to you.")
}

// readByToken finds the invoice that a token names, and its letterhead. Invoices of disabled
// organizations, drafts and void ones are refused like missing ones.
func (s *Service) readByToken(ctx context.Context, tx *db.Tx, token string) (v *Invoice, from *business.Letterhead,
	err error) {
	org, ref, err := s.links.ReadToken(linkPurpose, token)
	if err != nil {
		return nil, nil, err
	}
	sender, err := account.LoadOrganization(ctx, tx, org)
	if errors.Is(err, db.ErrNoRow) || err == nil && sender.Status != account.Active {
		return nil, nil, notAvailableFault()
	}
	if err != nil {
		return nil, nil, err
	}
	v, err = readInvoice(ctx, tx, org, ref, invoices.Get)
	if fault.IsKind(err, fault.NotFound) || err == nil && (v.Status == statusDraft || v.Status == statusVoid) {
		return nil, nil, notAvailableFault()
	}
	if err != nil {
		return nil, nil, err
	}
	from, err = business.LetterheadOf(ctx, tx, org, v.BusinessID)
	return v, from, err
}

type publicVisit struct {
	Token   string `json:"token"`
	Address string `json:"address" doc:"the visitor's IP address, for the rate limit"`
}

func (s *Service) showPublicInvoice(ctx context.Context, c *op.Call, in publicVisit) (*PublicInvoice, error) {
	if err := s.links.AdmitVisit(c, in.Address); err != nil {
		return nil, err
	}
	v, from, err := s.readByToken(ctx, c.Tx, in.Token)
	if err != nil {
		return nil, err
	}
	// The operation is public; from here on it acts for the invoice's organization.
	c.Org, c.Caller = v.OrganizationID, &op.Caller{Kind: op.SystemActor, Organization: v.OrganizationID}
	return v.toPublicInvoice(from, "/invoice-pdf/"+in.Token), nil
}

type invoicePreview struct {
	ID id.ID `json:"id" ref:"invoices" doc:"the invoice"`
}

func previewInvoice(ctx context.Context, c *op.Call, in invoicePreview) (*PublicInvoice, error) {
	v, err := readInvoice(ctx, c.Tx, c.Org, in.ID, invoices.Get)
	if err != nil {
		return nil, err
	}
	from, err := business.LetterheadOf(ctx, c.Tx, c.Org, v.BusinessID)
	if err != nil {
		return nil, err
	}
	return v.toPublicInvoice(from, ""), nil
}

// toPublicInvoice is the invoice as its page shows it. pdf is the path of its PDF.
func (v *Invoice) toPublicInvoice(from *business.Letterhead, pdf string) *PublicInvoice {
	f := locale.New(from.Locale, from.Timezone)
	s := v.buildSheet(from, f)
	out := &PublicInvoice{Business: from.Name, Lines: from.Lines, Title: s.title, BillTo: v.BillToName,
		Due: v.AmountDueCents > 0, Overdue: v.Status == statusOverdue, AmountDue: f.Money(v.AmountDueCents, v.Currency),
		Heads: s.heads, Rows: []PublicRow{}, PDF: pdf}
	for _, x := range s.facts[:len(s.facts)-1] { // the last is the amount due, which has a field of its own
		out.Facts = append(out.Facts, PublicFact{x[0], x[1]})
	}
	for _, r := range s.rows {
		out.Rows = append(out.Rows, PublicRow{r.description, r.remark, r.figures})
	}
	for _, x := range s.sums {
		out.Sums = append(out.Sums, PublicFact{x.label, x.value})
	}
	for _, p := range s.paragraphs {
		for _, fact := range p.facts {
			p.text += "\n" + fact[0] + ": " + fact[1]
		}
		out.Paragraphs = append(out.Paragraphs, PublicSection{p.heading, p.text})
	}
	return out
}

type publicToken struct {
	Token string `path:"token"`
}

func (s *Service) getPublicPDF(ctx context.Context, c *op.Call, in publicToken, _ *op.Stream) (*op.Content, error) {
	var v *Invoice
	var from *business.Letterhead
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, from, err = s.readByToken(ctx, tx, in.Token)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.Org = v.OrganizationID
	text, err := s.drawInSlot(ctx, publicRenderSlots, c.Org, from,
		func() ([]byte, error) { return RenderInvoice(v, from) })
	if err != nil {
		return nil, err
	}
	return pdfContent(v.pdfFileName(), text), nil
}

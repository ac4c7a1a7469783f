package domain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"

	"golang.org/x/net/publicsuffix"
)

func (d *Domains) orderOperations() []*op.Op {
	const registrant = `{"firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James's Square", "city": "London", "stateProvince": "London",
		"postalCode": "SW1Y 4JH", "country": "GB", "email": "ada@example.com", "phone": "+442079460018"}`
	money := []*fault.Kind{PriceExceeds, PaymentMethodRequired, PaymentFailed}
	return []*op.Op{
		op.Flow(op.Spec{Name: "domains.search", Route: "GET /v1/domain-registrations/search", Summary: "Search for names that can be registered.",
			Description: "A name with an ending is checked and offered under the other endings; a single label is checked under all.",
			Resource:    "domains", Example: `{"query": "analytical-engines.com"}`}, d.search),
		op.Flow(op.Spec{Name: "domains.quote", Route: "GET /v1/domain-registrations/quote", Summary: "Quote the price of a registration.",
			Resource: "domains", Errors: []*fault.Kind{Unavailable, PremiumUnsupported}, Example: `{"domain": "analytical-engines.com", "periodYears": 2}`}, d.quote),
		op.Flow(op.Spec{Name: "domains.register", Outward: true, Route: "POST /v1/domain-registrations", Summary: "Register a domain and charge the default card.", Status: 202,
			Description: "Availability and price are checked again before the charge. The registration goes on after the answer; follow it at /v1/operations/{operationId}. " +
				"WHOIS privacy is always on, and the transfer lock is turned on. A registration that fails is refunded.",
			Resource: "domains", KeyRequired: true, Reads: true, DomainAgreement: true, Events: []string{"operation.created"},
			Errors:  append([]*fault.Kind{OrganizationRequired, Unavailable, Exists, PremiumUnsupported}, money...),
			Example: `{"domain": "analytical-engines.com", "periodYears": 1, "maxAmountCents": 1200, "contact": ` + registrant + `}`}, d.register),
		op.Flow(op.Spec{Name: "domains.renew", Outward: true, Route: "POST /v1/domains/{id}/registration/renew", Summary: "Renew a registered domain and charge the default card.", Status: 202,
			Description: "The renewal goes on after the answer; follow it at /v1/operations/{operationId}.",
			KeyRequired: true, Reads: true, DomainAgreement: true, Events: []string{"operation.created"},
			Errors:  append([]*fault.Kind{Unsupported, TransferInFlight, RenewalInFlight}, money...),
			Example: `{"id": ` + exampleID + `, "periodYears": 1, "maxAmountCents": 1500}`}, d.renew),
	}
}

// registrable reads a name that could be registered: one label and an ending.
func registrable(s string) (ascii, issue string) {
	if ascii, issue = ParseName(s); issue != "" {
		return "", issue
	}
	if top, err := publicsuffix.EffectiveTLDPlusOne(ascii); err == nil && top != ascii && ending(top) == lastLabel(ascii) {
		return "", "Only one label before the ending can be registered; did you mean " + top + "?"
	}
	return ascii, ""
}

func lastLabel(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// offer asks the registrar about a name. An ending that it does not offer is
// DOMAIN_UNAVAILABLE.
func (d *Domains) offer(ctx context.Context, name string) (*Offer, error) {
	o, err := d.Registrar.Check(ctx, name)
	if err != nil {
		return nil, providerFault(err)
	}
	if o == nil {
		return nil, Unavailable.Say("Names under .%s are not offered.", ending(name))
	}
	return o, nil
}

// providerFault is a provider's trouble as a caller hears of it.
func providerFault(err error) error {
	var no *Refusal
	if errors.As(err, &no) {
		return Unavailable.Say("%s", no.Message)
	}
	f := fault.Unavailable.Because(err)
	f.Text = "The registrar does not answer. Retry in a moment."
	return f
}

// total is the price of so many years, all in.
func (o *Offer) total(years int) int64 { return o.FirstYear + int64(years-1)*o.RenewalPrice }

// Search is what was found for a query.
type Search struct {
	Query   string         `json:"query" max:"1000"`
	Results []SearchResult `json:"results"`
}

// SearchResult is one name. All but status and domain are there only for a
// name that was checked.
type SearchResult struct {
	Status                 string         `json:"status" enum:"ok,unsupported_tld"`
	Domain                 string         `json:"domain" max:"1000"`
	Available              op.Maybe[bool] `json:"available,omitzero" doc:"registering it would go through; premium names are not available"`
	Premium                op.Maybe[bool] `json:"premium,omitzero"`
	RegistrationPriceCents op.Opt[int64]  `json:"registrationPriceCents,omitzero" doc:"all in for the first year, cents of a US dollar; null when unavailable"`
	RenewalPriceCents      op.Opt[int64]  `json:"renewalPriceCents,omitzero" doc:"all in per year; null when unavailable"`
}

type searchInput struct {
	Query string `query:"query" min:"1" max:"1000" doc:"a name, or one label"`

	label, ending string // the ending is empty for a single label
}

func (in *searchInput) Prepare(context.Context, *op.Call) error {
	q := strings.TrimSpace(in.Query)
	name, issue := "", ""
	if strings.Contains(q, ".") {
		name, issue = registrable(q)
	} else {
		name, issue = parseHost(q)
	}
	if issue != "" {
		return fault.Field("query", issue)
	}
	in.label, in.ending, _ = strings.Cut(name, ".")
	return nil
}

// searches is how many names are asked for at once.
const searches = 4

func (d *Domains) search(ctx context.Context, c *op.Call, in searchInput) (*Search, error) {
	leave, err := enter(d.asking)
	if err != nil {
		return nil, err
	}
	defer leave()
	endings := slices.Clone(d.Registrar.Endings())
	if in.ending != "" {
		endings = append([]string{in.ending}, slices.DeleteFunc(endings, func(s string) bool { return s == in.ending })...)
	}
	names := make([]string, len(endings))
	for i, e := range endings {
		names[i] = in.label + "." + e
	}
	held, err := d.heldNames(ctx, c, names...)
	if err != nil {
		return nil, err
	}
	out := &Search{Query: in.Query, Results: make([]SearchResult, len(endings))}
	errs := make([]error, len(endings))
	var wg sync.WaitGroup
	places := make(chan struct{}, searches)
	for i, name := range names {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			o, err := d.Registrar.Check(ctx, name)
			if o != nil && slices.Contains(held, name) {
				o.Available = false
			}
			out.Results[i], errs[i] = o.result(name), err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, providerFault(err)
	}
	return out, nil
}

// heldNames is heldNames in a snapshot of its own.
func (d *Domains) heldNames(ctx context.Context, c *op.Call, names ...string) (held []string, err error) {
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		held, err = heldNames(ctx, tx, c.Org, names)
		return err
	})
	return held, err
}

func (o *Offer) result(name string) SearchResult {
	if o == nil {
		return SearchResult{Status: "unsupported_tld", Domain: name}
	}
	free := o.Available && !o.Premium
	return SearchResult{Status: "ok", Domain: name, Available: op.Maybe[bool]{Set: true, Value: free}, Premium: op.Maybe[bool]{Set: true, Value: o.Premium},
		RegistrationPriceCents: op.Opt[int64]{Set: true, Null: !free, Value: o.FirstYear}, RenewalPriceCents: op.Opt[int64]{Set: true, Null: !free, Value: o.RenewalPrice}}
}

// Quote is the price of a registration.
type Quote struct {
	Domain                 string `json:"domain" max:"1000"`
	Available              bool   `json:"available"`
	PeriodYears            int    `json:"periodYears"`
	AmountCents            int64  `json:"amountCents" doc:"the whole charge, with WHOIS privacy and no other fees"`
	Currency               string `json:"currency"`
	Premium                bool   `json:"premium"`
	RegistrationPriceCents int64  `json:"registrationPriceCents" doc:"the first year"`
	RenewalPriceCents      int64  `json:"renewalPriceCents" doc:"each further year"`
}

type quoteInput struct {
	Domain      string `query:"domain" min:"1" max:"1000"`
	PeriodYears int    `query:"periodYears" default:"1" min:"1" max:"10"`

	ascii string
}

func (in *quoteInput) Prepare(context.Context, *op.Call) error {
	name, issue := registrable(in.Domain)
	if issue != "" {
		return fault.Field("domain", issue)
	}
	in.ascii = name
	return nil
}

func (d *Domains) quote(ctx context.Context, c *op.Call, in quoteInput) (*Quote, error) {
	leave, err := enter(d.asking)
	if err != nil {
		return nil, err
	}
	defer leave()
	o, err := d.offer(ctx, in.ascii)
	if err != nil {
		return nil, err
	}
	if o.Premium {
		return nil, PremiumUnsupported.New()
	}
	held, err := d.heldNames(ctx, c, in.ascii)
	if err != nil {
		return nil, err
	}
	return &Quote{Domain: in.ascii, Available: o.Available && len(held) == 0, PeriodYears: in.PeriodYears, AmountCents: o.total(in.PeriodYears), Currency: currency,
		RegistrationPriceCents: o.FirstYear, RenewalPriceCents: o.RenewalPrice}, nil
}

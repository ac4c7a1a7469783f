package domain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// AgreementsRequired refuses an order of a business that has not accepted what
// the registries ask for.
var AgreementsRequired = fault.DefineKind("DOMAIN_AGREEMENTS_REQUIRED", 403,
	"An owner or admin must accept the domain agreements first.")

// agreementGate refuses orders until the domain agreements are accepted.
var agreementGate = &op.AgreementGate{Agreement: account.DomainAgreement, Refusal: AgreementsRequired}

// PremiumUnsupported refuses names for which the registry asks a special price.
var PremiumUnsupported = fault.DefineKind("PREMIUM_DOMAIN_NOT_SUPPORTED", 422,
	"Names with a premium price are not offered.")

func (d *Domains) searchOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:    "domains.search",
			Words:   "free, available, taken, nice, idea, suggest",
			Route:   "GET /v1/domain-registrations/search",
			Summary: "Search for names that can be registered.",
			Description: "A name with an ending is checked and offered under the other endings; " +
				"a single label is checked under all.",
			Resource: "domains",
			Example:  `{"query": "analytical-engines.com"}`,
		}, d.searchNames),
		op.Flow(op.Spec{
			Name:     "domains.quote",
			Words:    "cost, price, how much, expensive, a year",
			Route:    "GET /v1/domain-registrations/quote",
			Summary:  "Quote the price of a registration.",
			Resource: "domains",
			Errors:   []*fault.Kind{Unavailable, PremiumUnsupported},
			Example:  `{"domain": "analytical-engines.com", "periodYears": 2}`,
		}, d.quoteRegistration),
	}
}

// fetchOffer asks the registrar about a name. A name under an ending that it does not offer is
// refused as Unavailable.
func (d *Domains) fetchOffer(ctx context.Context, name string) (*Offer, error) {
	o, err := d.cfg.Registrar.Check(ctx, name)
	if err != nil {
		return nil, providerFault(err)
	}
	if o == nil {
		return nil, Unavailable.Say("Names under .%s are not offered.", parentName(name))
	}
	return o, nil
}

// Search is what was found for a query.
type Search struct {
	Query   string         `json:"query" max:"1000"`
	Results []SearchResult `json:"results"`

	op.NoExternalText
}

// SearchStatus is whether a name was checked.
type SearchStatus string

// The statuses of search results.
const (
	SearchOK             SearchStatus = "ok"
	SearchUnsupportedTLD SearchStatus = "unsupported_tld"
)

// SearchResult is one name. Only a name that was checked has more than a status
// and a domain.
type SearchResult struct {
	Status    SearchStatus      `json:"status" enum:"ok,unsupported_tld"`
	Domain    string            `json:"domain" max:"1000"`
	Available op.Optional[bool] `json:"available,omitzero" doc:"it can be registered; a premium name cannot"`
	Premium   op.Optional[bool] `json:"premium,omitzero"`

	RegistrationPriceCents op.Nullable[int64] `json:"registrationPriceCents,omitzero" doc:"first year, or null"`
	RenewalPriceCents      op.Nullable[int64] `json:"renewalPriceCents,omitzero" doc:"a year, all in, or null"`
}

type searchInput struct {
	Query string `query:"query" min:"1" max:"1000" doc:"a name, or one label"`

	label, ending string // the ending is empty for a single label
}

func (in *searchInput) Prepare(context.Context, *op.Call) error {
	q := strings.TrimSpace(in.Query)
	name, issue := "", ""
	if strings.Contains(q, ".") {
		name, issue = parseRegistrableName(q)
	} else {
		name, issue = parseHostName(q)
	}
	if issue != "" {
		return fault.Field("query", issue)
	}
	in.label, in.ending, _ = strings.Cut(name, ".")
	return nil
}

// searchConcurrency is how many names one request checks at once.
const searchConcurrency = 4

func (d *Domains) searchNames(ctx context.Context, c *op.Call, in searchInput) (*Search, error) {
	leave, err := takeSlot(d.querySlots)
	if err != nil {
		return nil, err
	}
	defer leave()
	endings := slices.Clone(d.cfg.Registrar.Endings())
	if in.ending != "" {
		others := slices.DeleteFunc(endings, func(s string) bool { return s == in.ending })
		endings = append([]string{in.ending}, others...)
	}
	names := make([]string, len(endings))
	for i, e := range endings {
		names[i] = in.label + "." + e
	}
	unavailable, err := d.readTakenNames(ctx, c, names...)
	if err != nil {
		return nil, err
	}
	out := &Search{Query: in.Query, Results: make([]SearchResult, len(endings))}
	errs := make([]error, len(endings))
	var wg sync.WaitGroup
	places := make(chan struct{}, searchConcurrency)
	for i, name := range names {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			o, err := d.cfg.Registrar.Check(ctx, name)
			if o != nil && slices.Contains(unavailable, name) {
				o.Available = false
			}
			out.Results[i], errs[i] = o.toSearchResult(name), err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, providerFault(err)
	}
	return out, nil
}

// readTakenNames is findTakenNames in a snapshot of its own.
func (d *Domains) readTakenNames(ctx context.Context, c *op.Call, names ...string) (out []string, err error) {
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		out, err = findTakenNames(ctx, tx, c.Org, names)
		return err
	})
	return out, err
}

// toSearchResult is an offer as a search shows it. A nil offer is an ending that the registrar does
// not have; a premium name counts as not available.
func (o *Offer) toSearchResult(name string) SearchResult {
	if o == nil {
		return SearchResult{Status: SearchUnsupportedTLD, Domain: name}
	}
	free := o.Available && !o.Premium
	return SearchResult{
		Status:                 SearchOK,
		Domain:                 name,
		Available:              op.Optional[bool]{Set: true, Value: free},
		Premium:                op.Optional[bool]{Set: true, Value: o.Premium},
		RegistrationPriceCents: op.Nullable[int64]{Set: true, Null: !free, Value: o.FirstYearPrice},
		RenewalPriceCents:      op.Nullable[int64]{Set: true, Null: !free, Value: o.RenewalPrice},
	}
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

	op.NoExternalText
}

type quoteInput struct {
	Domain      string `query:"domain" min:"1" max:"1000"`
	PeriodYears int    `query:"periodYears" default:"1" min:"1" max:"10"`

	ascii string
}

func (in *quoteInput) Prepare(context.Context, *op.Call) error {
	name, issue := parseRegistrableName(in.Domain)
	if issue != "" {
		return fault.Field("domain", issue)
	}
	in.ascii = name
	return nil
}

func (d *Domains) quoteRegistration(ctx context.Context, c *op.Call, in quoteInput) (*Quote, error) {
	leave, err := takeSlot(d.querySlots)
	if err != nil {
		return nil, err
	}
	defer leave()
	o, err := d.fetchOffer(ctx, in.ascii)
	if err != nil {
		return nil, err
	}
	if o.Premium {
		return nil, PremiumUnsupported.New()
	}
	unavailable, err := d.readTakenNames(ctx, c, in.ascii)
	if err != nil {
		return nil, err
	}
	return &Quote{
		Domain:                 in.ascii,
		Available:              o.Available && len(unavailable) == 0,
		PeriodYears:            in.PeriodYears,
		AmountCents:            o.registrationTotal(in.PeriodYears),
		Currency:               currency,
		RegistrationPriceCents: o.FirstYearPrice,
		RenewalPriceCents:      o.RenewalPrice,
	}, nil
}

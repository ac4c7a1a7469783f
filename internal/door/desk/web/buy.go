package web

import (
	"net/http"
	"net/url"

	"frontdesk/internal/account/card"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
)

// owners are the people and companies that domains are registered for.
var owners = &desk.Noun[domain.DomainContact]{
	Path: "domain-owners", Ops: "domain_contacts", Type: "domain_contact", RailKey: "domains",
	One: "domain owner", Many: "domain owners", Icon: "user",
	EmptyText: "A domain is registered for someone, and the registry needs their name and address. " +
		"Neither is made public.",
	Columns: []desk.Column[domain.DomainContact]{
		{Head: "Name", Cell: func(_ *desk.Visit, c *domain.DomainContact) desk.Cell { return desk.Text(ownerName(c)) }},
		{Head: "Email", Field: "email", Fold: "two", Cell: func(_ *desk.Visit, c *domain.DomainContact) desk.Cell {
			return desk.Text(c.Email)
		}},
		{Head: "City", Field: "city", Width: "w3", Cell: func(_ *desk.Visit, c *domain.DomainContact) desk.Cell {
			return desk.Text(c.City)
		}},
	},
	Name: func(_ *desk.Visit, c *domain.DomainContact) string { return ownerName(c) },
	ListLine: func(_ *desk.Visit, c *domain.DomainContact) desk.Line {
		return desk.Line{Icon: "user", Text: ownerName(c), Faint: c.Email}
	},
	Fields: ownerFields,
}

var ownerFields = []desk.Field{
	{Field: "firstName", Label: "First name"}, {Field: "lastName", Label: "Last name"},
	{Field: "organizationName", Label: "Company"},
	{Field: "jobTitle", Label: "Job title", Help: "Needed with a company."},
	{Field: "email", Label: "Email"},
	{Field: "phone", Label: "Phone", Hint: "+14155550100"}, {Field: "address1", Label: "Street"},
	{Field: "address2", Label: "More"}, {Field: "postalCode", Label: "Postal code"}, {Field: "city", Label: "City"},
	{Field: "stateProvince", Label: "State or province"}, {Field: "country", Label: "Country", Hint: "US",
		Help: "Two letters."},
	{Field: "label", Label: "Label", Hint: "the shop"},
}

func ownerName(c *domain.DomainContact) string {
	name := c.FirstName + " " + c.LastName
	if c.Label != nil && *c.Label != "" {
		return *c.Label + " (" + name + ")"
	}
	return name
}

// found is a name that was looked for.
type found struct {
	Name, Price, Renewal, Buy string
	Free, Premium             bool
}

// mayBuy reports whether the reader may register domains, once the agreement for it
// is accepted.
func mayBuy(v *desk.Visit) bool {
	return v.Caller.MaySpend && v.Catalog.Named("domains.register").AllowedBy(v.Caller.Permissions)
}

// searchPage looks for names that are free, with their price.
func searchPage(v *desk.Visit) error {
	text := v.R.URL.Query().Get("query")
	d := map[string]any{"Query": text, "Error": "", "MayAdd": v.May("domains.create"), "MayBuy": mayBuy(v)}
	if text != "" {
		var s domain.Search
		if err := v.Do("domains.search", desk.Fields{"query": text}, &s); err != nil {
			whole, fields, _, rest := desk.Refused(err)
			if rest != nil {
				return rest
			}
			if fields["query"] != "" {
				whole = fields["query"]
			}
			d["Error"] = whole
		}
		rows := []found{}
		for _, r := range s.Results {
			f := found{Name: r.Domain, Premium: r.Premium.Value}
			if r.Available.Value && !r.RegistrationPriceCents.Null {
				f.Free = true
				f.Price = v.Money(r.RegistrationPriceCents.Value, "usd")
				f.Renewal = v.Money(r.RenewalPriceCents.Value, "usd")
			}
			if f.Free && mayBuy(v) {
				f.Buy = "/domains/buy?" + url.Values{"domain": {r.Domain}}.Encode()
			}
			rows = append(rows, f)
		}
		d["Rows"] = rows
	}
	return v.Show(http.StatusOK, "domain-search", desk.View{Title: "Find a domain", Section: "domains", Data: d,
		Crumbs: []desk.Crumb{{Text: "Domains", Href: "/domains"}, {Text: "Find a domain"}}})
}

// buyPage shows the price, the card and for whom, before anything is charged.
func buyPage(v *desk.Visit) error { return showBuy(v, http.StatusOK, v.R.URL.Query(), "", nil) }

func showBuy(v *desk.Visit, status int, typed url.Values, whole string, wrong map[string]string) error {
	if !mayBuy(v) {
		return fault.Forbidden.Say(
			"Buying a domain was not allowed to you. An owner or admin allows spending on your " +
				"page under Members.")
	}
	name := typed.Get("domain")
	var q domain.Quote
	if err := v.Do("domains.quote", desk.Fields{"domain": name, "periodYears": 1}, &q); err != nil {
		return v.Explain(err, "domains", "/domains/search?"+url.Values{"query": {name}}.Encode())
	}
	d := map[string]any{"Quote": q, "Price": v.Money(q.AmountCents, q.Currency),
		"Amount":  desk.Plain(q.AmountCents, q.Currency),
		"Renewal": v.Money(q.RenewalPriceCents, q.Currency), "Card": "", "Error": whole, "Wrong": wrong}
	if v.May("payment_methods.list") {
		cards, _, err := desk.List[card.Card](v, "payment_methods.list", desk.Fields{"limit": 20})
		if err != nil {
			return err
		}
		for _, c := range cards {
			if c.IsDefault {
				d["Card"] = desk.Capital(c.Brand) + " ending in " + c.Last4
			}
		}
	}
	rows, _, err := v.Lines("domain-owners", desk.Fields{"limit": 100})
	if err != nil {
		return err
	}
	d["Owners"] = rows
	d["Owner"] = typed.Get("contactId")
	d["Key"] = string(id.New())
	if key := typed.Get("key"); key != "" {
		d["Key"] = key
	}
	return v.Show(status, "domain-buy", desk.View{Title: "Buy " + q.Domain, Section: "domains", Data: d,
		Crumbs: []desk.Crumb{{Text: "Domains", Href: "/domains"}, {Text: "Buy"}}})
}

// buy registers a domain. It charges no more than what the page said.
func buy(v *desk.Visit) error {
	in := desk.Fields{"domain": v.Value("domain"), "periodYears": 1, "autoRenew": v.Value("autoRenew") == "yes"}
	amount, issue := desk.Cents(v.Value("amount"), "usd")
	if issue != "" {
		return fault.BadInput.Say("The amount is missing. Go back and open the page again.")
	}
	in["maxAmountCents"] = amount
	if ref, ok := id.Parse(v.Value("contactId")); ok {
		in["contactId"] = ref
	}
	if err := v.Do("domains.register", in, nil); err != nil {
		whole, fields, status, rest := desk.Refused(err)
		if rest != nil {
			return rest
		}
		for name, text := range fields {
			whole = desk.Capital(name) + ": " + text
		}
		return showBuy(v, status, v.R.PostForm, whole, fields)
	}
	return v.Done("/domains", "registering", nil)
}

// renewWords says what renewing costs.
func renewWords(v *desk.Visit, d *domain.Domain) string {
	q, err := renewQuote(v, d)
	if err != nil {
		return "It is paid for another year, with your default card."
	}
	return "A year costs " + v.Money(q.AmountCents, q.Currency) + ", charged to your default card."
}

// renewPrice bounds what is charged to what the page said.
func renewPrice(v *desk.Visit, d *domain.Domain) desk.Fields {
	years := 1
	if n := v.Value("periodYears"); len(n) == 1 && n > "0" {
		years = int(n[0] - '0')
	}
	q, err := renewQuote(v, d)
	if err != nil {
		return desk.Fields{"maxAmountCents": 0}
	}
	return desk.Fields{"maxAmountCents": q.AmountCents * int64(years), "periodYears": years}
}

func renewQuote(v *desk.Visit, d *domain.Domain) (domain.Quote, error) {
	var q domain.Quote
	err := v.Do("domains.renew_quote", desk.Fields{"id": d.ID, "periodYears": 1}, &q)
	return q, err
}

package settings

import (
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/resource/domain"
)

// step is one thing to set up: a form of its own, or the way to the page where it is done.
type step struct {
	Key, Title, Short string // Short ends "Go on with …"
	Text              string // why, until it is done
	Lead              string // what happens on the other page
	Note              string // beside the buttons
	Parts             []stepPart
	Choices           []desk.Option // of its only field
	Offers            []string      // values of its only field, which takes others too
	Button, Href      string

	// look says what is set; empty while it is to do.
	look func(*setup) (string, error)
	// Default says what holds while nothing was chosen. Where there is one, skipping the step keeps it.
	Default func(*setup) string
}

// stepPart is the fields of one operation.
type stepPart struct {
	Operation string
	Fields    []desk.Field
}

func ofBusiness(fields ...desk.Field) []stepPart { return []stepPart{{"businesses.update", fields}} }

// options are the choices of a field, with the present one among them.
func (of *step) options(value string) []desk.Option {
	if of.Choices == nil || value == "" ||
		slices.ContainsFunc(of.Choices, func(o desk.Option) bool { return o.Value == value }) {
		return of.Choices
	}
	return append([]desk.Option{{Value: value, Text: strings.ToUpper(value)}}, of.Choices...)
}

var steps = []step{
	{Key: "name", Title: "Name of the business", Short: "the name", Text: "As customers know it",
		Parts: ofBusiness(desk.Field{Field: "name", Label: "As customers know it", Required: true}),
		look:  func(s *setup) (string, error) { return s.house.Name, nil }},
	{Key: "logo", Title: "Logo and color", Short: "the logo", Text: "Drag it here, or choose a file", look: lookAtLogo},
	{Key: "address", Title: "Address", Short: "the address", Text: "It stands under your name",
		Parts: []stepPart{
			{"businesses.profile.update", []desk.Field{{Field: "email", Label: "Email for customers"},
				{Field: "phone", Label: "Phone"}}},
			{addPlace, []desk.Field{{Field: "address", Label: "Street, ZIP code and city", Wide: true}}}},
		look: func(s *setup) (string, error) { return s.values()["address"], nil }},
	{Key: "timezone", Title: "Time zone", Short: "the time zone",
		Parts:  ofBusiness(desk.Field{Field: "timezone", Label: "Time zone", Help: "The city whose clock is yours."}),
		Offers: zones, look: lookAtZone, Default: zoneNow},
	{Key: "currency", Title: "Currency", Short: "the currency",
		Parts: ofBusiness(desk.Field{Field: "currency", Label: "Of your prices and invoices"}), Choices: currencies,
		look: lookAtCurrency, Default: currencyName},
	{Key: "bank", Title: "Bank account", Short: "the bank account", Text: "So that customers know where to pay",
		Note: "Stands on every invoice until it is paid.",
		Parts: ofBusiness(desk.Field{Field: "iban", Label: "IBAN", Wide: true},
			desk.Field{Field: "bankName", Label: "Bank"}, desk.Field{Field: "bic", Label: "BIC"},
			desk.Field{Field: "paymentInstructions", Label: "Or how to pay, in words", Kind: "area"}),
		look: lookAtBank},
	{Key: "sender", Title: "Sender of your mail", Short: "the sender", Button: "Choose a domain", Href: "/domains",
		Text: "An address at your own domain",
		Lead: "Until you have a domain here, mail leaves from this server's own address, with your name beside it.",
		look: lookAtSender},
	{Key: "import", Title: "Bring your contacts", Short: "your contacts", Button: "Choose a file",
		Href: "/imports/new", Text: "From your old address book",
		Lead: "A CSV or vCard file from your old address book. You see every line before anything changes.",
		look: anyOf("contacts.list", nil, "Your contacts are here")},
	{Key: "colleagues", Title: "Invite colleagues", Short: "your colleagues", Button: "Invite someone",
		Href: membersPath + "/invite", Text: "Or work alone for now",
		Lead: "You get a link for each of them. Whoever opens it joins you here.", look: lookAtColleagues},
	{Key: "agreement", Title: "Accept the business agreement", Short: "the agreement", Button: "Read and accept",
		Href: "/agreements", Text: "Agents and API keys work once it is accepted",
		Lead: "It says what agents and programs may do in the name of your business.", look: lookAtAgreement},
	{Key: "agent", Title: "Connect an agent", Short: "an agent", Button: "Create an agent", Href: "/agents/new",
		Text: "An assistant that proposes; you approve",
		Lead: "An agent reads and drafts. You choose what it may do alone.", look: lookAtAgents},
	{Key: "invoice", Title: "Send the first invoice", Short: "the first invoice", Button: "Write an invoice",
		Href: "/invoices/new", Text: "To yourself first, if you like",
		Lead: "It begins as a draft. Nothing leaves until you issue and send it.",
		look: anyOf("invoices.list", desk.Fields{"status": []string{"issued", "sent", "partially_paid", "paid",
			"overdue"}}, "The first is out")},
}

func lookAtLogo(s *setup) (string, error) {
	switch {
	case s.house.LogoFileID != nil:
		return "Your logo is on your papers", nil
	case s.house.AccentColor != nil:
		return "Your color is on your papers", nil
	}
	return "", nil
}

func lookAtZone(s *setup) (string, error) {
	if s.house.Timezone == "UTC" { // what a business has until somebody says where it is
		return "", nil
	}
	return zoneNow(s), nil
}

func zoneNow(s *setup) string {
	name := s.house.Timezone
	if _, city, ok := strings.Cut(name, "/"); ok {
		name = strings.ReplaceAll(city, "_", " ")
	}
	return name + ", " + s.v.Hour(s.v.Now().Std().In(s.v.Zone())) + " now"
}

func lookAtCurrency(s *setup) (string, error) {
	if s.house.Currency == "usd" && s.house.Timezone != "UTC" && !strings.HasPrefix(s.house.Timezone, "America/") {
		return "", nil // the default, at a place where it may be wrong
	}
	return currencyName(s), nil
}

func currencyName(s *setup) string {
	if name := desk.OptionText(currencies, s.house.Currency); name != "" {
		return name
	}
	return strings.ToUpper(s.house.Currency)
}

func lookAtBank(s *setup) (string, error) {
	v := s.values()
	switch {
	case v["iban"] != "" && v["bankName"] != "":
		return v["bankName"] + ", " + v["iban"], nil
	case v["iban"] != "":
		return v["iban"], nil
	}
	return v["paymentInstructions"], nil
}

func lookAtSender(s *setup) (string, error) {
	rows, err := desk.ListFirst[domain.Domain](s.v, "domains.list", nil)
	for i := range rows {
		if rows[i].Email.Enabled {
			return "From addresses at " + rows[i].UnicodeName, nil
		}
	}
	return "", err
}

func lookAtColleagues(s *setup) (string, error) {
	if s.usage.Members > 1 {
		return desk.Count(s.usage.Members, "member", "members"), nil
	}
	invites, err := desk.ListFirst[account.Invite](s.v, "invites.list", nil)
	if len(invites) == 0 {
		return "", err
	}
	return invites[0].Email + " is invited", nil
}

func lookAtAgreement(s *setup) (string, error) {
	standings, err := desk.ListFirst[account.Standing](s.v, "agreements.list", nil)
	if err != nil || len(desk.Unaccepted(standings)) > 0 {
		return "", err
	}
	return "Accepted", nil
}

func lookAtAgents(s *setup) (string, error) {
	if s.usage.Agents == 0 {
		return "", nil
	}
	return desk.Count(s.usage.Agents, "agent", "agents"), nil
}

// anyOf says some words once a list has a row.
func anyOf(operation string, in desk.Fields, words string) func(*setup) (string, error) {
	return func(s *setup) (string, error) {
		whole := desk.Fields{"limit": 1}
		for name, value := range in {
			whole[name] = value
		}
		rows, _, err := desk.List[struct {
			ID id.ID `json:"id"`
		}](s.v, operation, whole)
		if len(rows) == 0 {
			return "", err
		}
		return words, nil
	}
}

// paperColors are dark enough to be read on white.
var paperColors = []desk.Option{{Value: "#24406b", Text: "Deep blue"}, {Value: "#0b6b62", Text: "Teal"},
	{Value: "#7a2e3a", Text: "Wine"}, {Value: "#3d3d3d", Text: "Graphite"}}

// currencies are offered, the usual ones first; a business that has another keeps it.
var currencies = func() (out []desk.Option) {
	for _, code := range strings.Fields("usd eur gbp aud brl cad chf cny czk dkk inr jpy mxn nok nzd pln sek sgd zar") {
		out = append(out, desk.Option{Value: code, Text: locale.CurrencyName(code)})
	}
	return out
}()

// zones are offered; any other name works too.
var zones = strings.Fields(`
	America/New_York America/Chicago America/Denver America/Los_Angeles America/Anchorage Pacific/Honolulu
	America/Toronto America/Vancouver America/Mexico_City America/Sao_Paulo America/Argentina/Buenos_Aires
	Europe/London Europe/Dublin Europe/Lisbon Europe/Madrid Europe/Paris Europe/Brussels Europe/Amsterdam Europe/Berlin
	Europe/Zurich Europe/Vienna Europe/Rome Europe/Prague Europe/Warsaw Europe/Copenhagen Europe/Oslo Europe/Stockholm
	Europe/Helsinki Europe/Athens Europe/Istanbul Africa/Cairo Africa/Lagos Africa/Nairobi Africa/Johannesburg
	Asia/Dubai Asia/Kolkata Asia/Singapore Asia/Hong_Kong Asia/Shanghai Asia/Seoul Asia/Tokyo Australia/Perth
	Australia/Sydney Pacific/Auckland UTC`)

package web

import (
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/zone"
)

var domains = &desk.Noun[domain.Domain]{
	Path: "domains", Type: "domain", One: "domain", Many: "domains", Icon: "globe",
	EmptyText:  "A domain is your name on the internet: for your website and for the mail you send.",
	SearchHint: "Name",
	Tabs: []desk.Tab{{Label: "All"}, {Label: "Bought here", Query: "source=registered"},
		{Label: "From elsewhere", Query: "source=external"}},
	Columns: []desk.Column[domain.Domain]{
		{Head: "Name", Sort: "name", Cell: func(_ *desk.Visit, d *domain.Domain) desk.Cell {
			return desk.Text(d.UnicodeName)
		}},
		{Head: "State", Field: "status", Width: "w3", Fold: "three",
			Cell: func(v *desk.Visit, d *domain.Domain) desk.Cell {
				return desk.State(StatusPill(v, d))
			}},
		{Head: "Email", Field: "email", Width: "w2", Cell: func(_ *desk.Visit, d *domain.Domain) desk.Cell {
			switch {
			case !d.Email.Enabled:
				return desk.Text("")
			case d.Email.Mode != nil && *d.Email.Mode == "sending":
				return desk.Text("sends")
			}
			return desk.Text("sends and receives")
		}},
		{Head: "From", Field: "source", Width: "w2", Cell: func(_ *desk.Visit, d *domain.Domain) desk.Cell {
			if d.Source == "registered" {
				return desk.Text("bought here")
			}
			return desk.Text("elsewhere")
		}},
		{Head: "Paid until", Field: "registration", Width: "w2", End: true, Fold: "two", Cell: func(v *desk.Visit,
			d *domain.Domain) desk.Cell {
			if d.Registration == nil {
				return desk.Text("")
			}
			return v.At(&d.Registration.ExpiresAt)
		}},
	},
	Filters:       []desk.Filter{{Field: "status", Label: "State"}, {Field: "source", Label: "From", HideChoice: true}},
	AboveTemplate: "domains-above",
	Name:          func(_ *desk.Visit, d *domain.Domain) string { return d.UnicodeName },
	ListLine: func(v *desk.Visit, d *domain.Domain) desk.Line {
		return desk.Line{Icon: "globe", Text: d.UnicodeName, Pill: StatusPill(v, d)}
	},
	State: StatusPill,
	Form: []desk.Field{
		{Field: "name", Label: "Name", Hint: "example.com", Wide: true,
			Help: "A domain that you already own. You will be asked to add a record to its DNS to prove it."},
		{Field: "purpose", Label: "Used for", ChoiceLabels: map[string]string{"general": "Everything",
			"transactional": "Invoices, receipts and answers", "marketing": "News and offers"}},
	},
	Fields: []desk.Field{
		{Field: "name", Label: "Name", ReadOnly: true, Show: func(_ *desk.Visit, row any) desk.Cell {
			return desk.Text(row.(*domain.Domain).Name)
		}},
		{Field: "purpose", Label: "Used for", ReadOnly: true, Show: func(_ *desk.Visit, row any) desk.Cell {
			return desk.Text(desk.Choice(string(row.(*domain.Domain).Purpose)))
		}},
		{Field: "registrar", Label: "Registrar", ReadOnly: true, OnDemand: true, Show: ofRegistration(
			func(_ *desk.Visit, r *domain.Registration) desk.Cell { return desk.Text(r.Registrar) })},
		{Field: "expiresAt", Label: "Paid until", ReadOnly: true, OnDemand: true, Show: ofRegistration(
			func(v *desk.Visit, r *domain.Registration) desk.Cell { return v.At(&r.ExpiresAt) })},
		{Field: "autoRenew", Label: "Auto-renew", ReadOnly: true, OnDemand: true, Show: ofRegistration(
			func(_ *desk.Visit, r *domain.Registration) desk.Cell { return yesNo(r.AutoRenew) })},
		{Field: "transferLock", Label: "Locked", ReadOnly: true, OnDemand: true, Show: ofRegistration(
			func(_ *desk.Visit, r *domain.Registration) desk.Cell { return yesNo(r.TransferLock) })},
	},
	Actions: []desk.Action[domain.Domain]{
		{Key: "verify", Label: "Check the record", Icon: "again", Op: "domains.verify", IsMain: true,
			DoneKey: "checked",
			When:    func(_ *desk.Visit, d *domain.Domain) bool { return d.Status == "pending_verification" }},
		{Key: "email-on", Label: "Turn email on", Icon: "mail", Op: "domains.email.enable", IsMain: true,
			DoneKey: "enabled",
			When:    func(_ *desk.Visit, d *domain.Domain) bool { return d.Status == "active" && !d.Email.Enabled },
			Explain: func(_ *desk.Visit, d *domain.Domain) string {
				return "Mail can then be sent from, and received at, addresses of " + d.UnicodeName +
					". The records that " +
					"this needs are written into its DNS, where we hold it."
			},
			Form: []desk.Field{{Field: "mode", Label: "For",
				ChoiceLabels: map[string]string{"full": "Sending and receiving", "sending": "Sending only"}}}},
		{Key: "renew", Label: "Renew", Icon: "again", Op: "domains.renew", DoneKey: "renewed",
			When: func(_ *desk.Visit, d *domain.Domain) bool {
				return d.Registration != nil &&
					d.Status != "transferred"
			},
			Explain: renewWords, FixedInput: renewPrice,
			Form: []desk.Field{{Field: "periodYears", Label: "Years"}}},
		{Key: "autorenew", Label: "Renew automatically", Icon: "again", Op: "domains.registration.update", InMenu: true,
			DoneKey: "changed",
			When: func(v *desk.Visit, d *domain.Domain) bool {
				return v.Caller.MaySpend && d.Registration != nil && !d.Registration.AutoRenew
			},
			FixedInput: func(*desk.Visit, *domain.Domain) desk.Fields { return desk.Fields{"autoRenew": true} }},
		{Key: "noautorenew", Label: "Stop renewing it", Icon: "clock", Op: "domains.registration.update", InMenu: true,
			DoneKey: "changed",
			When: func(_ *desk.Visit, d *domain.Domain) bool {
				return d.Registration != nil &&
					d.Registration.AutoRenew
			},
			Explain: func(v *desk.Visit, d *domain.Domain) string {
				return "It then expires on " + v.Day(d.Registration.ExpiresAt.Std()) + ", unless you renew it before."
			},
			FixedInput: func(*desk.Visit, *domain.Domain) desk.Fields { return desk.Fields{"autoRenew": false} }},
		{Key: "lock", Label: "Lock it against transfers", Icon: "lock", Op: "domains.registration.update", InMenu: true,
			DoneKey: "changed",
			When: func(_ *desk.Visit, d *domain.Domain) bool {
				return d.Registration != nil && !d.Registration.TransferLock
			},
			FixedInput: func(*desk.Visit, *domain.Domain) desk.Fields { return desk.Fields{"transferLock": true} }},
		{Key: "unlock", Label: "Unlock it for a transfer", Icon: "lock", Op: "domains.registration.update",
			InMenu: true, DoneKey: "changed", When: func(_ *desk.Visit, d *domain.Domain) bool {
				return d.Registration != nil && d.Registration.TransferLock
			},
			FixedInput: func(*desk.Visit, *domain.Domain) desk.Fields { return desk.Fields{"transferLock": false} }},
		{Key: "email-off", Label: "Turn email off", Icon: "mail", Op: "domains.email.disable", DoneKey: "disabled",
			When: func(_ *desk.Visit, d *domain.Domain) bool { return d.Email.Enabled },
			Explain: func(_ *desk.Visit, d *domain.Domain) string {
				return "No mail is sent from or received at " + d.UnicodeName + " any more."
			},
			Warnings: []string{"Its email records are taken out of the DNS. You can turn it on again."}},
	},
	Children: []desk.AnyChild{
		&desk.Child[zone.DNSRecord]{Key: "dns-records", Ops: "domains.dns_records", Param: "recordId", Head: "DNS",
			One: "record", Wide: true, Limit: 100, SendAllFields: true, MayBeRefused: true,
			EmptyText: "We do not hold the DNS of this domain.",
			Table: []desk.Column[zone.DNSRecord]{
				{Head: "Type", Width: "w0", Cell: func(_ *desk.Visit, r *zone.DNSRecord) desk.Cell {
					return desk.Text(r.Type)
				}},
				{Head: "Name", Width: "w3", Fold: "three", Cell: func(_ *desk.Visit, r *zone.DNSRecord) desk.Cell {
					return desk.Text(r.Name)
				}},
				{Head: "Content", Fold: "two", Cell: func(_ *desk.Visit, r *zone.DNSRecord) desk.Cell {
					text := r.Content
					if r.Priority != nil {
						text = strconv.Itoa(*r.Priority) + " " + text
					}
					return desk.Code(text)
				}},
				{Head: "TTL", Width: "w0", End: true, Cell: func(_ *desk.Visit, r *zone.DNSRecord) desk.Cell {
					return desk.Text(strconv.Itoa(r.TTL))
				}},
				{Head: "By", Width: "w1", Cell: func(_ *desk.Visit, r *zone.DNSRecord) desk.Cell {
					return desk.Text(map[zone.Manager]string{"email": "email", "system": "Frontdesk"}[r.ManagedBy])
				}},
			},
			Fixed: func(r *zone.DNSRecord) bool { return r.ManagedBy != "user" },
			Fields: []desk.Field{{Field: "type", Label: "Type", RawChoices: true},
				{Field: "name", Label: "Name", Hint: "www",
					Help: "@ is the domain itself."}, {Field: "content", Label: "Content", Kind: "text"},
				{Field: "priority", Label: "Priority"}, {Field: "ttl", Label: "Seconds kept",
					StartText: func(*desk.Visit) string { return "3600" }}}},
		&desk.Child[domain.Domain]{Key: "subdomains", Ops: "domains.subdomains", Param: "subdomainId",
			Head: "Subdomains", One: "subdomain", MayBeRefused: true,
			Line: func(v *desk.Visit, d *domain.Domain) desk.Line {
				return desk.Line{Text: d.UnicodeName, Pill: StatusPill(v, d), Href: "/domains/" + string(d.ID)}
			},
			Fields: []desk.Field{{Field: "name", Label: "Name", Hint: "shop"}, {Field: "purpose", Label: "Used for"}}},
	},
	Template:     "domain",
	TemplateData: health,
	DeleteWarning: func(_ *desk.Visit, d *domain.Domain) (string, []string) {
		return "Delete " + d.UnicodeName + " here?",
			[]string{"Its DNS records, its email and its subdomains here are gone.",
				"A domain that was bought here stays yours until it ends, and is not paid back."}
	},
}

func ofRegistration(cell func(*desk.Visit, *domain.Registration) desk.Cell) func(*desk.Visit, any) desk.Cell {
	return func(v *desk.Visit, row any) desk.Cell {
		if r := row.(*domain.Domain).Registration; r != nil {
			return cell(v, r)
		}
		return desk.Text("")
	}
}

func yesNo(is bool) desk.Cell {
	if is {
		return desk.Text("Yes")
	}
	return desk.Text("No")
}

// StatusPill is what somebody should know about a domain at a glance.
func StatusPill(v *desk.Visit, d *domain.Domain) desk.Pill {
	switch d.Status {
	case "expired":
		return desk.Pill{Text: "expired", Tone: "bad"}
	case "pending_verification":
		return desk.Pill{Text: "not verified", Tone: "warn"}
	case "transferred":
		return desk.Pill{Text: "moved away"}
	}
	for _, r := range emailRecords(d) {
		if r.state != nil && *r.state == domain.RecordMissing {
			return desk.Pill{Text: r.name + " missing", Tone: "bad"}
		}
	}
	if r := d.Registration; r != nil {
		switch days := int(r.ExpiresAt.Sub(v.Now()) / (24 * time.Hour)); {
		case days <= 30 && r.AutoRenew:
			return desk.Pill{Text: "renews in " + desk.Count(max(0, days), "day", "days"), Tone: "warn"}
		case days <= 30:
			return desk.Pill{Text: "expires in " + desk.Count(max(0, days), "day", "days"), Tone: "bad"}
		}
	}
	return desk.Pill{Text: "fine", Tone: "good"}
}

type emailRecord struct {
	name  string
	state *domain.RecordState
}

func emailRecords(d *domain.Domain) []emailRecord {
	if !d.Email.Enabled {
		return nil
	}
	return []emailRecord{{"SPF", d.Email.SPF}, {"DKIM", d.Email.DKIM}, {"DMARC", d.Email.DMARC}}
}

// sign is one sign of a domain's health.
type sign struct {
	Word, Text string
	Good, Bad  bool
}

// cure is what to do about a sign that is bad: the record that is expected.
type cure struct {
	Head, Text string
	Records    []cureRecord
}

type cureRecord struct{ ID, Type, Name, Content, Seen string }

type healthData struct {
	Signs []sign
	Cures []cure
	Check string
}

// health is the row of signs, from what is known; with ?check=yes the DNS is
// asked now.
func health(v *desk.Visit, d *domain.Domain) (any, error) {
	h := &healthData{Check: "/domains/" + string(d.ID) + "?check=yes"}
	own := sign{Word: "Yours", Text: "proven", Good: true}
	switch {
	case d.Status == "pending_verification":
		own = sign{Word: "Yours", Text: "not proven yet", Bad: true}
		if p := d.Verification; p != nil {
			h.Cures = append(h.Cures, cure{Head: "Prove that it is yours",
				Text:    "Add this record where the DNS of the domain is kept, then press “Check the record”.",
				Records: []cureRecord{{ID: "proof", Type: "TXT", Name: p.RecordName, Content: p.RecordValue}}})
		}
	case d.Status == "expired":
		own = sign{Word: "Yours", Text: "expired", Bad: true}
	case d.Registration != nil:
		own.Text = "paid until " + v.Day(d.Registration.ExpiresAt.Std())
	}
	h.Signs = append(h.Signs, own)
	if !d.Email.Enabled {
		h.Signs = append(h.Signs, sign{Word: "Email", Text: "off"})
		return h, nil
	}
	for _, r := range emailRecords(d) {
		s := sign{Word: r.name, Text: "not known"}
		if r.state != nil {
			s.Good, s.Bad = *r.state != domain.RecordMissing, *r.state == domain.RecordMissing
			s.Text = map[domain.RecordState]string{domain.RecordPublished: "in our zone",
				domain.RecordCustom: "your own record", domain.RecordMissing: "missing"}[*r.state]
		}
		h.Signs = append(h.Signs, s)
	}
	if v.R.URL.Query().Get("check") != "yes" || !v.May("domains.email.get") {
		return h, nil
	}
	return h, h.ask(v, d)
}

// ask looks the email records up in the DNS.
func (h *healthData) ask(v *desk.Visit, d *domain.Domain) error {
	var e domain.EmailSetup
	if err := v.Do("domains.email.get", desk.Fields{"id": d.ID}, &e); err != nil {
		return err
	}
	c := cure{Head: "What the DNS has, seen just now", Text: "These are the records that email needs."}
	for i, r := range e.Records {
		x := cureRecord{ID: "rec" + strconv.Itoa(i), Type: r.Type, Name: r.Name, Content: r.Content, Seen: "found"}
		if r.State != "found" {
			x.Seen = string(r.State)
			if len(r.Seen) > 0 {
				x.Seen += ", the DNS has " + strings.Join(r.Seen, " and ")
			}
			if r.Problem != nil {
				x.Seen += ". " + *r.Problem
			}
		}
		c.Records = append(c.Records, x)
		for j := range h.Signs {
			if word := h.Signs[j].Word; isRecordOf(word, r) {
				h.Signs[j] = sign{Word: word, Text: "seen in the DNS", Good: true}
				if r.State != "found" {
					h.Signs[j] = sign{Word: word, Text: string(r.State) + " in the DNS", Bad: true}
				}
			}
		}
	}
	h.Cures = append(h.Cures, c)
	return nil
}

// isRecordOf reports whether a record belongs to a sign.
func isRecordOf(word string, r domain.EmailRecord) bool {
	switch word {
	case "MX":
		return r.Type == "MX"
	case "SPF":
		return strings.HasPrefix(r.Content, "v=spf1")
	case "DKIM":
		return strings.Contains(r.Name, "._domainkey")
	case "DMARC":
		return strings.HasPrefix(r.Name, "_dmarc")
	}
	return false
}

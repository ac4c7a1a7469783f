package people

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/task"
)

// party is the other side of a story: a person, those who are billed for them, or both.
type party struct {
	name      string
	contact   id.ID // may be empty
	customers []id.ID
}

// ofContact is a contact with the customers that they are.
func ofContact(v *desk.Visit, c *contact.Contact) (party, error) {
	p := party{name: Name(c), contact: c.ID}
	if !v.May("customers.list") {
		return p, nil
	}
	rows, _, err := desk.List[customer.Customer](v, "customers.list", desk.Fields{"contactId": c.ID, "limit": 5})
	for i := range rows {
		p.customers = append(p.customers, rows[i].ID)
	}
	return p, err
}

// ofCustomer is a customer with the person one talks to.
func ofCustomer(_ *desk.Visit, c *customer.Customer) (party, error) {
	return party{name: c.Name, contact: desk.IDOrEmpty(c.ContactID), customers: []id.ID{c.ID}}, nil
}

// filters find the rows of a list that belong to the party.
func (p party) filters() (out []desk.Fields) {
	if p.contact != "" {
		out = append(out, desk.Fields{"contactId": p.contact})
	}
	for _, ref := range p.customers {
		out = append(out, desk.Fields{"customerId": ref})
	}
	return out
}

// between is a source of the timeline: everything between the house and a party.
func between[T desk.Row](of func(*desk.Visit, *T) (party, error)) desk.Source[T] {
	return func(v *desk.Visit, row *T) ([]desk.Moment, error) {
		p, err := of(v, row)
		if err != nil {
			return nil, err
		}
		out := []desk.Moment{}
		for _, source := range []func(*desk.Visit) ([]desk.Moment, error){p.mail, p.notes, p.work, p.payments} {
			more, err := source(v)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}
}

// rows are those of a list that belong to the party and that the shown page may have, each once.
func rows[T desk.Row](v *desk.Visit, p party, operation string, at func(*T) clock.Time) (out []T, err error) {
	seen := map[id.ID]bool{}
	for _, filter := range p.filters() {
		more, err := desk.ListEarlier(v, operation, filter, at)
		if err != nil {
			return nil, err
		}
		for _, row := range more {
			if ref := row.RowID(); !seen[ref] {
				seen[ref] = true
				out = append(out, row)
			}
		}
	}
	return out, nil
}

// mail is what they wrote and what was written to them, by whom and with which files.
func (p party) mail(v *desk.Visit) ([]desk.Moment, error) {
	list, err := rows(v, p, "messages.list", func(m *message.Message) clock.Time { return m.CreatedAt })
	if err != nil {
		return nil, err
	}
	var ours, enclosed []id.ID
	for i := range list {
		if list[i].Direction == message.Outbound {
			ours = append(ours, list[i].ID)
		}
		enclosed = append(enclosed, list[i].FileIDs...)
	}
	authors, err := v.Authors(ours)
	if err != nil {
		return nil, err
	}
	files := map[id.ID]string{}
	if len(enclosed) > 0 && v.May("files.list") {
		if files, err = v.Names("files", enclosed[:min(len(enclosed), 100)]); err != nil {
			return nil, err
		}
	}
	out := make([]desk.Moment, len(list))
	for i := range list {
		m := &list[i]
		if out[i] = p.mailMoment(v, m); m.Direction == message.Outbound {
			if made, ok := authors[m.ID]; ok {
				out[i].Who, out[i].Icon = v.Actor(made.ActorKind, made.ActorID), ""
			} else {
				out[i].Verb = desk.Capital(out[i].Verb) + ":"
			}
		}
		for _, ref := range m.FileIDs {
			if files[ref] != "" {
				out[i].Files = append(out[i].Files, desk.Crumb{Text: files[ref], Href: "/files/" + string(ref)})
			}
		}
	}
	return out, nil
}

// mailMoment is a mail without who of the house wrote it.
func (p party) mailMoment(v *desk.Visit, m *message.Message) desk.Moment {
	x := desk.Moment{At: m.CreatedAt, What: cmp.Or(m.Subject, "(no subject)")}
	if v.Has("/inbox") {
		x.Href = "/inbox/" + string(m.ThreadID)
	}
	if m.Direction == message.Outbound {
		x.Icon = "mail"
		x.Verb, x.Pill = fate(m)
		return x
	}
	x.Who, x.Verb = desk.Who{Name: p.name, Avatar: desk.AvatarOf(p.name, "")}, "wrote"
	if m.Text != nil {
		x.Said = excerpt(*m.Text)
	}
	return x
}

// fate is what was done with a mail of the house, and what went wrong.
func fate(m *message.Message) (verb string, wrong desk.Pill) {
	switch m.Status {
	case message.Draft:
		return "drafted", wrong
	case message.Scheduled:
		return "scheduled", wrong
	case message.Canceled:
		return "canceled", wrong
	case message.Bounced:
		wrong = desk.Pill{Text: "came back", Tone: "bad"}
	case message.Failed:
		wrong = desk.Pill{Text: "not sent", Tone: "bad"}
	}
	return "sent", wrong
}

// excerpt is the beginning of a text, without what it quotes.
func excerpt(text string) string {
	lines := []string{}
	for _, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, ">") {
			break
		}
		lines = append(lines, l)
	}
	return cut.Ellipsis(strings.TrimSpace(strings.Join(lines, "\n")), 400)
}

// notes are what the team wrote about the person, and the calls it noted.
func (p party) notes(v *desk.Visit) ([]desk.Moment, error) {
	if p.contact == "" {
		return nil, nil
	}
	list, err := desk.ListEarlier(v, "contacts.notes.list", desk.Fields{"id": p.contact},
		func(n *contact.ContactNote) clock.Time { return n.CreatedAt })
	if err != nil {
		return nil, err
	}
	out := make([]desk.Moment, len(list))
	for i, n := range list {
		who, err := v.WhoIs("user", n.CreatedBy)
		if err != nil {
			return nil, err
		}
		if n.CreatedByAgent {
			who = desk.Who{Name: "An agent", Avatar: desk.RobotAvatar("bot")}
		}
		out[i] = desk.Moment{At: n.CreatedAt, Who: who, Verb: "left a note", Said: n.Body, Home: true}
		if n.Kind == "call" {
			out[i].Verb, out[i].Icon = "noted a call", "phone"
		}
	}
	return out, nil
}

// recentWork is how many tasks and how many invoices of a party the timeline follows.
const recentWork = 50

// work is what was done with their newest tasks and invoices, also by automations.
func (p party) work(v *desk.Visit) ([]desk.Moment, error) {
	var refs []id.ID
	for _, filter := range p.filters() {
		if filter["limit"] = recentWork; v.May("tasks.list") {
			list, _, err := desk.List[task.Task](v, "tasks.list", filter)
			if err != nil {
				return nil, err
			}
			refs = append(refs, ids(list)...)
		}
		if filter["customerId"] != nil && v.May("invoices.list") {
			list, _, err := desk.List[invoice.Invoice](v, "invoices.list", filter)
			if err != nil {
				return nil, err
			}
			refs = append(refs, ids(list)...)
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	events, err := v.EarlierEvents(desk.Fields{"resourceIds": refs[:min(len(refs), 2*recentWork)]})
	if err != nil {
		return nil, err
	}
	moments, err := v.Moments(events, false)
	out := moments[:0]
	for i, m := range moments {
		if isDetail(v, events[i].Type) && !strings.HasPrefix(m.Verb, "finished") {
			continue
		}
		var bill invoice.Invoice
		if strings.HasPrefix(events[i].Type, "invoice.") && v.Decode(events[i].Data, &bill) {
			sum := v.Money(bill.TotalCents, bill.Currency)
			if bill.Status == "overdue" {
				m.Pill = desk.Pill{Text: v.Money(bill.AmountDueCents, bill.Currency), Tone: "bad"}
			} else {
				m.After = strings.TrimSpace(m.After + " for " + sum)
			}
		}
		out = append(out, m)
	}
	return out, err
}

// isDetail reports whether an event is told by another line, or is no news: an invoice is issued, then its mail is
// sent, then it is paid.
func isDetail(v *desk.Visit, kind string) bool {
	return strings.HasSuffix(kind, ".updated") || kind == "invoice.created" || kind == "invoice.paid" ||
		kind == "invoice.sent" && v.May("messages.list")
}

func ids[T desk.Row](list []T) (out []id.ID) {
	for i := range list {
		out = append(out, list[i].RowID())
	}
	return out
}

// payments are what they paid, and what they were credited or charged beside invoices.
func (p party) payments(v *desk.Visit) ([]desk.Moment, error) {
	out := []desk.Moment{}
	for _, ref := range p.customers {
		list, err := desk.ListEarlier(v, "customers.transactions.list", desk.Fields{"id": ref,
			"type": []string{customer.TypePayment, customer.TypeCredit, customer.TypeCharge}},
			func(t *customer.Transaction) clock.Time { return t.CreatedAt })
		if err != nil {
			return nil, err
		}
		var bills []id.ID
		for i := range list {
			if list[i].InvoiceID != nil {
				bills = append(bills, *list[i].InvoiceID)
			}
		}
		slices.Sort(bills)
		numbers, err := v.Names("invoices", slices.Compact(bills))
		if err != nil {
			return nil, err
		}
		for i := range list {
			out = append(out, ledgerMoment(v, &list[i], numbers))
		}
	}
	return out, nil
}

func ledgerMoment(v *desk.Visit, t *customer.Transaction, numbers map[id.ID]string) desk.Moment {
	m := desk.Moment{At: t.CreatedAt, Icon: "card",
		Verb: desk.Capital(t.Type) + " of " + v.Money(t.AmountCents, t.Currency)}
	if t.InvoiceID != nil && numbers[*t.InvoiceID] != "" {
		m.Verb += " for"
		m.What, m.Href = numbers[*t.InvoiceID], "/invoices/"+string(*t.InvoiceID)
	} else if t.Description != nil && *t.Description != "" {
		m.Verb += ":"
		m.What = *t.Description
	}
	return m
}

// Owes is what somebody owes. The template is "owes".
type Owes struct {
	Word, Late, Href string
	Sums             []string
}

// BalanceOf is what customers owe together, by currency, and how late they are; nil where nothing was ever billed.
func BalanceOf(v *desk.Visit, customers ...id.ID) (*Owes, error) {
	if !v.May("customers.balance.get") || len(customers) == 0 {
		return nil, nil
	}
	due := map[string]int64{}
	for _, ref := range customers {
		var b customer.Balance
		if err := v.Do("customers.balance.get", desk.Fields{"id": ref}, &b); err != nil {
			return nil, err
		}
		for _, x := range b.Balances {
			due[x.Currency] += x.BalanceCents
		}
	}
	if len(due) == 0 {
		return nil, nil
	}
	o := owing(v, due)
	o.Href = "/customers/" + string(customers[0]) + "?show=statement#statement"
	if !v.May("invoices.list") {
		return o, nil
	}
	for _, ref := range customers {
		late, _, err := desk.List[invoice.Invoice](v, "invoices.list", desk.Fields{"customerId": ref,
			"status": []string{"overdue"}, "sortBy": "dueAt", "sortOrder": "asc", "limit": 1})
		if err != nil {
			return nil, err
		}
		if len(late) > 0 && late[0].DueAt != nil && o.Late == "" {
			o.Late = lateWords(v, *late[0].DueAt)
		}
	}
	return o, nil
}

// owing says how things stand, by currency.
func owing(v *desk.Visit, due map[string]int64) *Owes {
	o := &Owes{Word: "Everything is paid"}
	for _, currency := range slices.Sorted(maps.Keys(due)) {
		switch cents := due[currency]; {
		case cents < 0 && len(due) == 1:
			o.Word, o.Sums = "You owe them", []string{v.Money(-cents, currency)}
		case cents != 0:
			if o.Sums = append(o.Sums, v.Money(cents, currency)); cents > 0 {
				o.Word = "Owes you"
			}
		}
	}
	return o
}

func lateWords(v *desk.Visit, due clock.Time) string {
	days := int(v.Now().Sub(due).Hours() / 24)
	if days < 1 {
		return "overdue"
	}
	return desk.Count(days, "day", "days") + " overdue"
}

// balance is a section of a page: what the party owes.
func balance[T desk.Row](of func(*desk.Visit, *T) (party, error)) desk.Part[T] {
	return func(v *desk.Visit, row *T) (*desk.Section, error) {
		p, err := of(v, row)
		if err != nil {
			return nil, err
		}
		owes, err := BalanceOf(v, p.customers...)
		if err != nil || owes == nil {
			return nil, err
		}
		return &desk.Section{Name: "owes", Data: owes}, nil
	}
}

// lastWord is a section of a page: who wrote last, when, and how it begins.
func lastWord[T desk.Row](of func(*desk.Visit, *T) (party, error)) desk.Part[T] {
	return func(v *desk.Visit, row *T) (*desk.Section, error) {
		p, err := of(v, row)
		if err != nil {
			return nil, err
		}
		last, err := p.lastMail(v)
		if err != nil || last == nil {
			return nil, err
		}
		who, text := p.name, last.Subject
		if last.Direction == message.Outbound {
			who = "You" // the house
		}
		if last.Text != nil {
			text = cmp.Or(strings.Join(strings.Fields(excerpt(*last.Text)), " "), text)
		}
		return &desk.Section{Name: "last-word", Data: map[string]any{"Who": who, "Time": v.When(last.CreatedAt),
			"Text": cut.Ellipsis(text, 120), "Href": "/inbox/" + string(last.ThreadID)}}, nil
	}
}

// lastMail is the newest mail that reached either side, or nil.
func (p party) lastMail(v *desk.Visit) (last *message.Message, err error) {
	if !v.May("messages.list") {
		return nil, nil
	}
	for _, filter := range p.filters() {
		filter["limit"], filter["status"] = 1, []message.Status{message.Received, message.Sent, message.Delivered}
		list, _, err := desk.List[message.Message](v, "messages.list", filter)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && (last == nil || list[0].CreatedAt > last.CreatedAt) {
			last = &list[0]
		}
	}
	return last, nil
}

package mail

import (
	"net/url"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/door/desk/people"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/message"
)

// personData is whom a thread is with, and what matters about them.
type personData struct {
	Name, About, Href string
	Avatar            *desk.Avatar
	Owes              *people.Owes
	Facts             []fact
	Sections          []*desk.Section
	Add               string // where a form that adds the sender to the contacts posts to
	Address           string
	Back              string
}

type fact struct{ Word, Text string }

// person is the contact of a thread, or the address that somebody wrote from.
func person(v *desk.Visit, t *message.Thread, d *threadData) (*personData, error) {
	p := &personData{Back: d.At}
	if t.ContactID == nil || !v.May("contacts.get") {
		return p, p.stranger(v, t, d)
	}
	var c contact.Contact
	err := v.Do("contacts.get", desk.Fields{"id": *t.ContactID}, &c)
	if fault.IsKind(err, fault.NotFound) {
		return p, p.stranger(v, t, d)
	}
	if err != nil {
		return nil, err
	}
	p.Name, p.Href = people.Name(&c), "/contacts/"+string(c.ID)
	p.Avatar = desk.AvatarOf(p.Name, "xl")
	words := []string{}
	for _, s := range []*string{c.JobTitle, c.OrganizationName} {
		if s != nil && *s != "" && *s != p.Name {
			words = append(words, *s)
		}
	}
	p.About = strings.Join(words, ", ")
	for _, e := range c.Emails[:min(2, len(c.Emails))] {
		p.Facts = append(p.Facts, fact{"Email", e.Email})
	}
	for _, n := range c.PhoneNumbers[:min(2, len(c.PhoneNumbers))] {
		p.Facts = append(p.Facts, fact{"Phone", v.Phone(n.PhoneNumber)})
	}
	return p, p.fill(v, t, c.ID)
}

// stranger is somebody who is not a contact yet.
func (p *personData) stranger(v *desk.Visit, t *message.Thread, d *threadData) error {
	p.Name = "Nobody yet"
	if d.Write != nil && d.Write.To != "" {
		p.Name, _, _ = strings.Cut(d.Write.To, ",")
		p.Address = p.Name
		if v.May("contacts.create") && v.May("threads.update") {
			p.Add = "/inbox/" + string(t.ID) + "/contact"
		}
	}
	p.Avatar = desk.AvatarOf(p.Name, "xl")
	return nil
}

// fill adds the customer, the balance, invoices, tasks and earlier threads.
func (p *personData) fill(v *desk.Visit, t *message.Thread, who id.ID) error {
	ref := desk.IDOrEmpty(t.CustomerID)
	if ref == "" && v.May("customers.list") {
		rows, _, err := desk.List[customer.Customer](v, "customers.list", desk.Fields{"contactId": who, "limit": 1})
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			ref = rows[0].ID
		}
	}
	if ref != "" {
		if err := p.customer(v, ref); err != nil {
			return err
		}
	}
	tasks, err := v.Related("Open tasks", "tasks", desk.Fields{"contactId": who, "status": []string{"open",
		"in_progress"}}, url.Values{"contactId": {string(who)}, "status": {"open", "in_progress"}}, "")
	if err != nil {
		return err
	}
	earlier, err := v.Related("Conversations", "inbox", desk.Fields{"contactId": who, "sortBy": "lastMessageAt"},
		url.Values{"contactId": {string(who)}}, "")
	if err != nil {
		return err
	}
	for _, s := range []*desk.Section{tasks, earlier} {
		if s != nil {
			p.Sections = append(p.Sections, s)
		}
	}
	return nil
}

func (p *personData) customer(v *desk.Visit, ref id.ID) error {
	names, err := v.Names("customers", []id.ID{ref})
	if err != nil || names[ref] == "" {
		return err
	}
	if names[ref] != p.Name {
		p.Facts = append(p.Facts, fact{"Customer", names[ref]})
	}
	if p.Owes, err = people.BalanceOf(v, ref); err != nil {
		return err
	}
	invoices, err := v.Related("Invoices", "invoices", desk.Fields{"customerId": ref},
		url.Values{"customerId": {string(ref)}}, "")
	if invoices != nil {
		p.Sections = append(p.Sections, invoices)
	}
	return err
}

// addContact makes a contact of whoever wrote, and gives them the thread.
func addContact(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	to := v.Back("/inbox/" + string(ref))
	var c contact.Contact
	err = v.Do("contacts.create", desk.Fields{"emails": []desk.Fields{{"email": v.Value("address")}}}, &c)
	if err != nil {
		return v.Explain(err, "inbox", to)
	}
	if err := v.Do("threads.update", desk.Fields{"id": ref, "contactId": c.ID}, nil); err != nil {
		return v.Explain(err, "inbox", to)
	}
	return v.Done("/contacts/"+string(c.ID), "known", nil)
}

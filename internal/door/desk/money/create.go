package money

import (
	"slices"
	"strconv"
	"time"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/invoice"
)

// dueIn is the field of the form that says in how many days a new invoice is due.
const dueIn = "dueIn"

// dueOptions are the usual times to pay, each with its day.
func dueOptions(v *desk.Visit) []desk.Option {
	out := []desk.Option{{Value: "0", Text: "Today"}}
	for _, days := range []int{7, 14, 30, 60} {
		out = append(out, desk.Option{Value: strconv.Itoa(days),
			Text: "In " + strconv.Itoa(days) + " days, " + v.Day(today(v).AddDate(0, 0, days))})
	}
	return append(out, desk.Option{Value: "", Text: "No date, or the day below"})
}

func today(v *desk.Visit) time.Time { return v.Now().Std().In(v.Zone()) }

// setDueDay makes a time of the days or the day of the form: the last minute of that day. A
// day that was chosen goes before the number of days.
func setDueDay(v *desk.Visit, in desk.Fields) {
	days, err := strconv.Atoi(v.Value(dueIn))
	delete(in, dueIn)
	day, dayErr := time.ParseInLocation(time.DateOnly, v.Value("dueAt"), v.Zone())
	if dayErr != nil {
		if err != nil || days < 0 || days > 3650 || in["dueAt"] != nil {
			return
		}
		day = today(v).AddDate(0, 0, days)
	}
	last := time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 0, 0, day.Location())
	in["dueAt"] = clock.FromStd(last).String()
}

// fromContact is the field of the form with the contact that is to be billed.
const fromContact = "contactId"

// billContact lets the form for an invoice begin with a contact: with the customer that they
// are, or with the customer that it will make of them.
func billContact(v *desk.Visit, f *desk.Form) error {
	ref, ok := id.Parse(v.R.FormValue(fromContact))
	at := slices.IndexFunc(f.Fields, func(in desk.Input) bool { return in.Name == "customerId" })
	if !ok || at < 0 || !v.May("contacts.get") {
		return nil
	}
	names, err := v.Names("contacts", []id.ID{ref})
	if err != nil || names[ref] == "" {
		return err
	}
	known, err := desk.ListFirst[customer.Customer](v, "customers.list", desk.Fields{"contactId": ref})
	if err != nil {
		return err
	}
	in := &f.Fields[at]
	switch {
	case len(known) == 1 && in.Value == "":
		in.Value = string(known[0].ID)
	case len(known) > 1:
		in.Kind, in.Pick = "choice", ""
		for _, c := range known {
			in.Options = append(in.Options, desk.Option{Value: string(c.ID), Text: c.Name})
		}
	case len(known) == 0 && v.May("customers.create"):
		f.Fields = slices.Delete(f.Fields, at, at+1)
		f.Fields[0].Focus = true
		f.Hidden[fromContact] = string(ref)
		f.Lead = names[ref] + " becomes a customer. " + f.Lead
	}
	return nil
}

// createInvoice drafts an invoice, and makes a customer of the contact that it bills if
// the form says so.
func createInvoice(v *desk.Visit, in desk.Fields, made *invoice.Invoice) error {
	ref, ok := id.Parse(v.Value(fromContact))
	if !ok || v.R.PostForm.Has("customerId") {
		return v.Do("invoices.create", in, made)
	}
	var who contact.Contact
	if err := v.Do("contacts.get", desk.Fields{"id": ref}, &who); err != nil {
		return err
	}
	names, err := v.Names("contacts", []id.ID{ref})
	if err != nil {
		return err
	}
	person := v.Chosen("customers.create", desk.Fields{"name": names[ref], "contactId": ref, "type": "individual"})
	if who.FirstName == nil && who.LastName == nil && who.OrganizationName != nil {
		person["type"] = "business"
	}
	var c customer.Customer
	return v.InOrder(desk.Step{Operation: "customers.create", Out: &c, Input: func() desk.Fields { return person }},
		desk.Step{Operation: "invoices.create", Out: made, Input: func() desk.Fields {
			in["customerId"] = c.ID
			return in
		}})
}

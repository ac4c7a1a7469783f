package money

import (
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/invoice"
)

// catalogOptions are what the business of an invoice sells, each with its price.
func catalogOptions(v *desk.Visit, i *invoice.Invoice) (out []desk.Option, err error) {
	if !v.May("businesses.offerings.list") {
		return nil, nil
	}
	rows, err := desk.ListFirst[business.BusinessOffering](v, "businesses.offerings.list",
		desk.Fields{"id": i.BusinessID, "isActive": true})
	for _, o := range rows {
		text := o.Name
		if price := priceWords(v, &o); price != "" {
			text += " · " + price
		}
		out = append(out, desk.Option{Value: string(o.ID), Text: text})
	}
	return out, err
}

// priceWords is what something costs, or nothing where it has no price.
func priceWords(v *desk.Visit, o *business.BusinessOffering) string {
	if o.PriceCents == nil {
		return ""
	}
	text := v.Money(*o.PriceCents, o.Currency)
	if o.Unit != nil && *o.Unit != "" {
		text += " / " + *o.Unit
	}
	return text
}

// lineFromCatalog is a new line with what the form chose from the catalog. A price in another
// currency is not converted: the writer is told of it.
func lineFromCatalog(v *desk.Visit, i *invoice.Invoice) (x line, item desk.Fields, err error) {
	ref, ok := id.Parse(v.Value("offering"))
	if !ok {
		return x, nil, fault.NotFound.New()
	}
	var o business.BusinessOffering
	err = v.Do("businesses.offerings.get", desk.Fields{"id": i.BusinessID, "offeringId": ref}, &o)
	if err != nil {
		return x, nil, err
	}
	x = line{Description: o.Name, Quantity: "1"}
	if o.TaxRate != nil {
		x.Tax = *o.TaxRate
	}
	switch {
	case o.PriceCents == nil:
		x.At, x.Wrong = "price", "It has no fixed price in your catalog; write one"
		return x, nil, nil
	case o.Currency != i.Currency:
		x.At, x.Wrong = "price", "It costs "+priceWords(v, &o)+" in your catalog; write the price in "+
			strings.ToUpper(i.Currency)
		return x, nil, nil
	}
	x.Price = desk.Plain(*o.PriceCents, i.Currency)
	item = x.read(i.Currency)
	if o.TaxName != nil && o.TaxRate != nil {
		item["taxName"] = *o.TaxName
	}
	return x, item, nil
}

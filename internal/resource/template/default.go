package template

// The keys under which the service itself looks for a template.
const (
	Invoice         = "invoice"
	InvoiceReminder = "invoice_reminder"
	PaymentReceipt  = "payment_receipt"
)

// defaults are the texts for an organization that has no active template of a
// key. They name no value that an invoice can lack, or have a default for it.
var defaults = map[string]Content{
	Invoice: {BodyFormat: markdown,
		Subject: "Invoice {{ invoice.number }} from {{ business.name }}",
		Body: `Hello {{ customer.name | default: "there" }},

here is invoice **{{ invoice.number }}** from {{ business.name }}.

| | |
|---|---|
| Amount | {{ invoice.total }} |
| Due | {{ invoice.dueDate | default: "on receipt" }} |

The invoice is attached as a PDF. If anything about it is unclear, just reply to this message.

Thank you,
{{ business.name }}
`},
	InvoiceReminder: {BodyFormat: markdown,
		Subject: "Reminder: invoice {{ invoice.number }} from {{ business.name }}",
		Body: `Hello {{ customer.name | default: "there" }},

invoice **{{ invoice.number }}** was due {{ invoice.dueDate | default: "on receipt" }}, and we have not seen the whole payment yet.

| | |
|---|---|
| Amount | {{ invoice.total }} |
| Still open | {{ invoice.amountDue | default: "see the attached invoice" }} |

If you have paid in the meantime, please ignore this message. If something stands in the way, just reply, and we will find a solution.

Thank you,
{{ business.name }}
`},
	PaymentReceipt: {BodyFormat: markdown,
		Subject: "Your payment for invoice {{ invoice.number }}",
		Body: `Hello {{ customer.name | default: "there" }},

thank you. We received **{{ payment.amount }}** for invoice {{ invoice.number }}.

| | |
|---|---|
| Received | {{ payment.paidAt | default: "today" }} |
| Still open | {{ invoice.amountDue | default: "nothing" }} |

Kind regards,
{{ business.name }}
`},
}

// Default is the built-in text of a key. It panics on a key that there is not.
func Default(key string) Content {
	c, ok := defaults[key]
	if !ok {
		panic("template: no key " + key)
	}
	return c
}

package template

// The keys under which the service itself looks for a template.
const (
	Invoice         = "invoice"
	InvoiceReminder = "invoice_reminder"
	PaymentReceipt  = "payment_receipt"
)

// InvoiceButtonLabel is the button of mail about an invoice, which leads to its page.
const InvoiceButtonLabel = "See the invoice"

// defaultContents are the texts for an organization without an active template for a
// key. Every value they name always exists on an invoice or has a default.
var defaultContents = map[string]Content{
	Invoice: {BodyFormat: formatMarkdown,
		Subject: "Invoice {{ invoice.number }} from {{ business.name }}",
		Body: `Hello {{ customer.name | default: "there" }},

{{ message | default: "" }}

here is invoice **{{ invoice.number }}** from {{ business.name }}.

| | |
|---|---|
| Amount | {{ invoice.total }} |
| Due | {{ invoice.dueDate | default: "on receipt" }} |

It is also attached as a PDF. If anything about it is unclear, just reply to this message.

Thank you,\
{{ business.name }}
`},
	InvoiceReminder: {BodyFormat: formatMarkdown,
		Subject: "Reminder: invoice {{ invoice.number }} from {{ business.name }}",
		Body: `Hello {{ customer.name | default: "there" }},

{{ message | default: "" }}

this is a reminder of invoice **{{ invoice.number }}**. It is due {{ invoice.dueDate | default: "on receipt" }}, and we
have not seen the whole payment yet.

| | |
|---|---|
| Amount | {{ invoice.total }} |
| Still open | {{ invoice.amountDue | default: "see the attached invoice" }} |

If you have paid in the meantime, please ignore this message. If something stands in the way, just reply,
and we will find a solution.

Thank you,\
{{ business.name }}
`},
	PaymentReceipt: {BodyFormat: formatMarkdown,
		Subject: "Your payment for invoice {{ invoice.number }}",
		Body: `Hello {{ customer.name | default: "there" }},

thank you. We received **{{ payment.amount }}** for invoice {{ invoice.number }}.

| | |
|---|---|
| Received | {{ payment.paidAt | default: "today" }} |
| Still open | {{ invoice.amountDue | default: "nothing" }} |

Kind regards,\
{{ business.name }}
`},
}

// DefaultContent is the built-in text of a key. It panics on an unknown key.
func DefaultContent(key string) Content {
	c, ok := defaultContents[key]
	if !ok {
		panic("template: no key " + key)
	}
	return c
}

package invoice

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ReminderRule says when a business reminds of an invoice that is not paid. A
// business without rules never does. remind.go sends them.
type ReminderRule struct {
	op.Record
	BusinessID   id.ID `json:"businessId"`
	DaysAfterDue int64 `json:"daysAfterDue" doc:"days after dueAt; negative is before"`
}

var reminderRules = op.NewNested[ReminderRule]("invoice_reminder_rules", db.Life{
	Noun:      "invoice reminder",
	Strangers: db.NobodyOutside,
	Parent:    db.To("business_id", "businesses"),
})

// maxReminderRules bounds how often somebody is reminded of one invoice.
const maxReminderRules = 10

// The refusals of reminders.
var (
	ReminderExists = fault.Define("INVOICE_REMINDER_EXISTS", 409,
		"The business already reminds of its invoices on that day.")
	TooManyReminders = fault.Define("INVOICE_REMINDER_LIMIT_REACHED", 409, "A business has at most 10 reminders.")
)

func reminderOperations() []*op.Op {
	const business = `"id": "4b7e1f20-3c5d-4e8a-8f6b-9a0c1d2e3f41"`
	const ref = business + `, "invoiceReminderId": "3a6f0d52-9c1e-4b7a-8d24-5e6f7a8b9c0d"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:    "businesses.invoice_reminders.list",
			Route:   "GET /v1/businesses/{id}/invoice-reminders",
			Summary: "List when a business reminds of its invoices.",
			Example: `{` + business + `}`,
		}, listReminderRules),
		op.Write(op.Spec{
			Name:    "businesses.invoice_reminders.create",
			Route:   "POST /v1/businesses/{id}/invoice-reminders",
			Summary: "Remind of every invoice that is not paid, some days after or before it is due.",
			Description: "The reminder goes to billToEmail, with the template invoice_reminder and the PDF: once for " +
				"each invoice and rule, and never after it is paid. It begins with invoices whose day comes from now " +
				"on. A new business has no rules.",
			Errors:  []*fault.Kind{ReminderExists, TooManyReminders},
			Events:  []string{"business.invoice_reminder.created"},
			Example: `{` + business + `, "daysAfterDue": 7}`,
		}, createReminderRule),
		op.Read(op.Spec{
			Name:    "businesses.invoice_reminders.get",
			Route:   "GET /v1/businesses/{id}/invoice-reminders/{invoiceReminderId}",
			Summary: "Get one rule by which a business reminds of its invoices.",
			Example: `{` + ref + `}`,
		}, getReminderRule),
		op.Write(op.Spec{
			Name:    "businesses.invoice_reminders.delete",
			Route:   "DELETE /v1/businesses/{id}/invoice-reminders/{invoiceReminderId}",
			Summary: "Stop reminding on that day.",
			Events:  []string{"business.invoice_reminder.deleted"},
			Example: `{` + ref + `}`,
		}, deleteReminderRule),
	}
}

type reminderRuleList struct {
	op.Page
	ID id.ID `path:"id" doc:"the business"`
}

func listReminderRules(ctx context.Context, c *op.Call, in reminderRuleList) (*op.List[ReminderRule], error) {
	return reminderRules.List(ctx, c, in.ID, in.Page)
}

type reminderRuleCreate struct {
	ID           id.ID `path:"id" doc:"the business"`
	DaysAfterDue int64 `json:"daysAfterDue" min:"-90" max:"365" doc:"days after dueAt; negative is before"`
}

func createReminderRule(ctx context.Context, c *op.Call, in reminderRuleCreate) (*ReminderRule, error) {
	if err := reminderRules.Lock(ctx, c, in.ID); err != nil {
		return nil, err
	}
	n, err := reminderRules.Rows.Count(ctx, c.Tx, reminderRules.Under(c, in.ID))
	if err != nil {
		return nil, err
	}
	if n >= maxReminderRules {
		return nil, TooManyReminders.New()
	}
	v := &ReminderRule{Record: c.NewRecord(), BusinessID: in.ID, DaysAfterDue: in.DaysAfterDue}
	free, err := reminderRules.Rows.TryInsert(ctx, c.Tx, v)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, ReminderExists.New()
	}
	return v, c.Emit("business.invoice_reminder.created", v.ID, v)
}

type reminderRuleRef struct {
	ID                id.ID `path:"id" doc:"the business"`
	InvoiceReminderID id.ID `path:"invoiceReminderId"`
}

func getReminderRule(ctx context.Context, c *op.Call, in reminderRuleRef) (*ReminderRule, error) {
	return reminderRules.Get(ctx, c, in.ID, in.InvoiceReminderID)
}

func deleteReminderRule(ctx context.Context, c *op.Call, in reminderRuleRef) (op.Nothing, error) {
	v, err := reminderRules.Remove(ctx, c, in.ID, in.InvoiceReminderID)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("business.invoice_reminder.deleted", v.ID, v)
}

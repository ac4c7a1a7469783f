package invoice

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ReminderRule says on which day a business reminds of an invoice that is not paid. A business
// without rules never does. remind.go sends the reminders.
type ReminderRule struct {
	op.Record
	BusinessID   id.ID `json:"businessId"`
	DaysAfterDue int64 `json:"daysAfterDue" doc:"days after dueAt; negative is before"`
}

var reminderRules = op.NewNested[ReminderRule]("invoice_reminder_rules", db.Life{
	Noun:         "invoice reminder",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("business_id", "businesses"),
})

// maxReminderRules bounds how often a customer is reminded of one invoice.
const maxReminderRules = 10

// The refusals of reminders.
var (
	ReminderExists = fault.DefineKind("INVOICE_REMINDER_EXISTS", 409,
		"The business already reminds of its invoices on that day.")
	TooManyReminders = fault.DefineKind("INVOICE_REMINDER_LIMIT_REACHED", 409, "A business has at most 10 reminders.")
)

func reminderOperations() []*op.Op {
	const business = `"id": "4b7e1f20-3c5d-4e8a-8f6b-9a0c1d2e3f41"`
	return []*op.Op{
		op.ListChildren(op.Spec{
			Name:      "businesses.invoice_reminders.list",
			NounWords: "dunning, payment reminder, remind, nudge, chase",
			Words:     "when",
			Summary:   "List when a business reminds of its invoices.",
		}, reminderRules),
		op.Write(op.Spec{
			Name:    "businesses.invoice_reminders.create",
			Words:   "automatically, days after, days before, week after, due date, before due",
			Route:   "POST /v1/businesses/{id}/invoice-reminders",
			Summary: "Remind of every invoice that is not paid, some days after or before it is due.",
			Description: "The reminder goes to billToEmail, with the template invoice_reminder and the PDF: once for " +
				"each invoice and rule, and never after it is paid. It begins with invoices whose day comes from now " +
				"on. A new business has no rules.",
			Errors:  []*fault.Kind{ReminderExists, TooManyReminders},
			Events:  []string{"business.invoice_reminder.created"},
			Example: `{` + business + `, "daysAfterDue": 7}`,
		}, createReminderRule),
		op.GetChild(op.Spec{
			Name:    "businesses.invoice_reminders.get",
			Summary: "Get one rule by which a business reminds of its invoices.",
		}, reminderRules),
		op.DeleteChild(op.Spec{
			Name:    "businesses.invoice_reminders.delete",
			Words:   "stop remind, stop reminders, no more reminders",
			Summary: "Stop reminding on that day.",
		}, reminderRules),
	}
}

type reminderRuleCreate struct {
	ID           id.ID `path:"id" doc:"the business"`
	DaysAfterDue int64 `json:"daysAfterDue" min:"-90" max:"365" doc:"days after dueAt; negative is before"`
}

func createReminderRule(ctx context.Context, c *op.Call, in reminderRuleCreate) (*ReminderRule, error) {
	if err := reminderRules.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	n, err := reminderRules.Rows.Count(ctx, c.Tx, reminderRules.WhereParent(c, in.ID))
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

package app

import (
	"context"
	"time"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/webhook"
)

// How many rows one transaction removes, or looks at: few enough that nobody
// waits for it.
const (
	purgeBatch  = 500
	purgeWindow = 1000

	overdueBatch = 100
)

// purges are the statements that end soft-deleted rows after their retention,
// children before their parents, and what names a row before the row.
var purges = []string{
	purge("property_values"),
	purgeUnder("property_values", "definition_id", "property_definitions"), purge("property_definitions"),
	purge("task_assignees"), purgeUnder("task_assignees", "task_id", "tasks"), purgeUnder("task_activity", "task_id", "tasks"), purge("tasks"),
	purge("message_attachments"), purgeUnder("message_attachments", "message_id", "messages"), purge("message_contacts"), purgeUnder("message_contacts", "message_id", "messages"),
	purgeUnder("message_recipients", "message_id", "messages"), forget("messages", "in_reply_to_id", "messages"), purge("messages"),
	purgeUnder("property_values", "object_id", "contacts"),
	forget("messages", "contact_id", "contacts"), purgeUnder("message_contacts", "contact_id", "contacts"),
	forget("customers", "contact_id", "contacts"),
	forget("tasks", "contact_id", "contacts"),
	forget("email_opt_ins", "contact_id", "contacts"),
	purge("contact_emails"), purge("contact_phone_numbers"), purge("contact_addresses"), purge("contacts"),
	purge("invoice_line_items"), purge("invoices"), // only drafts are deleted; what was issued stays, and its payments with it
	purgeUnder("property_values", "object_id", "customers"), purgeUnder("customer_transactions", "customer_id", "customers"),
	forget("invoices", "customer_id", "customers"), forget("tasks", "customer_id", "customers"),
	forget("messages", "customer_id", "customers"), purge("customers"),
	purge("business_offerings"), purgeUnder("business_offerings", "business_id", "businesses"),
	purge("business_online_presences"), purgeUnder("business_online_presences", "business_id", "businesses"),
	purge("business_physical_presences"), purgeUnder("business_physical_presences", "business_id", "businesses"),
	purgeUnder("business_profiles", "business_id", "businesses"),
	purgeUnder("property_values", "object_id", "businesses"), // the business itself stays: keys and agreements tell of it
	forget("messages", "template_id", "email_templates"), purge("email_templates"), purge("email_opt_ins"),
	purge("automations"), // what they did ends by its own retention
	purge("dns_records"), purgeUnder("dns_records", "domain_id", "domains"), purgeUnder("domain_email", "domain_id", "domains"),
	purge("domains"), // a subdomain is deleted before its domain, so it is purged before it or with it
	forget("domains", "contact_id", "domain_contacts"), purge("domain_contacts"), purge("operations"),
	purgeUnder("webhook_deliveries", "webhook_id", "webhooks"), purge("webhooks"),
	purge("agents"), purge("payment_methods"), purge("payment_customers"), purge("invites"),
	forget("businesses", "logo_file_id", "files"), forget("message_attachments", "file_id", "files"), purge("file_access_links"), purge("folders"), // files have bytes to end with them: file.Purge
}

func purge(table string) string {
	return "DELETE FROM " + table + " WHERE seq IN (SELECT seq FROM " + oldest(table) + ")"
}

// oldest are the rows that the next batch ends.
func oldest(table string) string {
	return table + " WHERE deleted_at <= $1 ORDER BY deleted_at, seq LIMIT $2"
}

// purgeUnder ends the rows that name a deleted row, and were not deleted
// themselves because there may be too many for one transaction.
func purgeUnder(table, column, parent string) string {
	return "DELETE FROM " + table + " WHERE seq IN (" + naming(table, column, parent) + ")"
}

// forget clears references to deleted rows.
func forget(table, column, parent string) string {
	return "UPDATE " + table + " SET " + column + " = NULL WHERE seq IN (" + naming(table, column, parent) + ")"
}

// naming finds what names the parents that the same batch ends. Others wait:
// a batch that asked for all of them would take longer the more there are.
// Businesses stay, so that all are asked for.
func naming(table, column, parent string) string {
	parents := "(SELECT id, organization_id FROM " + oldest(parent) + ")"
	if parent == "businesses" {
		parents = "(SELECT id, organization_id FROM businesses WHERE deleted_at <= $1)"
	}
	return "SELECT r.seq FROM " + parents + " AS p JOIN " + table + " r ON r.organization_id = p.organization_id AND r." + column + " = p.id LIMIT $2"
}

// overdueEvery is how often the clock moves what passed its time.
const overdueEvery = 10 * time.Second

// retention declares the jobs that remove what has been kept long enough, and
// move what the clock moves.
func (a *App) retention() {
	a.sweep("idempotency.expire", time.Hour, windows("idempotency", op.Expired,
		func(now clock.Time) clock.Time { return now.Add(-a.Settings.Retention.Idempotency) }))
	a.sweep("events.expire", time.Hour, windows("events", "created_at <= $3",
		func(now clock.Time) clock.Time { return now.Add(-a.Settings.Retention.Events) }))
	a.sweep("webhooks.expire", time.Hour, windows("webhook_deliveries", "created_at <= $3",
		func(now clock.Time) clock.Time { return now.Add(-a.Settings.Retention.Deliveries) }))
	a.sweep("webhooks.forget_secrets", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return webhook.Purge(ctx, tx, now, purgeBatch)
	})
	a.sweep("received_mails.expire", time.Hour, windows("received_mails", "created_at <= $3",
		func(now clock.Time) clock.Time { return now.Add(-message.RepetitionTime) }))
	a.sweep("automations.expire", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return automation.Expire(ctx, tx, now.Add(-a.Settings.Retention.Executions), purgeBatch)
	})
	a.sweep("grants.expire", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return grant.Purge(ctx, tx, now, purgeBatch)
	})
	a.sweep("invoices.overdue", overdueEvery, func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		return invoice.MakeOverdue(ctx, tx, a.Events, now, overdueBatch)
	})
	a.sweep("mailbox.expire", time.Hour, windows("mailbox_mails", "created_at <= $3",
		func(now clock.Time) clock.Time { return now.Add(-a.Settings.Retention.Deleted) }))
	a.sweep("card_setups.expire", time.Hour, windows("card_setups", "created_at <= $3",
		func(now clock.Time) clock.Time { return now.Add(-a.Settings.Retention.Deleted) }))
	a.sweep("deleted.purge", time.Hour, func(ctx context.Context, tx *db.Tx, now clock.Time) (more bool, err error) {
		for _, statement := range purges {
			n, err := db.Exec(ctx, tx, statement, now.Add(-a.Settings.Retention.Deleted), purgeBatch)
			if err != nil || n == purgeBatch {
				return true, err // the parents wait until no child is left
			}
		}
		n, err := file.Purge(ctx, tx, now.Add(-a.Settings.Retention.Deleted), purgeBatch)
		return n == purgeBatch, err
	})
}

// windows removes old rows of a table that has no index on their age: it walks
// the table in the order of insertion, a window per transaction, until a
// window has only younger rows. Those that follow are younger still.
func windows(table, old string, before func(now clock.Time) clock.Time) func(context.Context, *db.Tx, clock.Time) (bool, error) {
	last := int64(0)
	type window struct {
		End    *int64      `db:"last"`
		Oldest *clock.Time `db:"oldest"`
	}
	return func(ctx context.Context, tx *db.Tx, now clock.Time) (bool, error) {
		w, err := db.One[window](ctx, tx, "SELECT max(seq) AS last, min(created_at) AS oldest FROM (SELECT seq, created_at FROM "+table+" WHERE seq > $1 ORDER BY seq LIMIT $2) AS next", last, purgeWindow)
		if err != nil || w.End == nil || *w.Oldest > before(now) {
			last = 0
			return false, err
		}
		_, err = db.Exec(ctx, tx, "DELETE FROM "+table+" WHERE seq > $1 AND seq <= $2 AND "+old, last, *w.End, before(now))
		tx.OnCommit(func() { last = *w.End })
		return true, err
	}
}

// sweep declares a periodic job that works in batches until none is left.
func (a *App) sweep(kind string, every time.Duration, batch func(context.Context, *db.Tx, clock.Time) (more bool, err error)) {
	job.HandleTx(a.Jobs, kind, func(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
		more, err := batch(ctx, tx, a.Clock.Now())
		if err == nil && more {
			return job.Later(0)
		}
		return err
	}, job.Every(every))
}

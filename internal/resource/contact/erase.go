package contact

import (
	"context"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/optin"
)

// Erasing removes a person for good, where deleting hides one: the rows are
// gone, also soft-deleted ones, and so is what tells of them in the event log,
// in stored answers and in waiting jobs. The events themselves stay, without
// their data.

func eraseOperations() []*op.Op {
	return []*op.Op{
		op.Write(op.Spec{Name: "contacts.erase", Summary: "Remove a person from rows, events, stored answers, jobs and search, for good.",
			Description: "Works on deleted contacts too. Opt-ins of the person's addresses go as well: what has none gets no marketing mail. Customers are records of their own: they stay, and no longer name the contact. So are invoices, which say whom they were made out to. Tasks about the contact stay without their words.",
			Resource:    "contacts", Doors: op.Admin, Events: []string{"contact.erased"},
			Example: `{"id": ` + exampleID + `}`}, eraseContact),
	}
}

// Erased is how many rows an erasure removed or emptied.
type Erased struct {
	ID                id.ID `json:"id"`
	Contacts          int64 `json:"contacts"`
	Emails            int64 `json:"emails"`
	PhoneNumbers      int64 `json:"phoneNumbers"`
	Addresses         int64 `json:"addresses"`
	PropertyValues    int64 `json:"propertyValues"`
	EmailOptIns       int64 `json:"emailOptIns"`
	Events            int64 `json:"events" doc:"events that lost their data"`
	Answers           int64 `json:"answers" doc:"answers that were kept for retries"`
	Jobs              int64 `json:"jobs"`
	WebhookAttempts   int64 `json:"webhookAttempts" doc:"attempts before the last that lost what the endpoint answered"`
	WebhookDeliveries int64 `json:"webhookDeliveries" doc:"deliveries that lost what the endpoint answered"`
	Customers         int64 `json:"customers" doc:"customers that no longer name the contact"`
	Tasks             int64 `json:"tasks" doc:"tasks that no longer name the contact, and lost their title and description"`
	Messages          int64 `json:"messages" doc:"messages that lost their words and the person's addresses"`
	TaskActivity      int64 `json:"taskActivity" doc:"comments and changes of tasks that lost their words"`
	Executions        int64 `json:"executions" doc:"executions of automations that lost their inputs and results"`
}

type contactErase struct {
	ID id.ID `json:"id" doc:"the contact"`

	traces   []trace
	messages trace
	looked   []id.ID // whom the traces were looked through for: the contact and its opt-ins
}

// trace is where a table without an index tells of a person: its rows are
// looked through, all those of the organization.
type trace struct {
	key, table string
	where      string // $1 is the organization, $2 the contact
	bytes      bool   // the contact's id is looked for in bytes
	end        string // what happens to the rows
	count      func(*Erased) *int64

	after int64   // rows up to here were looked through before the transaction
	found []int64 // in them
}

// mentions are the traces, in the engine's words. Children and properties that
// were purged are known only by the data of their events.
func mentions(e db.Engine) []trace {
	within := func(column string) string { return "instr(" + column + ", $2) > 0" }
	inBytes := within
	if e == db.Postgres {
		within = func(column string) string { return "strpos(CAST(" + column + " AS text), $2) > 0" }
		inBytes = func(column string) string { return "position(CAST($2 AS bytea) IN " + column + ") > 0" }
	}
	// Asked row by row, so that only the events of new deliveries are looked at.
	told := "EXISTS (SELECT 1 FROM events WHERE organization_id = $1 AND seq = event_seq AND (resource_type LIKE 'task%' OR " + within("data") + "))"
	// Before the events, by which the executions are found.
	return slices.Concat(executionMentions(e), []trace{
		// An endpoint's answer may repeat what it was told; of tasks, any may be about the person.
		// First, while the events still say whom they tell of.
		{key: "seq", table: "webhook_attempts", where: "organization_id = $1 AND response_body IS NOT NULL AND EXISTS (SELECT 1 FROM webhook_deliveries WHERE organization_id = $1 AND id = delivery_id AND " + told + ")",
			end: "UPDATE webhook_attempts SET response_body = NULL", count: func(e *Erased) *int64 { return &e.WebhookAttempts }},
		{key: "seq", table: "webhook_deliveries", where: "organization_id = $1 AND response_body IS NOT NULL AND " + told,
			end: "UPDATE webhook_deliveries SET response_body = NULL", count: func(e *Erased) *int64 { return &e.WebhookDeliveries }},
		{key: "seq", table: "events", where: "organization_id = $1 AND (resource_type IN ('contact', 'email_opt_in') OR resource_type LIKE 'contact.%') AND type <> 'contact.erased' AND " + within("data"),
			end: "UPDATE events SET data = NULL", count: func(e *Erased) *int64 { return &e.Events }},
		// What a sealed answer says cannot be seen; those about contacts go. An
		// open claim stays: its outcome is still to come.
		{key: "seq", table: "idempotency", where: "organization_id = $1 AND status IS NOT NULL AND (" + inBytes("body") + " OR sealed AND operation LIKE 'contacts.%')", bytes: true,
			end: "DELETE FROM idempotency", count: func(e *Erased) *int64 { return &e.Answers }},
		{key: "id", table: "jobs", where: "(organization_id = $1 OR organization_id IS NULL) AND (" + within("args") + " OR " + within("unique_key") + " OR " + within("last_error") + ")",
			end: "DELETE FROM jobs", count: func(e *Erased) *int64 { return &e.Jobs }},
	}, taskMentions(e, within))
}

// look finds the rows behind after that tell of somebody.
func (tr *trace) look(ctx context.Context, tx *db.Tx, org, who id.ID, after int64) ([]int64, error) {
	var want any = string(who)
	if tr.bytes {
		want = []byte(who)
	}
	from := tr.table
	if after > 0 {
		from += " NOT INDEXED" // but by its number: SQLite would walk the organization for the few new rows
	}
	return db.All[int64](ctx, tx, "SELECT "+tr.key+" FROM "+from+" WHERE "+tr.where+" AND "+tr.key+" > $3", org, want, after)
}

// all is every row that tells of one of these, with those that were found before.
func (tr *trace) all(ctx context.Context, tx *db.Tx, org id.ID, who, looked []id.ID) ([]int64, error) {
	rows := slices.Clone(tr.found)
	for _, w := range who {
		after := int64(0)
		if slices.Contains(looked, w) {
			after = tr.after
		}
		more, err := tr.look(ctx, tx, org, w, after)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	slices.Sort(rows)
	return slices.Compact(rows), nil
}

// subjects are the ids that tell of a person: the contact's and its opt-ins'.
func subjects(ctx context.Context, tx *db.Tx, org, contact id.ID) ([]id.ID, []optin.EmailOptIn, error) {
	rows, err := optin.Of(ctx, tx, org, contact)
	who := []id.ID{contact}
	for i := range rows {
		who = append(who, rows[i].ID)
	}
	return who, rows, err
}

// Prepare looks through what may be long. On SQLite everybody's writes wait
// for a transaction; there, rows come to be in the order of their numbers, so
// the transaction looks only at those that are newer. On PostgreSQL nobody
// waits, and the order tells nothing.
func (in *contactErase) Prepare(ctx context.Context, c *op.Call) error {
	return c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		in.traces, in.messages = mentions(tx.Engine()), messageTrace(tx.Engine())
		if tx.Engine() == db.Postgres {
			return nil
		}
		who, _, err := subjects(ctx, tx, c.Org, in.ID)
		if err != nil {
			return err
		}
		look := []*trace{&in.messages}
		for i := range in.traces {
			look = append(look, &in.traces[i])
		}
		for _, tr := range look {
			last, err := db.One[int64](ctx, tx, "SELECT coalesce(max("+tr.key+"), 0) FROM "+tr.table)
			if err != nil {
				return err
			}
			if tr.found, err = tr.all(ctx, tx, c.Org, who, nil); err != nil {
				return err
			}
			tr.after = last
		}
		in.looked = who
		return nil
	})
}

// eraseRows are the tables that hold a person, children first, each with the
// column that names the contact.
func eraseRows(e *Erased) []struct {
	table, column string
	n             *int64
} {
	return []struct {
		table, column string
		n             *int64
	}{
		{emails.Rows.Name(), "contact_id", &e.Emails},
		{phoneNumbers.Rows.Name(), "contact_id", &e.PhoneNumbers},
		{addresses.Rows.Name(), "contact_id", &e.Addresses},
		{"property_values", "object_id", &e.PropertyValues}, // ids are unique across kinds of object
		{contacts.Name(), "id", &e.Contacts},
	}
}

// hold locks the rows that name the contact, also deleted ones.
func hold(ctx context.Context, c *op.Call, table, column string, contact id.ID) (seqs []int64, err error) {
	text := "SELECT seq FROM " + table + " WHERE organization_id = $1 AND " + column + " = $2"
	if c.Tx.Engine() == db.Postgres {
		text += " FOR UPDATE"
	}
	return db.All[int64](ctx, c.Tx, text, c.Org, contact)
}

func eraseContact(ctx context.Context, c *op.Call, in contactErase) (*Erased, error) {
	out := &Erased{ID: in.ID}
	// Deleted or not, it is the root: whoever writes below it waits, and then
	// finds nothing. A purged one has no row, but may have left events.
	seqs, err := hold(ctx, c, contacts.Name(), "id", in.ID)
	if err != nil {
		return nil, err
	}
	// Nobody comments on a task about the person between the look and the end.
	if _, err := hold(ctx, c, "tasks", "contact_id", in.ID); err != nil {
		return nil, err
	}
	if out.Customers, err = db.Exec(ctx, c.Tx, "UPDATE customers SET contact_id = NULL, updated_at = $3 WHERE organization_id = $1 AND contact_id = $2", c.Org, in.ID, c.Now); err != nil {
		return nil, err
	}
	who, optIns, err := subjects(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if err := eraseMessages(ctx, c, in.ID, &in.messages, in.looked, out); err != nil {
		return nil, err
	}
	if out.EmailOptIns, err = optin.Erase(ctx, c.Tx, c.Org, optIns); err != nil {
		return nil, err
	}
	for _, r := range eraseRows(out) {
		if *r.n, err = db.Exec(ctx, c.Tx, "DELETE FROM "+r.table+" WHERE organization_id = $1 AND "+r.column+" = $2", c.Org, in.ID); err != nil {
			return nil, err
		}
	}
	for _, seq := range seqs {
		db.Index(c.Tx, contacts.Name(), seq, "")
	}
	for i := range in.traces {
		tr := in.traces[i]
		rows, err := tr.all(ctx, c.Tx, c.Org, who, in.looked)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			n, err := db.Exec(ctx, c.Tx, tr.end+" WHERE "+tr.key+" = $1", row)
			if err != nil {
				return nil, err
			}
			*tr.count(out) += n
		}
	}
	// Last, for the traces are found by the tasks that name the contact.
	if err := eraseTasks(ctx, c, in.ID, out); err != nil {
		return nil, err
	}
	if *out == (Erased{ID: in.ID}) {
		return nil, fault.NotFound.Say("There is no such contact.")
	}
	return out, c.Emit("contact.erased", in.ID, out)
}

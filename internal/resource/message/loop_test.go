package message_test

import (
	"context"
	"fmt"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// deliverAll delivers all sent mail to its addresses, as the world would, until
// nothing moves any more. It returns how many mails there were.
func (d *desk) deliverAll() (mails int) {
	d.t.Helper()
	type row struct {
		Seq        int64    `db:"seq"`
		Sender     string   `db:"sender"`
		Recipients []string `db:"recipients"`
		Content    []byte   `db:"content"`
	}
	last := int64(0)
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var rows []row
		busy := 0
		err := d.DB.Read(d.t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			if busy, err = db.QueryOne[int](ctx, tx, `
				SELECT count(*)
				FROM jobs
				WHERE kind IN ('event.fan_out', 'automation.execute', 'message.deliver')
					AND state IN ('ready', 'running')`); err != nil {
				return err
			}
			rows, err = db.QueryAll[row](ctx, tx, `
				SELECT seq, sender, recipients, content
				FROM mailbox_mails
				WHERE seq > $1
				ORDER BY seq`,
				last)
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
		if busy == 0 && len(rows) == 0 {
			return mails
		}
		for _, r := range rows {
			mails, last = mails+1, r.Seq
			if mails > 100 {
				d.t.Fatal("it never ends")
			}
			for _, to := range r.Recipients {
				if !strings.HasSuffix(to, ".com") || strings.HasSuffix(to, "@example.com") {
					continue // nobody here
				}
				if err := smtp.SendMail(d.addr, nil, r.Sender, []string{to}, r.Content); err != nil {
					d.t.Fatal(err)
				}
			}
		}
	}
	d.t.Fatal("it never ends")
	return 0
}

// as is the same service for another tenant.
func (d *desk) as(v apptest.Tenant) *desk {
	a := *d.App
	a.Tenant = v
	return &desk{&a, d.t, d.Door("rest", v), d.addr}
}

// answers creates an automation that answers all incoming mail, and returns its
// id.
func (d *desk) answers(from string, more string) string {
	d.t.Helper()
	return d.call(d.t, "automations.create", fmt.Sprintf(`{"name": "Answer", "trigger": {"kind": "event",
		"event": "message.received"}, %s "steps": [{"operation": "messages.create", "input":
		{"from": %q, "to": "{{ event.data.from }}", "subject": "Re: {{ event.data.subject }}",
		"text": "Thank you, we are on holiday.",
		"inReplyToId": "{{ event.resourceId }}"}}]}`, more, from)).OK(d.t, 201).Text("id")
}

// ended lists how an automation's executions ended, oldest first.
func (d *desk) ended(automation string) (out []string) {
	d.t.Helper()
	list := d.call(d.t, "automations.executions.list", fmt.Sprintf(`{"id": %q, "limit": 100,
		"sortOrder": "asc"}`, automation)).OK(d.t, 200)
	for i := range list.Len() {
		e := list.At(fmt.Sprint(i))
		said := e.Text("status")
		if said == "failed" {
			said += " " + e.Text("steps.0.error.code")
		}
		out = append(out, said)
	}
	return out
}

// Two addresses that both answer automatically stop after one answer, which
// says what it is.
func TestAutoResponders(t *testing.T) {
	eachDesk(t, func(t *testing.T, one *desk) {
		two := one.as(one.NewTenant(t, "enterprise"))
		one.registered("engines.com")
		two.registered("looms.com")
		first, second := one.answers("desk@engines.com", ""), two.answers("desk@looms.com", "")
		one.call(t, "messages.create", `{"from": "desk@engines.com", "to": "desk@looms.com", "subject": "Cards",
			"text": "Do you have any?"}`).OK(t, 201).Same("autoSubmitted", false)
		if n := one.deliverAll(); n != 2 {
			t.Errorf("%d mails, want the letter and one answer", n)
		}
		if got := fmt.Sprint(two.ended(second), one.ended(first)); got != "[succeeded] [failed MESSAGE_LOOP]" {
			t.Errorf("the executions: %s", got)
		}
		two.received(1).At("0").Same("autoSubmitted", false)
		one.received(1).At("0").Same("autoSubmitted", true)
		var mail string
		err := one.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			content, err := db.QueryOne[[]byte](ctx, tx, "SELECT content FROM mailbox_mails WHERE organization_id = $1",
				two.Org)
			mail = string(content)
			return err
		})
		if err != nil || !strings.Contains(mail, "\r\nAuto-Submitted: auto-replied\r\n") {
			t.Errorf("%v: the answer does not say that a machine wrote it: %s", err, mail)
		}
	})
}

// A machine that answers without saying that it is one gets a limited number of
// answers. Others may still receive its mail.
func TestUnmarkedMachine(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		d.registered("engines.com")
		answer := d.answers("desk@engines.com", "")
		forward := d.call(t, "automations.create", `{"name": "Forward", "trigger": {"kind": "event",
			"event": "message.received"}, "steps": [{"operation": "messages.create", "input":
			{"from": "desk@engines.com", "to": "boss@example.com", "subject": "Fwd: {{ event.data.subject }}",
			"text": "From {{ event.data.from }}"}}]}`).OK(t, 201).Text("id")
		for i := range 12 {
			from := []string{"robot@example.com", "Robot@Example.com"}[i%2]
			d.posted(from, "desk@engines.com", "From: "+from, fmt.Sprintf("Subject: %d", i), "", fmt.Sprint(i))
			d.deliverAll()
		}
		d.posted("robot@example.com", "desk@engines.com", "From: robot@example.com", "Auto-Submitted: auto-replied",
			"Subject: marked", "", "x")
		d.deliverAll()
		count := map[string]int{}
		for _, s := range append(d.ended(answer), d.ended(forward)...) {
			count[s]++
		}
		if count["succeeded"] != 10+13 || count["failed MESSAGE_LOOP"] != 3 {
			t.Errorf("the executions: %v", count)
		}
	})
}

// The events of a mail belong to the chain of the automation that wrote it.
func TestMailAboutMail(t *testing.T) {
	eachDesk(t, func(t *testing.T, d *desk) {
		v := d.call(t, "automations.create", `{"name": "Tell", "trigger": {"kind": "event", "event": "message.sent"},
			"steps": [{"operation": "messages.create", "input":
			{"to": "boss@example.com", "subject": "Sent: {{ event.data.subject }}",
				"text": "x"}}]}`).OK(t, 201).Text("id")
		d.call(t, "messages.create", `{"to": "ada@example.com", "subject": "Cards", "text": "x"}`).OK(t, 201)
		if n := d.deliverAll(); n != 2 {
			t.Errorf("%d mails, want the letter and what tells of it", n)
		}
		if got := fmt.Sprint(d.ended(v)); got != "[succeeded failed ]" {
			t.Errorf("the executions: %s", got)
		}
		// A machine's draft that a person sends is the person's.
		w := d.call(t, "automations.create", `{"name": "Draft", "trigger": {"kind": "manual"},
			"steps": [{"operation": "messages.create", "input":
			{"to": "boss@example.com", "subject": "Draft", "text": "x", "draft": true}}]}`).OK(t, 201).Text("id")
		d.call(t, "automations.run", fmt.Sprintf(`{"id": %q}`, w)).OK(t, 200)
		d.deliverAll()
		draft := d.call(t, "messages.list", `{"status": "draft"}`).OK(t, 200).At("0")
		d.call(t, "messages.send", ref(draft)).OK(t, 200).Same("autoSubmitted", false)
	})
}

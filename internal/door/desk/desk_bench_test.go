package desk_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// BenchmarkDesk measures the CPU time of each list, search and page of the desk
// with 100,000 contacts, 50,000 messages and 20,000 invoices behind it. The process asks itself, so
// the figures include the client. Filling takes minutes:
//
//	go test -run '^$' -bench Desk -benchtime 40x -timeout 30m ./internal/door/desk
//
// FRONTDESK_BENCH_ENGINE=postgres measures PostgreSQL, under scripts/with-postgres.
func BenchmarkDesk(b *testing.B) {
	engine := db.SQLite
	if os.Getenv("FRONTDESK_BENCH_ENGINE") == "postgres" {
		engine = db.Postgres
	}
	a := apptest.Start(b, engine)
	who, thread, mail := fillDesk(b, a)
	customer, invoice := fillBooks(b, a)
	a.Clock.CorrectDrift(time.Hour, 0) // two hundred thousand events in the last minute are nobody's day
	at := owner(b, a)
	pages := []string{"/", "/contacts", "/contacts?query=person+77777", "/contacts?query=77", "/contacts?sortBy=name",
		"/contacts?tag=t7", "/contacts?offset=50000", "/contacts/" + string(who), "/inbox", "/inbox?status=closed",
		"/inbox?status=waiting", "/inbox?assigneeId=" + string(a.OwnerID), "/inbox?snoozed=true",
		"/inbox?query=subject+777", "/inbox/" + string(thread), "/inbox/new?contactId=" + string(who), "/outbox",
		"/outbox?status=failed&status=bounced",
		"/outbox?query=person+77", "/outbox/" + string(mail), "/imports", "/review", "/activity", "/tasks",
		"/customers", "/customers?query=company+77", "/customers/" + string(customer), "/invoices",
		"/invoices?status=overdue", "/invoices?query=company+77", "/invoices/" + string(invoice), "/money",
		"/search?query=person+777", "/search?query=77"}
	for _, page := range pages {
		b.Run(strings.NewReplacer("/", "_", string(who), "ID", string(thread), "ID", string(mail), "ID",
			string(customer), "ID", string(invoice), "ID", string(a.OwnerID), "ME").Replace(page), func(b *testing.B) {
			if p := at.get(page); p.Status != 200 {
				b.Fatalf("%s: %d", page, p.Status)
			}
			before := cputest.ProcessCPUTime(b)
			for range b.N {
				at.get(page)
			}
			b.ReportMetric(float64((cputest.ProcessCPUTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/page")
		})
	}
}

// fillDesk makes contacts and messages: four in a thread, most threads closed.
func fillDesk(b *testing.B, a *apptest.App) (who, thread, mail id.ID) {
	b.Helper()
	call := a.Door("action", a.Tenant)
	contacts, batch, threads := 100_000, 500, 12_500
	if os.Getenv("FRONTDESK_BENCH_SMALL") != "" { // to try something out
		contacts, threads = 10_000, 1_250
	}
	for i := 0; i < contacts; i += batch {
		var rows []string
		for j := i; j < i+batch; j++ {
			rows = append(rows, fmt.Sprintf(`{"firstName": "Person", "lastName": "No%06d", "organizationName": `+
				`"Company %d", "tags": ["t%d"], "emails": [{"email": "person%d@example.org"}]}`, j, j%5000, j%500, j))
		}
		call(b, "contacts.batch", `{"mode": "each", "rows": [`+strings.Join(rows, ",")+`]}`).OK(b, 200)
	}
	for i := range threads {
		last := id.ID("")
		for j := range 4 {
			more := ""
			if last != "" {
				more = fmt.Sprintf(`, "inReplyToId": %q`, last)
			}
			m := call(b, "messages.create", fmt.Sprintf(`{"to": "person%d@example.org", "subject": "Subject %d",
				"text": "Dear person %d, this is line %d of what we have to say.", "draft": true%s}`,
				i*7%contacts, i, i, j, more)).OK(b, 201)
			last, mail, thread = m.ID("id"), m.ID("id"), m.ID("threadId")
		}
		status := []string{"closed", "closed", "closed", "waiting"}[i%4]
		if i > threads-50 {
			status = "open"
		}
		call(b, "threads.update", fmt.Sprintf(`{"id": %q, "status": %q, "assigneeId": %q}`, thread, status, a.OwnerID)).
			OK(b, 200)
	}
	found := call(b, "contacts.list", `{"query": "person7@example.org", "limit": 1}`)
	return id.ID(found.OK(b, 200).Text("0.id")), thread, mail
}

// fillBooks makes customers with ten invoices each, one a draft, one owed and the others paid.
func fillBooks(b *testing.B, a *apptest.App) (customer, invoice id.ID) {
	b.Helper()
	call := a.Door("action", a.Tenant)
	customers := 2_000
	if os.Getenv("FRONTDESK_BENCH_SMALL") != "" {
		customers = 200
	}
	for i := range customers {
		customer = call(b, "customers.create", fmt.Sprintf(
			`{"name": "Company %d", "email": "books%d@example.org"}`, i, i)).OK(b, 201).ID("id")
		for j := range 10 {
			v := call(b, "invoices.create", fmt.Sprintf(`{"customerId": %q, "currency": "usd", "lineItems": [
				{"description": "Hours in month %d", "quantity": "%d", "unitAmountCents": 12000, "taxRate": "20"},
				{"description": "Travel", "quantity": "1", "unitAmountCents": 4900}]}`, customer, j, j+1)).OK(b, 201)
			invoice = v.ID("id")
			if j == 0 {
				continue
			}
			call(b, "invoices.issue", fmt.Sprintf(`{"id": %q}`, invoice)).OK(b, 200)
			if j < 9 {
				call(b, "invoices.record_payment", fmt.Sprintf(`{"id": %q, "amountCents": %s, "idempotencyKey": %q}`,
					invoice, v.At("totalAmountCents"), invoice)).OK(b, 201)
			}
		}
	}
	return customer, invoice
}

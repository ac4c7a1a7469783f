package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/db"
)

// BenchmarkContacts compares contacts that are created one by one with those of a
// batch, whose rows are meant to cost a tenth. The test's own share is in both.
func BenchmarkContacts(b *testing.B) {
	for _, size := range []int{1, 500} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			a := apptest.Start(b, db.SQLite)
			n := 0
			took := cputest.Of(b, func() {
				for b.Loop() {
					rows := make([]string, size)
					for i := range rows {
						n++
						rows[i] = fmt.Sprintf(`{"lastName": "L%d", "emails": [{"email": "a%d@example.com"}]}`, n, n)
					}
					if size == 1 {
						a.Send(b, a.Key, http.MethodPost, "/v1/contacts", rows[0]).OK(b, 201)
						continue
					}
					a.Send(b, a.Key, http.MethodPost, "/v1/contacts/batch",
						`{"mode": "each", "rows": [`+strings.Join(rows, ",")+`]}`).OK(b, 200)
				}
			})
			b.ReportMetric(float64(took.Microseconds())/float64(n), "µs-CPU/row")
		})
	}
}

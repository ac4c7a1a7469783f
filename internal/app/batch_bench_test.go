package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// BenchmarkContacts compares contacts that are created one by one with those of a
// batch: a row of a batch is meant to cost a tenth.
func BenchmarkContacts(b *testing.B) {
	row := func(n int) string {
		return fmt.Sprintf(`{"firstName": "Ada", "lastName": "Lovelace%d", "emails": [{"email": "a%d@example.com"}]}`, n, n)
	}
	for _, size := range []int{1, 500} {
		for _, mode := range []string{"atomic", "each"} {
			b.Run(fmt.Sprintf("%s/%d", mode, size), func(b *testing.B) {
				a := apptest.Start(b, db.SQLite)
				n := 0
				for b.Loop() {
					if size == 1 {
						n++
						a.Send(b, a.Key, http.MethodPost, "/v1/contacts", row(n)).OK(b, 201)
						continue
					}
					var rows []string
					for range size {
						n++
						rows = append(rows, row(n))
					}
					a.Send(b, a.Key, http.MethodPost, "/v1/contacts/batch",
						`{"mode": "`+mode+`", "rows": [`+strings.Join(rows, ",")+`]}`)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/row")
			})
		}
	}
}

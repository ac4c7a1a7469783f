package transfer_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// BenchmarkImport imports contacts with everything that a file of them has. Rows
// sets how many.
func BenchmarkImport(b *testing.B) {
	rows, err := strconv.Atoi(os.Getenv("ROWS"))
	if err != nil {
		rows = 5000
	}
	a := apptest.Start(b, db.SQLite)
	if err := a.Jobs.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	for n := range b.N {
		var text strings.Builder
		text.WriteString("External ID,First Name,Last Name,Email,Phone,Company,Tags,City,Street,Notes\n")
		for i := range rows {
			fmt.Fprintf(&text, "x%d-%d,Ada,Müller%d,p%d-%d@example%d.com,+4930%d,\"Company %d, Ltd\","+
				"\"customer, batch%d\",Berlin,Main St %d,note %d\n", n, i, i, n, i, i%97, 1000000+i, i%5000, i%7, i, i)
		}
		v := finish(b, a, upload(b, a, a.Key, "big.csv", text.String(), "objectType", "contacts"))
		if v.Number("counts.created") != float64(rows) {
			b.Fatalf("%s", v)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*rows), "µs/row")
}

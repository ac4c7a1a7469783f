package invoice

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/resource/business"
)

// text is what a reader of the PDF sees, its spaces made one.
func text(t testing.TB, pdf []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.pdf")
	if err := os.WriteFile(name, pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "pdftotext", "-layout", name, "-").CombinedOutput()
	if err != nil {
		t.Skipf("pdftotext: %v %s (Debian: poppler-utils)", err, out)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(string(out), "\u00a0", " ")), " ")
}

// The PDFs of random invoices and of their credit notes print the figures of the
// API, in currencies of 0, 2 and 3 digits.
func TestPrintedFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := locale.New("en-US", "UTC")
	from := &business.Letterhead{Name: "Shop", Locale: "en-US", Timezone: "UTC"}
	number := "INV-000001"
	for i := range 36 {
		lines, discount, included := randomLines(r)
		v, err := priced(lines, discount, included)
		if err != nil {
			t.Fatal(err)
		}
		v.Currency, v.Status, v.InvoiceNumber = []string{"usd", "jpy", "kwd"}[i%3], statusIssued, &number
		money := func(cents int64) string { return strings.ReplaceAll(f.Money(cents, v.Currency), "\u00a0", " ") }
		var want []string
		for i := range v.LineItems {
			l := &v.LineItems[i]
			l.ID, l.Description = id.New(), "Work"
			l.DiscountPercent = lines[i].DiscountPercent
			want = append(want, "Work "+f.Number(l.Quantity)+" "+money(l.UnitAmountCents)+" ", " "+money(l.AmountCents))
		}
		half := CreditNote{CreditNoteNumber: "CN-000001",
			LineItems: v.creditRemaining(nil)[:min(1, len(v.creditRemaining(nil)))]}
		half.Currency = v.Currency
		if err := half.computeTotals(v, v.chargedGroups(nil), nil); err != nil {
			t.Fatal(err)
		}
		pdf, err := RenderInvoice(v, from)
		if err != nil {
			t.Fatal(err)
		}
		note, err := RenderCreditNote(&half, v, from)
		if err != nil {
			t.Fatal(err)
		}
		figures := func(subtotal, discount int64, taxes []Tax, total int64) (out []string) {
			if discount > 0 {
				out = append(out, "Subtotal "+money(subtotal), "Discount "+money(-discount))
			}
			for _, x := range taxes {
				out = append(out, x.Rate+"% on "+money(x.BaseCents)+" "+money(x.AmountCents))
			}
			return append(out, "Total "+money(total))
		}
		want = append(want, figures(v.SubtotalCents, v.DiscountCents, v.Taxes, v.TotalCents)...)
		want = append(want, "Amount due ("+strings.ToUpper(v.Currency)+") "+money(v.AmountDueCents))
		has(t, text(t, pdf), want)
		want = figures(half.SubtotalCents, half.DiscountCents, half.Taxes, half.TotalCents)
		has(t, text(t, note), append(want, "CREDIT NOTE", "For invoice INV-000001",
			"Amount credited ("+strings.ToUpper(v.Currency)+") "+money(half.TotalCents)))
	}
}

func has(t testing.TB, printed string, want []string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(printed, w) {
			t.Errorf("%q is not in %s", w, printed)
		}
	}
}

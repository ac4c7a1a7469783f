package invoice_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/invoice"
)

// sample is an invoice with the given number of lines.
func sample(lines int) (*invoice.Invoice, *business.Letterhead) {
	at := func(day int) *clock.Time {
		t := clock.FromStd(time.Date(2026, 1, day, 23, 30, 0, 0, time.UTC))
		return &t
	}
	text := func(s string) *string { return &s }
	v := &invoice.Invoice{Record: op.Record{CreatedAt: *at(1)}, Status: "issued", InvoiceNumber: text("INV-000042"),
		Currency: "usd", IssuedAt: at(2), DueAt: at(31),
		BillToName: text("Lovelace & Co"), BillToEmail: text("ada@example.com"),
		BillToAddressLine1: text("12 St James's Square"), BillToAddressLine2: text("Flat 2"),
		BillToCity: text("London"), BillToPostalCode: text("SW1Y 4LB"), BillToCountry: text("GB"),
		Notes: text("Thank you for your custom."),
		Terms: text("Payable within 30 days by bank transfer.\nPlease name the number of the invoice.")}
	for i := range lines {
		l := invoice.LineItem{Description: fmt.Sprintf("Item number %d, an engine part", i+1),
			Quantity: fmt.Sprint(i%7+1) + ".5", UnitAmountCents: int64(100*i + 1999),
			AmountCents: int64((2*(i%7)+3)*(100*i+1999)+1) / 2, Position: i}
		v.LineItems = append(v.LineItems, l)
		v.TotalAmountCents += l.AmountCents
	}
	v.AmountDueCents = v.TotalAmountCents
	return v, &business.Letterhead{Name: "Analytical Engines", Lines: []string{"Analytical Engines Manufacturing Ltd",
		"1 Dorset Street, London W1U 4EE", "office@example.com", "Tax ID GB 123 4567 89"},
		Timezone: "America/New_York", Locale: "en-US"}
}

// picture is a PNG in one color.
func picture(width, height int, c color.Color) []byte {
	p := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(p, p.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, p); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// samples are the documents that are checked; FRONTDESK_PDF_FOLDER keeps them.
func samples() map[string]func() (*invoice.Invoice, *business.Letterhead) {
	text := func(s string) *string { return &s }
	return map[string]func() (*invoice.Invoice, *business.Letterhead){
		"one": func() (*invoice.Invoice, *business.Letterhead) { return sample(3) },
		"taxed": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(3)
			vat := text("VAT")
			v.LineItems[0].TaxRate, v.LineItems[0].TaxName = text("20"), vat
			v.LineItems[1].TaxRate, v.LineItems[1].TaxName = text("7.5"), vat
			v.LineItems[1].DiscountPercent, v.LineItems[1].DiscountCents = text("10"), 525
			v.Taxes = []invoice.Tax{{Rate: "20", Name: vat, BaseCents: 2699, AmountCents: 540},
				{Rate: "7.5", Name: vat, BaseCents: 4250, AmountCents: 319}}
			v.SubtotalCents, v.DiscountCents, v.TaxCents, v.TotalAmountCents = 15946, 1847, 859, 14958
			v.TotalCents, v.AmountPaidCents, v.AmountCreditedCents, v.AmountDueCents = 14958, 4000, 958, 10000
			return v, b
		},
		"branded": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(3)
			b.Accent, b.Logo = &business.Color{0, 110, 90}, picture(240, 80, color.NRGBA{0, 110, 90, 255})
			b.PaymentText = text("By bank transfer, or by card at https://example.com/pay.")
			b.BankFacts = [][2]string{{"Account holder", "Analytical Engines Manufacturing Ltd"},
				{"IBAN", "GB33 BUKB 2020 1555 5555 55"}, {"BIC", "BUKBGB22"}, {"Bank", "Barclays"}}
			return v, b
		},
		"many": func() (*invoice.Invoice, *business.Letterhead) { return sample(60) },
		"draft": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(2)
			v.Status, v.InvoiceNumber, v.IssuedAt, v.BillToName, v.BillToEmail, v.BillToAddressLine1, v.DueAt = "draft",
				nil,
				nil, nil, nil, nil, nil
			return v, b
		},
		"void": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(4)
			v.Status, v.AmountDueCents = "void", 0
			return v, b
		},
		"paid": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(2)
			v.Status, v.AmountPaidCents, v.AmountDueCents = "paid", v.TotalAmountCents, 0
			return v, b
		},
		"long": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(2)
			b.Name = strings.Repeat("Very Long Company Name of Many Words ", 5)
			b.Lines[0] = strings.Repeat("Donaudampfschifffahrtsgesellschaft", 7)
			v.BillToName = text(strings.Repeat("Llanfairpwllgwyngyll", 12))
			v.LineItems[0].Description = strings.Repeat("A description that goes on and on, with a word that has no "+
				"end: "+
				strings.Repeat("x", 90)+" and more. ", 8)
			v.LineItems[0].Quantity, v.LineItems[0].UnitAmountCents, v.LineItems[0].AmountCents = "999999999999.999999",
				99_999_999_999_999, 99_999_999_999_999
			v.LineItems[1].Description = strings.Repeat("One paragraph of a contract. ", 340)
			v.TotalAmountCents, v.AmountDueCents = 99_999_999_999_999, 99_999_999_999_999
			v.Notes = text(strings.Repeat("A note that is long.\n", 60))
			return v, b
		},
		"polish": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(2)
			b.Name, b.Lines, b.Locale, b.Timezone = "Żółta Łódź",
				[]string{"Żółta Łódź Spółka z o.o.", "ul. Długa 5, 00-263 Warszawa"}, "pl-PL", "Europe/Warsaw"
			v.Currency, v.BillToName, v.BillToCity, v.BillToPostalCode, v.BillToCountry = "pln",
				text("Григорій Сковорода / Ελλάδα"), text("Київ"), text("01001"), text("UA")
			v.BillToAddressLine1, v.BillToAddressLine2 = text("вул. Хрещатик, 1"), nil
			v.LineItems[0].Description = "Usługa: zażółć gęślą jaźń, 5 € zniżki, Ünïcödé"
			v.LineItems[1].Description, v.LineItems[1].UnitAmountCents, v.LineItems[1].AmountCents = "Rabat", -123456,
				-123456
			v.TotalAmountCents, v.AmountPaidCents, v.AmountDueCents, v.Status = 1234567, 34567, 1200000,
				"partially_paid"
			return v, b
		},
		"beyond": func() (*invoice.Invoice, *business.Letterhead) {
			v, b := sample(3)
			b.Name = "שלום בע\"מ 2026"
			v.BillToName = text("株式会社 🙂 Example\u200f\ufeff")
			v.LineItems[0].Description = "مرحبا Hello עולם 12.5 world"
			v.LineItems[1].Description = "tab\there\r\nnext line\u0007\u2028end 👩‍👩‍👧"
			v.LineItems[2].Description = "e\u0301te\u0301"
			return v, b
		},
	}
}

func read(t testing.TB, pdf []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "invoice.pdf")
	if err := os.WriteFile(name, pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "pdftotext", "-layout", name, "-").CombinedOutput()
	if err != nil {
		t.Skipf("pdftotext: %v %s (Debian: poppler-utils)", err, out)
	}
	return string(out)
}

func TestRender(t *testing.T) {
	for name, make := range samples() {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			v, b := make()
			pdf, err := invoice.RenderInvoice(v, b)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes in %v", len(pdf), time.Since(began))
			v, b = make()
			if again, _ := invoice.RenderInvoice(v, b); !bytes.Equal(pdf, again) {
				t.Error("the same invoice is not the same bytes")
			}
			if folder := os.Getenv("FRONTDESK_PDF_FOLDER"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, name+".pdf"), pdf, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			text := read(t, pdf)
			flat := strings.Join(strings.Fields(strings.ReplaceAll(text, "\u00a0", " ")), " ")
			want := map[string][]string{
				"one": {"Analytical Engines", "Analytical Engines Manufacturing Ltd", "1 Dorset Street",
					"Tax ID GB 123",
					"INVOICE", "INV-000042", "Issued Jan 2, 2026", "Due Jan 31, 2026", "Lovelace & Co", "London",
					"SW1Y 4LB",
					"United Kingdom", "Thank you", "Please name", "Page 1 of 1", "Amount due (USD)"},
				"many":  {"Page 1 of 3", "Page 3 of 3"},
				"draft": {"Draft", "Invoice (draft)", "Page 1 of 1"},
				"void":  {"Amount due (USD) $0.00"},
				"taxed": {"Description Quantity Unit price Tax Amount", "20%", "Discount 10%: -$5.25",
					"Subtotal $159.46", "Discount -$18.47", "VAT 20% on $26.99 $5.40", "VAT 7.5% on $42.50 $3.19",
					"Total $149.58", "Paid -$40.00", "Credited -$9.58", "Amount due (USD) $100.00",
					"Please pay $100.00 by Jan 31, 2026 and give INV-000042 as the reference."},
				"branded": {"How to pay Please pay $", "as the reference. By bank transfer, or by card at " +
					"https://example.com/pay. Account holder Analytical Engines Manufacturing Ltd " +
					"IBAN GB33 BUKB 2020 1555 5555 55 BIC BUKBGB22 Bank Barclays Notes"},
				"paid": {"Paid", "$0.00"},
				"long": {"Llanfairpwllgwyngyll", "$999,999,999,999.99", "999,999,999,999.999999",
					"A note that is long."},
				"polish": {"Żółta Łódź Spółka z o.o.", "Григорій Сковорода / Ελλάδα", "вул. Хрещатик, 1", "01001 Київ",
					"Ukraina",
					"zażółć gęślą jaźń, 5 € zniżki, Ünïcödé", "12 345,67 zł", "-345,67 zł", "12 000,00 zł",
					"03.01.2026", "-1234,56 zł"},
				"beyond": {"□□□□ □ Example", "Hello", "été", "tab here", "next line", "2026"},
			}[name]
			if name == "one" || name == "many" {
				for _, l := range v.LineItems {
					want = append(want, fmt.Sprintf("%s %s $%d.%02d $", l.Description, l.Quantity,
						l.UnitAmountCents/100,
						l.UnitAmountCents%100))
				}
			}
			for _, w := range want {
				if !strings.Contains(flat, w) && !strings.Contains(strings.ReplaceAll(flat, "1 234", "1234"), w) {
					t.Errorf("%q is not in\n%s", w, text)
				}
			}
			if strings.Contains(flat, "Status") {
				t.Errorf("an internal word is in\n%s", text)
			}
			if pages := strings.Count(text, "\f"); name == "many" &&
				strings.Count(flat, "Description Quantity Unit price Amount") != pages {
				t.Errorf("the head of the table is not on each of %d pages:\n%s", pages, text)
			}
		})
	}
}

func TestPDF(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		v := newInvoice(t, call, newCustomer(t, call), 123456)
		get := func() apptest.Result {
			t.Helper()
			r := a.SendREST(t, a.Key, http.MethodGet, "/v1/invoices/"+v+"/pdf", "")
			if r.Status != 200 || r.Header.Get("Content-Type") != "application/pdf" ||
				!bytes.HasPrefix(r.Body, []byte("%PDF-")) {
				t.Fatalf("%d %v %.200s", r.Status, r.Header, r.Body)
			}
			return r
		}
		if text := read(t, get().Body); !strings.Contains(text, "Invoice (draft)") ||
			!strings.Contains(text, "$1,234.56") {
			t.Errorf("a draft: %s", text)
		}
		call(t, "invoices.issue", ref(v)).OK(t, 200)
		first := get()
		if !strings.Contains(first.Header.Get("Content-Disposition"), "INV-000001.pdf") ||
			first.Header.Get("ETag") == "" {
			t.Errorf("headers %v", first.Header)
		}
		if again := get(); !bytes.Equal(again.Body, first.Body) {
			t.Error("asked twice, it differs")
		}
		// With a logo the document holds a picture; what is none is left out.
		pictures := func(body []byte) int { return bytes.Count(body, []byte("/Subtype /Image")) }
		logo := func(content []byte) apptest.Result {
			file := a.UploadForm(t, a.Key, "/v1/files",
				apptest.Part{Name: "file", FileName: "logo.png", Text: string(content)}).OK(t, 201).Text("id")
			call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "logoFileId": %q}`, a.Business, file)).OK(t, 200)
			return get()
		}
		small := picture(40, 10, color.Transparent)
		if with := logo(small); pictures(with.Body) != 1 || pictures(first.Body) != 0 {
			t.Error("the logo is not in the document")
		}
		// What the business says about paying is printed, and shown to the customer, until it is paid.
		call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "iban": "GB33BUKB20201555555555", "bic": "BUKBGB22",
			"bankName": "Barclays", "paymentInstructions": "Cards are fine too.", "accentColor": "#ffee00",
			"legalName": "Test Holding Ltd"}`, a.Business)).OK(t, 200)
		branded := get()
		words := strings.Join(strings.Fields(read(t, branded.Body)), " ")
		if want := "as the reference. Cards are fine too. Account holder Test Holding Ltd " +
			"IBAN GB33 BUKB 2020 1555 5555 55 BIC BUKBGB22 Bank Barclays"; !strings.Contains(words, want) {
			t.Errorf("%q is not in %s", want, words)
		}
		if bytes.Equal(branded.Body, first.Body) || branded.Header.Get("ETag") == first.Header.Get("ETag") {
			t.Error("the document does not follow its business")
		}
		huge := bytes.Clone(small)
		copy(huge[16:24], []byte{0, 0, 255, 255, 0, 0, 255, 255}) // claims 65535 × 65535
		for _, bad := range [][]byte{[]byte("no picture"), huge, small[:40]} {
			if pictures(logo(bad).Body) != 0 {
				t.Error("what is no logo is drawn")
			}
		}
		// A document of thousands of pages is refused, and quickly.
		endless := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"description": %q, "unitAmountCents": 1},`,
			strings.Repeat("a\n", 3000)), 50), ",")
		v = call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [%s]}`, newCustomer(t, call), endless)).OK(t, 201).Text("id")
		a.SendREST(t, a.Key, http.MethodGet, "/v1/invoices/"+v+"/pdf", "").Refused(t, 422, "INVOICE_TOO_LONG")
		a.SendREST(t, a.Key, http.MethodGet, "/v1/invoices/"+string(a.Org)+"/pdf", "").Refused(t, 404, "NOT_FOUND")
	})
}

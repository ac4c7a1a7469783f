package invoice_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// ref is an input that names one invoice, with further fields.
func ref(invoice string, more ...string) string {
	return fmt.Sprintf(`{"id": %q%s}`, invoice, strings.Join(append([]string{""}, more...), ", "))
}

// newCustomer creates a customer whose contact has an address.
func newCustomer(t testing.TB, call apptest.Door) string {
	t.Helper()
	contact := call(t, "contacts.create",
		`{"firstName": "Ada", "emails": [{"email": "ada@example.com"}], "addresses": [{"line1": "Side Street 9",
			"city": "Elsewhere"},
		{"line1": "12 St James's Square", "line2": "Flat 2", "city": "London", "postalCode": "SW1Y 4LB",
			"country": "GB", "isPrimary": true}]}`).OK(t, 201).Text("id")
	return call(t, "customers.create",
		fmt.Sprintf(`{"name": "Lovelace & Co", "contactId": %q}`, contact)).OK(t, 201).Text("id")
}

// newInvoice drafts an invoice for an amount in cents.
func newInvoice(t testing.TB, call apptest.Door, customer string, cents int, more ...string) string {
	t.Helper()
	return call(t, "invoices.create",
		fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "Work", "unitAmountCents": %d}]%s}`,
			customer, cents, strings.Join(append([]string{""}, more...), ", "))).OK(t, 201).Text("id")
}

func TestInvoices(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := newCustomer(t, call)
		v := call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "dueAt": "2099-03-02T00:00:00Z", "data": {"order": 7, "tags": ["a", null]},
			"lineItems": [{"description": "Hours", "quantity": "02.50", "unitAmountCents": 1001},
				{"description": "Part", "unitAmountCents": 500}, {"description": "Discount", "quantity": "0.5",
					"unitAmountCents": -101}]}`, customer)).OK(t, 201)
		for field, want := range map[string]any{"status": "draft", "businessId": a.Business, "customerId": customer,
			"currency": "usd", "organizationId": a.Org,
			"billToName": "Lovelace & Co", "billToEmail": "ada@example.com",
			"billToAddressLine1": "12 St James's Square",
			"billToAddressLine2": "Flat 2", "billToCity": "London",
			"billToPostalCode": "SW1Y 4LB", "billToCountry": "GB", "dueAt": "2099-03-02T00:00:00.000Z", "data.order": 7,
			"lineItems.0.quantity": "2.5", "lineItems.0.amountCents": 2503, "lineItems.0.position": 0,
			"lineItems.0.currency": "usd", "lineItems.0.invoiceId": v.Text("id"),
			"lineItems.1.quantity": "1", "lineItems.1.amountCents": 500, "lineItems.1.position": 1,
			"lineItems.2.quantity": "0.5", "lineItems.2.amountCents": -51, "lineItems.2.unitAmountCents": -101,
			"totalAmountCents": 2952, "amountPaidCents": 0, "amountDueCents": 2952} {
			v.Same(field, want)
		}
		for _, field := range []string{"deletedAt", "invoiceNumber", "billToState", "issuedAt", "sentAt", "overdueAt",
			"notes", "terms", "lineItems.0.deletedAt"} {
			if !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		if v.Has("search") || v.Has("seq") || len(v.At("lineItems.0").Text("id")) != 36 {
			t.Errorf("an invoice is %s", v)
		}
		invoice := v.Text("id")
		if got := call(t, "invoices.get", ref(invoice)).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		if got := call(t, "invoices.list", `{}`).OK(t, 200); got.At("0").String() != v.String() || got.Len() != 1 {
			t.Errorf("list differs from create:\n%s\n%s", got, v)
		}

		// An equal value is not a change, however it is written.
		for _, same := range []string{`"data": {"tags": ["a", null], "order": 7}`,
			`"currency": "usd", "dueAt": "2099-03-02T01:00:00+01:00"`, `"customerId": "` + customer + `"`,
			`"lineItems": [{"description": "Hours", "quantity": "2.5", "unitAmountCents": 1001}, {"description": ` +
				`"Part", ` +
				`"unitAmountCents": 500}, {"description": "Discount", "quantity": "0.50", "unitAmountCents": -101}]`} {
			if got := call(t, "invoices.update", ref(invoice, same)).OK(t, 200); got.String() != v.String() {
				t.Errorf("%s changed something: %s", same, got)
			}
		}
		up := call(t, "invoices.update",
			ref(invoice,
				`"currency": "eur", "notes": "n", "terms": "t", "dueAt": null, "billToName": "Another", `+
					`"billToCity": null, `+
					`"data": {}`)).OK(t, 200)
		for field, want := range map[string]any{"currency": "eur", "lineItems.0.currency": "eur",
			"lineItems.2.currency": "eur", "notes": "n", "terms": "t", "billToName": "Another",
			"lineItems.0.id": v.Text("lineItems.0.id"), "totalAmountCents": 2952} {
			up.Same(field, want)
		}
		if !up.At("billToCity").Null() || !up.At("dueAt").Null() || up.At("data").String() != "{}" {
			t.Errorf("not cleared: %s", up)
		}
		lines := call(t, "invoices.update",
			ref(invoice, `"lineItems": [{"description": "All new", "quantity": "3", "unitAmountCents": 7}]`)).OK(t, 200)
		lines.Same("totalAmountCents", 21)
		lines.Same("amountDueCents", 21)
		lines.Same("lineItems.0.position", 0)
		if lines.At("lineItems").Len() != 1 {
			t.Errorf("lines: %s", lines)
		}
		if got := call(t, "invoices.get", ref(invoice)).OK(t, 200); got.String() != lines.String() {
			t.Errorf("get differs from update:\n%s\n%s", got, lines)
		}
		if none := call(t, "invoices.update",
			ref(invoice, `"lineItems": []`)).OK(t, 200); none.At("lineItems").Len() != 0 ||
			none.Number("totalAmountCents") != 0 {
			t.Errorf("lines: %s", none)
		}

		// Another customer brings its own name and address, except for fields
		// sent now or before: here the name, and that there is no city.
		other := call(t, "customers.create",
			`{"name": "Babbage", "email": "charles@example.com"}`).OK(t, 201).Text("id")
		moved := call(t, "invoices.update",
			ref(invoice, `"customerId": "`+other+`", "billToEmail": "bills@example.com"`)).OK(t, 200)
		moved.Same("customerId", other)
		moved.Same("billToName", "Another")
		moved.Same("billToEmail", "bills@example.com")
		if !moved.At("billToAddressLine1").Null() {
			t.Errorf("the old customer's address stayed: %s", moved)
		}
		call(t, "invoices.delete", ref(invoice)).OK(t, 204)
		for _, again := range []string{"invoices.get", "invoices.update", "invoices.delete", "invoices.issue",
			"invoices.void", "invoices.payments.list"} {
			call(t, again, ref(invoice)).Refused(t, 404, "NOT_FOUND")
		}
		want := "invoice.created invoice.updated invoice.updated invoice.updated invoice.updated invoice.deleted"
		if events := a.Events(t, "invoice"); events != want {
			t.Errorf("events %q, want %q", events, want)
		}
	})
}

// Bill-to fields from the caller win; an address is taken as a whole.
func TestBillTo(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		customer := newCustomer(t, call)
		v := call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "billToName": "Accounts payable", "billToEmail": null, "billToCity": `+
				`"Leeds"}`,
				customer)).OK(t, 201)
		v.Same("billToName", "Accounts payable")
		v.Same("billToCity", "Leeds")
		for _, field := range []string{"billToEmail", "billToAddressLine1", "billToAddressLine2", "billToPostalCode",
			"billToCountry"} {
			if !v.At(field).Null() {
				t.Errorf("%s is %v", field, v.At(field))
			}
		}
		shop := call(t, "businesses.create", `{"name": "Shop", "currency": "gbp"}`).OK(t, 201).Text("id")
		v = call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q, "businessId": %q}`, customer, shop)).OK(t, 201)
		v.Same("currency", "gbp")
		v.Same("businessId", shop)
		theirs := call(t, "customers.create",
			fmt.Sprintf(`{"name": "x", "businessId": %q}`, shop)).OK(t, 201).Text("id")
		v = call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q}`, theirs)).OK(t, 201)
		v.Same("businessId", shop)
		v.Same("currency", "gbp")
		// A deleted business bills nobody.
		call(t, "businesses.delete", ref(shop)).OK(t, 204)
		call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q}`, theirs)).Issues(t, "businessId")
	})
}

func TestInvoiceRefusals(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		stranger := a.NewTenant(t, "free")
		foreign := a.Door("action", stranger)(t, "customers.create", `{"name": "Eve"}`).OK(t, 201).Text("id")
		customer := newCustomer(t, call)
		invoice := newInvoice(t, call, customer, 100)
		line := func(fields string) string {
			return `"lineItems": [{"description": "ok", "unitAmountCents": 1}, {` + fields + `}]`
		}
		for _, c := range []struct{ fields, place string }{
			{`"currency": "US"`, "currency"}, {`"currency": "xxxx"`, "currency"}, {`"currency": null`, "currency"},
			{`"dueAt": "soon"`, "dueAt"}, {`"billToEmail": "nope"`, "billToEmail"}, {`"data": [1]`, "data"},
			{`"data": null`, "data"}, {`"data": "x"`, "data"},
			{`"status": "paid"`, ""}, {`"totalAmountCents": 1`, ""}, {`"invoiceNumber": "INV-1"`, ""},
			{`"lineItems": null`, "lineItems"}, {`"lineItems": [1]`, "lineItems.0"},
			{line(`"description": "x"`), "lineItems.1.unitAmountCents"},
			{line(`"unitAmountCents": 1`), "lineItems.1.description"},
			{line(`"description": "", "unitAmountCents": 1`), "lineItems.1.description"},
			{line(`"description": "x", "unitAmountCents": 1.5`), "lineItems.1.unitAmountCents"},
			{line(`"description": "x", "unitAmountCents": 1, "amountCents": 1`), "lineItems.1"},
			{line(`"description": "x", "unitAmountCents": 1, "quantity": true`), "lineItems.1.quantity"},
			{line(`"description": "x", "unitAmountCents": -5`), "lineItems"}, // a discount larger than the rest
			{`"customerId": "` + foreign + `"`, "customerId"}, {`"customerId": "` + invoice + `"`, "customerId"},
			{`"customerId": null`, "customerId"},
		} {
			create := c.fields
			if !strings.Contains(create, "customerId") {
				create += `, "customerId": "` + customer + `"`
			}
			call(t, "invoices.create", "{"+create+"}").Issues(t, c.place)
			call(t, "invoices.update", ref(invoice, c.fields)).Issues(t, c.place)
		}
		for _, q := range []string{"", "-1", "+1", "1e3", "1.", ".5", "1,5", " 1", "0x1", "NaN", "Infinity",
			"1234567890123",
			"0.1234567", strings.Repeat("9", 200), "١"} {
			call(t, "invoices.create",
				fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 1, `+
					`"quantity": %q}]}`,
					customer, q)).Issues(t, "lineItems.0.quantity")
		}
		call(t, "invoices.create", `{}`).Issues(t, "customerId")
		call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "businessId": %q}`, customer, stranger.Business)).Issues(t, "businessId")
		call(t, "invoices.update", ref(invoice, `"businessId": "`+string(a.Business)+`"`)).Issues(t, "")
		many := strings.Repeat(`{"description": "x", "unitAmountCents": 1},`, 101)
		call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [%s]}`, customer,
				strings.TrimSuffix(many, ","))).Issues(t, "lineItems")
		// Amounts stop where a client's arithmetic is still exact.
		call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 100000000000000}]}`,
				customer)).Issues(t, "lineItems.0.unitAmountCents")
		call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 99999999999999, `+
				`"quantity": "999999999999"}]}`, customer)).Issues(t, "lineItems.0.unitAmountCents")
		call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 99999999999999}, `+
				`{"description": "x", "unitAmountCents": 1}]}`, customer)).Issues(t, "lineItems")
		call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "lineItems": [{"description": "x", "unitAmountCents": 99999999999999}]}`,
				customer)).OK(t, 201).Same("totalAmountCents", 99999999999999)

		call(t, "invoices.issue", ref(invoice)).OK(t, 200)
		call(t, "invoices.update", ref(invoice, `"notes": "x"`)).Refused(t, 409, "INVOICE_NOT_DRAFT")
		call(t, "invoices.update", ref(invoice)).Refused(t, 409, "INVOICE_NOT_DRAFT")
		call(t, "invoices.delete", ref(invoice)).Refused(t, 409, "INVOICE_NOT_DRAFT")
	})
	a := apptest.Start(t, db.SQLite)
	for _, query := range []string{"status=open", "customerId=1", "businessId=x", "limit=0",
		"dueBefore=soon", "dueAfter=1", "unpaid=maybe"} {
		a.SendREST(t, a.Key, "GET", "/v1/invoices?"+query, "").Refused(t, 400, "INVALID_INPUT")
	}
	a.SendREST(t, a.Key, "GET", "/v1/invoices/nope", "").Refused(t, 400, "INVALID_INPUT")
	weak, _ := a.NewKey(t, a.Tenant, "invoices:read", "customers:write")
	a.SendREST(t, weak, "GET", "/v1/invoices", "").OK(t, 200)
	a.SendREST(t, weak, "POST", "/v1/invoices", "{}").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
}

func TestInvoiceFilters(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		shop := call(t, "businesses.create", `{"name": "Shop"}`).OK(t, 201).Text("id")
		ada := newCustomer(t, call)
		bob := call(t, "customers.create", fmt.Sprintf(`{"name": "Bob", "businessId": %q}`, shop)).OK(t, 201).Text("id")
		first, second := newInvoice(t, call, ada, 100), newInvoice(t, call, bob, 100)
		newInvoice(t, call, ada, 100, `"billToName": "Straße GmbH"`)
		call(t, "invoices.issue", ref(first)).OK(t, 200).Same("invoiceNumber", "INV-000001")
		call(t, "invoices.issue", ref(second)).OK(t, 200).Same("invoiceNumber", "INV-000001")
		// Two more with a due date: a draft, and one that is paid.
		for _, due := range []string{"2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"} {
			v := newInvoice(t, call, ada, 100, `"billToName": "x", "billToEmail": null, "dueAt": "`+due+`"`)
			if due > "2026-03-02" {
				call(t, "invoices.issue", ref(v)).OK(t, 200)
				pay(t, call, v, "filter", 100).OK(t, 201)
			}
		}
		for filter, want := range map[string]int{
			``: 5, `"status": "draft"`: 2, `"status": "issued"`: 2, `"status": "void"`: 0,
			`"unpaid": true`: 2, `"unpaid": false`: 3, `"unpaid": true, "businessId": "` + shop + `"`: 1,
			`"dueBefore": "2026-03-01T00:00:00Z"`: 0, `"dueBefore": "2026-03-01T00:00:00.001Z"`: 1,
			`"dueAfter": "2026-02-01T00:00:00Z"`: 2, `"dueAfter": "2026-04-01T00:00:00Z"`: 0,
			`"dueAfter": "2026-02-01T00:00:00Z", "dueBefore": "2026-03-15T00:00:00Z"`: 1,
			`"dueAfter": "2026-02-01T00:00:00Z", "status": "paid"`:                    1,
			`"dueAfter": "2026-02-01T00:00:00Z", "unpaid": true`:                      0,
			`"dueAfter": "2026-02-01T00:00:00Z", "unpaid": false, "query": "x"`:       2,
			`"customerId": "` + ada + `"`:                                             4,
			`"customerId": "` + bob + `"`:                                             1,
			`"businessId": "` + shop + `"`:                                            1,
			`"businessId": "` + string(a.Business) + `", "status": "draft"`:           2,
			`"customerId": "` + shop + `"`:                                            0,
			`"query": "inv-000001"`:                                                   2,
			`"query": "000001", "businessId": "` + shop + `"`:                         1,
			`"query": "LOVELACE"`:                                                     1,
			`"query": "strasse"`:                                                      1, `"query": "ada@ex"`: 2,
			`"query": "bo"`: 1, `"query": "nobody"`: 0,
		} {
			if n := call(t, "invoices.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
	})
}

// Taxes and discounts, as callers send and see them.
func TestTaxesAndDiscounts(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		customer := newCustomer(t, call)
		v := call(t, "invoices.create",
			fmt.Sprintf(`{"customerId": %q, "discountPercent": "10.00", "lineItems": [
				{"description": "Hours", "unitAmountCents": 100000, "taxRate": "20.0", "taxName": "VAT",
					"discountPercent": "5"},
				{"description": "Book", "unitAmountCents": 3333, "taxRate": "7.5", "discountCents": 333},
				{"description": "Stamps", "unitAmountCents": 500}]}`, customer)).OK(t, 201)
		// 95000 + 3000 + 500 less 10 %: 85500, 2700 and 450.
		for field, want := range map[string]any{"discountPercent": "10", "pricesIncludeTax": false,
			"subtotalCents": 103833, "discountCents": 15183, "taxCents": 17303, "totalCents": 105953,
			"totalAmountCents": 105953, "amountDueCents": 105953,
			"taxes.0.rate": "20", "taxes.0.name": "VAT", "taxes.0.baseCents": 85500, "taxes.0.amountCents": 17100,
			"taxes.1.rate": "7.5", "taxes.1.baseCents": 2700, "taxes.1.amountCents": 203,
			"lineItems.0.amountCents": 100000, "lineItems.0.discountPercent": "5", "lineItems.0.discountCents": 5000,
			"lineItems.0.taxRate": "20", "lineItems.0.taxName": "VAT", "lineItems.1.discountCents": 333,
			"lineItems.2.discountCents": 0} {
			v.Same(field, want)
		}
		for _, field := range []string{"taxes.1.name", "lineItems.1.discountPercent", "lineItems.2.taxRate",
			"lineItems.2.taxName"} {
			if !v.At(field).Null() {
				t.Errorf("%s is %v", field, v.At(field))
			}
		}
		if v.At("taxes").Len() != 2 {
			t.Errorf("taxes: %s", v)
		}
		id := v.Text("id")
		if got := call(t, "invoices.get", ref(id)).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		same := call(t, "invoices.update", ref(id, `"discountPercent": "10"`)).OK(t, 200)
		if same.String() != v.String() {
			t.Errorf("the same discount changed something: %s", same)
		}
		up := call(t, "invoices.update", ref(id, `"discountPercent": null, "pricesIncludeTax": true`)).OK(t, 200)
		up.Same("totalCents", 98500)
		up.Same("subtotalCents", 103833)
		up.Same("discountCents", 5333)
		up.Same("taxCents", 15833+209)
		if !up.At("discountPercent").Null() {
			t.Errorf("not cleared: %s", up)
		}
		up = call(t, "invoices.update", ref(id, `"lineItems": [{"description": "x", "unitAmountCents": 7}]`)).OK(t, 200)
		up.Same("totalCents", 7)
		up.Same("taxCents", 0)

		line := func(fields string) string {
			return `"lineItems": [{"description": "a", "unitAmountCents": 100, "taxRate": "20"},
				{"description": "b", ` + fields + `}]`
		}
		for _, c := range []struct{ fields, place string }{
			{`"discountPercent": "100.1"`, "discountPercent"}, {`"discountPercent": true`, "discountPercent"},
			{`"discountPercent": "-1"`, "discountPercent"}, {`"pricesIncludeTax": null`, "pricesIncludeTax"},
			{`"taxCents": 5`, ""}, {`"totalCents": 5`, ""}, {`"taxes": []`, ""},
			{line(`"unitAmountCents": 1, "taxRate": "100.0001"`), "lineItems.1.taxRate"},
			{line(`"unitAmountCents": 1, "taxRate": true`), "lineItems.1.taxRate"},
			{line(`"unitAmountCents": 1, "taxRate": "1.23456"`), "lineItems.1.taxRate"},
			{line(`"unitAmountCents": 1, "taxName": "VAT"`), "lineItems.1.taxName"},
			{line(`"unitAmountCents": 1, "taxRate": "5", "taxName": " "`), "lineItems.1.taxName"},
			{line(`"unitAmountCents": 1, "discountPercent": "101"`), "lineItems.1.discountPercent"},
			{line(`"unitAmountCents": 1, "discountCents": 2`), "lineItems.1.discountCents"},
			{line(`"unitAmountCents": 1, "discountCents": -1`), "lineItems.1.discountCents"},
			{line(`"unitAmountCents": 1, "discountPercent": "1", "discountCents": 1`), "lineItems.1.discountCents"},
			{line(`"unitAmountCents": -1, "discountPercent": "1"`), "lineItems.1.discountPercent"},
			{line(`"unitAmountCents": -1, "discountCents": 1`), "lineItems.1.discountCents"},
			{line(`"unitAmountCents": -1`), "lineItems"}, {line(`"unitAmountCents": -1, "taxRate": "5"`), "lineItems"},
		} {
			call(t, "invoices.create", fmt.Sprintf(`{"customerId": %q, %s}`, customer, c.fields)).Issues(t, c.place)
			call(t, "invoices.update", ref(id, c.fields)).Issues(t, c.place)
		}
	})
}

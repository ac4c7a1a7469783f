package transfer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// upload hands in a file.
func upload(t testing.TB, a *apptest.App, key, name, text string, more ...string) apptest.Result {
	t.Helper()
	parts := []apptest.Part{{Name: "file", FileName: name, Text: text}}
	for i := 0; i < len(more); i += 2 {
		parts = append(parts, apptest.Part{Name: more[i], Text: more[i+1]})
	}
	return a.UploadForm(t, key, "/v1/imports", parts...)
}

// finish waits for the end of an import, and returns it.
func finish(t testing.TB, a *apptest.App, r apptest.Result) apptest.Value {
	t.Helper()
	ref := r.OK(t, 202).Text("id")
	for range 3000 {
		v := a.SendREST(t, a.Key, "GET", "/v1/imports/"+ref, "").OK(t, 200)
		if v.Text("status") == "succeeded" || v.Text("status") == "failed" {
			return v
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the import does not end")
	return apptest.Value{}
}

func start(t *testing.T, a *apptest.App) {
	t.Helper()
	if err := a.Jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func counts(t testing.TB, v apptest.Value, want string) {
	t.Helper()
	got := fmt.Sprintf("total %v created %v updated %v unchanged %v failed %v", v.Number("counts.total"),
		v.Number("counts.created"), v.Number("counts.updated"), v.Number("counts.unchanged"), v.Number("counts.failed"))
	if got != want || v.Number("counts.processed") != v.Number("counts.total") {
		t.Errorf("%s, want %s, in %s", got, want, v)
	}
}

// A file creates and changes contacts, says what it would do before, and every
// event names it.
func TestImport(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		start(t, a)
		ada := a.SendREST(t, a.Key, "POST", "/v1/contacts",
			`{"firstName": "Ada", "tags": ["old"], "emails": [{"email": "Ada@Example.com"}]}`).OK(t, 201).Text("id")
		file := "E-Mail;Vorname;Nachname;Firma;Labels\r\n" +
			"ada@example.com;;Lovelace;;new\r\n" +
			"bob@example.com;Bob;;\"Bob; Sons\";\"new, vip\"\r\n" +
			";;;;\r\n" +
			"nobody@;Eve;;;\r\n"
		mapping := `{"Vorname": "firstName", "nachname": "lastName", "E-Mail": "email", "Labels": "tags",
			"Firma": null}`

		dry := upload(t, a, a.Key, "people.csv", file, "objectType", "contacts", "mapping", mapping, "dryRun", "true").
			OK(t, 200)
		counts(t, dry, "total 3 created 1 updated 1 unchanged 0 failed 1")
		dry.Same("lines.0.action", "update")
		dry.Same("lines.0.id", ada)
		dry.Same("lines.1.action", "create")
		dry.Same("lines.2.action", "fail")
		dry.Same("lines.2.line", 5)
		dry.Same("errors.0.field", "email")
		dry.Same("ignoredColumns.0", "Firma")
		if n := a.SendREST(t, a.Key, "GET", "/v1/contacts", "").OK(t, 200).Len(); n != 1 {
			t.Errorf("a dry run left %d contacts", n)
		}
		if n := a.SendREST(t, a.Key, "GET", "/v1/imports", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("a dry run left %d imports", n)
		}

		v := finish(t, a, upload(t, a, a.Key, "people.csv", file, "objectType", "contacts", "mapping", mapping))
		counts(t, v, "total 3 created 1 updated 1 unchanged 0 failed 1")
		v.Same("status", "succeeded")
		v.Same("fileName", "people.csv")
		v.Same("errors.0.line", 5)
		c := a.SendREST(t, a.Key, "GET", "/v1/contacts/"+ada, "").OK(t, 200)
		c.Same("firstName", "Ada")
		c.Same("lastName", "Lovelace")
		c.Same("tags.0", "old")
		c.Same("tags.1", "new")
		bob := a.SendREST(t, a.Key, "GET", "/v1/contacts?email=bob@example.com", "").OK(t, 200)
		bob.Same("0.tags.1", "vip")
		if !bob.At("0.organizationName").Null() {
			t.Errorf("an ignored column was used: %s", bob)
		}

		events := a.SendREST(t, a.Key, "GET", "/v1/events?limit=100", "").OK(t, 200)
		about := map[string]bool{}
		for i := range events.Len() {
			at := fmt.Sprint(i)
			if events.Text(at+".requestId") == v.Text("id") {
				about[events.Text(at+".type")+" "+events.Text(at+".door")] = true
			}
		}
		for _, want := range []string{"contact.created rest", "contact.updated rest", "import.succeeded system"} {
			if !about[want] {
				t.Errorf("no event %s names the import: %v", want, about)
			}
		}

		again := finish(t, a, upload(t, a, a.Key, "people.csv", file, "objectType", "contacts", "mapping", mapping))
		counts(t, again, "total 3 created 0 updated 0 unchanged 2 failed 1")
		list := a.SendREST(t, a.Key, "GET", "/v1/imports?status=succeeded&objectType=contacts", "").OK(t, 200)
		if list.Len() != 2 {
			t.Errorf("%d imports are listed", list.Len())
		}
		list.Same("0.id", again.Text("id"))

		if n := chunks(t, a); n != 0 {
			t.Errorf("%d chunks are left", n)
		}
	})
}

func chunks(t testing.TB, a *apptest.App) (n int) {
	t.Helper()
	err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM import_chunks")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Customers are matched by what another system calls them.
func TestImportCustomers(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		start(t, a)
		file := "External ID,Name,Email,Phone,Type,Status,Customer since,Tags\n" +
			"k1,Acme,office@acme.example,'+4930123456,Business,Active,2020-05-01,a\n" +
			"k2,Bolt,wrong,,,,,\n" +
			"k3,,x@example.com,,,,,\n"
		v := finish(t, a, upload(t, a, a.Key, "c.csv", file, "objectType", "customers"))
		counts(t, v, "total 3 created 1 updated 0 unchanged 0 failed 2")
		v.Same("errors.0.field", "email")
		v.Same("errors.1.field", "name")
		acme := a.SendREST(t, a.Key, "GET", "/v1/customers?externalId=k1", "").OK(t, 200)
		acme.Same("0.type", "business")
		acme.Same("0.status", "active")
		acme.Same("0.phone", "+4930123456")
		acme.Same("0.customerSince", "2020-05-01T00:00:00.000Z")
		v = finish(t, a, upload(t, a, a.Key, "c.csv", strings.Replace(file, "Acme", "Acme Ltd", 1), "objectType",
			"customers"))
		counts(t, v, "total 3 created 0 updated 1 unchanged 0 failed 2")

		card := "BEGIN:VCARD\nVERSION:3.0\nFN:Zed Ltd\nORG:Zed Ltd\nEMAIL:z@example.com\nEND:VCARD\n"
		v = finish(t, a, upload(t, a, a.Key, "c.vcf", card, "objectType", "customers"))
		counts(t, v, "total 1 created 1 updated 0 unchanged 0 failed 0")
	})
}

const cards = "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lovelace;Ada;King;Countess;\r\nFN:Ada Lovelace\r\n" +
	"ORG:Analytical\\, Engines;Dept\r\nitem1.EMAIL;TYPE=work:ada@example.com\r\nEMAIL:ada@home.example\r\n" +
	"TEL;TYPE=CELL:+44 20 7946 0018\r\nBDAY:18151210\r\nNOTE:one\\ntwo and a long\r\n  line\r\n" +
	"ADR;TYPE=home:;;12 St James;London;;SW1;GB\r\nCATEGORIES:vip,maths\r\nUID:urn:uuid:a-1\r\n" +
	"PHOTO;ENCODING=b:AAAA\r\n BBBB\r\n CCCC\r\nEND:VCARD\r\n" +
	"BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=BC=\nrgen\nEND:VCARD\n" +
	"BEGIN:VCARD\nVERSION:4.0\nFN:Cut Off\n" +
	"BEGIN:VCARD\nVERSION:4.0\nFN:Grace Hopper\nTEL;VALUE=uri:tel:+1-212-555-0100\nEND:VCARD\n" +
	"nonsense\n"

func TestImportCards(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		start(t, a)
		v := finish(t, a, upload(t, a, a.Key, "people.vcf", cards, "objectType", "contacts"))
		counts(t, v, "total 5 created 3 updated 0 unchanged 0 failed 2")
		v.Same("errors.0.message", "The card has no END:VCARD")
		v.Same("errors.0.line", 24)
		v.Same("errors.1.message", "Expected BEGIN:VCARD")
		ada := a.SendREST(t, a.Key, "GET", "/v1/contacts?externalId=a-1", "").OK(t, 200)
		ada.Same("0.firstName", "Ada")
		ada.Same("0.prefix", "Countess")
		ada.Same("0.organizationName", "Analytical, Engines")
		ada.Same("0.birthday", "1815-12-10")
		ada.Same("0.notes", "one\ntwo and a long line")
		ada.Same("0.emails.1.email", "ada@home.example")
		ada.Same("0.phoneNumbers.0.phoneNumber", "+442079460018")
		ada.Same("0.addresses.0.city", "London")
		ada.Same("0.tags.1", "maths")
		if n := a.SendREST(t, a.Key, "GET", "/v1/contacts?query=jürgen+müller", "").OK(t, 200).Len(); n != 1 {
			t.Errorf("%d Jürgen", n)
		}
		grace := a.SendREST(t, a.Key, "GET", "/v1/contacts?query=hopper", "").OK(t, 200)
		grace.Same("0.firstName", "Grace")
		grace.Same("0.phoneNumbers.0.phoneNumber", "+12125550100")
	})
}

// What is refused as a whole, and who is.
func TestImportRefusals(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		reader, _ := a.NewKey(t, a.Tenant, "contacts:read", "customers:read")
		writer, _ := a.NewKey(t, a.Tenant, "contacts:write")
		none, _ := a.NewKey(t, a.Tenant, "tasks:read")
		good := "firstName\nAda\n"
		upload(t, a, reader, "x.csv", good, "objectType", "contacts").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		upload(t, a, writer, "x.csv", "name\nAda\n", "objectType", "customers").
			Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, none, "GET", "/v1/imports", "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		upload(t, a, a.Key, "x.csv", good, "objectType", "tasks").Refused(t, 400, "VALIDATION_ERROR")
		upload(t, a, a.Key, "x.csv", good).Issues(t, "objectType")
		a.UploadForm(t, a.Key, "/v1/imports", apptest.Part{Name: "objectType", Text: "contacts"}).Issues(t, "file")
		upload(t, a, a.Key, "x.csv", "", "objectType", "contacts").Refused(t, 422, "IMPORT_FILE_INVALID")
		upload(t, a, a.Key, "x.csv", "\"a\nb\n", "objectType", "contacts").Refused(t, 422, "IMPORT_FILE_INVALID")
		upload(t, a, a.Key, "x.csv", "foo,bar\n1,2\n", "objectType", "contacts").Issues(t, "mapping")
		upload(t, a, a.Key, "x.csv", good, "objectType", "contacts", "mapping", "[]").Issues(t, "mapping")
		upload(t, a, a.Key, "x.csv", good, "objectType", "contacts", "mapping", `{"firstName": "frstName"}`).
			Issues(t, "mapping.firstName")
		upload(t, a, a.Key, "x.csv", good, "objectType", "contacts", "mapping", `{"nope": "firstName"}`).
			Issues(t, "mapping.nope")
		a.SendREST(t, a.Key, "POST", "/v1/imports", "{}").Refused(t, 400, "INVALID_INPUT")
		a.SendREST(t, a.Key, "GET", "/v1/imports/7e2b1c90-4d3a-4f6e-8b15-0c9d8e7f6a5b", "").Refused(t, 404, "NOT_FOUND")
		upload(t, a, a.Key, "x.bin", strings.Repeat("x\n", 20_000), "objectType", "contacts").Issues(t, "mapping")
		upload(t, a, a.Key, "x.csv", "name,b\n"+strings.Repeat("x\n", 20_000), "objectType", "contacts").
			Refused(t, 422, "IMPORT_FILE_INVALID")
		if n := chunks(t, a); n != 0 {
			t.Errorf("%d chunks are left", n)
		}

		// The jobs do not run here, so imports wait; a fourth is refused.
		for range 3 {
			upload(t, a, a.Key, "x.csv", good, "objectType", "contacts").OK(t, 202)
		}
		upload(t, a, a.Key, "x.csv", good, "objectType", "contacts").Refused(t, 409, "IMPORT_LIMIT_REACHED")
		other := a.NewTenant(t, "free")
		ref := a.SendREST(t, other.Key, "GET", "/v1/imports", "").OK(t, 200)
		if ref.Len() != 0 {
			t.Error("another organization sees imports")
		}
		mine := a.SendREST(t, reader, "GET", "/v1/imports?status=queued", "").OK(t, 200)
		a.SendREST(t, other.Key, "GET", "/v1/imports/"+mine.Text("0.id"), "").Refused(t, 404, "NOT_FOUND")
		upload(t, a, other.Key, "x.csv", good, "objectType", "contacts").OK(t, 202)
	})
}

// A caller who may only create changes nothing that is there, and one whose key was
// revoked meanwhile changes nothing at all.
func TestImportRights(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		key, ref := a.NewKey(t, a.Tenant, "contacts:write")
		waiting := upload(t, a, key, "x.csv", "firstName\nAda\n", "objectType", "contacts")
		a.AsOperator(t, "api_keys.revoke", "api_key", ref, fmt.Sprintf(`{"id": %q}`, ref))
		start(t, a)
		v := finish(t, a, waiting)
		v.Same("status", "failed")
		if !strings.Contains(v.Text("errorMessage"), "revoked") {
			t.Errorf("%s", v)
		}
		if n := a.SendREST(t, a.Key, "GET", "/v1/contacts", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d contacts", n)
		}
	})
}

// A line repeats an earlier one only if that was imported. That is known of every line, and not only of those whose
// errors are kept, whether the file is read for a rehearsal or imported.
func TestRepeatsOfRefusedLines(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		start(t, a)
		var file strings.Builder
		file.WriteString("External ID,Name,Email\n")
		const n = 1300 // more than the errors that are kept, and more than one chunk
		for i := range n {
			fmt.Fprintf(&file, "k%d,Acme,wrong\n", i)
		}
		file.WriteString("k0,First,\n" + "k1299,Last,\n" + "k1299,Again,\n")
		const want = "total 1303 created 2 updated 0 unchanged 0 failed 1301"
		counts(t, upload(t, a, a.Key, "c.csv", file.String(), "objectType", "customers", "dryRun", "true").OK(t, 200),
			want)
		counts(t, finish(t, a, upload(t, a, a.Key, "c.csv", file.String(), "objectType", "customers")), want)
		last := a.SendREST(t, a.Key, "GET", "/v1/customers?externalId=k1299", "").OK(t, 200)
		last.Same("0.name", "Last")
		if n := chunks(t, a); n != 0 {
			t.Errorf("%d chunks are left", n)
		}
	})
}

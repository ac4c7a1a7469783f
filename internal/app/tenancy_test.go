package app_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"frontdesk/internal/adapter/dnsserver"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// fixtures holds an id for every collection that can be created in, by the
// collection's path.
type fixtures map[string]id.ID

// path fills the parameters of a route with ids chosen by collection.
func fill(t *testing.T, o *op.Op, choose func(collection string) (id.ID, bool)) (string, bool) {
	t.Helper()
	var out []string
	segments := strings.Split(o.Path, "/")
	for i, s := range segments {
		if !strings.HasPrefix(s, "{") {
			out = append(out, s)
			continue
		}
		v, ok := choose(strings.Join(segments[:i], "/"))
		if !ok {
			return "", false
		}
		out = append(out, string(v))
	}
	return strings.Join(out, "/"), true
}

// body is the body's part of an operation's example.
func body(t *testing.T, o *op.Op) string {
	t.Helper()
	if o.Method == "GET" || o.Method == "DELETE" {
		return ""
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(o.Example), &fields); err != nil {
		t.Fatalf("%s: %v", o.Name, err)
	}
	for _, f := range append(o.PathFields(), o.QueryFields()...) {
		delete(fields, f)
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// keyFor is the header that an operation insists on.
func keyFor(o *op.Op) []string {
	if !o.KeyRequired {
		return nil
	}
	return []string{"Idempotency-Key", string(id.New())}
}

// refer is the body of an example in which what names another row names a
// fixture: contactId the one in /v1/contacts, userId the owner.
func (f fixtures) refer(t *testing.T, a *apptest.App, v apptest.Tenant, o *op.Op) string {
	t.Helper()
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(body(t, o)), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		noun, ok := strings.CutSuffix(name, "Id")
		if noun == "definition" {
			// A property is defined for one kind of object, the one in the path.
			kind, _, _ := strings.Cut(o.Events[0], ".")
			fields[name] = a.SendREST(t, v.Key, "POST", "/v1/property-definitions",
				fmt.Sprintf(`{"objectType": %q, "key": "example_%s", "name": "Example", "valueType": "text"}`,
					kind, string(id.New())[24:])).OK(t, 201).ID("id")
		} else if noun == "user" {
			fields[name] = v.OwnerID
		} else if ok && f[collection(noun)] != "" {
			fields[name] = f[collection(noun)]
		}
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// collection is the path of the rows that a field names: emailTemplate is in
// /v1/email-templates.
func collection(noun string) string {
	path := "/v1/"
	for _, r := range noun {
		if unicode.IsUpper(r) {
			path += "-"
		}
		path += string(unicode.ToLower(r))
	}
	if strings.HasSuffix(path, "s") {
		path += "e"
	}
	return path + "s"
}

// before names what must be done to a parent before it takes a child.
var before = map[string]string{"invoices.record_payment": "/issue"}

// after names what is done with a new row, so that what follows from it is there.
var after = map[string]string{"automations.create": "/run"}

// build creates one of everything from the operations' own examples.
func build(t *testing.T, a *apptest.App, v apptest.Tenant) fixtures {
	t.Helper()
	f := fixtures{}
	for depth := 1; depth < 8; depth++ {
		for _, o := range a.Catalog.All() {
			if o.Doors&op.RESTDoor == 0 || o.Method != "POST" || o.Status != 201 ||
				strings.Count(o.Path, "/") != depth {
				continue
			}
			if o.Name == "undo.create" { // it makes a proposal, from events that its example does not name
				continue
			}
			if o.IsForm() {
				f[o.Path] = a.UploadForm(t, v.Key, o.Path,
					apptest.Part{Name: "file", FileName: "letter.txt", Text: "Dear Ada"}).OK(t, 201).ID("id")
				continue
			}
			path, ok := fill(t, o, func(c string) (id.ID, bool) { f.came(t, a, v, c); v, ok := f[c]; return v, ok })
			if !ok {
				t.Fatalf("%s: nothing creates what its path names", o.Name)
			}
			if step := before[o.Name]; step != "" {
				a.SendREST(t, v.Key, "POST", path[:strings.LastIndex(path, "/")]+step, "").OK(t, 200)
			}
			text := f.refer(t, a, v, o)
			if strings.HasPrefix(o.Path, "/v1/domains") { // a name is one tenant's
				text = strings.ReplaceAll(text, "example.com", "t"+string(v.Org)+".example.com")
			}
			f[o.Path] = a.SendREST(t, v.Key, "POST", path, text, keyFor(o)...).OK(t, 201).ID("id")
			if o.Name == "domains.create" {
				f.prove(t, a, v, f[o.Path])
			}
			if step := after[o.Name]; step != "" {
				a.SendREST(t, v.Key, "POST", path+"/"+string(f[o.Path])+step, "{}").OK(t, 200)
			}
		}
	}
	f["/v1/imports"] = a.UploadForm(t, v.Key, "/v1/imports", apptest.Part{Name: "objectType", Text: "contacts"},
		apptest.Part{Name: "file", FileName: "people.csv", Text: "firstName\nAda\n"}).OK(t, 202).ID("id")
	deliver(t, a, v, f)
	// What no caller creates, such as events, came about meanwhile.
	for _, o := range a.Catalog.All() {
		if o.Doors&op.RESTDoor != 0 && o.Method == "GET" && len(o.PathFields()) == 0 && f[o.Path] == "" &&
			o.AnswersList() {
			f.came(t, a, v, o.Path)
		}
	}
	return f
}

// came takes a row of a collection that no caller creates in, such as events
// or the threads of messages.
func (f fixtures) came(t *testing.T, a *apptest.App, v apptest.Tenant, collection string) {
	t.Helper()
	if f[collection] != "" || strings.Contains(collection, "{") {
		return
	}
	if rows := a.SendREST(t, v.Key, "GET", collection, "").OK(t, 200); rows.Len() > 0 {
		f[collection] = rows.ID("0.id")
	}
}

// prove makes an external domain active, as its owner's DNS would, and orders
// another one, so that there is an operation to look at. Each tenant has names
// of its own.
func (f fixtures) prove(t *testing.T, a *apptest.App, v apptest.Tenant, domain id.ID) {
	t.Helper()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "UPDATE domains SET status = 'active' WHERE organization_id = $1 AND id = $2", v.Org,
			domain)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	zones := &dnsserver.Store{DB: a.DB, Clock: a.Clock}
	if err := zones.CreateZone(t.Context(), "t"+string(v.Org)+".example.com"); err != nil {
		t.Fatal(err)
	}
	a.AsOperator(t, "agreements.accept", "business", v.Business,
		fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, v.Business, v.Owner))
	a.AsOperator(t, "payment_methods.create_test", "organization", v.Org, `{"test": "visa"}`)
	register := a.Catalog.Named("domains.register")
	order := strings.Replace(body(t, register), "analytical-engines", "t"+string(v.Org), 1)
	a.SendREST(t, v.Key, "POST", register.Path, order, "Idempotency-Key", "prove").OK(t, 202)
}

// deliver makes the one collection under a parent that no caller creates in.
func deliver(t *testing.T, a *apptest.App, v apptest.Tenant, f fixtures) {
	t.Helper()
	f["/v1/webhooks/{id}/deliveries"] = id.New()
	err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_,
			err := db.Exec(ctx, tx,
			`
				INSERT INTO webhook_deliveries (id, organization_id, created_at, updated_at, webhook_id, epoch,
					event_id,
					event_type, status, attempts, failures)
				VALUES ($1, $2, $3, $3, $4, 0, $5, 'contact.created', 'failed', 1,
					1)`, f["/v1/webhooks/{id}/deliveries"], v.Org,
			a.Clock.Now(), f["/v1/webhooks"], id.New())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every operation answers for another organization's row exactly as for one
// that does not exist. The test is made from the list of operations, so a new
// one cannot be forgotten. It tries the ids of paths; TestForeignReferenceIsMissing tries those in bodies.
func TestForeignIsMissing(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		theirs := build(t, a, a.NewTenant(t, "enterprise"))
		mine := build(t, a, a.Tenant)
		tried := 0
		for _, o := range a.Catalog.All() {
			if o.Doors&op.RESTDoor == 0 || len(o.PathFields()) == 0 || o.Public { // a token belongs to no organization
				continue
			}
			if o.MayCreate || o.Name == "reports.get" { // what is not there is created; a report has a name and no id
				continue
			}
			// Each parameter in turn is foreign, all before it are mine.
			for nth := range o.PathFields() {
				ask := func(last func(collection string) id.ID) apptest.Result {
					seen := 0
					path, ok := fill(t, o, func(c string) (id.ID, bool) {
						seen++
						if seen-1 == nth {
							return last(c), true
						}
						if seen-1 > nth {
							return theirs[c], theirs[c] != ""
						}
						return mine[c], mine[c] != ""
					})
					if !ok {
						t.Fatalf("%s: no fixture for %s", o.Name, o.Path)
					}
					return a.SendREST(t, a.Key, o.Method, path, body(t, o), keyFor(o)...)
				}
				foreign := ask(func(c string) id.ID {
					if theirs[c] == "" {
						t.Fatalf("%s: no fixture for %s", o.Name, c)
					}
					return theirs[c]
				})
				missing := ask(func(string) id.ID { return id.New() })
				if missing.Status != 404 || foreign.Status != missing.Status ||
					!bytes.Equal(foreign.Body, missing.Body) {
					t.Errorf("%s: foreign %d %s, missing %d %s", o.Name, foreign.Status, foreign.Body, missing.Status,
						missing.Body)
				}
				tried++
			}
		}
		if tried < 10 {
			t.Errorf("only %d combinations were tried", tried)
		}
		t.Logf("%d combinations of operation and foreign id", tried)
	})
}

// namedIn are the collections of the rows that a field of a body names, where its own name does not tell: by the field,
// or by the operation and the field.
var namedIn = map[string]string{
	"definitionId":               "/v1/property-definitions",
	"fileIds":                    "/v1/files",
	"inReplyToId":                "/v1/messages",
	"invoiceIds":                 "/v1/invoices",
	"lineItemId":                 "/v1/invoices/{id}/line-items",
	"logoFileId":                 "/v1/files",
	"parentFolderId":             "/v1/folders",
	"replacesId":                 "/v1/proposals",
	"templateId":                 "/v1/email-templates",
	"domains.register contactId": "/v1/domain-contacts",
}

// insteadOf are the fields of an example that cannot be sent together with another.
var insteadOf = map[string][]string{
	"messages.create templateId": {"text", "html"},
	"domains.register contactId": {"contact"},
}

// Every operation refuses a body that names another organization's row, with the same words as one
// that names a row which does not exist. The test is made from the list of operations: one that forgets to check what
// it stores (see op.LockReferences) is found here.
func TestForeignReferenceIsMissing(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		theirs := build(t, a, a.NewTenant(t, "enterprise"))
		mine := build(t, a, a.Tenant)
		draft := a.SendREST(t, a.Key, "POST", "/v1/invoices",
			mine.refer(t, a, a.Tenant, a.Catalog.Named("invoices.create"))).OK(t, 201).ID("id")
		tried := 0
		for _, o := range a.Catalog.All() {
			if o.Doors&op.RESTDoor == 0 || o.TakesStream() || o.IsForm() {
				continue
			}
			for _, r := range o.ReferenceFields() {
				c := cmp.Or(namedIn[o.Name+" "+r.Field], namedIn[r.Field],
					collection(strings.TrimSuffix(r.Field, "Id")))
				path, ok := fill(t, o, func(c string) (id.ID, bool) {
					switch {
					case o.MayCreate: // what the path names need not be there
						return id.New(), true
					case o.Name == "invoices.update": // only a draft can be changed
						return draft, true
					}
					return mine[c], mine[c] != ""
				})
				if !ok || theirs[c] == "" {
					t.Errorf("%s: no fixture for %s, or for %s in %s", o.Name, o.Path, r.Field, c)
					continue
				}
				ask := func(row id.ID) apptest.Result {
					fields := map[string]any{}
					if err := json.Unmarshal([]byte(mine.refer(t, a, a.Tenant, o)), &fields); err != nil {
						t.Fatal(err)
					}
					for _, name := range insteadOf[o.Name+" "+r.Field] {
						delete(fields, name)
					}
					if fields[r.Field] = row; r.Many {
						fields[r.Field] = []id.ID{row}
					}
					text, err := json.Marshal(fields)
					if err != nil {
						t.Fatal(err)
					}
					return a.SendREST(t, a.Key, o.Method, path, string(text), keyFor(o)...)
				}
				foreign, missing := ask(theirs[c]), ask(id.New())
				atField := missing.Status == 400 && strings.Contains(string(missing.Body), "no such")
				if !atField && missing.Status != 404 || !bytes.Equal(foreign.Body, missing.Body) {
					t.Errorf("%s with %s: foreign %d %s, missing %d %s", o.Name, r.Field, foreign.Status, foreign.Body,
						missing.Status, missing.Body)
				}
				tried++
			}
		}
		if tried < 25 {
			t.Errorf("only %d references were tried", tried)
		}
	})
}

// What every operation must declare.
func TestDeclarations(t *testing.T) {
	a := apptest.Start(t, "sqlite")
	for _, o := range a.Catalog.All() {
		if !strings.HasSuffix(o.Summary, ".") || o.Example == "" {
			t.Errorf("%s: needs a summary that is a sentence, and an example", o.Name)
		}
		if o.Path != "" && strings.HasPrefix(o.Path, "/v1/") == o.Public {
			t.Errorf("%s: under /v1 is what needs a key, and nothing else: %s", o.Name, o.Path)
		}
		// Who looks at something has not changed it, nor has who was asked for a factor or has yet to send a form.
		quiet := slices.Contains([]string{"threads.look", "notifications.read", "notifications.test", "drafts.save",
			"drafts.discard", "factors.begin_codes",
			"factors.begin_passkey",
			"sessions.ask_passkey", "sessions.ask_reconfirm", "sessions.begin_provider"}, o.Name)
		if !o.ReadOnly() && o.Action != op.ActionRead && len(o.Events) == 0 && !quiet {
			t.Errorf("%s changes something and emits nothing", o.Name)
		}
		if _, err := json.Marshal(o.InputSchema()); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
		for _, e := range o.Events {
			if strings.Count(e, ".") == 0 || strings.ToLower(e) != e {
				t.Errorf("%s: event %s", o.Name, e)
			}
		}
	}
}

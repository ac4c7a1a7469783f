package message_test

import (
	"fmt"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// draft writes a draft and returns it.
func draft(t testing.TB, call apptest.Door, fields string) apptest.Value {
	t.Helper()
	return call(t, "messages.create", `{"draft": true, `+fields+`}`).OK(t, 201)
}

func ref(v apptest.Value) string { return fmt.Sprintf(`{"id": %q}`, v.Text("id")) }

func with(v apptest.Value, fields string) string {
	return fmt.Sprintf(`{"id": %q, %s}`, v.Text("id"), fields)
}

func TestMessages(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := draft(t, call, `"to": "Ada@example.com", "cc": ["charles@example.com", "CHARLES@example.com"],
			"subject": "Żółw & co", "html": "<p onclick=\"x()\">Hello <b>there</b></p><script>x()</script>"`)
		v.Same("direction", "outbound")
		v.Same("status", "draft")
		v.Same("purpose", "transactional")
		v.Same("from", "no-reply@frontdesk.example")
		v.Same("subject", "Żółw & co")
		v.Same("to.0", "Ada@example.com")
		v.Same("html", "<p>Hello <b>there</b></p>")
		v.Same("text", "Hello there")
		if v.At("to").Len() != 1 || v.At("cc").Len() != 1 || v.At("bcc").Len() != 0 || v.At("fileIds").Len() != 0 {
			t.Errorf("addresses: %s", v)
		}
		for _, field := range []string{"deletedAt", "replyTo", "templateId", "contactId", "customerId", "scheduledAt",
			"sentAt", "errorMessage", "inReplyToId"} {
			if !v.Has(field) || !v.At(field).Null() {
				t.Errorf("%s is not null but %v", field, v.At(field))
			}
		}
		for _, hidden := range []string{"search", "internetId", "references", "attachments", "seq"} {
			if v.Has(hidden) {
				t.Errorf("%s is shown", hidden)
			}
		}
		if got := call(t, "messages.get", ref(v)).OK(t, 200); got.String() != v.String() {
			t.Errorf("get differs from create:\n%s\n%s", got, v)
		}
		if same := call(t, "messages.update", ref(v)).OK(t, 200); same.String() != v.String() {
			t.Errorf("{} changed something: %s", same)
		}
		changed := call(t, "messages.update", with(v, `"to": ["grace@example.com", "ada@example.com"], "cc": null,
			"subject": "Turtle", "text": "Plain", "html": null, "replyTo": "desk@example.com"`)).OK(t, 200)
		changed.Same("to.0", "grace@example.com")
		changed.Same("replyTo", "desk@example.com")
		changed.Same("text", "Plain")
		if changed.At("cc").Len() != 0 || !changed.At("html").Null() || changed.Text("threadId") != v.Text("threadId") {
			t.Errorf("changed: %s", changed)
		}
		call(t, "messages.update", with(v, `"html": "<i>New</i>"`)).OK(t, 200).Same("text", "New") // derived again
		call(t, "messages.delete", ref(v)).OK(t, 204)
		for _, op := range []string{"get", "update", "delete", "send", "cancel"} {
			call(t, "messages."+op, ref(v)).Refused(t, 404, "NOT_FOUND")
		}
		if events := a.Events(t,
			"message."); events != "message.created message.updated message.updated message.deleted" {
			t.Errorf("events %q", events)
		}
	})
}

func TestMessageTemplates(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		made := call(t, "email_templates.create", `{"name": "Hello", "subject": "Hello {{ name }}",
			"body": "Dear **{{ name }}**, {{ more | default: \"bye\" }}"}`).OK(t, 201).Text("id")
		template := fmt.Sprintf(`"to": "ada@example.com", "templateId": %q`, made)
		v := draft(t, call, template+`, "variables": {"name": "<Ada>"}`)
		v.Same("subject", "Hello <Ada>")
		v.Same("text", "Dear <Ada>, bye")
		v.Same("html", "<p>Dear <strong>&lt;Ada&gt;</strong>, bye</p>")
		v.Same("templateId", made)
		draft(t, call, template+`, "variables": {"name": "Ada"}, "subject": "Mine"`).Same("subject", "Mine")
		call(t, "messages.create", `{`+template+`}`).Refused(t, 422, "EMAIL_TEMPLATE_VARIABLE_MISSING")
		call(t, "messages.update", with(v, fmt.Sprintf(`"templateId": %q`, made))).
			Refused(t, 422, "EMAIL_TEMPLATE_VARIABLE_MISSING")
		again := call(t, "messages.update", with(v, fmt.Sprintf(`"templateId": %q, "variables": {"name": "Grace",
			"more": "so long"}`, made))).OK(t, 200)
		again.Same("subject", "Hello Grace")
		again.Same("text", "Dear Grace, so long")
		call(t, "messages.create", `{`+template+`, "variables": {"name": "Ada"}, "text": "no"}`).Issues(t, "templateId")
		call(t, "messages.create", `{`+template+`, "variables": {"name": ["Ada"]}}`).Issues(t, "variables.name")
		call(t, "messages.create", `{"to": "ada@example.com", "subject": "x",
			"variables": {"name": "Ada"}}`).Issues(t, "variables")
		call(t, "messages.create", fmt.Sprintf(`{"to": "ada@example.com",
			"templateId": %q}`, id.New())).Issues(t, "templateId")
	})
}

func TestMessageRefusals(t *testing.T) {
	many := strings.Repeat(`"x@example.com", `, 1000) + `"y@example.com"`
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		other := a.NewTenant(t, "free")
		theirs := a.Door("action", other)
		foreign := theirs(t, "contacts.create", `{"firstName": "Eve"}`).OK(t, 201).Text("id")
		foreignMessage := theirs(t, "messages.create", `{"to": "x@example.com", "subject": "x",
			"draft": true}`).OK(t, 201).Text("id")
		v := draft(t, call, `"to": "ada@example.com", "subject": "x"`)
		for _, c := range []struct{ fields, place string }{
			{`"to": "nope"`, "to"},
			{`"to": null`, "to"},
			{`"to": 3`, "to"},
			{`"to": []`, "to"},
			{`"to": ["ada@example.com", "nope"]`, "to.1"},
			{`"to": ["ada@example.com", 3]`, "to.1"},
			{`"to": "Ada <ada@example.com>"`, "to"},
			{`"to": "ada@example.com\r\nBcc: eve@example.com"`, "to"},
			{`"to": "ada@example.com, eve@example.com"`, "to"},
			{`"cc": ["\"x\r\nBcc: eve\"@example.com"]`, "cc.0"},
			{`"bcc": "a@localhost"`, "bcc"},
			{`"to": [` + many + `]`, "to"},
			{`"cc": [` + many + `]`, "cc"},
			{`"subject": "Hello\r\nBcc: eve@example.com"`, "subject"},
			{`"subject": "Hello\u0085there"`, "subject"},
			{`"subject": "Hello\u0000"`, "subject"},
			{`"subject": ""`, "subject"},
			{`"subject": "` + strings.Repeat("x", 256) + `"`, "subject"},
			{`"replyTo": "desk@example.com\nX: y"`, "replyTo"},
			{`"from": "ceo@frontdesk.example"`, "from"},
			{`"from": "me@example.com"`, "from"},
			{`"from": "Me <ceo@frontdesk.example>"`, "from"},
			{`"from": "Me"`, "from"},
			{`"from": "Me <no-reply@frontdesk.example>, You <no-reply@frontdesk.example>"`, "from"},
			{`"from": "\"Me\\r\\nBcc: eve@example.com\" <no-reply@frontdesk.example>"`, "from"},
			{`"from": "Me\r\nBcc: x <no-reply@frontdesk.example>"`, "from"},
			{`"from": "=?utf-8?q?Me=0D=0ABcc:_x?= <no-reply@frontdesk.example>"`, "from"},
			{`"from": "\"ceo@bank.example\" <no-reply@frontdesk.example>"`, "from"},
			{`"from": "Me\u202etxt <no-reply@frontdesk.example>"`, "from"},
			{`"from": "` + strings.Repeat("x", 101) + ` <no-reply@frontdesk.example>"`, "from"},
			{`"text": "` + strings.Repeat("x", 500_001) + `"`, "text"},
			{`"html": "` + strings.Repeat("x", 500_001) + `"`, "html"},
			{`"purpose": "spam"`, "purpose"},
			{`"scheduledAt": "tomorrow"`, "scheduledAt"},
			{`"scheduledAt": "2999-01-01T00:00:00Z"`, "scheduledAt"},
			{`"fileIds": ["nope"]`, "fileIds.0"},
			{fmt.Sprintf(`"fileIds": [%q]`, id.New()), "fileIds.0"},
			{fmt.Sprintf(`"contactId": %q`, foreign), "contactId"},
			{fmt.Sprintf(`"customerId": %q`, foreign), "customerId"},
			{fmt.Sprintf(`"inReplyToId": %q`, foreignMessage), "inReplyToId"},
			{`"status": "sent"`, ""},
			{`"threadId": "x"`, ""},
		} {
			fields := c.fields
			for field, value := range map[string]string{"to": `"ada@example.com"`, "subject": `"x"`} {
				if !strings.Contains(fields, `"`+field+`"`) {
					fields += fmt.Sprintf(`, %q: %s`, field, value)
				}
			}
			call(t, "messages.create", "{"+fields+"}").Issues(t, c.place)
			call(t, "messages.update", with(v, c.fields)).Issues(t, c.place)
		}
		call(t, "messages.create", `{"subject": "x"}`).Issues(t, "to")
		call(t, "messages.create", `{"to": "ada@example.com", "subject": "  "}`).Issues(t, "subject")
		call(t, "messages.create", `{"to": "ada@example.com"}`).Issues(t, "subject")
		if n := call(t, "messages.list", `{}`).OK(t, 200).Len(); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
}

// A template whose subject is empty with its values gives none.
func TestSubjectOfTemplate(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		made := call(t, "email_templates.create",
			`{"name": "x", "subject": "{{ word }}", "body": "x"}`).OK(t, 201).Text("id")
		fields := func(word, more string) string {
			return fmt.Sprintf(`"templateId": %q, "variables": {"word": %q}%s`, made, word, more)
		}
		call(t, "messages.create", `{"draft": true, "to": "ada@example.com", `+fields(" ", "")+`}`).Issues(t, "subject")
		v := draft(t, call, `"to": "ada@example.com", `+fields(" ", `, "subject": "Mine"`))
		v.Same("subject", "Mine")
		call(t, "messages.update", with(v, fields("", ""))).Issues(t, "subject")
		call(t, "messages.update", with(v, fields("Theirs", ""))).OK(t, 200).Same("subject", "Theirs")
	})
}

// A body larger than a request may be never reaches the operation.
func TestMessageTooLarge(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	a.SendREST(t, a.Key, "POST", "/v1/messages", `{"to": "ada@example.com", "subject": "x",
		"text": "`+strings.Repeat("x", 10<<20)+`"}`).Refused(t, 413, "PAYLOAD_TOO_LARGE")
	a.SendREST(t, a.Key, "POST", "/v1/messages", `{"to": "ada@example.com", "subject": "x", "draft": true,
		"text": "`+strings.Repeat("x", 500_000)+`"}`).OK(t, 201)
	for _, query := range []string{"status=lost", "direction=up", "threadId=1", "contactId=1", "limit=101"} {
		a.SendREST(t, a.Key, "GET", "/v1/messages?"+query, "").Refused(t, 400, "INVALID_INPUT")
	}
	a.SendREST(t, a.Key, "GET", "/v1/messages/nope", "").Refused(t, 400, "INVALID_MESSAGE_ID")
	a.SendREST(t, a.Key, "POST", "/v1/messages/nope/send", "").Refused(t, 400, "INVALID_MESSAGE_ID")
}

func TestMessageFilters(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		ada := call(t, "contacts.create", `{"firstName": "Ada",
			"emails": [{"email": "ADA@example.com"}]}`).OK(t, 201).Text("id")
		grace := call(t, "contacts.create", `{"firstName": "Grace"}`).OK(t, 201).Text("id")
		customer := call(t, "customers.create", `{"name": "Compilers"}`).OK(t, 201).Text("id")
		first := draft(t, call, fmt.Sprintf(`"to": "ada@example.com", "subject": "Straße", "text": "about the engine",
			"customerId": %q`, customer))
		draft(t, call, fmt.Sprintf(`"to": "x@example.org", "subject": "Second", "contactId": %q,
			"inReplyToId": %q`, grace, first.Text("id")))
		call(t, "messages.create", `{"to": "y@example.net", "bcc": "Ada@Example.com", "subject": "Third",
			"scheduledAt": "`+a.Clock.Now().Add(1<<40).String()+`"}`).OK(t, 201)
		for filter, want := range map[string]int{
			``: 3, `"direction": "outbound"`: 3, `"direction": "inbound"`: 0,
			`"status": "draft"`: 2, `"status": "scheduled"`: 1, `"status": "sent"`: 0,
			`"threadId": "` + first.Text("threadId") + `"`: 2, `"contactId": "` + ada + `"`: 2,
			`"contactId": "` + grace +
				`"`: 1, `"customerId": "` + customer + `"`: 1,
			`"query": "STRASSE"`: 1, `"query": "engine"`: 1, `"query": "example.org"`: 1, `"query": "ada@"`: 2,
			`"query": "se"`: 1, `"query": "nothing"`: 0, `"limit": 2`: 2,
		} {
			if n := call(t, "messages.list", "{"+filter+"}").OK(t, 200).Len(); n != want {
				t.Errorf("%s finds %d, want %d", filter, n, want)
			}
		}
		call(t, "messages.list", `{"sortOrder": "asc"}`).OK(t, 200).Same("0.subject", "Straße")
	})
}

package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"strings"

	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/message"

	"github.com/go-json-experiment/json"
)

// demoRecord is one call of an operation. $name in a later input stands for the
// id of what this call created; $business and $owner are known from the start.
// An operation that requires an idempotency key gets the record's index as one.
type demoRecord struct{ name, operation, input string }

// seedRecords creates the sample records through the same operations that
// everybody uses.
func (a *App) seedRecords(ctx context.Context, owner id.ID, caller *op.Caller) error {
	act := action.New(a.Runner, a.Catalog, op.SystemDoor)
	known := []string{"$business", string(caller.Business), "$owner", string(owner)}
	for i, r := range demoRecords {
		input := strings.NewReplacer(known...).Replace(r.input)
		call := action.Call{Caller: caller, Operation: r.operation, Input: []byte(input), RequestID: "demo"}
		if o := a.Catalog.Named(r.operation); o != nil && o.KeyRequired {
			call.Key = fmt.Sprintf("demo-%d", i)
		}
		answer, err := act.Do(ctx, call)
		if err != nil {
			return fmt.Errorf("demo: %s: %w", r.operation, err)
		}
		var made struct {
			Data struct {
				ID id.ID `json:"id"`
			} `json:"data"`
		}
		if err := json.Unmarshal(answer.Body, &made); err != nil {
			return fmt.Errorf("demo: %s: %w", r.operation, err)
		}
		if r.name != "" {
			known = append(known, "$"+r.name, string(made.Data.ID))
		}
	}
	for _, f := range demoFiles {
		if err := a.seedFile(ctx, caller, f.name, strings.NewReplacer(known...).Replace(f.folder), f.text); err != nil {
			return fmt.Errorf("demo: %s: %w", f.name, err)
		}
	}
	var answered string
	err := a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		answered, err = message.LoadInternetID(ctx, tx, caller.Organization,
			id.ID(strings.NewReplacer(known...).Replace("$plans")))
		return err
	})
	if err != nil {
		return err
	}
	to, text := "reply+"+answered, strings.ReplaceAll(demoMail, "$answered", answered)
	box, err := a.Messages.FindMailbox(ctx, to)
	if err != nil {
		return fmt.Errorf("demo: the answer: %w", err)
	}
	err = a.Messages.Receive(ctx, message.ReceivedMail{
		Sender:     "charles@example.com",
		Recipients: []message.Mailbox{box},
		Content:    strings.NewReader(text),
		Size:       int64(len(text)),
	})
	if err != nil {
		return fmt.Errorf("demo: the answer: %w", err)
	}
	return nil
}

// demoMail answers one of the sample messages.
const demoMail = `From: Charles Babbage <charles@example.com>
To: reply+$answered
Subject: Re: The larger engine
Message-ID: <1.charles@example.com>
In-Reply-To: <$answered>
Content-Type: multipart/mixed; boundary="page"

--page

Please do. I have marked on the list what I already have.

--page
Content-Type: text/plain; name="drawings.txt"
Content-Disposition: attachment; filename="drawings.txt"

Carry mechanism: wanted
Number wheels: have them

--page--
`

// seedFile uploads a sample file, as a form like any other.
func (a *App) seedFile(ctx context.Context, caller *op.Caller, name, folder, text string) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("folderId", folder); err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(part, text); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	_, err = a.Runner.Do(ctx, a.Catalog.Named("files.upload"),
		op.Request{Caller: caller, Door: op.SystemDoor, ID: "demo",
			Stream: &op.Stream{Reader: &body, ContentType: form.FormDataContentType(), Length: int64(body.Len())}})
	return err
}

// demoFiles are small texts, by name, folder and content.
var demoFiles = []struct{ name, folder, text string }{
	{"engine-prices.csv", "$offers", "engine,price\nDifference Engine No. 1,17000\nDifference Engine No. 2,9500\n"},
	{"welcome.txt", "$papers", "Thank you for choosing an analytical engine.\n\nPlease keep its cards dry.\n"},
}

// demoRecords describe a maker of calculating engines: its profile, its
// contacts and customers and what it knows about them, its tasks, its mail and
// its invoices.
var demoRecords = []demoRecord{
	{"", "businesses.profile.replace",
		`{"id": "$business", "tagline": "Engines that reckon", "about": "We design and build calculating engines, ` +
			`and keep them running.", "mission": "No table with an error in it, ever.", "toneOfVoice": "Plain and ` +
			`exact, with a little wit.", "audience": "Observatories, insurers, weavers and universities.", ` +
			`"foundedOn": "1837-12-01", "email": "office@example.com", "phone": "+442079460010", "website": ` +
			`"https://example.com"}`},
	{"", "businesses.offerings.create",
		`{"id": "$business", "name": "Difference engine", "kind": "product", "description": "Tabulates polynomials ` +
			`to the seventh order.", "priceCents": 1750000}`},
	{"", "businesses.offerings.create",
		`{"id": "$business", "name": "Maintenance", "kind": "service", "description": "Oiling, adjusting, and ` +
			`replacing worn wheels.", "priceCents": 9000, "unit": "hour"}`},
	{"", "businesses.offerings.create",
		`{"id": "$business", "name": "Pocket model", "kind": "product", "priceCents": 4900, "isActive": false}`},
	{"", "businesses.online_presences.create", `{"id": "$business", "kind": "website", "url": "https://example.com"}`},
	{"", "businesses.online_presences.create",
		`{"id": "$business", "kind": "linkedin", "url": "https://example.com/company/engines", "handle": ` +
			`"analytical-engines"}`},
	{"", "businesses.physical_presences.create",
		`{"id": "$business", "name": "Workshop", "description": "Visitors on Thursdays.", "address": "1 Dorset ` +
			`Street, London W1U 4EE"}`},

	{"charles", "contacts.create",
		`{"firstName": "Charles", "lastName": "Babbage", "jobTitle": "Inventor", "emails": [{"email": ` +
			`"charles@example.com", "label": "work"}], "phoneNumbers": [{"phoneNumber": "+442079460011"}], "notes": ` +
			`"Has plans for a larger engine."}`},
	{"mary", "contacts.create",
		`{"firstName": "Mary", "lastName": "Somerville", "prefix": "Dr", "emails": [{"email": "mary@example.org"}], ` +
			`"addresses": [{"line1": "12 Queen Square", "city": "London", "country": "GB"}]}`},
	{"luigi", "contacts.create",
		`{"firstName": "Luigi", "lastName": "Menabrea", "emails": [{"email": "luigi@example.net"}], "phoneNumbers": ` +
			`[{"phoneNumber": "+390115550142"}], "notes": "Wrote the first article about us."}`},
	{"grace", "contacts.create",
		`{"firstName": "Grace", "lastName": "Hopper", "jobTitle": "Rear admiral", "organizationName": "Compilers ` +
			`United", "emails": [{"email": "grace@example.com", "label": "work"}, {"email": "grace@example.org", ` +
			`"label": "home"}]}`},
	{"jacquard", "contacts.create",
		`{"organizationName": "Jacquard & Sons, Weavers", "emails": [{"email": "orders@example.net"}], ` +
			`"phoneNumbers": [{"phoneNumber": "+33472555019", "label": "workshop"}]}`},
	{"sofja", "contacts.create",
		`{"firstName": "Sofja", "lastName": "Kowalewskaja", "jobTitle": "Professor", "emails": [{"email": ` +
			`"sofja@example.org"}], "addresses": [{"line1": "Drottninggatan 5", "city": "Stockholm", "country": ` +
			`"SE"}]}`},
	{"", "contacts.create", `{"firstName": "Emmy", "lastName": "Noether", "emails": [{"email": "emmy@example.com"}]}`},
	{"", "contacts.create",
		`{"firstName": "Hedy", "lastName": "Lamarr", "jobTitle": "Inventor and actor", "phoneNumbers": ` +
			`[{"phoneNumber": "+12025550147"}], "birthday": "1914-11-09"}`},

	{"weavers", "customers.create",
		`{"name": "Jacquard & Sons", "type": "business", "status": "active", "contactId": "$jacquard", "email": ` +
			`"orders@example.net", "customerSince": "2024-03-01T09:00:00Z"}`},
	{"compilers", "customers.create",
		`{"name": "Compilers United", "type": "business", "status": "active", "contactId": "$grace", "email": ` +
			`"grace@example.com", "customerSince": "2025-06-15T09:00:00Z"}`},
	{"", "customers.create",
		`{"name": "Mary Somerville", "contactId": "$mary", "email": "mary@example.org", "notes": "Would like to see ` +
			`a small model first."}`},
	{"", "customers.create", `{"name": "Sofja Kowalewskaja", "contactId": "$sofja", "status": "inactive"}`},

	{"tier", "property_definitions.create",
		`{"objectType": "customer", "key": "service_tier", "name": "Service tier", "valueType": "select", "options": ` +
			`["gold", "silver", "bronze"], "description": "How fast we come when an engine stops."}`},
	{"engines", "property_definitions.create",
		`{"objectType": "customer", "key": "engines", "name": "Engines in use", "valueType": "number"}`},
	{"channel", "property_definitions.create",
		`{"objectType": "contact", "key": "preferred_channel", "name": "Preferred channel", "valueType": "select", ` +
			`"options": ["email", "phone", "letter"]}`},
	{"", "customers.properties.create", `{"id": "$weavers", "definitionId": "$tier", "value": "gold"}`},
	{"", "customers.properties.create", `{"id": "$weavers", "definitionId": "$engines", "value": "12"}`},
	{"", "customers.properties.create",
		`{"id": "$compilers", "definitionId": "$tier", "value": "silver", "status": "suggested", "sources": [{"url": ` +
			`"https://example.com/compilers", "title": "Their website"}]}`},
	{"office", "domain_contacts.create",
		`{"label": "Office", "firstName": "Ada", "lastName": "Lovelace", "organizationName": "Analytical Engines", ` +
			`"jobTitle": "Director", "address1": "12 St James's Square", "city": "London", "stateProvince": ` +
			`"London", "postalCode": "SW1Y 4JH", "country": "GB", "email": "ada@example.com", "phone": ` +
			`"+442079460018"}`},
	{"", "domains.register",
		`{"domain": "analytical-engines.com", "periodYears": 2, "maxAmountCents": 2700, "contactId": "$office"}`},
	{"", "domains.create", `{"name": "engines.example.org"}`},
	{"", "contacts.properties.create", `{"id": "$charles", "definitionId": "$channel", "value": "letter"}`},

	{"drawings", "tasks.create",
		`{"title": "Send the drawings of the larger engine", "description": "The set with the new carry mechanism.", ` +
			`"priority": "high", "contactId": "$charles", "businessId": "$business"}`},
	{"", "tasks.assignees.create", `{"id": "$drawings", "userId": "$owner"}`},
	{"", "tasks.activity.create", `{"id": "$drawings", "body": "He asked for them twice; a letter is on its way."}`},
	{"service", "tasks.create",
		`{"title": "Yearly service of twelve engines", "customerId": "$weavers", "status": "in_progress", ` +
			`"businessId": "$business"}`},
	{"", "tasks.assignees.create", `{"id": "$service", "userId": "$owner"}`},
	{"", "tasks.activity.create", `{"id": "$service", "body": "Seven done. Number eight needs a new wheel."}`},
	{"question", "tasks.create",
		`{"title": "Ask about the service tier", "customerId": "$compilers", "priority": "low"}`},
	{"", "tasks.activity.create", `{"id": "$question", "body": "Silver, according to their website."}`},
	{"", "tasks.update", `{"id": "$question", "status": "completed"}`},

	{"", "email_templates.create",
		`{"name": "Invoice", "templateKey": "invoice", "subject": "Invoice {{ invoice.number }} from {{ ` +
			`business.name }}", "body": "Dear {{ customer.name | default: \"friend of the engine\" }},\n\nthe cards ` +
			`are punched and the wheels are oiled. Here is invoice **{{ invoice.number }}** for {{ invoice.total }}, ` +
			`due {{ invoice.dueDate | default: \"on receipt\" }}.\n\nYours,\n{{ business.name }}"}`},
	{"", "email_templates.create",
		`{"name": "News from the workshop", "description": "Goes out four times a year.", "subject": "{{ season }} ` +
			`in the workshop", "body": "# {{ season }} in the workshop\n\nHello {{ contact.firstName | default: ` +
			`\"there\" }},\n\n- a new engine is on the bench\n- [the catalogue](https://example.com/catalogue) is ` +
			`out"}`},
	{"", "email_opt_ins.create",
		`{"email": "charles@example.com", "contactId": "$charles", "status": "opted_in", "source": "Exhibition of ` +
			`1851", "optedInAt": "2025-05-01T10:00:00Z"}`},
	{"", "email_opt_ins.create", `{"email": "mary@example.org", "contactId": "$mary", "source": "Web shop"}`},
	{"", "email_opt_ins.create",
		`{"email": "luigi@example.net", "contactId": "$luigi", "status": "opted_out", "source": "Asked by letter"}`},

	{"plans", "messages.create",
		`{"to": "charles@example.com", "subject": "The larger engine", "text": "Dear Charles,\n\nthe drawings with ` +
			`the new carry mechanism are ready. Shall we send them?\n\nYours,\nthe workshop", "contactId": ` +
			`"$charles"}`},
	{"", "messages.create",
		`{"to": "charles@example.com", "subject": "Re: The larger engine", "text": "Dear Charles,\n\nthey leave with ` +
			`tomorrow's post.", "contactId": "$charles", "inReplyToId": "$plans"}`},
	{"", "messages.create",
		`{"to": "charles@example.com", "subject": "Spring in the workshop", "html": "<h1>Spring in the ` +
			`workshop</h1><p>A new engine is on the bench.</p>", "purpose": "marketing"}`},
	{"", "messages.create",
		`{"to": "orders@example.net", "cc": "grace@example.com", "subject": "Service of your twelve engines", ` +
			`"text": "Seven are done. Number eight needs a new wheel.", "customerId": "$weavers", "draft": true}`},

	{"", "webhooks.create",
		`{"url": "https://hooks.example.com/workshop", "events": ["contact.created", "task.updated"], "description": ` +
			`"The workshop's own ledger, not yet built", "status": "disabled"}`},

	{"papers", "folders.create", `{"name": "Papers for customers"}`},
	{"offers", "folders.create", `{"name": "Offers", "parentFolderId": "$papers"}`},

	{"paid", "invoices.create",
		`{"customerId": "$weavers", "dueAt": "2026-02-15T00:00:00Z", "notes": "Thank you for your custom.", "terms": ` +
			`"Payable within 30 days.", "lineItems": [{"description": "Punched cards, box of 500", "quantity": "4", ` +
			`"unitAmountCents": 8500}, {"description": "Delivery to the workshop", "unitAmountCents": 4200}]}`},
	{"", "invoices.issue", `{"id": "$paid"}`},
	{"", "invoices.record_payment",
		`{"id": "$paid", "amountCents": 38200, "paidAt": "2026-02-10T10:00:00Z", "method": "bank_transfer", "note": ` +
			`"Ref 4711"}`},
	{"late", "invoices.create",
		`{"customerId": "$weavers", "dueAt": "2026-03-31T00:00:00Z", "terms": "Payable within 30 days.", ` +
			`"lineItems": [{"description": "Repair of the loom's reader, by the hour", "quantity": "6.5", ` +
			`"unitAmountCents": 9000}, {"description": "Brass gears", "quantity": "12", "unitAmountCents": 1450}, ` +
			`{"description": "Discount for the delay", "unitAmountCents": -2500}]}`},
	{"", "invoices.issue", `{"id": "$late"}`},
	{"", "invoices.record_payment", `{"id": "$late", "amountCents": 20000, "method": "check"}`},
	{"open", "invoices.create",
		`{"customerId": "$compilers", "dueAt": "2099-12-31T00:00:00Z", "lineItems": [{"description": "Difference ` +
			`engine, hire for one month", "unitAmountCents": 125000}, {"description": "Staff training, by the hour", ` +
			`"quantity": "3", "unitAmountCents": 7500}]}`},
	{"", "invoices.issue", `{"id": "$open"}`},
	{"", "invoices.send", `{"id": "$open"}`},
	{"", "invoices.record_payment",
		`{"id": "$open", "amountCents": 50000, "method": "card", "note": "First instalment"}`},
	{"wrong", "invoices.create",
		`{"customerId": "$compilers", "lineItems": [{"description": "Analytical engine", "unitAmountCents": ` +
			`99500000}]}`},
	{"", "invoices.issue", `{"id": "$wrong"}`},
	{"", "invoices.void", `{"id": "$wrong"}`},
	{"", "invoices.create",
		`{"customerId": "$weavers", "notes": "To be agreed with the foreman.", "lineItems": [{"description": "Yearly ` +
			`inspection", "unitAmountCents": 45000}]}`},
	{"", "customers.transactions.create",
		`{"id": "$compilers", "type": "credit", "amountCents": 2500, "description": "For the late delivery of the ` +
			`cards"}`},

	{"", "automations.create",
		`{"name": "Call new contacts", "description": "A task for every new contact that has a phone number.", ` +
			`"trigger": {"kind": "event", "event": "contact.created"}, "condition": "size(event.data.phoneNumbers) > ` +
			`0", "steps": [{"operation": "tasks.create", "input": {"title": "Call {{ event.data.firstName | default: ` +
			`\"them\" }} on {{ event.data.phoneNumbers.0.phoneNumber }}", "contactId": "{{ event.resourceId }}"}}]}`},
	{"", "automations.create",
		`{"name": "Review open tasks", "description": "Every Monday at nine.", "status": "paused", "trigger": ` +
			`{"kind": "schedule", "cron": "0 9 * * 1", "timezone": "Europe/London"}, "steps": [{"operation": ` +
			`"tasks.list", "input": {"status": "open", "limit": 100}, "saveAs": "open"}, {"operation": ` +
			`"tasks.create", "input": {"title": "Go through the open tasks, starting with: {{ open.0.title | ` +
			`default: \"none\" }}"}}]}`},
}

package app

import "context"

// demoRecord is one call of an operation. $name in a later input stands for the id of
// what this call made; "@7" for noon in a week.
type demoRecord struct{ name, operation, input string }

// addRecords sets up the business in the first days of the year.
func (y *demoYear) addRecords() {
	for i, r := range demoRecords {
		y.record(366, 9+float64(i)/30, r.name, r.operation, r.input)
	}
	y.add(365, 9, func(ctx context.Context) error {
		if err := y.upload(ctx, "engine-prices.csv", "$offers",
			"engine,price\nDifference Engine No. 1,17000\nDifference Engine No. 2,9500\n"); err != nil {
			return err
		}
		return y.upload(ctx, "welcome.txt", "$papers",
			"Thank you for choosing an analytical engine.\n\nPlease keep its cards dry.\n")
	})
}

// demoRecords describe a maker of calculating engines: its profile, the first of its
// contacts and customers and what it knows about them, its templates and automations.
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
			`"orders@example.net", "customerSince": "@-980"}`},
	{"compilers", "customers.create",
		`{"name": "Compilers United", "type": "business", "status": "active", "contactId": "$grace", "email": ` +
			`"grace@example.com", "customerSince": "@-520"}`},
	{"mary-customer", "customers.create",
		`{"name": "Mary Somerville", "contactId": "$mary", "email": "mary@example.org", "notes": "Would like to see ` +
			`a small model first."}`},
	{"sofja-customer", "customers.create", `{"name": "Sofja Kowalewskaja", "contactId": "$sofja",
		"status": "inactive"}`},

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
			`1851", "optedInAt": "@-500"}`},
	{"", "email_opt_ins.create", `{"email": "mary@example.org", "contactId": "$mary", "source": "Web shop"}`},
	{"", "email_opt_ins.create",
		`{"email": "luigi@example.net", "contactId": "$luigi", "status": "opted_out", "source": "Asked by letter"}`},

	{"papers", "folders.create", `{"name": "Papers for customers"}`},
	{"offers", "folders.create", `{"name": "Offers", "parentFolderId": "$papers"}`},

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

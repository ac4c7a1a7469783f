package app

import (
	"context"
	"fmt"
	"strings"

	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// demoRecord is one call of an operation. What it makes is remembered by its
// name, and $name in a later input is its id.
type demoRecord struct{ name, operation, input string }

// seedRecords makes the sample records through the same operations that
// everybody uses.
func (a *App) seedRecords(ctx context.Context, caller *op.Caller) error {
	act := action.New(a.Runner, a.Catalog, op.System)
	var known []string
	for _, r := range demoRecords {
		input := strings.NewReplacer(known...).Replace(r.input)
		key := ""
		if a.Catalog.Named(r.operation).KeyRequired {
			key = "demo/" + r.operation
		}
		answer, err := act.Do(ctx, action.Call{Caller: caller, Operation: r.operation, Input: []byte(input), Key: key, RequestID: "demo"})
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
	return nil
}

// demoRecords is a maker of calculating engines: the people it talks to, whom
// it sells to, and what it notes about them.
var demoRecords = []demoRecord{
	{"charles", "contacts.create", `{"firstName": "Charles", "lastName": "Babbage", "jobTitle": "Inventor", "emails": [{"email": "charles@example.com", "label": "work"}], "phoneNumbers": [{"phoneNumber": "+442079460011"}], "notes": "Has plans for a larger engine."}`},
	{"mary", "contacts.create", `{"firstName": "Mary", "lastName": "Somerville", "prefix": "Dr", "emails": [{"email": "mary@example.org"}], "addresses": [{"line1": "12 Queen Square", "city": "London", "country": "GB"}]}`},
	{"luigi", "contacts.create", `{"firstName": "Luigi", "lastName": "Menabrea", "emails": [{"email": "luigi@example.net"}], "phoneNumbers": [{"phoneNumber": "+390115550142"}], "notes": "Wrote the first article about us."}`},
	{"grace", "contacts.create", `{"firstName": "Grace", "lastName": "Hopper", "jobTitle": "Rear admiral", "organizationName": "Compilers United", "emails": [{"email": "grace@example.com", "label": "work"}, {"email": "grace@example.org", "label": "home"}]}`},
	{"jacquard", "contacts.create", `{"organizationName": "Jacquard & Sons, Weavers", "emails": [{"email": "orders@example.net"}], "phoneNumbers": [{"phoneNumber": "+33472555019", "label": "workshop"}]}`},
	{"sofja", "contacts.create", `{"firstName": "Sofja", "lastName": "Kowalewskaja", "jobTitle": "Professor", "emails": [{"email": "sofja@example.org"}], "addresses": [{"line1": "Drottninggatan 5", "city": "Stockholm", "country": "SE"}]}`},
	{"", "contacts.create", `{"firstName": "Emmy", "lastName": "Noether", "emails": [{"email": "emmy@example.com"}]}`},
	{"", "contacts.create", `{"firstName": "Hedy", "lastName": "Lamarr", "jobTitle": "Inventor and actor", "phoneNumbers": [{"phoneNumber": "+12025550147"}], "birthday": "1914-11-09"}`},

	{"weavers", "customers.create", `{"name": "Jacquard & Sons", "type": "business", "status": "active", "contactId": "$jacquard", "email": "orders@example.net", "customerSince": "2024-03-01T09:00:00Z"}`},
	{"compilers", "customers.create", `{"name": "Compilers United", "type": "business", "status": "active", "contactId": "$grace", "email": "grace@example.com", "customerSince": "2025-06-15T09:00:00Z"}`},
	{"", "customers.create", `{"name": "Mary Somerville", "contactId": "$mary", "email": "mary@example.org", "notes": "Would like to see a small model first."}`},
	{"", "customers.create", `{"name": "Sofja Kowalewskaja", "contactId": "$sofja", "status": "inactive"}`},

	{"tier", "property_definitions.create", `{"objectType": "customer", "key": "service_tier", "name": "Service tier", "valueType": "select", "options": ["gold", "silver", "bronze"], "description": "How fast we come when an engine stops."}`},
	{"engines", "property_definitions.create", `{"objectType": "customer", "key": "engines", "name": "Engines in use", "valueType": "number"}`},
	{"channel", "property_definitions.create", `{"objectType": "contact", "key": "preferred_channel", "name": "Preferred channel", "valueType": "select", "options": ["email", "phone", "letter"]}`},
	{"", "customers.properties.create", `{"id": "$weavers", "definitionId": "$tier", "value": "gold"}`},
	{"", "customers.properties.create", `{"id": "$weavers", "definitionId": "$engines", "value": "12"}`},
	{"", "customers.properties.create", `{"id": "$compilers", "definitionId": "$tier", "value": "silver", "status": "suggested", "sources": [{"url": "https://example.com/compilers", "title": "Their web site"}]}`},
	{"office", "domain_contacts.create", `{"label": "Office", "firstName": "Ada", "lastName": "Lovelace", "organizationName": "Analytical Engines", "jobTitle": "Director", "address1": "12 St James's Square", "city": "London", "stateProvince": "London", "postalCode": "SW1Y 4JH", "country": "GB", "email": "ada@example.com", "phone": "+442079460018"}`},
	{"", "domains.register", `{"domain": "analytical-engines.com", "periodYears": 2, "maxAmountCents": 2700, "contactId": "$office"}`},
	{"", "domains.create", `{"name": "engines.example.org"}`},
	{"", "contacts.properties.create", `{"id": "$charles", "definitionId": "$channel", "value": "letter"}`},
}

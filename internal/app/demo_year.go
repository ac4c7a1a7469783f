package app

import (
	"context"
	"fmt"
	"strings"
)

// demoPeople come during the year: days ago, given name, family name, what they do, where,
// and their tags. Their address is their given name at the company's.
var demoPeople = []struct {
	days                                      int
	given, family, title, company, host, tags string
}{
	{352, "Caroline", "Herschel", "Astronomer", "Slough Observatory", "slough-observatory.example", "observatory"},
	{345, "George", "Airy", "Astronomer Royal", "Greenwich Observatory", "greenwich.example", "observatory"},
	{340, "Mary", "Anning", "Owner", "Lyme Curiosities", "lyme-curiosities.example", "shop"},
	{331, "Isambard", "Brunel", "Chief engineer", "Great Western Works", "great-western.example", "works"},
	{324, "Sophie", "Germain", "Consultant", "Germain & Fille", "germain.example", "consultant, paris"},
	{318, "Michael", "Faraday", "Director of the laboratory", "Royal Institution", "institution.example", "laboratory"},
	{309, "Florence", "Nightingale", "Superintendent", "Harley Street Hospital", "harley-hospital.example", "hospital"},
	{301, "William", "Farr", "Statistician", "General Register Office", "register-office.example", "statistics"},
	{290, "Augustus", "De Morgan", "Professor", "Gower Street College", "gower-college.example", "university"},
	{281, "Jane", "Marcet", "Author", "", "marcet.example", "press"},
	{274, "Joseph", "Clement", "Master machinist", "Clement Tools", "clement-tools.example", "supplier"},
	{266, "Henrietta", "Leavitt", "Computer", "Harvard Observatory", "harvard-observatory.example", "observatory"},
	{255, "Annie", "Cannon", "Curator", "Harvard Observatory", "harvard-observatory.example", "observatory"},
	{247, "Friedrich", "Bessel", "Director", "Sternwarte Königsberg", "sternwarte.example", "observatory, euro"},
	{239, "Carl", "Gauß", "Professor", "Göttinger Institut", "goettingen.example", "university, euro"},
	{230, "Marie", "Lachapelle", "Head midwife", "Hôtel-Dieu", "hotel-dieu.example", "hospital, euro"},
	{221, "Per Georg", "Scheutz", "Printer", "Scheutz Tryckeri", "scheutz.example", "printer"},
	{214, "Edvard", "Scheutz", "Engineer", "Scheutz Tryckeri", "scheutz.example", "printer"},
	{205, "Martin", "Wiberg", "Maker", "Wiberg Tabeller", "wiberg.example", "printer"},
	{196, "Agnes", "Clerke", "Editor", "The Night Sky Review", "night-sky.example", "press"},
	{188, "Margaret", "Huggins", "Astronomer", "Tulse Hill Observatory", "tulse-hill.example", "observatory"},
	{176, "Thomas", "De Colmar", "Maker", "Arithmomètre SA", "arithmometre.example", "maker, euro"},
	{165, "Percy", "Ludgate", "Accountant", "Ludgate & Co", "ludgate.example", "accounts"},
	{154, "Leonardo", "Torres", "Engineer", "Talleres Torres", "torres.example", "works, euro"},
	{143, "Alicia", "Boole", "Model maker", "Boole Models", "boole-models.example", "shop"},
	{131, "Hertha", "Ayrton", "Electrical engineer", "Ayrton Arc Lamps", "ayrton-lamps.example", "works"},
	{120, "Philippa", "Fawcett", "Lecturer", "Newnham College", "newnham.example", "university"},
	{108, "Grace", "Chisholm", "Mathematician", "Göttinger Institut", "goettingen.example", "university, euro"},
	{97, "Beatrice", "Worsley", "Programmer", "Toronto Computation", "toronto-computation.example", "laboratory"},
	{83, "Kathleen", "Booth", "Programmer", "Birkbeck Laboratory", "birkbeck-lab.example", "laboratory"},
	{66, "Ida", "Rhodes", "Mathematician", "Bureau of Tables", "bureau-tables.example", "statistics"},
	{41, "Mina", "Rees", "Director", "Mathematics Board", "mathematics-board.example", "statistics"},
	{12, "Gertrude", "Blanch", "Head of tables", "Tables Project", "tables-project.example", "statistics"},
}

// addPeople adds the contacts of the year.
func (y *demoYear) addPeople() {
	for i, p := range demoPeople {
		as, email := y.owner, demoAddress(p.given, p.host)
		if i%3 == 1 {
			as = y.colleague
		}
		company := ""
		if p.company != "" {
			company = fmt.Sprintf(`, "organizationName": %q`, p.company)
		}
		if i%4 == 0 {
			company += fmt.Sprintf(`, "phoneNumbers": [{"phoneNumber": "+4420794600%d"}]`, 20+i)
		}
		tags := `"` + strings.ReplaceAll(p.tags, ", ", `", "`) + `"`
		input := fmt.Sprintf(`{"firstName": %q, "lastName": %q, "jobTitle": %q, "tags": [%s],
			"emails": [{"email": %q}]%s}`,
			p.given, p.family, p.title, tags, email, company)
		y.add(p.days, 10, func(ctx context.Context) error {
			return y.call(ctx, as, demoKey(p.given), "contacts.create", input)
		})
	}
}

// demoKey is the name under which a contact is known: the given name in small letters.
func demoKey(given string) string {
	return strings.ToLower(strings.NewReplacer(" ", "-", "é", "e", "ô", "o").Replace(given))
}

func demoAddress(given, host string) string { return demoKey(given) + "@" + host }

// demoCustomer is a customer who gets an invoice again and again.
type demoCustomer struct {
	name, title, contact, currency string
	since, until                   int // days ago
	every                          int // days
	pays                           int // days later; 0 for never
	lines                          string
}

const demoTax = `, "taxRate": "8.25", "taxName": "Sales tax"}`

var demoCustomers = []demoCustomer{
	{"slough", "Slough Observatory", "caroline", "usd", 340, 8, 30, 9,
		`{"description": "Maintenance", "quantity": "6", "unitAmountCents": 9000` + demoTax},
	{"greenwich", "Greenwich Observatory", "george", "usd", 333, 3, 30, 14,
		`{"description": "Maintenance", "quantity": "12", "unitAmountCents": 9000` + demoTax +
			`, {"description": "Punched cards, box of 500", "quantity": "4", "unitAmountCents": 8500` + demoTax},
	{"western", "Great Western Works", "isambard", "usd", 322, 10, 45, 24,
		`{"description": "Tables of stresses, by the sheet", "quantity": "80", "unitAmountCents": 1450` + demoTax +
			`, {"description": "Brass gears", "quantity": "12", "unitAmountCents": 1450` + demoTax},
	{"harley", "Harley Street Hospital", "florence", "usd", 300, 20, 30, 6,
		`{"description": "Hire of a difference engine, one month", "unitAmountCents": 125000, "taxRate": "3", ` +
			`"taxName": "Reduced rate"}`},
	{"register", "General Register Office", "william", "usd", 294, 30, 60, 31,
		`{"description": "Life tables, set in type", "unitAmountCents": 310000` + demoTax},
	{"sternwarte", "Sternwarte Königsberg", "friedrich", "eur", 236, 5, 45, 12,
		`{"description": "Maintenance", "quantity": "8", "unitAmountCents": 9500, "taxRate": "0", "taxName": ` +
			`"Reverse charge"}`},
	{"dieu", "Hôtel-Dieu", "marie", "eur", 214, 16, 60, 0,
		`{"description": "Maintenance", "quantity": "4", "unitAmountCents": 9500, "taxRate": "0", "taxName": ` +
			`"Reverse charge"}`},
	{"scheutz", "Scheutz Tryckeri", "edvard", "usd", 208, 40, 40, 18,
		`{"description": "Stereotype moulds", "quantity": "3", "unitAmountCents": 42000` + demoTax},
	{"tulse", "Tulse Hill Observatory", "margaret", "usd", 180, 12, 30, 11,
		`{"description": "Maintenance", "quantity": "3", "unitAmountCents": 9000` + demoTax},
	{"lyme", "Lyme Curiosities", "mary", "usd", 160, 100, 60, 0, `{"description": "Pocket model", "quantity": "6", ` +
		`"unitAmountCents": 4900` + demoTax},
	{"ludgate", "Ludgate & Co", "percy", "usd", 150, 24, 42, 8,
		`{"description": "Staff training, by the hour", "quantity": "5", "unitAmountCents": 7500` + demoTax},
	{"birkbeck", "Birkbeck Laboratory", "kathleen", "usd", 76, 2, 24, 10,
		`{"description": "Hire of a difference engine, one month", "unitAmountCents": 125000` + demoTax},
}

// addTrade adds customers, what they are billed and what they pay. Invoices are due in
// fourteen days.
func (y *demoYear) addTrade() {
	for _, c := range demoCustomers {
		y.record(c.since+1, 11, c.name, "customers.create", fmt.Sprintf(`{"name": %q, "type": "business",
			"status": "active",
			"contactId": "$%s", "customerSince": "@-%d"}`, c.title, c.contact, c.since))
		for n, day := 0, c.since; day >= c.until; n, day = n+1, day-c.every {
			name := fmt.Sprintf("%s-%d", c.name, n)
			y.record(day, 9.5, name, "invoices.create", fmt.Sprintf(`{"customerId": "$%s", "currency": %q,
				"dueAt": "@%d",
				"terms": "Payable within 14 days.", "lineItems": [%s]}`, c.name, c.currency, 14-day, c.lines))
			y.record(day, 9.6, "", "invoices.issue", `{"id": "$`+name+`"}`)
			if day < 25 {
				y.sent(day, 9.7, "", "invoices.send", `{"id": "$`+name+`"}`)
			}
			if paid := day - c.pays - n%3; c.pays > 0 && paid > 0 {
				y.add(paid, 15, func(ctx context.Context) error { return y.pay(ctx, name) })
			}
		}
	}
	y.record(95, 10, "late", "invoices.create", `{"customerId": "$weavers", "dueAt": "@-70",
		"terms": "Payable within 30 days.",
		"lineItems": [{"description": "Repair of the loom's reader, by the hour", "quantity": "6.5",
			"unitAmountCents": 9000},
		{"description": "Brass gears", "quantity": "12", "unitAmountCents": 1450},
		{"description": "Discount for the delay", "unitAmountCents": -2500}]}`)
	y.record(95, 10.1, "", "invoices.issue", `{"id": "$late"}`)
	y.record(60, 10, "", "invoices.record_payment", `{"id": "$late", "amountCents": 20000, "method": "check"}`)
	y.record(48, 10, "open", "invoices.create", `{"customerId": "$compilers", "dueAt": "@9", "lineItems": [
		{"description": "Difference engine, hire for one month", "unitAmountCents": 125000},
		{"description": "Staff training, by the hour", "quantity": "3", "unitAmountCents": 7500}]}`)
	y.record(48, 10.1, "", "invoices.issue", `{"id": "$open"}`)
	y.sent(48, 10.2, "", "invoices.send", `{"id": "$open"}`)
	y.record(30, 10, "", "invoices.record_payment",
		`{"id": "$open", "amountCents": 50000, "method": "card", "note": "First instalment"}`)
	y.record(40, 10, "wrong", "invoices.create",
		`{"customerId": "$compilers", "lineItems": [{"description": "Analytical engine",
			"unitAmountCents": 99500000}]}`)
	y.record(40, 10.1, "", "invoices.issue", `{"id": "$wrong"}`)
	y.record(40, 10.2, "", "invoices.void", `{"id": "$wrong"}`)
	y.record(111, 10, "", "invoices.credit_notes.create", `{"id": "$western-4", "amountCents": 12500,
		"reason": "Two sheets misprinted"}`)
	y.record(1, 10, "", "invoices.create", `{"customerId": "$weavers", "notes": "To be agreed with the foreman.",
		"lineItems": [{"description": "Yearly inspection", "unitAmountCents": 45000}]}`)
	y.record(33, 10, "", "customers.transactions.create",
		`{"id": "$compilers", "type": "credit", "amountCents": 2500,
			"description": "For the late delivery of the cards"}`)
}

// sent adds a call that sends mail, and waits until it has left.
func (y *demoYear) sent(days int, hour float64, name, operation, input string) {
	y.add(days, hour, func(ctx context.Context) error {
		if err := y.call(ctx, y.owner, name, operation, input); err != nil {
			return err
		}
		return y.settle(ctx)
	})
}

// pay records that an invoice was paid in full.
func (y *demoYear) pay(ctx context.Context, name string) error {
	var invoice struct {
		AmountDueCents int64 `json:"amountDueCents"`
	}
	if err := y.read(ctx, y.owner, "invoices.get", `{"id": "$`+name+`"}`,
		&invoice); err != nil || invoice.AmountDueCents == 0 {
		return err
	}
	return y.call(ctx, y.colleague, "", "invoices.record_payment",
		fmt.Sprintf(`{"id": "$%s", "amountCents": %d, "method": "bank_transfer"}`, name, invoice.AmountDueCents))
}

// demoThread is a conversation. In its lines, "<" is a mail that came, ">" one that was
// sent and "#" a note; then days ago, hour and text.
type demoThread struct {
	name, from, contact, subject, status string
	lines                                []string
}

var demoThreads = []demoThread{
	{"plans", "Charles Babbage <charles@example.com>", "charles", "The larger engine", "open", []string{
		"> 61 9.5 Dear Charles,\n\nthe drawings with the new carry mechanism are ready. Shall we send " +
			"them?\n\nYours,\nthe workshop",
		"< 60 17 Please do. I have marked on the list what I already have.\n\nYours, C. B.",
		"> 59 9 Dear Charles,\n\nthey leave with tomorrow's post.",
		"# 2 14 He asked twice. @Thomas Fowler, is the new set of drawings copied?",
		"< 1 16.5 The drawings have come, and they are beautiful. One question: how do you keep the carry from " +
			"running ahead of the wheels when all twenty stand at nine?\n\nCould we talk on Thursday?"}},
	{"wheel", "Joseph Jacquard <orders@example.net>", "jacquard", "Engine eight has stopped", "open", []string{
		"< 3 8.2 Good morning,\n\nengine number eight stopped in the night, at the third wheel. We weave for the " +
			"fair next week and need it back by Friday. When can you come?\n\nJacquard & Sons",
		"> 3 9.4 Good morning,\n\nThomas can be with you tomorrow at ten, with a new wheel. Please leave the engine " +
			"as it is.",
		"< 2 7.9 Thank you, ten is good. The door to the yard is open from eight."}},
	{"price", "Gertrude Blanch <gertrude@tables-project.example>", "gertrude", "Price of a hire for six months",
		"open", []string{
			"< 2 11 Dear Sir or Madam,\n\nwe compute tables with four hundred and fifty people and would like to " +
				"try an engine beside them. What would a difference engine cost for six months, with training for " +
				"eight?\n\nGertrude Blanch\nTables Project"}},
	{"invoice-question", "Florence Nightingale <florence@harley-hospital.example>", "florence", "Your last invoice",
		"open",
		[]string{"< 0 7.1 Dear Ada,\n\nthe hire is on our books with three per cent tax, as it should be. But the " +
			"invoice names the old ward. Could you send it again with the new one, Ward C?\n\nF. N."}},
	{"review-copy", "Agnes Clerke <agnes@night-sky.example>", "agnes", "An article about your engines", "waiting",
		[]string{
			"< 20 13 Dear Miss Lovelace,\n\nI write about those who compute the sky. May I visit your workshop, and " +
				"see an engine at work?\n\nAgnes Clerke, The Night Sky Review",
			"> 19 10 Dear Miss Clerke,\n\nwith pleasure. Any Thursday, from two o'clock. We will run the table of " +
				"logarithms for you.",
			"# 19 10.2 Show her the printing part. She will ask about errors."}},
	{"cards", "George Airy <george@greenwich.example>", "george", "Cards for the new year", "closed", []string{
		"< 44 9 We need four more boxes of cards before the new year, please with the next invoice.\n\nG. B. Airy",
		"> 44 11 They are packed and leave today. You find them on the invoice of the first."}},
	{"gears", "Joseph Clement <joseph@clement-tools.example>", "joseph", "Brass gears, price from January", "closed",
		[]string{
			"< 90 15 Brass has gone up. From January a gear is 9.40. I keep the old price for what is ordered " +
				"now.\n\nJ. Clement",
			"> 89 9 Thank you for telling us in time. Please send two hundred at the old price."}},
	{"exhibition", "Isambard Brunel <isambard@great-western.example>", "isambard", "Tables for the bridge", "closed",
		[]string{
			"< 150 9 The tables are right to the last figure, and in half the time. Please set the second " +
				"volume.\n\nI. K. B.",
			"> 150 10 We begin on Monday. The first sheets are with you in three weeks.",
			"< 126 9 Two sheets are misprinted, 17 and 31.",
			"> 126 9.5 You are right, and we are sorry. They are set again, and we take them off the invoice."}},
	{"visit", "Margaret Huggins <margaret@tulse-hill.example>", "margaret", "Service in the spring", "closed", []string{
		"> 77 9 Dear Mrs Huggins,\n\nyour engine has run for half a year. Shall we come for its service in the " +
			"second week?",
		"< 76 18 Tuesday suits us, after sunrise: we observe at night."}},
	{"register-tables", "William Farr <william@register-office.example>", "william", "Life tables, third set",
		"closed", []string{
			"< 230 10 The second set is in print. What would the third cost, with causes of death?\n\nW. Farr",
			"> 229 9 The same as the second: the wheels are set already. We can deliver in six weeks.",
			"< 228 9 Agreed."}},
}

// addMail adds the conversations and what was planned in them.
func (y *demoYear) addMail() {
	for _, t := range demoThreads {
		last, came, ended := "", "", 0
		for i, line := range t.lines {
			var days int
			var hour float64
			kind, rest, _ := strings.Cut(line, " ")
			when, text, _ := strings.Cut(rest, " ")
			clockText, text, _ := strings.Cut(text, " ")
			fmt.Sscan(when, &days)      //nolint:errcheck // the lines above have numbers
			fmt.Sscan(clockText, &hour) //nolint:errcheck // as above
			ended = days
			name, answers, inbound := fmt.Sprintf("%s-%d", t.name, i), last, came
			switch kind {
			case "<":
				y.add(days, hour, func(ctx context.Context) error {
					return y.receive(ctx, name, answers, t.from, t.subject, text)
				})
				last, came = name, name
			case ">":
				_, to, _ := strings.Cut(strings.TrimSuffix(t.from, ">"), "<")
				input := fmt.Sprintf(`{"to": %q, "subject": %q, "text": %q, "contactId": "$%s"`, to, t.subject,
					text, t.contact)
				if inbound != "" {
					input += fmt.Sprintf(`, "inReplyToId": "$%s"`, inbound)
				}
				y.sent(days, hour, name, "messages.create", input+"}")
				last = name
			default:
				y.record(days, hour, "", "threads.notes.create", fmt.Sprintf(`{"id": "$%s-thread", "body": %q}`,
					last, text))
			}
		}
		if of := last; t.status != "open" {
			y.add(ended, 18.5, func(ctx context.Context) error {
				return y.call(ctx, y.owner, "", "threads.update", `{"id": "$`+of+`-thread", "status": "`+t.status+`"}`)
			})
		}
	}
	y.sent(100, 9, "", "messages.create", `{"to": "charles@example.com", "subject": "Summer in the workshop",
		"html": "<h1>Summer in the workshop</h1><p>A new engine is on the bench.</p>", "purpose": "marketing"}`)
	y.record(1, 17, "", "messages.create", `{"to": "orders@example.net", "cc": "grace@example.com",
		"subject": "Service of your twelve engines", "text": "Seven are done. Number eight needs a new wheel.",
		"customerId": "$weavers", "draft": true}`)
	y.record(0, 6, "", "threads.update", `{"id": "$wheel-2-thread", "assigneeId": "$colleague"}`)
	for i, t := range []struct{ days, due, done int }{{300, -290, 291}, {220, -214, 215}, {130, -120, 121}, {80, -70,
		71}} {
		name := fmt.Sprintf("visit-%d", i)
		y.record(t.days, 9, name, "tasks.create", fmt.Sprintf(
			`{"title": "Yearly service, visit %d", "customerId": "$weavers", "dueAt": "@%d",
				"businessId": "$business"}`,
			i+1, t.due))
		y.record(t.done, 16, "", "tasks.update", `{"id": "$`+name+`", "status": "completed"}`)
	}
	for _, r := range demoTasks {
		y.record(r.days, 12+float64(len(r.name))/10, r.name, r.operation, r.input)
	}
	y.add(15, 9, y.finishCalls)
	y.record(9, 8, "", "notifications.read", `{}`)
	// Nobody answers at this address, so that its deliveries fail, and the page says so.
	y.record(28, 9, "", "webhooks.create", `{"url": "https://ledger.example.invalid/frontdesk",
		"events": ["invoice.paid"],
		"description": "The bookkeeper's ledger"}`)
}

var demoTasks = []struct {
	days                   int
	name, operation, input string
}{
	{5, "drawings", "tasks.create", `{"title": "Send the drawings of the larger engine", "description":
		"The set with the new carry mechanism.", "priority": "high", "contactId": "$charles", "businessId": "$business",
			"dueAt": "@0"}`},
	{4, "", "tasks.assignees.create", `{"id": "$drawings", "userId": "$owner"}`},
	{3, "", "tasks.activity.create", `{"id": "$drawings", "body": "He asked for them twice; a letter is on its way."}`},
	{21, "service", "tasks.create", `{"title": "Yearly service of twelve engines", "customerId": "$weavers",
		"status": "in_progress", "businessId": "$business", "dueAt": "@3"}`},
	{20, "", "tasks.assignees.create", `{"id": "$service", "userId": "$colleague"}`},
	{4, "", "tasks.activity.create", `{"id": "$service", "body": "Seven done. Number eight needs a new wheel."}`},
	{9, "wards", "tasks.create", `{"title": "Order new number wheels", "priority": "high", "dueAt": "@-1",
		"businessId": "$business"}`},
	{8, "", "tasks.assignees.create", `{"id": "$wards", "userId": "$owner"}`},
	{7, "", "tasks.create", `{"title": "Answer the Tables Project about a hire", "contactId": "$gertrude",
		"dueAt": "@1", "businessId": "$business"}`},
	{6, "", "tasks.create", `{"title": "Photograph the printing part for the press", "contactId": "$agnes",
		"dueAt": "@8", "businessId": "$business"}`},
	{70, "question", "tasks.create", `{"title": "Ask about the service tier", "customerId": "$compilers",
		"priority": "low"}`},
	{69, "", "tasks.activity.create", `{"id": "$question", "body": "Silver, according to their website."}`},
	{68, "", "tasks.update", `{"id": "$question", "status": "completed"}`},
}

// addAgent adds what the agent did, suggested and asks for.
func (y *demoYear) addAgent() {
	as := func(days int, hour float64, name, operation, input string) {
		y.add(days, hour, func(ctx context.Context) error { return y.call(ctx, y.agent, name, operation, input) })
	}
	as(6, 9, "", "tasks.create", `{"title": "Thank Dr Farr for the third order", "contactId": "$william"}`)
	as(4, 9, "", "contacts.notes.create", `{"id": "$agnes",
		"body": "Writes for The Night Sky Review; wants to visit on a Thursday."}`)
	as(3, 9, "", "customers.properties.create", `{"id": "$greenwich", "definitionId": "$engines", "value": "2",
		"sources": [{"url": "https://greenwich.example/instruments", "title": "Their list of instruments"}]}`)
	as(1, 9, "", "contacts.properties.create", `{"id": "$gertrude", "definitionId": "$channel", "value": "phone",
		"sources": [{"url": "https://tables-project.example/contact", "title": "Their website"}]}`)
	as(0, 5.5, "", "proposals.create", `{"title": "Remind Jacquard & Sons of what is overdue",
		"reason": "The invoice has been due for more than two months, and they answer quickly at the moment.",
		"steps": [{"operation": "invoices.send", "input": {"id": "$late", "templateKey": "invoice_reminder"}},
			{"operation": "tasks.create", "input": {"title": "Call Jacquard & Sons if they have not paid",
			"customerId": "$weavers", "dueAt": "@7"}}]}`)
	as(0, 5.6, "", "proposals.create", `{"title": "Answer Gertrude Blanch about the hire",
		"reason": "She asked two days ago, and the price is on our list.",
		"steps": [{"operation": "messages.create", "input": {"inReplyToId": "$price-0",
			"to": "gertrude@tables-project.example",
			"subject": "Re: Price of a hire for six months", "contactId": "$gertrude", "letterhead": true,
			"text": "Dear Ms Blanch,\n\na difference engine is $1,250.00 a month, so $7,500.00 for six. `+
		`Training for eight people takes two days and comes to $1,200.00.`+
		`\n\nShall we set one aside for you?\n\nAda Lovelace"}},
			{"operation": "contacts.update", "input": {"id": "$gertrude", "jobTitle": "Mathematical director"}}]}`)
	as(0, 5.7, "", "proposals.create", `{"title": "Delete Jane Marcet",
		"reason": "She asked to be removed in her letter of last week.",
		"steps": [{"operation": "contacts.delete", "input": {"id": "$jane"}}]}`)
}

// finishCalls ticks off the calls that the automation asked for.
func (y *demoYear) finishCalls(ctx context.Context) error {
	var tasks []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	if err := y.read(ctx, y.owner, "tasks.list", `{"status": ["open"], "limit": 100}`, &tasks); err != nil {
		return err
	}
	for _, t := range tasks {
		if !strings.HasPrefix(t.Title, "Call ") {
			continue
		}
		if err := y.call(ctx, y.colleague, "", "tasks.update", fmt.Sprintf(`{"id": %q,
			"status": "completed"}`, t.ID)); err != nil {
			return err
		}
	}
	return nil
}

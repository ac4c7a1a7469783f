package mcp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"frontdesk/internal/apptest"
	"frontdesk/internal/door/mcp"
	"frontdesk/internal/kernel/db"
)

// agent is a connected agent that may do everything, and holds every answer against the ceiling.
type agent struct {
	*apptest.App
	access string
	query  string
}

func connectAgent(t testing.TB, a *apptest.App) agent {
	t.Helper()
	_, access, _ := a.ConnectAgent(t, a.Tenant, a.NewAgent(t, a.Tenant, "all"))
	return agent{App: a, access: access}
}

// do calls a tool and returns the result. Its text and its structured content must say the same.
func (a agent) do(t testing.TB, tool, arguments string) apptest.Value {
	t.Helper()
	r := a.Agents(t, http.MethodPost, "/mcp"+a.query, call(tool, arguments), "Authorization", "Bearer "+a.access,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	v := r.ParseJSON(t)
	if n := utf8.RuneCountInString(v.Text("result.content.0.text")); n > mcp.MaxAnswer {
		t.Errorf("%s %.80s: an answer of %d characters", tool, arguments, n)
	}
	if n := utf8.RuneCount(r.Body); a.query != "" && n > mcp.MaxAnswer+2_000 {
		t.Errorf("%s %.80s: a message of %d characters", tool, arguments, n)
	}
	if r.Status != 200 || v.At("result").Null() {
		t.Fatalf("%s: %d %.1000s", tool, r.Status, r.Body)
	}
	var text, object any
	if a.query == "" {
		if json.Unmarshal([]byte(v.Text("result.content.0.text")), &text) != nil ||
			json.Unmarshal([]byte(v.At("result.structuredContent").String()), &object) != nil ||
			!reflect.DeepEqual(text, object) {
			t.Errorf("%s: the text is not the structured content:\n%.500s", tool, r.Body)
		}
	}
	return v.At("result")
}

// content is the structured content of a call that must not be refused.
func (a agent) content(t testing.TB, tool, arguments string) apptest.Value {
	t.Helper()
	v := a.do(t, tool, arguments)
	if !v.At("isError").Null() {
		t.Fatalf("%s %s: %s", tool, arguments, v)
	}
	return v.At("structuredContent")
}

// walk visits every member of a JSON value. depth is how many objects there are around it.
func walk(v any, depth int, visit func(name string, value any, depth int)) {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			visit(name, e, depth)
			walk(e, depth+1, visit)
		}
	case []any:
		for _, e := range v {
			walk(e, depth, visit)
		}
	}
}

func parseAny(t testing.TB, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return v
}

const adaInput = `{"firstName": "Ada", "lastName": "Lovelace", "notes": "", "emails": [{"email": "ada@example.com"}],
	"phoneNumbers": [{"phoneNumber": "+44 20 7946 0000"}]}`

// A short row has no nulls, nothing empty, no organizationId and no times inside of it; the full one is what REST
// answers, byte by byte, and REST answers as it always did.
func TestShortRows(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, app *apptest.App) {
		a := connectAgent(t, app)
		ada := a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts", strings.Replace(adaInput, `"notes": "", `, "", 1)).
			OK(t, 201).Text("id")
		for tool, arguments := range map[string]string{"contacts_get": `"id": "` + ada + `"`,
			"contacts_list": `"limit": 3`, "events_list": `"limit": 5`, "businesses_list": `"limit": 5`} {
			short := a.content(t, tool, `{`+arguments+`}`).At("data")
			times := 0
			var data []any
			if data, _ = parseAny(t, short.String()).([]any); data == nil {
				data = []any{parseAny(t, short.String())}
			}
			for _, row := range data {
				walk(row, 0, func(name string, value any, depth int) {
					list, isList := value.([]any)
					switch {
					case value == nil, isList && len(list) == 0, name == "organizationId",
						depth > 0 && (name == "createdAt" || name == "updatedAt"), name == "requestId",
						tool == "events_list" && name == "data":
						t.Errorf("%s shows %s: %v", tool, name, value)
					case name == "createdAt":
						times++
					}
				})
			}
			if times != len(data) {
				t.Errorf("%s: %d rows, %d times: %s", tool, len(data), times, short)
			}
		}
		path := "/v1/contacts/" + ada
		whole := a.SendREST(t, a.Key, http.MethodGet, path, "")
		full := a.do(t, "contacts_get", `{"id": "`+ada+`", "view": "full"}`).Text("content.0.text")
		if full != string(whole.Body) {
			t.Errorf("full:\n%s\nREST:\n%s", full, whole.Body)
		}
		again := a.SendREST(t, a.Key, http.MethodGet, path+"?view=full", "")
		if string(again.Body) != string(whole.Body) {
			t.Errorf("%s", again.Body)
		}
		short := a.SendREST(t, a.Key, http.MethodGet, path+"?view=short", "")
		got := a.do(t, "contacts_get", `{"id": "`+ada+`"}`).Text("content.0.text")
		if got != string(short.Body) {
			t.Errorf("REST:\n%s\nMCP:\n%s", short.Body, got)
		}
		if tag := short.Header.Get("ETag"); tag == "" || tag != whole.Header.Get("ETag") ||
			short.Header.Get("X-Ignored-Parameters") != "" {
			t.Errorf("%v %v", short.Header, whole.Header)
		}
		a.SendREST(t, a.Key, http.MethodGet, path+"?view=tiny", "").Refused(t, 400, "INVALID_INPUT")
		refused := a.do(t, "contacts_get", `{"id": "`+ada+`", "view": "tiny"}`).At("structuredContent")
		if refused.Text("error.code") != "INVALID_INPUT" || !strings.Contains(refused.String(), "short, full") {
			t.Errorf("%s", refused)
		}
	})
}

// A null in raw JSON means something, so it stays: what an event says a field was before.
func TestShortKeepsRawJSON(t *testing.T) {
	a := connectAgent(t, apptest.Start(t, db.SQLite))
	ada := a.content(t, "contacts_create", adaInput).Text("data.id")
	a.content(t, "contacts_update", fmt.Sprintf(`{"id": %q, "jobTitle": "Countess"}`, ada))
	e := a.content(t, "events_list", `{"type": "contact.updated"}`).At("data.0")
	if e.At("previous").String() != `{"jobTitle":null}` {
		t.Errorf("%s", e)
	}
}

// longText is a text with letters of one to four bytes, quotation marks, and a joined emoji at the cut.
func longText(n int) string {
	return strings.Repeat("a", 398) + "👩‍💻" + strings.Repeat("Grüße “quoted” \"plain\" \\ 日本語 🙂\n", n/30)
}

// A stranger's long mail costs little, shows that it was cut, and can be read to its end.
func TestLongMail(t *testing.T) {
	app := apptest.Start(t, db.SQLite)
	a := connectAgent(t, app)
	text := longText(461_000)
	input, err := json.Marshal(map[string]any{"to": "grace@example.com", "subject": "Long", "text": text,
		"draft": true})
	if err != nil {
		t.Fatal(err)
	}
	mail := a.SendREST(t, a.Key, http.MethodPost, "/v1/messages", string(input)).OK(t, 201).Text("id")
	short := a.content(t, "messages_get", `{"id": "`+mail+`"}`)
	shown := short.Text("data.text")
	if n := utf8.RuneCountInString(shown); n > 401 || n < 390 || !strings.HasSuffix(shown, "…") ||
		!strings.HasPrefix(text, strings.TrimSuffix(shown, "…")) || strings.ContainsRune(shown, '\u200d') ||
		short.Number("data.textLength") != float64(utf8.RuneCountInString(text)) {
		t.Errorf("%d characters of %v: %q", n, short.At("data.textLength"), shown)
	}
	for _, query := range []string{"", "?structured=1"} {
		a.query = query
		var whole strings.Builder
		for part, parts := 1, 1; part <= parts; part++ {
			v := a.content(t, "messages_get", fmt.Sprintf(`{"id": %q, "view": "full", "part": %d}`, mail, part))
			if _, err := fmt.Sscanf(v.Text("part"), "%d of %d", new(int), &parts); err != nil {
				t.Fatalf("%v: %.300s", err, v)
			}
			if v.Text("data.id") != mail || v.At("leftOut").Null() != (part == parts) {
				t.Errorf("part %d of %d: %.200s", part, parts, v)
			}
			if !v.At("data.text").Null() {
				whole.WriteString(strings.TrimPrefix(strings.TrimSuffix(v.Text("data.text"), "…"), "…"))
			}
		}
		if whole.String() != text {
			t.Errorf("%s: the parts have %d bytes, the text %d", query, whole.Len(), len(text))
		}
	}
	a.query = ""
	first := a.content(t, "messages_get", `{"id": "`+mail+`", "view": "full"}`)
	if !strings.HasPrefix(first.Text("part"), "1 of ") || !strings.Contains(first.Text("leftOut"), "part 2") {
		t.Errorf("%.300s", first)
	}
	listed := a.content(t, "messages_list", `{"view": "full"}`)
	if !strings.Contains(listed.Text("leftOut"), "view full, part") || listed.At("data").Len() != 1 {
		t.Errorf("%.1000s", listed)
	}
	beyond := a.do(t, "messages_get", `{"id": "`+mail+`", "view": "full", "part": 1000}`)
	if !strings.Contains(beyond.String(), "only") || beyond.At("isError").Null() {
		t.Errorf("%.300s", beyond)
	}
}

// However long its rows are, an agent that reads a list page by page gets each row once, and is never told that the
// list has ended before it has.
func TestCeilingHidesNoRow(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, app *apptest.App) {
		a := connectAgent(t, app)
		var rows []string
		for i := range 150 {
			rows = append(rows, fmt.Sprintf(`{"firstName": "N%03d", "notes": %q}`, i,
				strings.Repeat("\"x\\ ", 60*(i%20))))
		}
		batch := `{"rows": [` + strings.Join(rows, ",") + `]}`
		a.SendREST(t, a.Key, http.MethodPost, "/v1/contacts/batch", batch).OK(t, 200)
		for _, query := range []string{"", "?structured=1"} {
			a.query = query
			for _, view := range []string{"short", "full"} {
				byCursor, byOffset := map[string]int{}, map[string]int{}
				calls := 0
				for cursor := "first"; cursor != ""; calls++ {
					v := a.content(t, "contacts_list",
						fmt.Sprintf(`{"view": %q, "limit": 100, "cursor": %q}`, view, cursor))
					a.countRows(t, v, byCursor)
					if cursor = ""; !v.At("meta.pagination.nextCursor").Null() {
						cursor = v.Text("meta.pagination.nextCursor")
					}
				}
				for offset, more := 0, true; more; calls++ {
					v := a.content(t, "contacts_list",
						fmt.Sprintf(`{"view": %q, "limit": 100, "offset": %d}`, view, offset))
					offset += a.countRows(t, v, byOffset)
					more = v.At("meta.pagination.hasMore").String() == "true"
				}
				for _, seen := range []map[string]int{byCursor, byOffset} {
					if len(seen) < 150 {
						t.Errorf("%s %s: %d of 150 contacts in %d calls", query, view, len(seen), calls)
					}
					for row, n := range seen {
						if n != 1 {
							t.Errorf("%s is there %d times", row, n)
						}
					}
				}
			}
		}
	})
}

// countRows notes the rows of a page, and requires a page with fewer rows than asked for to say so.
func (a agent) countRows(t *testing.T, v apptest.Value, seen map[string]int) int {
	t.Helper()
	n := v.At("data").Len()
	for i := range n {
		seen[v.Text(fmt.Sprintf("data.%d.id", i))]++
	}
	if n < 100 && v.At("meta.pagination.hasMore").String() == "true" && v.At("leftOut").Null() {
		t.Errorf("%d rows, more, and nothing said: %s", n, v.At("meta"))
	}
	return n
}

// All parts of a text together have everything, and each is JSON of bounded length.
func TestPartsAreWhole(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	letters := []rune("ab\"\\\n\t\x01é日🙂\u2028<>")
	left := 0 // values of one text
	var make func(depth int) any
	make = func(depth int) any {
		left--
		switch k := random.IntN(8); {
		case k < 3 || depth > 6 || left < 0:
			text := []rune{}
			for range random.IntN([]int{2, 5, 100, 30_000}[random.IntN(4)]) {
				text = append(text, letters[random.IntN(len(letters))])
			}
			return string(text)
		case k == 3:
			return random.IntN(2) == 0
		case k == 4:
			return random.Float64()
		case k == 5:
			list := []any{}
			for range random.IntN(12) {
				list = append(list, make(depth+1))
			}
			return list
		}
		object := map[string]any{}
		for i := range random.IntN(12) {
			object[fmt.Sprintf("field%d", i)] = make(depth + 1)
		}
		return object
	}
	for range 20 {
		left = 60
		body, err := json.Marshal(map[string]any{
			"data": map[string]any{"id": "x", "a": make(0), "b": make(0), "c": make(0)}})
		if err != nil {
			t.Fatal(err)
		}
		want, got := leaves(t, body), ""
		for part, parts := 1, 1; part <= parts; part++ {
			var text []byte
			if text, parts, err = mcp.WritePart(body, part); err != nil {
				t.Fatal(err)
			}
			if n := utf8.RuneCount(text); n > mcp.PartLength+4_000 {
				t.Errorf("seed %d: part %d of %d has %d characters", seed, part, parts, n)
			}
			got += leaves(t, text)
		}
		if got != want {
			t.Fatalf("seed %d: the parts have %d characters, the text %d", seed, len(got), len(want))
		}
	}
}

// leaves are the values of a JSON text without its structure, its ids and the marks of a cut.
func leaves(t *testing.T, text []byte) string {
	t.Helper()
	var out strings.Builder
	d := json.NewDecoder(strings.NewReader(string(text)))
	for d.More() || d.InputOffset() < int64(len(text)) {
		token, err := d.Token()
		if err != nil {
			t.Fatalf("%v: %.200s", err, text)
		}
		switch v := token.(type) {
		case json.Delim:
		case string:
			if !strings.HasPrefix(v, "field") && !strings.Contains(" data id a b c x ", " "+v+" ") {
				out.WriteString(strings.TrimPrefix(strings.TrimSuffix(v, "…"), "…"))
			}
		default:
			fmt.Fprint(&out, v)
		}
	}
	return out.String()
}

// A write answers with the id, what people call the row, and what the server filled in.
func TestShortWrites(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, app *apptest.App) {
		a := connectAgent(t, app)
		input := strings.Replace(adaInput, "{", `{"idempotencyKey": "ada", `, 1)
		made := a.content(t, "contacts_create", input).At("data")
		made.Same("firstName", "Ada")
		if made.Has("notes") || !made.Has("createdAt") || made.At("emails.0").Has("email") ||
			made.Text("emails.0.id") == "" || made.Has("organizationId") {
			t.Errorf("%s", made)
		}
		if again := a.content(t, "contacts_create", input).At("data"); again.String() != made.String() {
			t.Errorf("a second answer:\n%s\n%s", again, made)
		}
		whole := a.content(t, "contacts_create", strings.Replace(input, "{", `{"view": "full", `, 1)).At("data")
		whole.Same("lastName", "Lovelace")
		if whole.Text("id") != made.Text("id") || !whole.Has("organizationId") {
			t.Errorf("%s", whole)
		}
		ref := made.Text("id")
		changed := a.content(t, "contacts_update", fmt.Sprintf(`{"id": %q, "jobTitle": "Countess"}`, ref)).At("data")
		if changed.Text("id") != ref || changed.Text("firstName") != "Ada" || changed.Has("jobTitle") ||
			changed.Has("emails") || !changed.Has("updatedAt") {
			t.Errorf("%s", changed)
		}
		gone := a.content(t, "contacts_delete", fmt.Sprintf(`{"id": %q}`, ref)).At("data")
		if gone.Text("title") != "Ada Lovelace" || gone.Text("restoreWith") != "contacts_restore" ||
			gone.Text("id") != ref || gone.Text("restorableUntil") <= app.Clock.Now().Add(89*24*time.Hour).String() {
			t.Errorf("%s", gone)
		}
		a.content(t, "contacts_restore", fmt.Sprintf(`{"id": %q}`, ref)).Same("data.firstName", "Ada")
		var rows []string
		for i := range 250 {
			rows = append(rows, fmt.Sprintf(`{"firstName": "N%03d", "notes": "A text about them."}`, i))
		}
		rows[7] = `{"firstName": 7}`
		rows[8] = fmt.Sprintf(`{"id": %q, "jobTitle": null}`, ref)
		many := `"mode": "each", "rows": [` + strings.Join(rows, ",") + `], "idempotencyKey": "many"}`
		batch := a.content(t, "contacts_batch", `{`+many).At("data")
		if batch.Number("created") != 248 || batch.Number("updated") != 1 || batch.Number("refused") != 1 ||
			batch.At("ids").Len() != 250 || !batch.At("ids.7").Null() || batch.Text("ids.8") != ref ||
			batch.Number("errors.0.row") != 7 || batch.Text("errors.0.error.code") != "VALIDATION_ERROR" {
			t.Errorf("%.500s", batch)
		}
		all := a.content(t, "contacts_batch", `{"view": "full", `+many)
		if all.Text("data.0.data.firstName") != "N000" ||
			!strings.Contains(all.Text("leftOut"), "idempotencyKey and part 2") {
			t.Errorf("%.500s", all.At("leftOut"))
		}
		merged := a.content(t, "contacts_merge", fmt.Sprintf(`{"id": %q, "contactId": %q}`, ref,
			batch.Text("ids.0"))).At("data")
		if merged.Text("contact.firstName") != "Ada" || merged.At("contact").Has("emails") || merged.Has("before") ||
			merged.Text("merged.id") != batch.Text("ids.0") {
			t.Errorf("%s", merged)
		}
	})
}

// What an invoice is sent with is in the answer to an agent, and in nothing else.
func TestSendTellsTheMessage(t *testing.T) {
	a := connectAgent(t, apptest.Start(t, db.SQLite))
	customer := a.content(t, "customers_create", `{"name": "Jacquard"}`).Text("data.id")
	bill := a.content(t, "invoices_create", fmt.Sprintf(`{"customerId": %q, "billToEmail": "j@example.com",
		"currency": "EUR",
		"dueAt": "2030-01-31", "lineItems": [{"description": "Cloth", "quantity": 3, "unitAmountCents": "9500",
		"taxRate": 19}]}`, customer))
	if bill.Number("data.totalCents") != 33915 ||
		!strings.Contains(bill.At("notes").String(), "dueAt is taken as 2030-01-") {
		t.Errorf("%s", bill)
	}
	ref := bill.Text("data.id")
	a.content(t, "invoices_issue", fmt.Sprintf(`{"id": %q}`, ref))
	sent := a.content(t, "invoices_send", fmt.Sprintf(`{"id": %q}`, ref)).At("data")
	if sent.Text("message.to.0") != "j@example.com" || sent.Text("message.status") != "queued" {
		t.Errorf("%s", sent)
	}
	mail := a.content(t, "messages_get", fmt.Sprintf(`{"id": %q}`, sent.Text("message.id")))
	mail.Same("data.invoiceIds.0", ref)
	whole := string(a.SendREST(t, a.Key, http.MethodGet, "/v1/invoices/"+ref, "").Body) +
		a.content(t, "events_list", `{"type": "invoice.sent", "view": "full"}`).String() +
		string(a.SendREST(t, a.Key, http.MethodPost, "/v1/invoices/"+ref+"/send", `{}`).Body)
	if strings.Contains(whole, `"message":`) {
		t.Errorf("%s", whole)
	}
}

// What cannot be misread is forgiven; whatever would need a guess is refused, and so is everything over REST.
func TestForgiving(t *testing.T) {
	a := connectAgent(t, apptest.Start(t, db.SQLite))
	a.SendREST(t, a.Key, http.MethodPatch, "/v1/businesses/"+string(a.Business), `{"timezone": "Europe/Berlin"}`).
		OK(t, 200)
	task := a.content(t, "tasks_create", `{"title": "Call Grace", "dueAt": "2026-07-01"}`)
	due := a.content(t, "tasks_get", fmt.Sprintf(`{"id": %q}`, task.Text("data.id"))).Text("data.dueAt")
	if due != "2026-06-30T22:00:00.000Z" || !strings.Contains(task.Text("notes.0"), due) ||
		!strings.Contains(task.Text("notes.0"), "Europe/Berlin") {
		t.Errorf("%s %s", due, task)
	}
	if n := a.content(t, "tasks.list", `{"limit": "1", "createdAfter": "2020-01-01"}`).At("data").Len(); n != 1 {
		t.Errorf("%d tasks", n)
	}
	plan := a.content(t, "proposals_create", `{"title": "A task", "steps": [{"operation": "tasks_create",
		"input": {"title": "Call Ada"}}]}`)
	if plan.Text("data.status") != "planned" {
		t.Errorf("%s", plan)
	}
	line := func(quantity, cents string) string {
		return fmt.Sprintf(`{"currency": "usd", "lineItems": [{"description": "Cloth", "quantity": %s,
			"unitAmountCents": %s}]}`, quantity, cents)
	}
	for _, input := range []string{line(`"1,5"`, `1`), line(`"1"`, `"1,5"`), line(`"1"`, `"1.5"`), line(`"1"`, `" 1"`),
		line(`1e3`, `1`), line(`"1"`, `"0x10"`), line(`"1"`, `"1e3"`), line(`"1"`, `true`)} {
		if got := a.do(t, "invoices_create", input); got.Text("structuredContent.error.code") != "VALIDATION_ERROR" {
			t.Errorf("%s: %s", input, got)
		}
	}
	for _, input := range []string{`{"title": "A", "dueAt": "2026-02-30"}`, `{"title": "A", "dueAt": "tomorrow"}`,
		`{"title": 5}`, `{"title": "A", "dueAt": "01.02.2026"}`} {
		if got := a.do(t, "tasks_create", input); got.Text("structuredContent.error.code") != "VALIDATION_ERROR" {
			t.Errorf("%s: %s", input, got)
		}
	}
	a.SendREST(t, a.Key, http.MethodPost, "/v1/tasks", `{"title": "A", "dueAt": "2026-07-01"}`).
		Refused(t, 400, "VALIDATION_ERROR")
	a.SendREST(t, a.Key, http.MethodPost, "/v1/invoices", line(`1`, `1`)).Refused(t, 400, "VALIDATION_ERROR")
	a.SendREST(t, a.Key, http.MethodPost, "/v1/invoices", strings.Replace(line(`"1"`, `1`), "usd", "USD", 1)).
		Refused(t, 400, "VALIDATION_ERROR")
	for tool, want := range map[string]string{
		`tasks_create {"titel": "A"}`: "did you mean title?",
		fmt.Sprintf(`contacts_update {"id": %q, "phoneNumber": "1"}`, a.Business): "contacts_phone_numbers_create",
		`contacts_batch {"rows": [{"frstName": "A"}]}`:                            "did you mean firstName?",
	} {
		name, arguments, _ := strings.Cut(tool, " ")
		if got := a.do(t, name, arguments).At("structuredContent"); !strings.Contains(got.Text("error.message"), want) {
			t.Errorf("%s: %s", tool, got)
		}
	}
	for name, want := range map[string]string{"contact_create": "contacts_create", "add_contact": "contacts_"} {
		r := a.SendRPC(t, a.access, call(name, `{}`))
		failed(t, name, r, badParams)
		if !strings.Contains(string(r.Body), want) {
			t.Errorf("%s", r.Body)
		}
	}
}

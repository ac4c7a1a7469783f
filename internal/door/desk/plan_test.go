package desk_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// The plan's page shows how much of each allowance is used, as the doors count
// it.
func TestPlan(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		v := a.NewTenant(t, "free")
		b := visit(t, a.URL)
		b.signIn(v.Owner, "a long password").at("/")
		spent := func(name string) (used, whole int) {
			t.Helper()
			p := b.get("/settings/plan").at("/settings/plan")
			m := regexp.MustCompile(name + ` per minute[^0-9]* ([0-9]+) of ([0-9]+) `).FindStringSubmatch(p.text())
			if m == nil {
				t.Fatalf("no %s in: %s", name, p.text())
			}
			used, _ = strconv.Atoi(m[1])
			whole, _ = strconv.Atoi(m[2])
			return used, whole
		}
		for name, want := range map[string]int{"API requests": 60, "Agent requests": 10, "Automation executions": 30} {
			if used, whole := spent(name); used != 0 || whole != want {
				t.Errorf("%s: %d of %d", name, used, whole)
			}
		}
		b.get("/settings/plan").has("Files and mail 0 bytes of 1 GB", "Your plan is Free", "answered 429",
			"wait their turn",
			"All servers count together")

		// within insists on a number that were spent since, of which some came back meanwhile.
		within := func(name string, spends int, since time.Time, each time.Duration) {
			t.Helper()
			used, _ := spent(name)
			if least := spends - 1 - int(time.Since(since)/each); used > spends || used < least {
				t.Errorf("%d %s, want %d to %d", used, name, least, spends)
			}
		}
		began := time.Now()
		for range 20 {
			a.SendREST(t, v.Key, "GET", "/v1/me", "").OK(t, 200)
		}
		within("API requests", 20, began, time.Second)
		for refused := false; !refused; began = time.Now() {
			refused = a.SendREST(t, v.Key, "GET", "/v1/me", "").Status == 429
		}
		within("API requests", 60, began, time.Second)
		_, access, _ := a.ConnectAgent(t, v, a.NewAgent(t, v, "all"))
		session := a.InitializeSession(t, access)
		began = time.Now()
		for i := range 4 {
			a.SendRPC(t, access,
				fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "me_get", `+
					`"arguments": {}}}`,
					i), session...)
		}
		within("Agent requests", 4, began, 6*time.Second)

		// Executions are counted in the database; those above the allowance wait.
		exec(t, a, "INSERT INTO automation_allowances (organization_id, until) VALUES ($1, $2)", v.Org,
			int64(a.Clock.Now())+99*1_000_000)
		if used, _ := spent("Automation executions"); used != 30 {
			t.Errorf("%d executions", used)
		}
		// 19, less as time passes
		if waiting := b.get("/settings/plan").find(`([0-9]+) waiting`); len(waiting) != 2 || waiting[0] != '1' {
			t.Errorf("%s are waiting", waiting)
		}
	})
}

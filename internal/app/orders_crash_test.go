package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
	"frontdesk/internal/resource/domain"
)

// pauseEnv makes a server stand still at a step of an order, so often, and
// leave a file in a folder each time: "step:times:folder".
const pauseEnv = "FRONTDESK_TEST_PAUSE"

func pausing() app.Extra {
	parts := strings.SplitN(os.Getenv(pauseEnv), ":", 3)
	if len(parts) < 3 {
		return app.Extra{}
	}
	times, err := strconv.Atoi(parts[1])
	if err != nil {
		panic(err)
	}
	return app.Extra{Domains: func(c *domain.Config) {
		c.Pause = func(step string) {
			names, _ := os.ReadDir(parts[2])
			if step != parts[0] || len(names) >= times {
				return
			}
			if err := os.WriteFile(filepath.Join(parts[2], strconv.Itoa(len(names)+1)), nil, 0o600); err != nil {
				panic(err)
			}
			select {} // until it is killed
		}
	}}
}

// orderKills is how often an order's server is killed at each step: 2 times in
// a normal run, as FRONTDESK_TEST_ORDER_KILLS says otherwise.
func orderKills(t *testing.T) int {
	n := 2
	if s := os.Getenv("FRONTDESK_TEST_ORDER_KILLS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// orders is a service that is killed while it registers and renews.
type orders struct {
	*server
	v     apptest.Tenant
	kills int
}

// open opens the database of a server that does not run.
func (o *orders) open(fn func(ctx context.Context, tx *db.Tx) error) {
	o.t.Helper()
	d, err := db.Open(o.t.Context(), app.DatabaseOptions(o.settings))
	if err != nil {
		o.t.Fatal(err)
	}
	defer d.Close()
	if err := d.Write(o.t.Context(), fn); err != nil {
		o.t.Fatal(err)
	}
}

// expireLeases is the minute after which a dead process's work is taken over.
func (o *orders) expireLeases() {
	o.t.Helper()
	o.open(func(ctx context.Context, tx *db.Tx) error {
		if _, err := db.Exec(ctx, tx, "UPDATE idempotency SET lease_until = 0 WHERE status IS NULL"); err != nil {
			return err
		}
		_, err := db.Exec(ctx, tx, "UPDATE jobs SET leased_until = 0 WHERE state = 'running'")
		return err
	})
}

func (o *orders) send(method, path, body, key string) (int, map[string]any) {
	req, _ := http.NewRequest(method, o.url+path, strings.NewReader(body)) //nolint:noctx // the client has a time-out
	req.Header.Set("Authorization", "Bearer "+o.v.Key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	var out struct{ Data map[string]any }
	json.Unmarshal(text, &out) //nolint:errcheck // a refusal has no data
	return res.StatusCode, out.Data
}

// killed posts an order with one key again and again until it is accepted,
// kills the server whenever it stands at the step, and returns the operation
// once it has ended.
func (o *orders) killed(step, path, body string) map[string]any {
	o.t.Helper()
	folder := o.t.TempDir()
	key := path + "/" + step + "/" + folder
	o.env = []string{fmt.Sprintf("%s=%s:%d:%s", pauseEnv, step, o.kills, folder)}
	o.kill()
	o.expireLeases()
	o.start()
	accepted := make(chan string, 1)
	go func() {
		for {
			status, data := o.send(http.MethodPost, path, body, key)
			if status == http.StatusAccepted {
				accepted <- data["operationId"].(string)
				return
			}
			if status != 0 && status != http.StatusConflict && status != http.StatusServiceUnavailable {
				o.t.Errorf("%s: status %d", step, status)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	for n := range o.kills {
		o.wait(step+" is reached",
			func() bool { _, err := os.Stat(filepath.Join(folder, strconv.Itoa(n+1))); return err == nil })
		o.kill()
		o.expireLeases()
		o.start()
	}
	var operation string
	select {
	case operation = <-accepted:
	case <-time.After(2 * time.Minute):
		o.t.Fatalf("%s: never accepted", step)
	}
	var last map[string]any
	o.wait(step+" ends", func() bool {
		_, last = o.send(http.MethodGet, "/v1/operations/"+operation, "", "")
		return last["status"] == "succeeded" || last["status"] == "failed"
	})
	return last
}

func (o *orders) wait(what string, ok func() bool) {
	o.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	o.t.Fatalf("it never came: %s", what)
}

// Killed at every step of registrations and renewals, the service charges
// once, registers once, refunds what failed, and ends every operation. The
// sandbox's own books say so.
func TestOrdersSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		settings := apptest.Settings(t, e)
		var v apptest.Tenant
		t.Run("prepare", func(t *testing.T) {
			a := apptest.StartWith(t, settings)
			v = a.Tenant
			a.AsOperator(t, "agreements.accept", "business", v.Business,
				fmt.Sprintf(`{"businessId": %q, "kind": "domain", "by": %q}`, v.Business, v.Owner))
			a.AsOperator(t, "payment_methods.create_test", "organization", v.Org, `{"test": "visa"}`)
		})
		settings.Listen = listentest.FreeAddress(t)
		o := &orders{&server{t: t, settings: settings, url: "http://" + settings.Listen}, v, orderKills(t)}
		const contact = `{"firstName": "Ada", "lastName": "Lovelace", "address1": "12 St James's Square",
			"city": "London", "stateProvince": "London", "postalCode": "SW1Y 4JH",
			"country": "GB", "email": "ada@example.com", "phone": "+442079460018"}`
		order := func(name string) string {
			return fmt.Sprintf(`{"domain": %q, "maxAmountCents": 1200, "contact": %s}`, name, contact)
		}
		const registrations = "claimed charged registering register-called registered zone records locked"
		const refunds = "refunding refund-called"
		const renewals = "claimed charged renewing renew-called renewed"
		path := ""
		for _, step := range strings.Fields(registrations) {
			last := o.killed(step, "/v1/domain-registrations", order("kill-at-"+step+".com"))
			if last["status"] != "succeeded" {
				t.Errorf("registration, killed at %s: %v", step, last)
				continue
			}
			path = "/v1/domains/" + last["resourceId"].(string) + "/registration/renew"
		}
		for _, step := range strings.Fields(refunds) {
			if last := o.killed(step, "/v1/domain-registrations",
				order("fail-at-"+step+".com")); last["status"] != "failed" {
				t.Errorf("a failing registration, killed at %s: %v", step, last)
			}
		}
		for _, step := range strings.Fields(renewals) {
			if last := o.killed(step, path, `{"maxAmountCents": 1500}`); last["status"] != "succeeded" {
				t.Errorf("renewal, killed at %s: %v", step, last)
			}
		}
		o.kill()
		registered, failed, renewed := len(strings.Fields(registrations)), len(strings.Fields(refunds)),
			len(strings.Fields(renewals))
		o.open(func(ctx context.Context, tx *db.Tx) error {
			for text, want := range map[string]int{
				"SELECT count(*) FROM sandbox_charges WHERE declined IS NULL": registered + failed + renewed,
				"SELECT coalesce(sum(amount_cents), 0) FROM sandbox_charges": (registered+failed)*1200 +
					renewed*1500,
				"SELECT count(*) FROM sandbox_registrations":                 registered,
				"SELECT count(*) FROM sandbox_renewals":                      renewed,
				"SELECT count(*) FROM sandbox_refunds":                       failed,
				"SELECT coalesce(sum(amount_cents), 0) FROM sandbox_refunds": failed * 1200,
				"SELECT count(*) FROM operations": registered + failed +
					renewed,
				"SELECT count(*) FROM operations WHERE status NOT IN ('succeeded', 'failed')": 0,
				"SELECT count(*) FROM domains":         registered,
				"SELECT count(*) FROM domain_contacts": registered,
				"SELECT count(*) FROM domain_holds":    registered,
				"SELECT count(*) FROM events WHERE type = 'operation.created'": registered + failed +
					renewed,
				"SELECT count(*) FROM events WHERE type = 'operation.started'": registered + failed +
					renewed,
				"SELECT count(*) FROM events WHERE type = 'operation.succeeded'":                registered + renewed,
				"SELECT count(*) FROM events WHERE type = 'operation.failed'":                   failed,
				"SELECT count(*) FROM events WHERE type IN ('domain.created','domain.renewed')": registered + renewed,
			} {
				n, err := db.QueryOne[int](ctx, tx, text)
				if err != nil {
					return err
				}
				if n != want {
					t.Errorf("%s: %d, want %d", text, n, want)
				}
			}
			return nil
		})
		t.Logf("%d orders, %d kills", registered+failed+renewed, (registered+failed+renewed)*o.kills)
	})
}

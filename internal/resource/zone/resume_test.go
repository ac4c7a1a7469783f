package zone_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/zone"
)

var errSilent = errors.New("the provider did not answer in time")

// A create with an unknown outcome is resumed under its key, by checking the
// zone.
func TestRecordCreateResumes(t *testing.T) {
	broken := &zone.ProviderError{Status: 500, Message: "out of memory"}
	for name, c := range map[string]struct {
		after  bool
		fail   error
		status int
		code   string
	}{
		"it was done, and nobody heard":    {true, errSilent, 503, "SERVICE_UNAVAILABLE"},
		"it was not done, and nobody knew": {false, errSilent, 503, "SERVICE_UNAVAILABLE"},
		"the provider broke":               {true, broken, 500, "DNS_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			eachZone(t, func(z *zoned) {
				z.dns.set(c.after, c.fail)
				key := []string{"Idempotency-Key", string(id.New())}
				z.post(z.path, record("A", "www", "192.0.2.1"), key...).Refused(z.t, c.status, c.code)
				if n := z.get(z.path+"?name=www").OK(z.t, 200).Len(); n != 0 {
					t.Errorf("%d records are seen before the outcome is known", n)
				}
				r := z.post(z.path, record("A", "www", "192.0.2.1"), key...).OK(z.t, 201)
				z.has("A www 192.0.2.1")
				z.get(z.path+"?name=www").OK(z.t, 200).Same("0.id", r.Text("id"))
				z.events("domain.dns_record.created", 1)
				again := z.post(z.path, record("A", "www", "192.0.2.1"), key...)
				replayed := again.Header.Get("Idempotency-Replay") == "true"
				if !replayed || again.OK(z.t, 201).Text("id") != r.Text("id") {
					t.Errorf("the replay: %s", again.Body)
				}
			})
		})
	}
}

// A process that dies between two steps leaves nothing half done: the retry
// under the key continues, whichever step it was.
func TestRecordCrash(t *testing.T) {
	for _, at := range []string{"intended", "written"} {
		t.Run(at, func(t *testing.T) {
			eachZone(t, func(z *zoned) {
				z.step = func(step string) {
					if step == at {
						z.step = nil
						panic("the process dies here")
					}
				}
				key := []string{"Idempotency-Key", string(id.New())}
				z.post(z.path, record("A", "www", "192.0.2.1"), key...).Refused(z.t, 503, "OUTCOME_UNKNOWN")
				calls := z.dns.calls
				r := z.post(z.path, record("A", "www", "192.0.2.1"), key...).OK(z.t, 201)
				if made := z.dns.calls - calls; made != map[string]int{"intended": 1, "written": 0}[at] {
					t.Errorf("%d calls to the provider in the retry", made)
				}
				z.has("A www 192.0.2.1")
				z.get(z.path+"/"+r.Text("id")).OK(z.t, 200)
				z.events("domain.dns_record.created", 1)
			})
		})
	}
}

// A writer that waits for a slow provider keeps its intent. One whose intent was taken
// over stops.
func TestRecordLease(t *testing.T) {
	zone.RenewEvery(t, 20*time.Millisecond)
	eachZone(t, func(z *zoned) {
		until := func() int { return z.count("SELECT coalesce(max(intent_until), 0) FROM dns_records") }
		z.dns.slow = func(context.Context) {
			first := until()
			z.eventually("the lease is renewed", func() bool { return until() > first })
		}
		z.post(z.path, record("A", "one", "192.0.2.1")).OK(z.t, 201)
		z.dns.slow = func(ctx context.Context) {
			z.exec("UPDATE dns_records SET intent_id = $1 WHERE intent = 'add'", id.New())
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second):
				t.Error("a writer went on without its intent")
			}
		}
		z.post(z.path, record("A", "two", "192.0.2.2")).Refused(z.t, 503, "SERVICE_UNAVAILABLE")
		z.has("A one 192.0.2.1")
	})
}

// Nobody empties a zone under a writer, however slow it is.
func TestAwaitSlowWrite(t *testing.T) {
	zone.WaitAtMost(t, 100*time.Millisecond)
	eachZone(t, func(z *zoned) {
		ref := []zone.Ref{{Org: z.Org, Domain: id.ID(z.domain), Name: "example.com"}}
		z.dns.slow = func(ctx context.Context) {
			if err := z.Domains.Zones.AwaitWrites(ctx, ref); !fault.IsKind(err, zone.Busy) {
				t.Errorf("a write is under way, and waiting for its end gives %v", err)
			}
		}
		z.post(z.path, record("A", "one", "192.0.2.1")).OK(z.t, 201)
		if err := z.Domains.Zones.AwaitWrites(t.Context(), ref); err != nil {
			t.Error(err)
		}
	})
}

// Replacing and removing have no key: the next writer, or a job, finishes what
// was left open.
func TestRecordLeftOpen(t *testing.T) {
	eachZone(t, func(z *zoned) {
		one := z.path + "/" + z.post(z.path, record("A", "www", "192.0.2.1")).OK(z.t, 201).Text("id")
		z.dns.set(true, errSilent)
		z.put(one, record("A", "www", "192.0.2.2")).Refused(z.t, 503, "SERVICE_UNAVAILABLE")
		z.put(one, record("A", "www", "192.0.2.3")).OK(z.t, 200)
		z.has("A www 192.0.2.3")
		z.events("domain.dns_record.updated", 2)

		z.dns.set(false, errSilent)
		z.remove(one).Refused(z.t, 503, "SERVICE_UNAVAILABLE")
		z.get(one).OK(z.t, 200)
		z.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'dns.settle'")
		z.eventually("the job removes it", func() bool { return z.get(one).Status == 404 })
		z.has("")
		z.events("domain.dns_record.deleted", 1)
		bySystem := `SELECT count(*) FROM events WHERE type = 'domain.dns_record.deleted' AND door = 'system'`
		if n := z.count(bySystem); n != 1 {
			t.Errorf("the service removed %d records", n)
		}
	})
}

// A refusal by the provider keeps its status and leaves nothing behind. Our own
// credentials never show up in it.
func TestRecordRefusals(t *testing.T) {
	eachZone(t, func(z *zoned) {
		one := z.path + "/" + z.post(z.path, record("A", "www", "192.0.2.1")).OK(z.t, 201).Text("id")
		for upstream, status := range map[int]int{400: 400, 404: 404, 409: 409, 413: 422, 422: 422, 429: 429, 401: 502,
			403: 502, 500: 500, 503: 503, 507: 502} {
			z.dns.set(false, &zone.ProviderError{Status: upstream, Message: "It does not like that."})
			added := record("A", "new", fmt.Sprintf("198.51.100.%d", upstream-399+20))
			z.post(z.path, added, "Idempotency-Key", string(id.New())).Refused(z.t, status, "DNS_ERROR")
			// Anything still to come is not part of this test.
			z.exec("UPDATE dns_records SET deleted_at = 1, intent = NULL WHERE intent = 'add'")
			z.has("A www 192.0.2.1")
		}
		z.dns.set(false, &zone.ProviderError{Status: 422, Message: "It does not like that."})
		z.put(one, record("A", "www", "192.0.2.9")).Refused(z.t, 422, "DNS_ERROR").
			Same("message", "The DNS provider refused it: It does not like that.")
		z.get(one).OK(z.t, 200).Same("content", "192.0.2.1")
		z.dns.set(false, zone.RecordNotFound("example.com", zone.Record{Type: "A", Name: "www"}))
		z.remove(one).Refused(z.t, 404, "DNS_ERROR")
	})
}

// Hosted email writes its own records, as often as it likes, and callers cannot
// change them.
func TestEmailRecords(t *testing.T) {
	eachZone(t, func(z *zoned) {
		ctx := context.Background()
		ten := 10
		mine := z.post(z.path, record("TXT", "@", "v=spf1 -all")).OK(z.t, 201)
		want := func(mx string) []zone.Record {
			return []zone.Record{{Type: "MX", Name: "@", Content: mx, Priority: &ten},
				{Type: "TXT", Name: "@", Content: "v=spf1 -all"},
				{Type: "TXT", Name: "fd1._domainkey", Content: "v=DKIM1; k=ed25519; p=abc"},
				{Type: "TXT", Name: "_dmarc", Content: "v=DMARC1; p=none"}}
		}
		example := zone.Ref{Org: z.Org, Domain: id.ID(z.domain), Name: "example.com"}
		try := func(at zone.Ref, records []zone.Record) error {
			return z.Domains.Zones.SetEmailRecords(ctx, at, zone.EmailRecords{
				Want:       func(context.Context, *db.Tx, []zone.Record) ([]zone.Record, error) { return records, nil },
				StillValid: func(context.Context, *db.Tx) error { return nil },
			})
		}
		set := func(records []zone.Record) {
			z.t.Helper()
			if err := try(example, records); err != nil {
				z.t.Fatal(err)
			}
		}
		set(want("mx1.example.net"))
		set(want("mx1.example.net"))
		z.has("TXT @ v=spf1 -all, MX @ mx1.example.net, TXT fd1._domainkey v=DKIM1; k=ed25519; p=abc, " +
			"TXT _dmarc v=DMARC1; p=none")
		one := z.path + "/" + mine.Text("id")
		z.get(one).OK(z.t, 200).Same("managedBy", "email")
		for _, r := range []string{"DELETE", "PUT"} {
			no := z.SendREST(z.t, z.Key, r, one, map[string]string{"PUT": record("TXT", "@", "v=spf1 +all")}[r]).
				Refused(z.t, 409, "DNS_RECORD_MANAGED")
			if !strings.Contains(no.Text("message"), "DELETE /v1/domains/"+z.domain+"/email") {
				t.Errorf("no way out: %s", no)
			}
		}

		// Halfway through, the provider falls silent; the next call continues.
		z.dns.set(true, errSilent)
		if err := try(example, want("mx2.example.net")); err == nil {
			t.Error("a silent provider is a success")
		}
		set(want("mx2.example.net"))
		z.has("TXT @ v=spf1 -all, TXT fd1._domainkey v=DKIM1; k=ed25519; p=abc, TXT _dmarc v=DMARC1; p=none, " +
			"MX @ mx2.example.net")

		set(nil)
		z.has("")
		z.post(z.path, record("CNAME", "_dmarc", "dmarc.example.net")).OK(z.t, 201)
		if err := try(example, want("mx1.example.net")); !fault.IsKind(err, zone.RecordConflict) {
			t.Errorf("a record in the way: %v", err)
		}

		// A registration writes them before the domain has its row.
		if err := z.dns.CreateZone(ctx, "new.example"); err != nil {
			t.Fatal(err)
		}
		unborn := zone.Ref{Org: z.Org, Domain: id.New(), Name: "new.example", Registering: true}
		for range 2 {
			if err := try(unborn, want("mx1.example.net")); err != nil {
				t.Fatal(err)
			}
		}
		n := z.count(`
			SELECT count(*) FROM dns_records
			WHERE domain_id = $1 AND managed_by = 'email' AND deleted_at IS NULL`, unborn.Domain)
		if n != 4 {
			t.Errorf("%d email records of a domain without a row", n)
		}
	})
}

// Package zonetest holds the suite that every DNS provider passes, the embedded
// one and the real ones: Exercise creates zones at the provider, writes records of
// every type, and reads them back. It needs no database.
package zonetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/zone"
)

// Exercise is the suite of DNS providers. Each part works on a zone of its own.
func Exercise(t *testing.T, provider zone.Provider) {
	for name, part := range map[string]func(*testing.T, *testZone){
		"zones": exerciseZones, "every type": exerciseTypes, "sets": exerciseSets, "aliases": exerciseAliases,
		"replace": exerciseReplace,
		"missing": exerciseMissing,
		"races":   exerciseRaces,
	} {
		t.Run(name, func(t *testing.T) {
			z := &testZone{Provider: provider, name: "z" + string(id.New())[28:] + ".example"}
			if err := z.CreateZone(context.Background(), z.name); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := z.DeleteZone(context.Background(), z.name); err != nil {
					t.Error(err)
				}
			})
			part(t, z)
		})
	}
}

// testZone is a provider with the zone that one part of the suite works on.
type testZone struct {
	zone.Provider
	name string
}

// CanonicalRecord is a record in canonical form. The test ends if it is not valid.
func CanonicalRecord(t testing.TB, zoneName, kind, name, content string, ttl int, priority ...int) zone.Record {
	t.Helper()
	r := zone.Record{Type: kind, Name: name, Content: content, TTL: ttl}
	if len(priority) > 0 {
		r.Priority = &priority[0]
	}
	r, tree := r.Canonical(zoneName)
	if tree != nil {
		t.Fatalf("%s %s %q: %v", kind, name, content, tree.Fault(zone.Refused))
	}
	return r
}

func recordText(r zone.Record) string {
	priority := "-"
	if r.Priority != nil {
		priority = fmt.Sprint(*r.Priority)
	}
	return fmt.Sprintf("%s %s %d %s %s", r.Name, r.Type, r.TTL, priority, r.Content)
}

// assertRecords asserts that the zone has exactly these records and the built-in ones.
func (z *testZone) assertRecords(t *testing.T, want ...zone.Record) {
	t.Helper()
	all, err := z.Records(context.Background(), z.name)
	if err != nil {
		t.Fatal(err)
	}
	var have, wanted []string
	soa, ns := 0, 0
	for _, r := range all {
		switch {
		case !r.BuiltIn:
			have = append(have, recordText(r))
		case r.Type == "SOA" && r.Name == "@":
			soa++
		case r.Type == "NS" && r.Name == "@":
			ns++
		default:
			t.Errorf("%s is called built-in", recordText(r))
		}
	}
	for _, r := range want {
		wanted = append(wanted, recordText(r))
	}
	slices.Sort(have)
	slices.Sort(wanted)
	if !slices.Equal(have, wanted) {
		t.Errorf("the zone has\n  %s\nand should have\n  %s", strings.Join(have, "\n  "), strings.Join(wanted, "\n  "))
	}
	if soa != 1 || ns == 0 {
		t.Errorf("%d SOA and %d NS records at the apex", soa, ns)
	}
}

func (z *testZone) mustAdd(t *testing.T, r zone.Record) zone.Record {
	t.Helper()
	if err := z.Add(context.Background(), z.name, r); err != nil {
		t.Fatalf("add %s: %v", recordText(r), err)
	}
	return r
}

// assertRefused asserts that the provider refused with one of these statuses.
func assertRefused(t *testing.T, what string, err error, status ...int) {
	t.Helper()
	var e *zone.ProviderError
	if !errors.As(err, &e) || !slices.Contains(status, e.Status) {
		t.Errorf("%s: %v, want a ProviderError with %v", what, err, status)
	}
}

// exerciseZones creates, empties and deletes a zone, each twice.
func exerciseZones(t *testing.T, z *testZone) {
	ctx := context.Background()
	z.assertRecords(t)
	a := z.mustAdd(t, CanonicalRecord(t, z.name, "A", "www", "192.0.2.1", 300))
	if err := z.CreateZone(ctx, z.name); err != nil {
		t.Errorf("a second time: %v", err)
	}
	z.assertRecords(t, a)
	z.mustAdd(t, CanonicalRecord(t, z.name, "MX", "@", "mail.example.net", 300, 10))
	for range 2 {
		if err := z.EmptyZone(ctx, z.name); err != nil {
			t.Errorf("empty it: %v", err)
		}
		z.assertRecords(t)
	}
	for range 2 {
		if err := z.DeleteZone(ctx, z.name); err != nil {
			t.Error(err)
		}
	}
	_, err := z.Records(ctx, z.name)
	assertRefused(t, "records of a zone that is gone", err, 404)
	assertRefused(t, "add to a zone that is gone", z.Add(ctx, z.name, a), 404)
	if err := z.EmptyZone(ctx, z.name); err != nil {
		t.Errorf("empty a zone that is not there: %v", err)
	}
	z.assertRecords(t)
}

// exerciseTypes writes each type and reads it back as it was.
func exerciseTypes(t *testing.T, z *testZone) {
	long := strings.Repeat("0123456789", 60)
	var all []zone.Record
	for _, r := range []zone.Record{
		CanonicalRecord(t, z.name, "A", "@", "192.0.2.1", 300),
		CanonicalRecord(t, z.name, "AAAA", "@", "2001:db8::1", 300),
		CanonicalRecord(t, z.name, "A", "*.shop", "192.0.2.9", 3600),
		CanonicalRecord(t, z.name, "CAA", "@", `0 issue "letsencrypt.org"`, 3600),
		CanonicalRecord(t, z.name, "CAA", "@", `128 issuewild ";"`, 3600),
		CanonicalRecord(t, z.name, "CNAME", "www", z.name, 600),
		CanonicalRecord(t, z.name, "CNAME", "k1._domainkey", "k1._domainkey.example.net", 600),
		CanonicalRecord(t, z.name, "MX", "@", "mail.example.net", 3600, 10),
		CanonicalRecord(t, z.name, "MX", "quiet", ".", 3600, 0),
		CanonicalRecord(t, z.name, "NS", "part", "ns1.example.net", 3600),
		CanonicalRecord(t, z.name, "SRV", "_sip._tcp", "5 5060 sip.example.net", 3600, 10),
		CanonicalRecord(t, z.name, "TXT", "@", "v=spf1 include:example.net -all", 3600),
		CanonicalRecord(t, z.name, "TXT", "long", long, 3600),
		CanonicalRecord(t, z.name, "TXT", "odd", `say "hi"; (or not) \ C:\temp`, 3600),
		CanonicalRecord(t, z.name, "TXT", "letters", "größer ≥ 3 €", 3600),
	} {
		all = append(all, z.mustAdd(t, r))
	}
	z.assertRecords(t, all...)
	for _, r := range all {
		if err := z.Remove(context.Background(), z.name, r); err != nil {
			t.Errorf("remove %s: %v", recordText(r), err)
		}
	}
	z.assertRecords(t)
}

// exerciseSets checks the records of one name and type: each comes and goes by itself, and adding one
// again only sets its TTL.
func exerciseSets(t *testing.T, z *testZone) {
	ctx := context.Background()
	a := z.mustAdd(t, CanonicalRecord(t, z.name, "MX", "@", "a.example.net", 300, 10))
	b := z.mustAdd(t, CanonicalRecord(t, z.name, "MX", "@", "b.example.net", 300, 20))
	z.mustAdd(t, b)
	z.assertRecords(t, a, b)
	if err := z.Remove(ctx, z.name, a); err != nil {
		t.Fatal(err)
	}
	z.assertRecords(t, b)
	b.TTL = 600
	z.mustAdd(t, b)
	z.assertRecords(t, b)
}

// exerciseAliases checks that a CNAME and another record cannot be beside each other, and can replace
// each other.
func exerciseAliases(t *testing.T, z *testZone) {
	ctx := context.Background()
	alias := z.mustAdd(t, CanonicalRecord(t, z.name, "CNAME", "www", "example.net", 300))
	a := CanonicalRecord(t, z.name, "A", "www", "192.0.2.1", 300)
	assertRefused(t, "a record beside an alias", z.Add(ctx, z.name, a), 400, 409, 422)
	z.assertRecords(t, alias)
	if err := z.Replace(ctx, z.name, alias, a); err != nil {
		t.Fatal(err)
	}
	z.assertRecords(t, a)
	assertRefused(t, "an alias beside a record", z.Add(ctx, z.name, alias), 400, 409, 422)
	if err := z.Replace(ctx, z.name, a, alias); err != nil {
		t.Fatal(err)
	}
	z.assertRecords(t, alias)
}

// exerciseReplace changes each property of a record in turn, and leaves the record beside it alone.
func exerciseReplace(t *testing.T, z *testZone) {
	ctx := context.Background()
	keep := z.mustAdd(t, CanonicalRecord(t, z.name, "A", "www", "192.0.2.1", 300))
	old := z.mustAdd(t, CanonicalRecord(t, z.name, "A", "www", "192.0.2.2", 300))
	move := func(r zone.Record) {
		t.Helper()
		if err := z.Replace(ctx, z.name, old, r); err != nil {
			t.Fatalf("%s for %s: %v", recordText(r), recordText(old), err)
		}
		z.assertRecords(t, keep, r)
		old = r
	}
	move(CanonicalRecord(t, z.name, "A", "www", "192.0.2.3", 300)) // other content
	move(CanonicalRecord(t, z.name, "A", "web", "192.0.2.3", 300)) // other name
	move(CanonicalRecord(t, z.name, "TXT", "web", "hello", 300))   // other type
	move(CanonicalRecord(t, z.name, "TXT", "web", "hello", 900))   // other TTL
	mx := CanonicalRecord(t, z.name, "MX", "@", "mail.example.net", 300, 10)
	move(mx)
	five := 5
	mx.Priority = &five
	move(mx)
}

// exerciseMissing checks that records which do not exist cannot be removed or replaced.
func exerciseMissing(t *testing.T, z *testZone) {
	ctx := context.Background()
	have := z.mustAdd(t, CanonicalRecord(t, z.name, "A", "www", "192.0.2.1", 300))
	no := CanonicalRecord(t, z.name, "A", "www", "192.0.2.2", 300)
	assertRefused(t, "remove", z.Remove(ctx, z.name, no), 404)
	assertRefused(t, "replace", z.Replace(ctx, z.name, no, CanonicalRecord(t, z.name, "A", "www", "192.0.2.3", 300)),
		404)
	assertRefused(t, "replace by another name", z.Replace(ctx, z.name, no,
		CanonicalRecord(t, z.name, "A", "web", "192.0.2.3", 300)), 404)
	z.assertRecords(t, have)
}

// exerciseRaces adds many records to one set at once; none is lost.
func exerciseRaces(t *testing.T, z *testZone) {
	var want []zone.Record
	for i := range 12 {
		want = append(want, CanonicalRecord(t, z.name, "A", "pool", fmt.Sprintf("192.0.2.%d", i+1), 300))
	}
	var wg sync.WaitGroup
	for _, r := range want {
		wg.Go(func() {
			if err := z.Add(context.Background(), z.name, r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	z.assertRecords(t, want...)
}

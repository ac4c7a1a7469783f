package dnsserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"

	"github.com/miekg/dns"
)

// maxCachedZones bounds the zones kept in memory.
const maxCachedZones = 512

// snapshot is one zone as it was at one serial, never changed after it was made.
type snapshot struct {
	name  string // lower case, with the trailing dot
	soa   *dns.SOA
	nodes map[string]node // by lower-case name with the trailing dot; empty non-terminals have an empty node
}

// node is what stands at one name, by type.
type node map[uint16][]dns.RR

// zoneCache keeps zones by id. A zone is used only while its serial is the
// database's, so every process sees a change with its commit.
type zoneCache struct {
	mu    sync.Mutex
	zones map[id.ID]cachedZone
}

type cachedZone struct {
	serial int64
	zone   *snapshot
}

// zoneForName returns the zone that answers for a name, or nil when there is none. That is the
// longest zone name that the name ends in, with one exception: a zone of another
// organization below somebody's domain answers only where the zone of that domain
// delegates it. Otherwise anybody could take over a part of a domain by creating a zone
// for it here.
func (s *Server) zoneForName(ctx context.Context, name string) (z *snapshot, err error) {
	names := enclosingNames(name)
	err = s.Store.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := db.QueryAll[zoneRow](ctx, tx,
			"SELECT id, name, soa_serial FROM dnsserver_zones WHERE name = ANY($1)", names)
		if err != nil || len(rows) == 0 {
			return err
		}
		slices.SortFunc(rows, func(a, b zoneRow) int { return len(a.Name) - len(b.Name) })
		var holders map[string]id.ID
		if len(rows) > 1 {
			if holders, err = domain.ActiveHolders(ctx, tx, names); err != nil {
				return err
			}
		}
		z = nil
		for _, r := range rows {
			if z != nil {
				above := holders[strings.TrimSuffix(z.name, ".")]
				if above != "" && above != holders[r.Name] && !z.delegatesExactly(dns.Fqdn(r.Name)) {
					continue
				}
			}
			if z, err = s.loadSnapshot(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return z, err
}

// enclosingNames lists the names of all zones that a name could be in: itself and every
// name above it.
func enclosingNames(name string) (out []string) {
	for name != "." {
		out = append(out, strings.TrimSuffix(name, "."))
		name = parentName(name)
	}
	return out
}

// parentName is a name without its first label, which may hold an escaped dot.
func parentName(name string) string {
	at, end := dns.NextLabel(name, 0)
	if end {
		return "."
	}
	return name[at:]
}

// loadSnapshot returns the snapshot of a zone at the serial of row, from memory if that is the
// one in memory.
func (s *Server) loadSnapshot(ctx context.Context, tx *db.Tx, row zoneRow) (*snapshot, error) {
	s.cache.mu.Lock()
	have, ok := s.cache.zones[row.ID]
	s.cache.mu.Unlock()
	if ok && have.serial == row.Serial {
		return have.zone, nil
	}
	rows, err := loadRecords(ctx, tx, row.ID)
	if err != nil {
		return nil, err
	}
	z, err := s.Store.buildSnapshot(row, rows)
	if err != nil {
		return nil, err
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.cache.zones == nil || len(s.cache.zones) >= maxCachedZones {
		s.cache.zones = map[id.ID]cachedZone{} // dropping all is simpler than dropping the oldest, and rare
	}
	s.cache.zones[row.ID] = cachedZone{row.Serial, z}
	return z, nil
}

// buildSnapshot builds the snapshot of a zone from its rows.
func (s *Store) buildSnapshot(row zoneRow, rows []recordRow) (*snapshot, error) {
	z := &snapshot{name: dns.Fqdn(row.Name), nodes: map[string]node{}}
	for _, rr := range s.builtInRecords(row) {
		z.addRecord(rr)
	}
	z.soa = z.nodes[z.name][dns.TypeSOA][0].(*dns.SOA)
	for _, r := range rows {
		rr, err := r.toRecord().ToRR(row.Name)
		if err != nil {
			return nil, fmt.Errorf("dnsserver: the zone %s: %w", row.Name, err)
		}
		z.addRecord(rr)
	}
	return z, nil
}

// addRecord puts a record in its place. The names between it and the apex exist from then on,
// even without records of their own (RFC 4592 §2.2.2).
func (z *snapshot) addRecord(rr dns.RR) {
	h := rr.Header()
	name := h.Name
	for at := name; ; {
		if z.nodes[at] == nil {
			z.nodes[at] = node{}
		}
		if at == z.name {
			break
		}
		at = parentName(at)
	}
	z.nodes[name][h.Rrtype] = append(z.nodes[name][h.Rrtype], rr)
}

// findDelegation finds the NS records of the delegation that name lies in, or nil. If there
// are several on the way up to the apex, the one nearest to the apex counts: below it,
// this zone has no authority. The name itself may be the delegated one; the apex is not.
func (z *snapshot) findDelegation(name string) []dns.RR {
	var cut []dns.RR
	for at := name; at != z.name; {
		if ns := z.nodes[at][dns.TypeNS]; ns != nil {
			cut = ns
		}
		at = parentName(at)
	}
	return cut
}

// delegatesExactly reports whether the zone hands exactly this name to other servers.
func (z *snapshot) delegatesExactly(name string) bool {
	cut := z.findDelegation(name)
	return cut != nil && cut[0].Header().Name == name
}

// lookUpName finds what stands at a name, by itself or through a wildcard (RFC 4592
// §3.3.1). nil means that the name does not exist.
func (z *snapshot) lookUpName(name string) node {
	if n, ok := z.nodes[name]; ok {
		return n
	}
	for encloser := name; encloser != z.name; {
		encloser = parentName(encloser)
		if _, exists := z.nodes[encloser]; exists {
			return z.nodes["*."+encloser]
		}
	}
	return nil
}

// Package dnsserver is the DNS provider inside the binary: zones in the
// service's own database, and an authoritative server that answers for them
// over UDP and TCP. It never resolves anything for anybody, answers only for
// its own zones, and lets nobody transfer them.
//
// Store (store.go) is the zone.Provider: it changes zones in the database and raises
// their serial with every change. Server (server.go) takes questions, within bounds
// for a server on the open network, and finds the zone of a name (zone.go), which it
// keeps in memory for as long as the serial in the database is the same. answer.go
// answers from such a snapshot as RFC 1034 says.
//
// Start reading at Store for how zones are stored, and at Server.answerQuestion for how
// questions are answered.
package dnsserver

import (
	"context"
	"errors"
	"net/http"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/zone"

	"github.com/miekg/dns"
)

var (
	_ = db.Declare("dnsserver_zones", db.Life{})
	_ = db.Declare("dnsserver_records", db.Life{Parent: db.RefTo("zone_id", "dnsserver_zones")})
)

// The timers of the SOA record in seconds (RFC 1912 §2.2): when secondary servers ask
// again, and how long a negative answer is cached.
const (
	soaRefresh = 7200
	soaRetry   = 1800
	soaExpire  = 1209600
	soaMinimum = 300
	soaTTL     = 3600
	nsTTL      = 86400
)

// Store keeps the zones.
type Store struct {
	DB          *db.DB
	Clock       *clock.Clock
	Nameservers []string // host names of this server; the first is the primary
}

var _ zone.Provider = (*Store)(nil)

type zoneRow struct {
	ID     id.ID  `db:"id"`
	Name   string `db:"name"`
	Serial int64  `db:"soa_serial"`
}

type recordRow struct {
	Name     string `db:"name"`
	Type     string `db:"type"`
	Content  string `db:"content"`
	TTL      int    `db:"ttl"`
	Priority int    `db:"priority"` // -1 for none: a null would never conflict in the unique index
}

func (r recordRow) toRecord() zone.Record {
	v := zone.Record{Type: r.Type, Name: r.Name, Content: r.Content, TTL: r.TTL}
	if r.Priority >= 0 {
		v.Priority = &r.Priority
	}
	return v
}

func priorityOrNone(r zone.Record) int {
	if r.Priority == nil {
		return -1
	}
	return *r.Priority
}

// CreateZone creates a zone. An existing zone stays as it is.
func (s *Store) CreateZone(ctx context.Context, name string) error {
	return s.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return s.insertZone(ctx, tx, name) })
}

func (s *Store) insertZone(ctx context.Context, tx *db.Tx, name string) error {
	now := s.Clock.Now()
	_, err := db.Exec(ctx, tx, `
		INSERT INTO dnsserver_zones (id, created_at, name, soa_serial) VALUES ($1, $2, $3, $4)
		ON CONFLICT (name) DO NOTHING`, id.New(), now, name, now.Std().Unix())
	return err
}

// EmptyZone creates a zone without records, or empties an existing one.
func (s *Store) EmptyZone(ctx context.Context, name string) error {
	return s.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := s.insertZone(ctx, tx, name); err != nil {
			return err
		}
		z, err := lockZone(ctx, tx, name)
		if err != nil {
			return err
		}
		n, err := db.Exec(ctx, tx, "DELETE FROM dnsserver_records WHERE zone_id = $1", z.ID)
		if err != nil || n == 0 {
			return err
		}
		return s.raiseSerial(ctx, tx, z)
	})
}

// raiseSerial raises the serial of a locked zone: to the current Unix time if that is higher,
// because people read serials as times, and by one otherwise.
func (s *Store) raiseSerial(ctx context.Context, tx *db.Tx, z zoneRow) error {
	_, err := db.Exec(ctx, tx, `
		UPDATE dnsserver_zones
		SET soa_serial = CASE WHEN soa_serial < $2 THEN $2 ELSE soa_serial + 1 END WHERE id = $1`,
		z.ID, s.Clock.Now().Std().Unix())
	return err
}

// DeleteZone removes a zone with its records.
func (s *Store) DeleteZone(ctx context.Context, name string) error {
	return s.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		z, err := lockZone(ctx, tx, name)
		if zone.ProviderStatus(err) == http.StatusNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, "DELETE FROM dnsserver_records WHERE zone_id = $1", z.ID); err != nil {
			return err
		}
		_, err = db.Exec(ctx, tx, "DELETE FROM dnsserver_zones WHERE id = $1", z.ID)
		return err
	})
}

// Records lists a zone, its built-in records first.
func (s *Store) Records(ctx context.Context, name string) (out []zone.Record, err error) {
	err = s.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		z, err := loadZoneRow(ctx, tx, name, "")
		if err != nil {
			return err
		}
		for _, rr := range s.builtInRecords(z) {
			r := zone.RecordFromRR(name, rr)
			r.BuiltIn = true
			out = append(out, r)
		}
		rows, err := loadRecords(ctx, tx, z.ID)
		for _, r := range rows {
			out = append(out, r.toRecord())
		}
		return err
	})
	return out, err
}

// Add puts a record into a zone. The TTL is that of all records of its name
// and type (RFC 2181 §5.2).
func (s *Store) Add(ctx context.Context, name string, r zone.Record) error {
	return s.changeZone(ctx, name, func(ctx context.Context, tx *db.Tx,
		z zoneRow) error {
		return putRecord(ctx, tx, z, r)
	})
}

// Replace puts one record in the place of another.
func (s *Store) Replace(ctx context.Context, name string, old, r zone.Record) error {
	return s.changeZone(ctx, name, func(ctx context.Context, tx *db.Tx, z zoneRow) error {
		if err := deleteRecord(ctx, tx, z, old); err != nil {
			return err
		}
		return putRecord(ctx, tx, z, r)
	})
}

// Remove takes a record out.
func (s *Store) Remove(ctx context.Context, name string, r zone.Record) error {
	return s.changeZone(ctx, name, func(ctx context.Context, tx *db.Tx,
		z zoneRow) error {
		return deleteRecord(ctx, tx, z, r)
	})
}

// changeZone runs fn on a locked zone and raises its serial.
func (s *Store) changeZone(ctx context.Context, name string, fn func(context.Context, *db.Tx, zoneRow) error) error {
	return s.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		z, err := lockZone(ctx, tx, name)
		if err != nil {
			return err
		}
		if err := fn(ctx, tx, z); err != nil {
			return err
		}
		return s.raiseSerial(ctx, tx, z)
	})
}

// putRecord inserts a record if the others of the zone allow it, and gives all records of its
// name and type its TTL.
func putRecord(ctx context.Context, tx *db.Tx, z zoneRow, r zone.Record) error {
	rows, err := loadRecords(ctx, tx, z.ID)
	if err != nil {
		return err
	}
	others := make([]zone.Record, 0, len(rows))
	for _, row := range rows {
		if o := row.toRecord(); !o.Same(r) {
			others = append(others, o)
		}
	}
	if err := r.CheckFits(others); err != nil {
		f := fault.FromError(err)
		return &zone.ProviderError{Status: f.Status, Message: f.Sentence()}
	}
	_, err = db.Exec(ctx, tx, `
		INSERT INTO dnsserver_records (zone_id, name, type, content, ttl, priority)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (zone_id, name, type, content, priority) DO NOTHING`, z.ID, r.Name, r.Type,
		r.Content, r.TTL, priorityOrNone(r))
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, tx, `
		UPDATE dnsserver_records
		SET ttl = $4
		WHERE zone_id = $1 AND name = $2 AND type = $3 AND ttl <> $4`, z.ID, r.Name, r.Type, r.TTL)
	return err
}

func deleteRecord(ctx context.Context, tx *db.Tx, z zoneRow, r zone.Record) error {
	n, err := db.Exec(ctx, tx, `
		DELETE FROM dnsserver_records
		WHERE zone_id = $1 AND name = $2 AND type = $3 AND content = $4 AND priority = $5`,
		z.ID, r.Name, r.Type, r.Content, priorityOrNone(r))
	if err == nil && n == 0 {
		return zone.RecordNotFound(z.Name, r)
	}
	return err
}

func lockZone(ctx context.Context, tx *db.Tx, name string) (zoneRow, error) {
	lock := ""
	if tx.Engine() == db.Postgres {
		lock = " FOR UPDATE"
	}
	return loadZoneRow(ctx, tx, name, lock)
}

func loadZoneRow(ctx context.Context, tx *db.Tx, name, lock string) (zoneRow, error) {
	z, err := db.QueryOne[zoneRow](ctx, tx, "SELECT id, name, soa_serial FROM dnsserver_zones WHERE name = $1"+lock,
		name)
	if errors.Is(err, db.ErrNoRow) {
		return z, &zone.ProviderError{Status: http.StatusNotFound, Message: "There is no zone " + name + "."}
	}
	return z, err
}

func loadRecords(ctx context.Context, tx *db.Tx, zone id.ID) ([]recordRow, error) {
	return db.QueryAll[recordRow](ctx, tx, `
		SELECT name, type, content, ttl, priority
		FROM dnsserver_records
		WHERE zone_id = $1
		ORDER BY seq`, zone)
}

// builtInRecords returns the records that every zone has: SOA and NS.
func (s *Store) builtInRecords(z zoneRow) []dns.RR {
	name := dns.Fqdn(z.Name)
	head := func(kind uint16, ttl uint32) dns.RR_Header {
		return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
	}
	out := []dns.RR{&dns.SOA{Hdr: head(dns.TypeSOA, soaTTL), Ns: dns.Fqdn(s.Nameservers[0]), Mbox: "hostmaster." + name,
		Serial: uint32(z.Serial), Refresh: soaRefresh, Retry: soaRetry, Expire: soaExpire, Minttl: soaMinimum}}
	for _, host := range s.Nameservers {
		out = append(out, &dns.NS{Hdr: head(dns.TypeNS, nsTTL), Ns: dns.Fqdn(host)})
	}
	return out
}

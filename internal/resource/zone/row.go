package zone

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Manager is who manages a record.
type Manager string

// The managers of records. Callers change only those of ByUser.
const (
	ByUser   Manager = "user"
	ByEmail  Manager = "email"  // hosted email
	BySystem Manager = "system" // the records that the zone was created with
)

// intent is a change of a record that is committed here, and not yet known to be made at the
// provider.
type intent string

const (
	intentAdd     intent = "add"
	intentReplace intent = "replace"
	intentRemove  intent = "remove"
)

// DNSRecord is one record of a domain's zone.
type DNSRecord struct {
	op.Record
	DomainID  id.ID   `json:"domainId"`
	Type      string  `json:"type" doc:"A, AAAA, CAA, CNAME, MX, NS, SOA, SRV, TXT, or others made at the provider"`
	Name      string  `json:"name" doc:"relative to the zone; @ is the apex"`
	Content   string  `json:"content" max:"70000" doc:"TXT unquoted, hosts without final dot, SRV: weight port host"`
	TTL       int     `json:"ttl" doc:"in seconds; records of one name and type share it"`
	Priority  *int    `json:"priority" doc:"of MX and SRV"`
	ManagedBy Manager `json:"managedBy" enum:"user,email,system" doc:"only records of user can be changed here"`

	Version     int         `json:"-" db:"version"` // counts the writes of the row, for mirrorZone
	Intent      *intent     `json:"-" db:"intent"`
	IntentID    *id.ID      `json:"-" db:"intent_id"`    // new for each writer that takes the intent
	IntentUntil *clock.Time `json:"-" db:"intent_until"` // when the writer's lease ends
	Wanted      db.JSON     `json:"-" db:"wanted"`       // of intentReplace: the new Record
}

var dnsRecords = db.NewTable[DNSRecord]("dns_records", db.Life{
	Noun:         "DNS record",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("domain_id", "domains", db.EndsAtPurge),
	Refs:         []db.Ref{db.RefTo("intent_id", "", db.Keeps)},
})

// visibleSQL selects the records that callers see: not those that are only about to be added.
const visibleSQL = "(intent IS NULL OR intent <> 'add')"

// newRecordRow is the row of a record that is not written yet.
func newRecordRow(common op.Record, domain id.ID, r Record, by Manager) DNSRecord {
	v := DNSRecord{Record: common, DomainID: domain, ManagedBy: by, Version: 1}
	v.setRecord(r)
	return v
}

// newSystemRow is newRecordRow for a record that no caller asked for: an email record, or one that
// was found at the provider.
func (z *Zones) newSystemRow(at Ref, r Record, by Manager) DNSRecord {
	now := z.cfg.Clock.Now()
	common := op.Record{ID: id.New(), CreatedAt: now, UpdatedAt: now, OrganizationID: at.Org}
	return newRecordRow(common, at.Domain, r, by)
}

func (v *DNSRecord) setRecord(r Record) {
	v.Type, v.Name, v.Content, v.TTL, v.Priority = r.Type, r.Name, r.Content, r.TTL, r.Priority
}

// toRecord is the row as the provider knows it.
func (v *DNSRecord) toRecord() Record {
	return Record{
		Type:     v.Type,
		Name:     v.Name,
		Content:  v.Content,
		TTL:      v.TTL,
		Priority: v.Priority,
		BuiltIn:  v.ManagedBy == BySystem,
	}
}

func (v *DNSRecord) setIntent(i intent) { v.Intent = &i }

// setReplaceIntent sets the intent to put r in the place of the record.
func (v *DNSRecord) setReplaceIntent(r Record) (err error) {
	v.setIntent(intentReplace)
	v.Wanted, err = json.Marshal(r)
	return err
}

// parseReplacement reads the record that an open replacement puts in place of this one.
func (v *DNSRecord) parseReplacement() (r Record, err error) {
	return r, json.Unmarshal(v.Wanted, &r)
}

// identityKey identifies a record within its zone. A zone has one SOA, whose content changes with
// every serial.
func (r Record) identityKey() string {
	if r.Type == "SOA" {
		return r.Type + " " + r.Name
	}
	priority := -1
	if r.Priority != nil {
		priority = *r.Priority
	}
	return fmt.Sprintf("%s %s %d %s", r.Type, r.Name, priority, r.Content)
}

// loadZoneRows reads all rows of a zone, also those with an open intent.
func loadZoneRows(ctx context.Context, tx *db.Tx, at Ref) ([]DNSRecord, error) {
	return db.QueryAll[DNSRecord](ctx, tx, "SELECT "+dnsRecords.Columns()+`
		FROM dns_records
		WHERE organization_id = $1 AND domain_id = $2 AND deleted_at IS NULL
		ORDER BY seq`, at.Org, at.Domain)
}

// recordsExcept lists the records of rows, without one of them.
func recordsExcept(rows []DNSRecord, except id.ID) []Record {
	out := make([]Record, 0, len(rows))
	for i := range rows {
		if rows[i].ID != except {
			out = append(out, rows[i].toRecord())
		}
	}
	return out
}

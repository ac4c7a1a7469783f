package domain

import (
	"context"
	"net/http"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Who manages a record.
const (
	byUser   = "user"
	byEmail  = "email"
	bySystem = "system"

	unborn = "unborn" // a domain that is being registered and has no row yet
)

// DNSRecord is one record of a domain's zone.
type DNSRecord struct {
	op.Record
	DomainID  id.ID  `json:"domainId"`
	Type      string `json:"type" doc:"A, AAAA, CAA, CNAME, MX, NS, SOA, SRV or TXT; others when they were made at the provider"`
	Name      string `json:"name" doc:"relative to the zone; @ is the apex"`
	Content   string `json:"content" max:"70000" doc:"TXT without quotes, host names without a dot at the end, SRV as weight, port and target"`
	TTL       int    `json:"ttl" doc:"in seconds; records of one name and type share it"`
	Priority  *int   `json:"priority" doc:"of MX and SRV"`
	ManagedBy string `json:"managedBy" enum:"user,email,system" doc:"only records of user can be changed here"`

	Version     int         `json:"-" db:"version"`
	Intent      *string     `json:"-" db:"intent"`
	IntentID    *id.ID      `json:"-" db:"intent_id"`
	IntentUntil *clock.Time `json:"-" db:"intent_until"`
	Wanted      db.JSON     `json:"-" db:"wanted"`
}

var dnsRecords = db.NewTable[DNSRecord]("dns_records", "DNS record")

// Operations lists everything that can be done with DNS records.
func (z *Zones) Operations() []*op.Op {
	const (
		ref    = `{"id": ` + exampleID + `, "recordId": "f0a4e6a8-6a5d-4c02-8d3b-0f2b1c6f8a10"}`
		fields = `"type": "A", "name": "www", "content": "192.0.2.10", "ttl": 3600}`
		rules  = "The content must match the type. MX and SRV records need a priority. A CNAME cannot stand beside other records of its name, nor at the apex."
	)
	clashes := []*fault.Kind{ZoneMissing, ZoneBusy, ZoneFull, RecordExists, RecordConflict}
	return []*op.Op{
		op.Flow(op.Spec{Name: "domains.dns_records.list", Route: "GET /v1/domains/{id}/dns-records", Summary: "List the DNS records of a domain, newest first.",
			Description: "The built-in SOA and NS records at the apex are among them.",
			Errors:      dnsErrors(ZoneMissing), Example: `{"id": ` + exampleID + `, "type": "MX"}`}, z.listRecords),
		op.Flow(op.Spec{Name: "domains.dns_records.create", Outward: true, Route: "POST /v1/domains/{id}/dns-records", Summary: "Add a DNS record to a domain.",
			Description: rules, Errors: dnsErrors(clashes...), Events: []string{"domain.dns_record.created"},
			Example: `{"id": ` + exampleID + `, ` + fields}, z.createRecord),
		op.Flow(op.Spec{Name: "domains.dns_records.get", Route: "GET /v1/domains/{id}/dns-records/{recordId}", Summary: "Get a DNS record.",
			Errors: dnsErrors(ZoneMissing), Example: ref}, z.getRecord),
		op.Flow(op.Spec{Name: "domains.dns_records.update", Route: "PUT /v1/domains/{id}/dns-records/{recordId}", Summary: "Replace a DNS record.",
			Description: "The record keeps its id. " + rules, Errors: dnsErrors(append(clashes, RecordManaged)...), Events: []string{"domain.dns_record.updated"},
			Example: ref[:len(ref)-1] + `, ` + fields}, z.updateRecord),
		op.Flow(op.Spec{Name: "domains.dns_records.delete", Route: "DELETE /v1/domains/{id}/dns-records/{recordId}", Summary: "Remove a DNS record.",
			Errors: dnsErrors(ZoneMissing, ZoneBusy, RecordManaged), Events: []string{"domain.dns_record.deleted"}, Example: ref}, z.deleteRecord),
	}
}

type recordRef struct {
	ID       id.ID `path:"id" doc:"the domain"`
	RecordID id.ID `path:"recordId" doc:"the record"`
}

type recordFields struct {
	Type     string  `json:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,SRV,TXT"`
	Name     *string `json:"name" max:"1000" doc:"relative to the zone; @, empty or absent is the apex"`
	Content  string  `json:"content" min:"1" max:"2048" doc:"TXT without quotes; SRV as weight, port and target; CAA as flags, tag and value"`
	TTL      int     `json:"ttl" default:"3600" min:"60" max:"86400" doc:"in seconds"`
	Priority *int    `json:"priority" min:"0" max:"65535" doc:"required for MX and SRV, and only for them"`

	at     zoneRef
	record Record
}

// prepare finds the zone and checks the record against it.
func (f *recordFields) prepare(ctx context.Context, c *op.Call, domain id.ID) error {
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		f.at, err = findZone(ctx, tx, c.Org, domain)
		return err
	})
	if err != nil {
		return err
	}
	r := Record{Type: f.Type, Content: f.Content, TTL: f.TTL, Priority: f.Priority}
	if f.Name != nil {
		r.Name = *f.Name
	}
	r, tree := r.Canonical(f.at.Name)
	f.record = r
	return tree.Fault(fault.Invalid)
}

type recordList struct {
	ID id.ID `path:"id" doc:"the domain"`
	op.Page
	Type *string `query:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,SOA,SRV,TXT"`
	Name *string `query:"name" doc:"relative to the zone; @ is the apex"`
}

func (z *Zones) listRecords(ctx context.Context, c *op.Call, in recordList) (out *op.List[DNSRecord], err error) {
	at, err := z.look(ctx, c, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	w := db.In(c.Org).And("domain_id = ?", in.ID).And(visible)
	db.Equal(w, "type", in.Type)
	if in.Name != nil {
		name, issue := recordName(at.Name, *in.Name)
		if issue != "" {
			return nil, fault.BadInput.Say("name: %s", issue)
		}
		w.And("name = ?", name)
	}
	actual, err := z.mirror(ctx, c, at)
	if err != nil {
		return nil, err
	}
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := dnsRecords.List(ctx, tx, w, in.DB())
		if err != nil {
			return err
		}
		total, err := dnsRecords.Count(ctx, tx, w)
		for i := range rows {
			rows[i].current(actual)
		}
		out = op.ListUnder(in.Page, rows, total)
		return err
	})
	return out, err
}

// visible leaves out what is not yet known to be in the zone.
const visible = "(intent IS NULL OR intent <> 'add')"

// current gives the SOA the serial that it has now.
func (v *DNSRecord) current(actual []Record) {
	if v.Type != "SOA" {
		return
	}
	for _, r := range actual {
		if r.key() == v.record().key() {
			v.Content = r.Content
		}
	}
}

func (z *Zones) getRecord(ctx context.Context, c *op.Call, in recordRef) (v *DNSRecord, err error) {
	at, err := z.look(ctx, c, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	actual, err := z.mirror(ctx, c, at)
	if err != nil {
		return nil, err
	}
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = dnsRecords.Find(ctx, tx, db.In(c.Org).And("domain_id = ?", in.ID).And("id = ?", in.RecordID).And(visible))
		return err
	})
	if err == nil {
		v.current(actual)
	}
	return v, err
}

type recordCreate struct {
	ID id.ID `path:"id" doc:"the domain"`
	recordFields
}

func (in *recordCreate) Prepare(ctx context.Context, c *op.Call) error {
	return in.prepare(ctx, c, in.ID)
}

// recordAttempt is what a create keeps under its key: the id that its record
// has or will have.
type recordAttempt struct {
	Record id.ID `json:"record"`
}

func (z *Zones) createRecord(ctx context.Context, c *op.Call, in recordCreate) (*DNSRecord, error) {
	attempt := recordAttempt{c.NewID()}
	resumed, err := c.Resume(&attempt)
	if err != nil {
		return nil, err
	}
	if resumed {
		if v, err := z.resume(ctx, c, in.at, attempt.Record); v != nil || err != nil {
			return v, err
		}
	} else if err := c.Save(ctx, attempt); err != nil {
		return nil, err
	}
	if _, err := z.mirror(ctx, c, in.at); err != nil {
		return nil, err
	}
	v, err := z.begin(ctx, c, in.at, func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		if err := in.record.Fits(others(rows, "")); err != nil {
			return nil, err
		}
		common := c.NewRecord()
		common.ID = attempt.Record
		row := newRow(common, in.at.ID, in.record, byUser)
		row.intend(intentAdd)
		return &row, nil
	})
	if err != nil {
		return nil, err
	}
	return z.complete(ctx, c, in.at, v, false)
}

// resume goes on with a create that a dead process, or a silent provider,
// left open. No row and no error means that it has to begin.
func (z *Zones) resume(ctx context.Context, c *op.Call, at zoneRef, record id.ID) (v *DNSRecord, err error) {
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = dnsRecords.Get(ctx, tx, c.Org, record)
		return err
	})
	switch {
	case fault.Has(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case v.Intent == nil: // somebody finished it, and told of it
		return v, nil
	}
	mine, err := z.claim(ctx, c, at, v)
	if err != nil {
		return nil, err
	}
	if !mine {
		return nil, fault.KeyInFlight.New()
	}
	return z.complete(ctx, c, at, v, true)
}

func (v *DNSRecord) intend(intent string) { v.Intent = &intent }

// others are the records beside one row.
func others(rows []DNSRecord, except id.ID) []Record {
	out := make([]Record, 0, len(rows))
	for i := range rows {
		if rows[i].ID != except {
			out = append(out, rows[i].record())
		}
	}
	return out
}

// complete carries an intent out, settles it and tells of it.
func (z *Zones) complete(ctx context.Context, c *op.Call, at zoneRef, v *DNSRecord, again bool) (*DNSRecord, error) {
	z.pause("intended")
	if err := z.carryOut(ctx, at.Name, v, again); err != nil {
		return nil, z.giveUp(ctx, c, at, v, err)
	}
	z.pause("written")
	return op.Finish(ctx, c, func(ctx context.Context) (*DNSRecord, error) {
		return z.settleFor(ctx, c, at, v)
	})
}

func (z *Zones) settleFor(ctx context.Context, c *op.Call, at zoneRef, v *DNSRecord) (*DNSRecord, error) {
	row, mine, err := z.settle(ctx, c.Tx, at, v, nil)
	if err != nil || !mine {
		return row, err
	}
	return row, c.Emit(happened[*v.Intent], row.ID, row)
}

// changeable finds the row that a caller wants to change among a zone's.
func changeable(rows []DNSRecord, at zoneRef, record id.ID) (*DNSRecord, error) {
	for i := range rows {
		v := &rows[i]
		switch {
		case v.ID != record:
		case v.ManagedBy == byEmail:
			return nil, RecordManaged.Say("This record belongs to hosted email. Turn that off with DELETE /v1/domains/%s/email to remove it.", at.ID)
		case v.ManagedBy == bySystem:
			return nil, RecordManaged.Say("The %s record at the apex comes with the zone and cannot be changed.", v.Type)
		default:
			return v, nil
		}
	}
	return nil, dnsFailures[http.StatusNotFound].Say("There is no such DNS record.")
}

type recordUpdate struct {
	recordRef
	recordFields
}

func (in *recordUpdate) Prepare(ctx context.Context, c *op.Call) error {
	return in.prepare(ctx, c, in.ID)
}

func (z *Zones) updateRecord(ctx context.Context, c *op.Call, in recordUpdate) (*DNSRecord, error) {
	if _, err := z.mirror(ctx, c, in.at); err != nil {
		return nil, err
	}
	var same *DNSRecord
	v, err := z.begin(ctx, c, in.at, func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		same = nil
		v, err := changeable(rows, in.at, in.RecordID)
		if err != nil {
			return nil, err
		}
		if v.record().Same(in.record) && v.TTL == in.record.TTL {
			same = v
			return nil, nil
		}
		if err := in.record.Fits(others(rows, v.ID)); err != nil {
			return nil, err
		}
		v.intend(intentReplace)
		v.Wanted, err = json.Marshal(in.record)
		return v, err
	})
	if err != nil || same != nil {
		return same, err
	}
	return z.complete(ctx, c, in.at, v, false)
}

func (z *Zones) deleteRecord(ctx context.Context, c *op.Call, in recordRef) (op.Nothing, error) {
	at, err := z.look(ctx, c, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if _, err := z.mirror(ctx, c, at); err != nil {
		return op.Nothing{}, err
	}
	v, err := z.begin(ctx, c, at, func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		v, err := changeable(rows, at, in.RecordID)
		if err == nil {
			v.intend(intentRemove)
		}
		return v, err
	})
	if err != nil {
		return op.Nothing{}, err
	}
	z.pause("intended")
	if err := z.carryOut(ctx, at.Name, v, false); err != nil {
		return op.Nothing{}, z.giveUp(ctx, c, at, v, err)
	}
	z.pause("written")
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		_, err := z.settleFor(ctx, c, at, v)
		return op.Nothing{}, err
	})
}

package zone

import (
	"context"
	"net/http"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Operations lists everything that can be done with DNS records.
func (z *Zones) Operations() []*op.Op {
	const (
		domain = `"id": "3b0f6a52-77a4-4d4f-9c7b-0c5a1d2e3f40"`
		record = domain + `, "recordId": "f0a4e6a8-6a5d-4c02-8d3b-0f2b1c6f8a10"`
		fields = `"type": "A", "name": "www", "content": "192.0.2.10", "ttl": 3600`
		rules  = "The content must match the type. MX and SRV records need a priority. " +
			"A CNAME cannot be beside other records of its name, nor at the apex. A name has one SPF record."
	)
	clashes := []*fault.Kind{Missing, Busy, Full, RecordExists, RecordConflict, SPFExists}
	return []*op.Op{
		op.Flow(op.Spec{
			Name:        "domains.dns_records.list",
			NounWords:   "mx, txt, cname, spf, entry, zone, name server, dkim, aaaa, a record",
			Route:       "GET /v1/domains/{id}/dns-records",
			Summary:     "List the DNS records of a domain, newest first.",
			Description: "Includes the built-in SOA and NS records at the apex.",
			Errors:      WithProviderErrors(Missing),
			Example:     `{` + domain + `, "type": ["MX"]}`,
		}, z.listRecords),
		op.Flow(op.Spec{
			Name:        "domains.dns_records.create",
			Words:       "point, www, web host, point to",
			Rehearses:   true,
			Route:       "POST /v1/domains/{id}/dns-records",
			Summary:     "Add a DNS record to a domain.",
			Description: rules,
			Outward:     true,
			Errors:      WithProviderErrors(clashes...),
			Events:      []string{"domain.dns_record.created"},
			Example:     `{` + domain + `, ` + fields + `}`,
		}, z.createRecord),
		op.Flow(op.Spec{
			Name:    "domains.dns_records.get",
			Route:   "GET /v1/domains/{id}/dns-records/{recordId}",
			Summary: "Get a DNS record.",
			Errors:  WithProviderErrors(Missing),
			Example: `{` + record + `}`,
		}, z.getRecord),
		op.Flow(op.Spec{
			Name:        "domains.dns_records.update",
			Rehearses:   true,
			Route:       "PUT /v1/domains/{id}/dns-records/{recordId}",
			Summary:     "Replace a DNS record.",
			Description: rules + " The record keeps its id.",
			Errors:      WithProviderErrors(append(clashes, RecordManaged)...),
			Events:      []string{"domain.dns_record.updated"},
			Example:     `{` + record + `, ` + fields + `}`,
		}, z.updateRecord),
		op.Flow(op.Spec{
			Name:      "domains.dns_records.patch",
			Rehearses: true,
			Route:     "PATCH /v1/domains/{id}/dns-records/{recordId}",
			Summary:   "Change fields of a DNS record.",
			Description: "The SPF record of hosted email takes mechanisms too, as long as it keeps ours; " +
				"nothing else of hosted email can be changed.",
			Errors:  WithProviderErrors(append(clashes, RecordManaged)...),
			Events:  []string{"domain.dns_record.updated"},
			Example: `{` + record + `, "content": "192.0.2.11"}`,
		}, z.patchRecord),
		op.Flow(op.Spec{
			Name:      "domains.dns_records.delete",
			Rehearses: true,
			Route:     "DELETE /v1/domains/{id}/dns-records/{recordId}",
			Summary:   "Remove a DNS record.",
			Errors:    WithProviderErrors(Missing, Busy, RecordManaged),
			Events:    []string{"domain.dns_record.deleted"},
			Example:   `{` + record + `}`,
		}, z.deleteRecord),
	}
}

type recordRef struct {
	ID       id.ID `path:"id" doc:"the domain"`
	RecordID id.ID `path:"recordId" doc:"the record"`
}

type recordFields struct {
	Type     string  `json:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,SRV,TXT"`
	Name     *string `json:"name" max:"1000" doc:"relative to the zone; @, empty or absent is the apex"`
	Content  string  `json:"content" min:"1" max:"2048" doc:"TXT unquoted; SRV: weight port host; CAA: flags tag value"`
	TTL      int     `json:"ttl" default:"3600" min:"60" max:"86400" doc:"in seconds"`
	Priority *int    `json:"priority" min:"0" max:"65535" doc:"required for MX and SRV, and only for them"`
}

// checkRecordInput finds the zone of a domain, and checks a record that a caller wants in it.
func (z *Zones) checkRecordInput(ctx context.Context, c *op.Call, domain id.ID, f *recordFields) (Ref, Record, error) {
	at, err := z.findZone(ctx, c, c.Org, domain)
	if err != nil {
		return at, Record{}, err
	}
	r := Record{Type: f.Type, Content: f.Content, TTL: f.TTL, Priority: f.Priority}
	if f.Name != nil {
		r.Name = *f.Name
	}
	r, tree := r.Canonical(at.Name)
	return at, r, tree.Fault(fault.Invalid)
}

type recordList struct {
	ID id.ID `path:"id" doc:"the domain"`
	op.Page
	Type []string `query:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,SOA,SRV,TXT"`
	Name *string  `query:"name" doc:"relative to the zone; @ is the apex"`
}

func (z *Zones) listRecords(ctx context.Context, c *op.Call, in recordList) (out *op.List[DNSRecord], err error) {
	at, err := z.findZone(ctx, c, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	w := db.InOrganization(c.Org).And("domain_id = ?", in.ID).And(visibleSQL)
	db.FilterOneOf(w, "type", in.Type)
	if in.Name != nil {
		name, issue := parseRecordName(at.Name, *in.Name)
		if issue != "" {
			return nil, fault.BadInput.Say("name: %s", issue)
		}
		w.And("name = ?", name)
	}
	actual, err := z.mirrorZone(ctx, c, at)
	if err != nil {
		return nil, err
	}
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		rows, err := dnsRecords.List(ctx, tx, w, in.ToDBPage())
		if err != nil {
			return err
		}
		total, err := dnsRecords.Count(ctx, tx, w)
		for i := range rows {
			rows[i].refreshSOASerial(actual)
		}
		out = op.NewCountedList(in.Page, rows, total)
		return err
	})
	return out, err
}

// refreshSOASerial gives the SOA its current serial, which the provider changes with every write. The
// row keeps the one it was first seen with.
func (v *DNSRecord) refreshSOASerial(actual []Record) {
	if v.Type != "SOA" {
		return
	}
	for _, r := range actual {
		if r.identityKey() == v.toRecord().identityKey() {
			v.Content = r.Content
		}
	}
}

func (z *Zones) getRecord(ctx context.Context, c *op.Call, in recordRef) (v *DNSRecord, err error) {
	at, err := z.findZone(ctx, c, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	actual, err := z.mirrorZone(ctx, c, at)
	if err != nil {
		return nil, err
	}
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		seen := db.InOrganization(c.Org).And("domain_id = ?", in.ID).And("id = ?", in.RecordID).And(visibleSQL)
		v, err = dnsRecords.Find(ctx, tx, seen)
		return err
	})
	if err == nil {
		v.refreshSOASerial(actual)
	}
	return v, err
}

type recordCreate struct {
	ID id.ID `path:"id" doc:"the domain"`
	recordFields
}

// recordAttempt is what the idempotency key of a create keeps: the id that the new record
// gets. A retry finds the row by it.
type recordAttempt struct {
	Record id.ID `json:"record"`
}

func (z *Zones) createRecord(ctx context.Context, c *op.Call, in recordCreate) (*DNSRecord, error) {
	attempt := recordAttempt{c.NewID()}
	resumed, err := c.LoadProgress(&attempt)
	if err != nil {
		return nil, err
	}
	at, r, err := z.checkRecordInput(ctx, c, in.ID, &in.recordFields)
	if err != nil && resumed {
		err = op.UnknownOutcome(err) // the record may exist already, so the key stays bound to it
	}
	if err != nil {
		return nil, err
	}
	if resumed {
		if v, err := z.resumeCreate(ctx, c, at, attempt.Record); v != nil || err != nil {
			return v, err
		}
	} else if err := c.SaveProgress(ctx, attempt); err != nil {
		return nil, err
	}
	if err := z.mirrorUnlessRehearsing(ctx, c, at); err != nil {
		return nil, err
	}
	v, err := z.beginWrite(ctx, c, at, func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		if err := r.checkBeside(rows, ""); err != nil {
			return nil, err
		}
		common := c.NewRecord()
		common.ID = attempt.Record
		row := newRecordRow(common, at.Domain, r, ByUser)
		row.setIntent(intentAdd)
		return &row, nil
	})
	if err != nil {
		return nil, err
	}
	return z.completeWrite(ctx, c, at, v, false)
}

// mirrorUnlessRehearsing brings the rows up to date with the provider's zone. A rehearsal calls nobody and
// works with the rows as they are.
func (z *Zones) mirrorUnlessRehearsing(ctx context.Context, c *op.Call, at Ref) error {
	if c.Rehearsing() {
		return nil
	}
	_, err := z.mirrorZone(ctx, c, at)
	return err
}

// carryOutUnlessRehearsing calls the provider for an intent, unless this is a rehearsal.
func (z *Zones) carryOutUnlessRehearsing(ctx context.Context, c *op.Call, at Ref, v *DNSRecord, resumed bool) error {
	if c.Rehearsing() {
		return nil
	}
	return z.carryOutIntent(ctx, at, v, resumed)
}

// resumeCreate continues a create that a dead process or a silent provider left open. Neither a row
// nor an error means that nothing was written, so the create begins anew.
func (z *Zones) resumeCreate(ctx context.Context, c *op.Call, at Ref, record id.ID) (v *DNSRecord, err error) {
	err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = dnsRecords.Get(ctx, tx, c.Org, record)
		return err
	})
	switch {
	case fault.IsKind(err, fault.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case v.Intent == nil: // somebody finished it, and emitted its event
		return v, nil
	}
	mine, err := z.claimIntent(ctx, c, at, v)
	if err != nil {
		return nil, err
	}
	if !mine {
		return nil, fault.KeyInFlight.New()
	}
	return z.completeWrite(ctx, c, at, v, true)
}

// completeWrite carries an intent out at the provider, settles it and emits its event. resumed is
// whether the provider may have been called for it before.
func (z *Zones) completeWrite(ctx context.Context, c *op.Call, at Ref, v *DNSRecord, resumed bool) (*DNSRecord, error) {
	z.pauseAt("intended")
	if err := z.carryOutUnlessRehearsing(ctx, c, at, v, resumed); err != nil {
		return nil, z.giveUpIntent(ctx, c, at, v, err)
	}
	z.pauseAt("written")
	return op.Finish(ctx, c, func(ctx context.Context) (*DNSRecord, error) { return z.settleForCall(ctx, c, at, v) })
}

// settleForCall settles an intent in the call's own transaction. If another writer settled it,
// that one emitted the event.
func (z *Zones) settleForCall(ctx context.Context, c *op.Call, at Ref, v *DNSRecord) (*DNSRecord, error) {
	row, mine, err := z.settleIntent(ctx, c.Tx, at, v, nil)
	if err != nil || !mine {
		return row, err
	}
	return row, c.Emit(eventOfIntent[*v.Intent], row.ID, row)
}

// findChangeableRow finds the row that a caller wants to change among a zone's. It refuses one that
// hosted email or the zone itself manages.
func findChangeableRow(rows []DNSRecord, at Ref, record id.ID) (*DNSRecord, error) {
	for i := range rows {
		v := &rows[i]
		switch {
		case v.ID != record:
		case v.ManagedBy == ByEmail:
			return nil, RecordManaged.Say("This record belongs to hosted email. "+
				"Turn that off with DELETE /v1/domains/%s/email to remove it.", at.Domain)
		case v.ManagedBy == BySystem:
			return nil, RecordManaged.Say("The %s record at the apex comes with the zone and cannot be changed.",
				v.Type)
		default:
			return v, nil
		}
	}
	return nil, refusalKinds[http.StatusNotFound].Say("There is no such DNS record.")
}

type recordUpdate struct {
	recordRef
	recordFields
}

func (z *Zones) updateRecord(ctx context.Context, c *op.Call, in recordUpdate) (*DNSRecord, error) {
	at, r, err := z.checkRecordInput(ctx, c, in.ID, &in.recordFields)
	if err != nil {
		return nil, err
	}
	return z.replaceRecord(ctx, c, at, in.RecordID, func(rows []DNSRecord) (*DNSRecord, Record, error) {
		v, err := findChangeableRow(rows, at, in.RecordID)
		return v, r, err
	})
}

type recordPatch struct {
	recordRef
	Name     op.Optional[string] `json:"name" max:"1000" doc:"relative to the zone; @ is the apex"`
	Content  op.Optional[string] `json:"content" min:"1" max:"2048" doc:"TXT unquoted; SRV: weight port host"`
	TTL      op.Optional[int]    `json:"ttl" min:"60" max:"86400" doc:"in seconds"`
	Priority op.Optional[int]    `json:"priority" min:"0" max:"65535" doc:"of MX and SRV"`
}

func (z *Zones) patchRecord(ctx context.Context, c *op.Call, in recordPatch) (*DNSRecord, error) {
	at, err := z.findZone(ctx, c, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return z.replaceRecord(ctx, c, at, in.RecordID, func(rows []DNSRecord) (*DNSRecord, Record, error) {
		i := slices.IndexFunc(rows, func(v DNSRecord) bool { return v.ID == in.RecordID })
		if i < 0 {
			_, err := findChangeableRow(rows, at, in.RecordID)
			return nil, Record{}, err
		}
		r := rows[i].toRecord()
		setIfGiven(&r.Name, in.Name)
		setIfGiven(&r.Content, in.Content)
		setIfGiven(&r.TTL, in.TTL)
		if in.Priority.Set {
			r.Priority = &in.Priority.Value
		}
		r, tree := r.Canonical(at.Name)
		if err := tree.Fault(fault.Invalid); err != nil {
			return nil, r, err
		}
		if v := &rows[i]; v.ManagedBy == ByEmail && IsSPF(v.Content) && r.Name == v.Name {
			return v, r, z.checkKeepsOurs(r)
		}
		v, err := findChangeableRow(rows, at, in.RecordID)
		return v, r, err
	})
}

func setIfGiven[T any](field *T, given op.Optional[T]) {
	if given.Set {
		*field = given.Value
	}
}

// checkKeepsOurs refuses an SPF record of hosted email that no longer allows our servers to send.
func (z *Zones) checkKeepsOurs(r Record) error {
	if ours := SPFPrefix + z.cfg.SPF; !extendsSPF(r.Content, ours) {
		return RecordManaged.Say("This record belongs to hosted email. Mechanisms can be added to it, but it must "+
			"keep "+
			"%s before its all; to remove it, turn hosted email off.", z.cfg.SPF)
	}
	return nil
}

// replaceRecord replaces the record that find finds among the rows of a zone by another.
func (z *Zones) replaceRecord(ctx context.Context, c *op.Call, at Ref, record id.ID,
	find func(rows []DNSRecord) (*DNSRecord, Record, error)) (*DNSRecord, error) {
	if err := z.mirrorUnlessRehearsing(ctx, c, at); err != nil {
		return nil, err
	}
	var same *DNSRecord
	v, err := z.beginWrite(ctx, c, at, func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		same = nil
		v, r, err := find(rows)
		if err != nil {
			return nil, err
		}
		if v.toRecord().Same(r) && v.TTL == r.TTL {
			same = v
			return nil, nil
		}
		if err := r.checkBeside(rows, record); err != nil {
			return nil, err
		}
		return v, v.setReplaceIntent(r)
	})
	if err != nil || same != nil {
		return same, err
	}
	return z.completeWrite(ctx, c, at, v, false)
}

// checkBeside refuses a record that cannot be beside the other rows of its zone.
func (r Record) checkBeside(rows []DNSRecord, except id.ID) error {
	if err := r.CheckFits(recordsExcept(rows, except)); err != nil {
		return err
	}
	return checkSingleSPF(rows, r, except)
}

func (z *Zones) deleteRecord(ctx context.Context, c *op.Call, in recordRef) (op.Nothing, error) {
	at, err := z.findZone(ctx, c, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := z.mirrorUnlessRehearsing(ctx, c, at); err != nil {
		return op.Nothing{}, err
	}
	v, err := z.beginWrite(ctx, c, at, func(_ context.Context, _ *db.Tx, rows []DNSRecord) (*DNSRecord, error) {
		v, err := findChangeableRow(rows, at, in.RecordID)
		if err == nil {
			v.setIntent(intentRemove)
		}
		return v, err
	})
	if err != nil {
		return op.Nothing{}, err
	}
	z.pauseAt("intended")
	if err := z.carryOutUnlessRehearsing(ctx, c, at, v, false); err != nil {
		return op.Nothing{}, z.giveUpIntent(ctx, c, at, v, err)
	}
	z.pauseAt("written")
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		_, err := z.settleForCall(ctx, c, at, v)
		return op.Nothing{}, err
	})
}

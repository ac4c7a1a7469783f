package domain

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// The beginnings by which TXT records are told apart.
const (
	spfMark   = "v=spf1 "
	dmarcMark = "v=DMARC1;"
)

// dmarc asks nothing of receivers but to look: a domain may have mail that
// leaves elsewhere. Whoever wants more puts a record of their own there.
const dmarc = dmarcMark + " p=none"

const mxPriority = 10

// emailZone is what a zone should have of email records.
type emailZone struct {
	zone    string
	version int
	records []Record
}

// emailName is a domain or subdomain of a zone.
type emailName struct {
	Name    string `db:"name"`
	Purpose string `db:"purpose"`
}

// look finds out what the zone of a domain should have.
func (e *Email) look(ctx context.Context, org, domain id.ID, unbornZone string) (out emailZone, err error) {
	at := zoneRef{Org: org, ID: domain, Name: unbornZone, Kind: unborn}
	names := []emailName{{unbornZone, "general"}}
	if unbornZone == "" {
		err := e.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			if at, err = zoneOf(ctx, tx, org, domain); err != nil {
				return err
			}
			// One whose proof has lapsed keeps its zone, and loses the records of email.
			if at.Status == "pending_verification" && !at.Held {
				return fault.NotFound.Say("%s has no zone.", at.Name)
			}
			if at.Status != "pending_verification" {
				_, err = findZone(ctx, tx, org, domain)
			}
			return err
		})
		if err != nil {
			return out, err
		}
	}
	if _, err := e.Zones.mirror(ctx, e.DB, at); err != nil {
		return out, err
	}
	err = e.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		out = emailZone{zone: at.Name}
		if unbornZone == "" {
			names, err = db.All[emailName](ctx, tx, `SELECT name, purpose FROM domains WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL
				UNION ALL SELECT name, purpose FROM domains WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL ORDER BY name`, org, domain)
			if err != nil {
				return err
			}
		}
		rows, err := emailRows(ctx, tx, org, []id.ID{domain})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.NotFound.Say("The domain never had email.")
		}
		if out.version = rows[0].Version; !rows[0].Wanted {
			return nil
		}
		there, err := rowsOf(ctx, tx, at)
		if err != nil {
			return err
		}
		own := slices.DeleteFunc(there, func(r DNSRecord) bool { return r.ManagedBy == byEmail })
		for _, n := range names {
			for _, r := range e.recordsOf(n, at.Name, &rows[0]) {
				if !replaced(r, own) {
					out.records = append(out.records, r)
				}
			}
		}
		return nil
	})
	return out, err
}

// recordsOf are the email records of one name. Who only sends has no MX.
func (e *Email) recordsOf(n emailName, zone string, row *emailRow) []Record {
	var out []Record
	if n.Purpose == "general" {
		priority := mxPriority
		out = append(out, Record{Type: "MX", Name: within(n.Name, zone, ""), Content: e.Host, Priority: &priority})
	}
	txt := func(label, content string) {
		out = append(out, Record{Type: "TXT", Name: within(n.Name, zone, label), Content: content})
	}
	txt("", spfMark+e.SPF+" ~all")
	txt(dkimkey.Label(dkimkey.RSA), row.RSARecord)
	txt(dkimkey.Label(dkimkey.Ed25519), row.Ed25519Record)
	txt("_dmarc", dmarc)
	return out
}

// within is a label below a name, relative to the zone; without a label it is
// the name itself.
func within(name, zone, label string) string {
	sub := strings.TrimSuffix(strings.TrimSuffix(name, zone), ".")
	switch {
	case label == "" && sub == "":
		return apex
	case label == "":
		return sub
	case sub == "":
		return label
	}
	return label + "." + sub
}

// replaced reports whether a caller's own record stands in the place of ours:
// an alias, or another policy, of which a name must not have two (RFC 7208
// §4.5, RFC 7489 §6.6.3).
func replaced(r Record, own []DNSRecord) bool {
	return slices.ContainsFunc(own, func(o DNSRecord) bool {
		if o.Name != r.Name {
			return false
		}
		return o.Type == "CNAME" || o.Type == "TXT" && o.Content != r.Content && mark(r.Content) != "" && mark(o.Content) == mark(r.Content)
	})
}

// mark tells policies apart, of which a name has one; it is empty for all else.
func mark(content string) string {
	for _, m := range []string{spfMark, dmarcMark} {
		if len(content) >= len(m) && strings.EqualFold(content[:len(m)], m) {
			return m
		}
	}
	return ""
}

// The states of a record of email.
const (
	published = "published" // ours is in the zone
	custom    = "custom"    // the caller's own stands in its place
	missing   = "missing"
)

// Fill writes the state of hosted email into domains that are shown. It tells
// of the zone as it was last seen, because a GET asks nobody outside.
func (e *Email) Fill(ctx context.Context, tx *db.Tx, org id.ID, shown []*Domain) error {
	var apexes []id.ID
	for _, v := range shown {
		v.Email = DomainEmail{}
		apexes = append(apexes, v.apexID())
	}
	if len(apexes) == 0 {
		return nil
	}
	rows, err := emailRows(ctx, tx, org, apexes)
	if err != nil {
		return err
	}
	on := map[id.ID]*emailRow{}
	var zones []id.ID
	for i := range rows {
		if r := &rows[i]; r.Enabled && r.Wanted {
			on[r.DomainID] = r
			zones = append(zones, r.DomainID)
		}
	}
	if len(zones) == 0 {
		return nil
	}
	records, err := db.All[DNSRecord](ctx, tx, "SELECT "+dnsRecords.Columns()+` FROM dns_records WHERE organization_id = $1 AND domain_id = ANY($2) AND deleted_at IS NULL AND `+visible+`
		AND (type = 'CNAME' OR type = 'TXT' AND (managed_by = 'email' OR lower(content) LIKE 'v=spf1 %' OR lower(content) LIKE 'v=dmarc1;%'))`, org, zones)
	if err != nil {
		return err
	}
	byZone := map[id.ID][]DNSRecord{}
	for _, r := range records {
		byZone[r.DomainID] = append(byZone[r.DomainID], r)
	}
	for _, v := range shown {
		if row := on[v.apexID()]; row != nil {
			v.Email = e.answer(v, row, byZone[row.DomainID])
		}
	}
	return nil
}

func (v *Domain) apexID() id.ID {
	if v.ParentDomainID != nil {
		return *v.ParentDomainID
	}
	return v.ID
}

func (e *Email) answer(v *Domain, row *emailRow, there []DNSRecord) DomainEmail {
	zone := v.Name
	if v.ParentDomainID != nil {
		zone = ending(v.Name)
	}
	state := map[string]string{}
	for _, r := range e.recordsOf(emailName{v.Name, v.Purpose}, zone, row) {
		if r.Type != "TXT" {
			continue
		}
		kind := mark(r.Content)
		switch {
		case slices.ContainsFunc(there, func(o DNSRecord) bool { return o.record().Same(r) }):
			if state[kind] == "" {
				state[kind] = published
			}
		case replaced(r, there):
			state[kind] = custom
		default:
			state[kind] = missing
		}
	}
	selector, spf, keys, policy := dkimkey.RSA, state[spfMark], state[""], state[dmarcMark]
	return DomainEmail{Enabled: true, DKIMSelector: &selector, SPF: &spf, DKIM: &keys, DMARC: &policy}
}

package domain

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/zone"
)

// The prefixes that identify TXT records of a policy.
const (
	spfPrefix   = zone.SPFPrefix
	dmarcPrefix = "v=DMARC1;"
)

// defaultDMARC asks receivers to take no action, because the domain may also send mail
// from elsewhere. Whoever wants more publishes a record of their own.
const defaultDMARC = dmarcPrefix + " p=none"

const mxPriority = 10

// emailName is a name that has email: a domain or a subdomain of it.
type emailName struct {
	Name    string  `db:"name"`
	Purpose Purpose `db:"purpose"`
}

// wantedRecords lists the email records that a zone should have, given its other records.
// version is the one that they belong to; once it changes they are out of date.
func (e *Email) wantedRecords(
	ctx context.Context, tx *db.Tx, at zone.Ref, others []zone.Record,
) (version int, out []zone.Record, err error) {
	rows, err := loadEmailRows(ctx, tx, at.Org, []id.ID{at.Domain})
	if err != nil {
		return 0, nil, err
	}
	if len(rows) == 0 {
		return 0, nil, fault.NotFound.Say("The domain never had email.")
	}
	row := &rows[0]
	if !row.Wanted {
		return row.Version, nil, nil
	}
	names, err := loadEmailNames(ctx, tx, at)
	for _, n := range names {
		for _, r := range e.emailRecordsOf(n, at.Name, row) {
			if !isOverridden(r, others) {
				out = append(out, r)
			}
		}
	}
	return row.Version, out, err
}

// loadEmailNames lists the names of a zone that have email: the domain and its subdomains. While
// it is being registered, the domain has no row.
func loadEmailNames(ctx context.Context, tx *db.Tx, at zone.Ref) ([]emailName, error) {
	if at.Registering {
		return []emailName{{at.Name, PurposeGeneral}}, nil
	}
	return db.QueryAll[emailName](ctx, tx, `
		SELECT name, purpose FROM domains
		WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL
		UNION ALL
		SELECT name, purpose FROM domains
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL
		ORDER BY name`, at.Org, at.Domain)
}

// emailRecordsOf lists the email records of one name. A name that only sends, or whose mail is
// received elsewhere, has no MX.
func (e *Email) emailRecordsOf(n emailName, zoneName string, row *emailRow) []zone.Record {
	var out []zone.Record
	if n.Purpose == PurposeGeneral && row.Mode == EmailFull {
		priority := mxPriority
		mx := zone.Record{Type: "MX", Name: relativeName(n.Name, zoneName, ""), Content: e.host, Priority: &priority}
		out = append(out, mx)
	}
	txt := func(label, content string) {
		out = append(out, zone.Record{Type: "TXT", Name: relativeName(n.Name, zoneName, label), Content: content})
	}
	txt("", spfPrefix+e.spf+" ~all")
	txt(dkimkey.RecordName(dkimkey.RSA), row.RSARecord)
	txt(dkimkey.RecordName(dkimkey.Ed25519), row.Ed25519Record)
	txt("_dmarc", defaultDMARC)
	return out
}

// relativeName is a label below a name, relative to the zone; without a label
// it is the name itself.
func relativeName(name, zoneName, label string) string {
	sub := strings.TrimSuffix(strings.TrimSuffix(name, zoneName), ".")
	switch {
	case label == "" && sub == "":
		return zone.Apex
	case label == "":
		return sub
	case sub == "":
		return label
	}
	return label + "." + sub
}

// isOverridden reports whether a caller's own record takes the place of ours: an alias (CNAME),
// beside which nothing else may stand, or a policy of the same kind, of which a name must not
// have two (RFC 7208 §4.5, RFC 7489 §6.6.3).
func isOverridden(r zone.Record, others []zone.Record) bool {
	return slices.ContainsFunc(others, func(o zone.Record) bool {
		if o.Name != r.Name {
			return false
		}
		return o.Type == "CNAME" ||
			o.Type == "TXT" && o.Content != r.Content && policyPrefix(r.Content) != "" &&
				policyPrefix(o.Content) == policyPrefix(r.Content)
	})
}

// policyPrefix is the prefix of an SPF or DMARC policy, of which a name has one each; empty for any
// other text.
func policyPrefix(content string) string {
	for _, m := range []string{spfPrefix, dmarcPrefix} {
		if len(content) >= len(m) && strings.EqualFold(content[:len(m)], m) {
			return m
		}
	}
	return ""
}

// fillEmailState writes the state of hosted email into domains. It uses the rows of the zone as last
// seen, because reading a domain never calls the DNS server.
func (e *Email) fillEmailState(ctx context.Context, tx *db.Tx, org id.ID, shown []*Domain) error {
	var apexes []id.ID
	for _, v := range shown {
		v.Email = DomainEmail{}
		apexes = append(apexes, v.apexID())
	}
	if len(apexes) == 0 {
		return nil
	}
	rows, err := loadEmailRows(ctx, tx, org, apexes)
	if err != nil {
		return err
	}
	enabled := map[id.ID]*emailRow{}
	var zones []id.ID
	for i := range rows {
		if r := &rows[i]; r.Enabled && r.Wanted {
			enabled[r.DomainID] = r
			zones = append(zones, r.DomainID)
		}
	}
	if len(zones) == 0 {
		return nil
	}
	records, err := zone.LoadMailPolicies(ctx, tx, org, zones)
	if err != nil {
		return err
	}
	for _, v := range shown {
		if row := enabled[v.apexID()]; row != nil {
			v.Email = e.emailState(v, row, records[row.DomainID])
		}
	}
	return nil
}

// emailState compares the records that a domain should have with those in its zone. DKIM is
// published only if both keys are.
func (e *Email) emailState(v *Domain, row *emailRow, there []zone.Record) DomainEmail {
	zoneName := v.Name
	if v.ParentDomainID != nil {
		zoneName = parentName(v.Name)
	}
	state := map[string]RecordState{}
	for _, r := range e.emailRecordsOf(emailName{v.Name, v.Purpose}, zoneName, row) {
		if r.Type != "TXT" {
			continue
		}
		kind := policyPrefix(r.Content)
		switch {
		case slices.ContainsFunc(there, r.Same):
			if state[kind] == "" {
				state[kind] = RecordPublished
			}
		case isOverridden(r, there):
			state[kind] = RecordCustom
		default:
			state[kind] = RecordMissing
		}
	}
	selector, spf, keys, policy := dkimkey.RSA, state[spfPrefix], state[""], state[dmarcPrefix]
	return DomainEmail{
		Enabled:      true,
		Mode:         &row.Mode,
		DKIMSelector: &selector,
		SPF:          &spf,
		DKIM:         &keys,
		DMARC:        &policy,
	}
}

package domain

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/zone"
)

// Which of the email records that a name should have are in the DNS, wherever its
// zone is. The caller's own records count if they do the same: an SPF record that
// names our servers too, any DMARC policy, further MX records.

// SeenState is whether the DNS has a record.
type SeenState string

// The states of records in the DNS.
const (
	SeenFound   SeenState = "found"
	SeenMissing SeenState = "missing"
	SeenWrong   SeenState = "wrong" // another is in its place
)

// EmailRecord is a record to publish, and what the DNS has in its place.
type EmailRecord struct {
	Type     string    `json:"type" enum:"MX,TXT"`
	Name     string    `json:"name" doc:"the full name"`
	Content  string    `json:"content" max:"2048" doc:"without quotes"`
	Priority *int      `json:"priority" doc:"of MX"`
	State    SeenState `json:"state" enum:"found,missing,wrong"`
	Seen     []string  `json:"seen" max:"20" itemMax:"500" doc:"what the DNS has there; MX with the priority before it"`
	Problem  *string   `json:"problem" max:"1000" doc:"what to do about it, or what the DNS answered; null if found"`
}

// EmailSetup is the hosted email of a name with the records that it needs.
type EmailSetup struct {
	DomainID id.ID         `json:"domainId"`
	Name     string        `json:"name"`
	Enabled  bool          `json:"enabled"`
	Mode     *EmailMode    `json:"mode" enum:"full,sending" doc:"null without email"`
	Records  []EmailRecord `json:"records" doc:"none without email"`
}

// HoldsExternal reports whether the answer shows records that somebody else put into the DNS.
func (s EmailSetup) HoldsExternal() bool {
	return slices.ContainsFunc(s.Records, func(r EmailRecord) bool { return r.State == SeenWrong && len(r.Seen) > 0 })
}

// emailCheckTimeout bounds the lookups of one request together. They are as many as a
// name has email records, five at most.
const emailCheckTimeout = 5 * time.Second

func (d *Domains) getEmailSetup(ctx context.Context, c *op.Call, in domainRef) (*EmailSetup, error) {
	var out *EmailSetup
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = d.loadEmailSetup(ctx, tx, c.Org, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, emailCheckTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for i := range out.Records {
		wg.Go(func() { DNSLookups{d.cfg.LookupTXT, d.cfg.LookupMX}.Check(ctx, &out.Records[i]) })
	}
	wg.Wait()
	return out, nil
}

// loadEmailSetup lists the email records of a domain or subdomain, not looked up yet.
func (d *Domains) loadEmailSetup(ctx context.Context, tx *db.Tx, org, ref id.ID) (*EmailSetup, error) {
	v, err := d.loadDomain(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	out := &EmailSetup{
		DomainID: v.ID,
		Name:     v.Name,
		Enabled:  v.Email.Enabled,
		Mode:     v.Email.Mode,
		Records:  []EmailRecord{},
	}
	if !v.Email.Enabled {
		return out, nil
	}
	rows, err := loadEmailRows(ctx, tx, org, []id.ID{v.apexID()})
	if err != nil || len(rows) == 0 {
		return out, err
	}
	for _, r := range d.Email.emailRecordsOf(emailName{v.Name, v.Purpose}, v.Name, &rows[0]) {
		out.Records = append(out.Records, EmailRecord{
			Type:     r.Type,
			Name:     r.Full(v.Name),
			Content:  r.Content,
			Priority: r.Priority,
		})
	}
	return out, nil
}

// DNSLookups are the functions that ask the DNS.
type DNSLookups struct {
	TXT func(ctx context.Context, name string) ([]string, error)
	MX  func(ctx context.Context, name string) ([]*net.MX, error)
}

// Check looks one email record up and notes what it found.
func (l DNSLookups) Check(ctx context.Context, r *EmailRecord) {
	if r.Type == "MX" {
		hosts, err := l.MX(ctx, r.Name)
		if len(hosts) > 0 {
			err = nil // Go's resolver returns the valid hosts along with an error about the others
		}
		r.SetAnswer(formatMX(hosts), err, judgeMX)
		return
	}
	seen, err := l.TXT(ctx, r.Name)
	switch policyPrefix(r.Content) {
	case spfPrefix:
		r.SetAnswer(filterByPrefix(seen, "v=spf"), err, judgeSPF)
	case dmarcPrefix:
		r.SetAnswer(seen, err, judgeDMARC)
	default:
		r.SetAnswer(seen, err, judgeDKIM)
	}
}

// SetAnswer notes what the DNS answered for a record: its state, what is there, and what to do
// about it. judge decides when there is an answer with records.
func (r *EmailRecord) SetAnswer(seen []string, err error, judge func(*EmailRecord, []string) (SeenState, string)) {
	l, problem := classifyLookup(seen, err), ""
	switch {
	case l.noAnswer != nil:
		r.State, problem = SeenMissing, "The DNS did not answer. Check the name servers of the domain, then look again."
	case l.problem != "":
		r.State, problem = SeenMissing,
			fmt.Sprintf("The DNS answered %s. Check the name servers of the domain.", l.problem)
	case len(l.seen) == 0:
		r.State, problem = SeenMissing, "Publish this record. A new one may take some minutes to be seen."
	default:
		r.State, problem = judge(r, l.seen)
	}
	r.Seen = clipRecords(l.seen)
	if problem != "" {
		r.Problem = &problem
	}
}

// formatMX writes MX records as texts like "10 mail.example.com", sorted by priority.
func formatMX(hosts []*net.MX) []string {
	hosts = slices.Clone(hosts)
	slices.SortStableFunc(hosts, func(a, b *net.MX) int { return int(a.Pref) - int(b.Pref) })
	var out []string
	for _, h := range hosts {
		out = append(out, fmt.Sprintf("%d %s", h.Pref, strings.ToLower(strings.TrimSuffix(h.Host, "."))))
	}
	return out
}

// judgeMX accepts our host among those that senders try first.
func judgeMX(r *EmailRecord, seen []string) (SeenState, string) {
	lowest, _, _ := strings.Cut(seen[0], " ")
	for _, s := range seen {
		priority, host, _ := strings.Cut(s, " ")
		if host != r.Content {
			continue
		}
		if priority == lowest {
			return SeenFound, ""
		}
		return SeenWrong, "Senders try another host first. Give this record the lowest number, or remove the others."
	}
	return SeenWrong, "Mail goes to another host. To receive it here, replace these records; " +
		"to receive it there, turn email on with the mode sending."
}

// judgeSPF accepts one policy that names our servers before its all mechanism, which ends the
// evaluation.
func judgeSPF(r *EmailRecord, seen []string) (SeenState, string) {
	var policies []string
	for _, s := range seen {
		if policyPrefix(s+" ") == spfPrefix {
			policies = append(policies, s)
		}
	}
	ours := zone.SPFTerms(r.Content)
	switch {
	case len(policies) == 0:
		return SeenWrong, "This is no SPF record: one begins with v=spf1 and a space."
	case len(policies) > 1:
		return SeenWrong, "A name must have one SPF record. Merge these into one, with " + strings.Join(ours, " ") + "."
	}
	theirs := zone.SPFTerms(policies[0])
	for _, s := range ours {
		if !slices.Contains(theirs, s) {
			return SeenWrong, "Add " + strings.Join(ours, " ") + " to this record, before its all: " +
				"a name must have one SPF record."
		}
	}
	return SeenFound, ""
}

// judgeDMARC accepts one policy, whatever it asks for.
func judgeDMARC(_ *EmailRecord, seen []string) (SeenState, string) {
	switch n := len(filterByPrefix(seen, dmarcPrefix)); n {
	case 0:
		return SeenWrong, "This is no DMARC record: one begins with v=DMARC1 and a semicolon."
	case 1:
		return SeenFound, ""
	}
	return SeenWrong, "A name must have one DMARC record. Remove the others."
}

// judgeDKIM accepts exactly our key as the only record. It ignores spaces, because DNS consoles
// break long texts with them.
func judgeDKIM(r *EmailRecord, seen []string) (SeenState, string) {
	plain := func(s string) string { return strings.TrimSuffix(strings.Join(strings.Fields(s), ""), ";") }
	switch {
	case !slices.ContainsFunc(seen, func(s string) bool { return plain(s) == plain(r.Content) }):
		return SeenWrong, "This is another key. Replace it."
	case len(seen) > 1:
		return SeenWrong, "A key must be the only TXT record of its name. Remove the others."
	}
	return SeenFound, ""
}

// filterByPrefix keeps the texts that begin with a prefix, in any case.
func filterByPrefix(texts []string, prefix string) (out []string) {
	for _, s := range texts {
		if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			out = append(out, s)
		}
	}
	return out
}

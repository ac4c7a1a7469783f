package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/peer"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/mailhost"
)

// ServerRecord is a DNS record that the operator publishes for the server itself, with
// what the DNS has today.
type ServerRecord struct {
	mailhost.Record
	State    domain.SeenState `json:"state"`
	Seen     []string         `json:"seen"`
	Problem  string           `json:"problem,omitempty"`
	Optional bool             `json:"optional"` // nothing that is set up depends on it
}

// lookupTimeout bounds all lookups together.
const lookupTimeout = 10 * time.Second

// ServerDNSRecords are what to publish for the server: its addresses, where it has a
// name, and its mail. dkim are the records of the keys that sign its mail.
func ServerDNSRecords(s *config.Settings, dkim []mailhost.Record) (out []ServerRecord) {
	add := func(optional bool, kind, name, value string) {
		r := mailhost.Record{Name: name, Type: kind, Value: value}
		out = append(out, ServerRecord{Record: r, Optional: optional})
	}
	names := []string{s.Domain, s.Mail.Domain}
	if s.Domain == s.Mail.Domain {
		names = names[:1]
	}
	if s.Domain != "" {
		for _, name := range names {
			for _, a := range s.Addresses() {
				add(false, addressType(a), name, a.String())
			}
		}
	}
	add(peer.IsLoopback(s.MailServer.Listen) || s.MailServer.Listen == "", "MX", s.Mail.Domain, "10 "+s.Mail.Domain)
	silent := s.Mail.Provider != "smtp" // nothing is sent
	add(silent, "TXT", s.Mail.Domain, "v=spf1 "+s.Mail.SPF+" ~all")
	for _, r := range dkim {
		add(silent, r.Type, r.Name, r.Value)
	}
	add(silent, "TXT", "_dmarc."+s.Mail.Domain, "v=DMARC1; p=none")
	if s.Domain != "" {
		for _, a := range s.Addresses() {
			add(true, "PTR", a.String(), s.Mail.Domain) // optional, because mail leaves through a relay
		}
	}
	return out
}

func addressType(a netip.Addr) string {
	if a.Is4() {
		return "A"
	}
	return "AAAA"
}

// CheckRecords looks all records up at the same time, and fills in what it found.
func CheckRecords(ctx context.Context, s *config.Settings, records []ServerRecord) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for i := range records {
		wg.Go(func() { checkRecord(ctx, s, &records[i]) })
	}
	wg.Wait()
}

// checkRecord looks up one record and judges it.
func checkRecord(ctx context.Context, s *config.Settings, v *ServerRecord) {
	dns := newResolver(s.DNSResolver)
	r := &domain.EmailRecord{Type: v.Type, Name: v.Name, Content: v.Value}
	switch v.Type {
	case "A", "AAAA":
		// Both kinds: an AAAA record that leads elsewhere is preferred by many.
		found, err := dns.LookupNetIP(ctx, "ip", v.Name+".")
		var seen []string
		for _, a := range found {
			seen = append(seen, a.Unmap().String())
		}
		r.SetAnswer(seen, err, func(r *domain.EmailRecord, seen []string) (domain.SeenState, string) {
			return judgeAddresses(s.Addresses(), r, seen)
		})
	case "PTR":
		seen, err := dns.LookupAddr(ctx, v.Name)
		for i := range seen {
			seen[i] = strings.ToLower(strings.TrimSuffix(seen[i], "."))
		}
		r.SetAnswer(seen, err, judgePTR)
	default:
		if v.Type == "MX" {
			_, r.Content, _ = strings.Cut(v.Value, " ")
		}
		domain.DNSLookups{
			TXT: newLookup(s.DNSResolver, (*net.Resolver).LookupTXT),
			MX:  newLookup(s.DNSResolver, (*net.Resolver).LookupMX),
		}.Check(ctx, r)
	}
	v.State, v.Seen, v.Problem = r.State, r.Seen, ""
	for i := range v.Seen {
		v.Seen[i] = replaceUnprintable(v.Seen[i])
	}
	if r.Problem != nil {
		v.Problem = replaceUnprintable(*r.Problem)
	}
	if v.Type == "MX" && v.State == domain.SeenWrong {
		v.Problem = "Mail for this name goes to another host first."
	}
}

// replaceUnprintable replaces what could confuse a terminal. Anybody can publish any text in the
// DNS.
func replaceUnprintable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// judgeAddresses accepts our addresses and no others: visitors, and the certificate
// authority, may take any of them.
func judgeAddresses(ours []netip.Addr, r *domain.EmailRecord, seen []string) (domain.SeenState, string) {
	for _, text := range seen {
		if a, err := netip.ParseAddr(text); err != nil || !slices.Contains(ours, a) {
			return domain.SeenWrong, text + " is not this server. Remove it, or name it in --public-addresses."
		}
	}
	if !slices.Contains(seen, r.Content) {
		return domain.SeenMissing, "Publish this record. A new one may take some minutes to be seen."
	}
	return domain.SeenFound, ""
}

// judgePTR accepts our name among the names of an address.
func judgePTR(r *domain.EmailRecord, seen []string) (domain.SeenState, string) {
	if slices.Contains(seen, r.Content) {
		return domain.SeenFound, ""
	}
	return domain.SeenWrong, "Who rents you the address can name it " + r.Content + "."
}

// mailRecords is the answer of the task mail.dns.
func (a *App) mailRecords(ctx context.Context) (any, error) {
	dkim, err := a.MailHosts.Records(ctx)
	if err != nil {
		return nil, err
	}
	records := ServerDNSRecords(&a.Settings, dkim)
	CheckRecords(ctx, &a.Settings, records)
	return map[string]any{"domain": a.Settings.Mail.Domain, "records": records}, nil
}

// Sentence says in words whether a record is as it should be.
func (v *ServerRecord) Sentence() string {
	if v.State == domain.SeenFound {
		return fmt.Sprintf("%s %s is %s.", v.Type, v.Name, v.Value)
	}
	seen := "nothing"
	if len(v.Seen) > 0 {
		seen = strings.Join(v.Seen, ", ")
	}
	return fmt.Sprintf("%s %s should be %s; the DNS has %s. %s", v.Type, v.Name, v.Value, seen, v.Problem)
}

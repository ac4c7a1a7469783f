// Package origin judges where a mail came from: whether its network address may
// send for the domain (SPF, RFC 7208), whether a signature holds (DKIM, RFC
// 6376), and whether either speaks for the author whom people see (DMARC, RFC
// 7489).
//
// Start reading at Judge. It takes the Evidence that the mail server has, runs
// the three checks one after the other, and returns an Authentication. bounds.go
// has the limits: headers that would keep the checks busy are not judged, and
// every DNS lookup goes through a resolver that counts them and times them out.
//
// It refuses no mail and stores nothing. It never spends more than a bounded
// time, memory and number of DNS lookups on one mail.
package origin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message/incoming"

	"blitiri.com.ar/go/spf"
	"github.com/emersion/go-msgauth/dkim"
	"github.com/emersion/go-msgauth/dmarc"
	"golang.org/x/net/publicsuffix"
)

// Verdict is what a check found. None means that there was nothing to check, or
// that nobody could tell.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	None Verdict = "none"
)

// Authentication is what is known about the origin of a mail.
type Authentication struct {
	SPF   Verdict `json:"spf" enum:"pass,fail,none" doc:"whether the sending server may send for the return path"`
	DKIM  Verdict `json:"dkim" enum:"pass,fail,none" doc:"whether a signature holds, by any domain"`
	DMARC Verdict `json:"dmarc" enum:"pass,fail,none" doc:"whether one of them speaks for the domain of from"`
}

// Evidence is a mail as it came.
type Evidence struct {
	Peer    netip.Addr // who brought it; the zero value if that says nothing
	Helo    string     // how the peer named itself
	Sender  string     // the return path; empty for a report
	Content io.ReadSeeker
}

// Resolver looks names up in DNS. *net.Resolver is one.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// The bounds of one judgement. SPF allows ten mechanisms that need DNS (RFC 7208
// §4.6.4), each of which may need several lookups.
const (
	maxLookups    = 40
	judgeTime     = 10 * time.Second
	lookupTime    = 3 * time.Second
	maxSignatures = 5
)

// JudgeOrigin judges a mail. Whatever cannot be found out is None. An error is the
// reader's.
func JudgeOrigin(ctx context.Context, dns Resolver, e Evidence) (Authentication, error) {
	out := Authentication{None, None, None}
	if dns == nil {
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, judgeTime)
	defer cancel()
	j := &judge{dns: &boundedResolver{Resolver: dns}, evidence: e}
	out.SPF = j.checkSPF(ctx)
	header, sane, err := readBoundedHeader(e.Content)
	if err != nil {
		return out, err
	}
	if !sane {
		return out, nil
	}
	if out.DKIM, err = j.checkDKIM(ctx); err != nil {
		return out, err
	}
	out.DMARC = j.checkDMARC(ctx, incoming.AuthorAddress(header), out)
	return out, nil
}

// judge is one mail under examination.
type judge struct {
	dns      *boundedResolver
	evidence Evidence
	signers  []string // the domains whose signatures hold
}

// isPublicAddress reports whether a peer's address says who sent the mail. A private or
// loopback address belongs to a relay of our own, which proves nothing.
func isPublicAddress(a netip.Addr) bool { return a.IsGlobalUnicast() && !a.IsPrivate() }

// checkSPF checks whether the peer's address may send for the domain of the return path. A
// soft fail counts as a failure.
func (j *judge) checkSPF(ctx context.Context) Verdict {
	peer := j.evidence.Peer.Unmap()
	if !isPublicAddress(peer) {
		return None
	}
	// The error only explains the result.
	found, _ := spf.CheckHostWithSender(net.IP(peer.AsSlice()), j.evidence.Helo, mailhost.ToASCII(j.evidence.Sender),
		spf.WithContext(ctx), spf.WithResolver(j.dns))
	switch found {
	case spf.Pass:
		return Pass
	case spf.Fail, spf.SoftFail:
		return Fail
	}
	return None
}

// checkDKIM verifies the signatures. One that holds suffices.
func (j *judge) checkDKIM(ctx context.Context) (Verdict, error) {
	if _, err := j.evidence.Content.Seek(0, io.SeekStart); err != nil {
		return None, err
	}
	found, err := dkim.VerifyWithOptions(j.evidence.Content, &dkim.VerifyOptions{
		MaxVerifications: maxSignatures,
		LookupTXT: func(name string) ([]string, error) {
			return j.dns.LookupTXT(ctx, name)
		},
	})
	if err != nil && !errors.Is(err, dkim.ErrTooManySignatures) {
		return None, nil //nolint:nilerr // a mail that cannot be read has no signature
	}
	verdict := None
	for _, v := range found {
		switch {
		case v.Err == nil:
			j.signers = append(j.signers, strings.ToLower(v.Domain))
			verdict = Pass
		case verdict == None && !dkim.IsTempFail(v.Err):
			verdict = Fail
		}
	}
	return verdict, nil
}

// checkDMARC says whether a domain that SPF or DKIM proved is the author's. Without a
// public peer only a signature can prove one. Its absence is then no failure:
// the mail may have come through a relay of our own.
func (j *judge) checkDMARC(ctx context.Context, author string, found Authentication) Verdict {
	if author == "" || !isPublicAddress(j.evidence.Peer.Unmap()) && len(j.signers) == 0 {
		return None
	}
	name := mailhost.DomainOf(author)
	record, err := j.lookupPolicy(ctx, name)
	if err != nil {
		return None
	}
	for _, signer := range j.signers {
		if domainsAligned(name, signer, record.DKIMAlignment) {
			return Pass
		}
	}
	if found.SPF == Pass {
		sender := mailhost.DomainOf(j.evidence.Sender)
		if j.evidence.Sender == "" {
			sender = strings.ToLower(j.evidence.Helo)
		}
		if domainsAligned(name, sender, record.SPFAlignment) {
			return Pass
		}
	}
	if !isPublicAddress(j.evidence.Peer.Unmap()) {
		return None
	}
	return Fail
}

// lookupPolicy looks up the DMARC record of a domain, or else of the registered domain
// above it (RFC 7489 §6.6.3).
func (j *judge) lookupPolicy(ctx context.Context, name string) (*dmarc.Record, error) {
	options := &dmarc.LookupOptions{LookupTXT: func(name string) ([]string, error) {
		return j.dns.LookupTXT(ctx, name)
	}}
	record, err := dmarc.LookupWithOptions(name, options)
	if !errors.Is(err, dmarc.ErrNoPolicy) {
		return record, err
	}
	if owner := registeredDomain(name); owner != name {
		return dmarc.LookupWithOptions(owner, options)
	}
	return nil, err
}

// domainsAligned reports whether a proved domain speaks for the author's: it is the
// same, or, unless the record is strict, has the same registered domain.
func domainsAligned(author, proved string, mode dmarc.AlignmentMode) bool {
	proved = strings.TrimSuffix(proved, ".")
	return author == proved ||
		mode != dmarc.AlignmentStrict && registeredDomain(author) == registeredDomain(proved)
}

// registeredDomain is the registered domain that a name is under: example.co.uk for
// mail.example.co.uk. A public suffix such as co.uk is returned as it is.
func registeredDomain(name string) string {
	if owner, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
		return owner
	}
	return name
}

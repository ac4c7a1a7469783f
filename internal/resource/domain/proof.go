package domain

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"frontdesk/internal/kernel/cut"
)

// An external domain belongs to whoever proves it, for as long as the proof
// stands. Its TXT record is looked up every day (recheck.go). An answer that the
// record does not exist counts from the first time; an error or no answer counts
// only after proofUnseenLimit. A broken name server is no reason to lose a
// domain, but it must not keep one for ever either.
//
//   - Gone for proofGoneLimit: the domain is pending_verification again. It
//     keeps its name and its zone until somebody else proves the name.
//   - Another organization proves the name: a holder whose record is gone
//     loses the name at once, and the zone is emptied (rival.go).
//   - A registration here ended redemptionPeriod ago, and somebody else proves
//     or registers the name: the former holder's domain becomes transferred.
//   - A name is registered here: names below it that other organizations hold
//     are lost to them (rival.go).
const (
	proofGoneLimit   = 7 * 24 * time.Hour
	proofUnseenLimit = 30 * 24 * time.Hour
	lookupTimeout    = 10 * time.Second

	// redemptionPeriod is longer than every registry keeps an ended registration for
	// its holder: 45 days to renew it, 30 to redeem it, 5 until it is deleted.
	redemptionPeriod = 90 * 24 * time.Hour
)

// proofLookup is what the DNS said about the TXT record of a domain.
type proofLookup struct {
	seen     []string // the TXT records
	problem  string   // the error that the DNS answered with
	noAnswer error    // why there was no answer
}

// isConclusive reports whether the DNS said which records exist, even if there are none.
func (l proofLookup) isConclusive() bool { return l.problem == "" && l.noAnswer == nil }

// lookUpProof asks the DNS for the TXT record of a domain.
func (d *Domains) lookUpProof(ctx context.Context, name string) proofLookup {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	seen, err := d.cfg.LookupTXT(ctx, verificationLabel+"."+name)
	return classifyLookup(seen, err)
}

// classifyLookup sorts the result of a lookup: records, no such record, an error of a name server, or
// no answer. Go's resolver tells the errors apart only by their texts.
func classifyLookup(seen []string, err error) proofLookup {
	var failed *net.DNSError
	switch {
	case err == nil:
		return proofLookup{seen: seen}
	case !errors.As(err, &failed):
		return proofLookup{noAnswer: err}
	case failed.IsNotFound:
		return proofLookup{}
	case failed.Err == "server misbehaving" && failed.IsTemporary:
		return proofLookup{problem: "SERVFAIL"}
	case failed.Err == "server misbehaving" || failed.Err == "lame referral":
		return proofLookup{problem: "REFUSED, or another error"}
	}
	return proofLookup{noAnswer: err}
}

// How much of an answer of the DNS callers see. Anybody may have written it.
const (
	maxShownRecords = 20
	maxShownRunes   = 500
)

// clipRecords cuts the records of the DNS to what an answer may hold, as valid UTF-8.
func clipRecords(seen []string) []string {
	out := make([]string, 0, min(len(seen), maxShownRecords))
	for _, s := range seen[:min(len(seen), maxShownRecords)] {
		out = append(out, cut.Runes(strings.ToValidUTF8(s, "\uFFFD"), maxShownRunes))
	}
	return out
}

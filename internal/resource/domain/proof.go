package domain

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"
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
	goneFor    = 7 * 24 * time.Hour
	unseenFor  = 30 * 24 * time.Hour
	lookupTime = 10 * time.Second

	// redemptionPeriod is longer than every registry keeps an ended registration for
	// its holder: 45 days to renew it, 30 to redeem it, 5 until it is deleted.
	redemption = 90 * 24 * time.Hour
)

// lookup is what the DNS said about the TXT record of a domain.
type lookup struct {
	seen    []string // the TXT records
	problem string   // the error that the DNS answered with
	silence error    // why there was no answer
}

// answered reports whether the DNS said which records exist, even if there are none.
func (l lookup) answered() bool { return l.problem == "" && l.silence == nil }

// lookUp asks the DNS for the TXT record of a domain.
func (d *Domains) lookUp(ctx context.Context, name string) lookup {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	seen, err := d.cfg.LookupTXT(ctx, verificationLabel+"."+name)
	return found(seen, err)
}

// found sorts the result of a lookup: records, no such record, an error of a name server, or
// no answer. Go's resolver tells the errors apart only by their texts.
func found(seen []string, err error) lookup {
	var failed *net.DNSError
	switch {
	case err == nil:
		return lookup{seen: seen}
	case !errors.As(err, &failed):
		return lookup{silence: err}
	case failed.IsNotFound:
		return lookup{}
	case failed.Err == "server misbehaving" && failed.IsTemporary:
		return lookup{problem: "SERVFAIL"}
	case failed.Err == "server misbehaving" || failed.Err == "lame referral":
		return lookup{problem: "REFUSED, or another error"}
	}
	return lookup{silence: err}
}

// How much of an answer of the DNS callers see. Anybody may have written it.
const (
	shownRecords = 20
	shownText    = 500
)

// shown cuts the records of the DNS to what an answer may hold, as valid UTF-8.
func shown(seen []string) []string {
	out := make([]string, 0, min(len(seen), shownRecords))
	for _, s := range seen[:min(len(seen), shownRecords)] {
		text := []rune(strings.ToValidUTF8(s, "\uFFFD"))
		out = append(out, string(text[:min(len(text), shownText)]))
	}
	return out
}

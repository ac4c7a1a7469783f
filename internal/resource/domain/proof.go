package domain

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"
)

// An external domain belongs to whoever proves it, for as long as the proof
// stands. Its TXT record is looked up every day (recheck.go). A DNS that
// answers that the record does not exist counts at once; one that fails or
// stays silent counts only after unseenFor, because a broken name server is no
// reason to lose a domain, and no proof for ever either.
//
//   - Gone for goneFor: the domain is pending_verification again. It keeps its
//     name and its zone until somebody else proves the name.
//   - Another organization proves the name: a holder whose record is gone
//     loses the name at once, and the zone is emptied (rival.go).
//   - A registration here ended redemption ago, and somebody else proves or
//     registers the name: the former holder loses it, and it is transferred.
//   - A name is registered here: names below it that other organizations hold
//     are lost to them (rival.go).
const (
	goneFor    = 7 * 24 * time.Hour
	unseenFor  = 30 * 24 * time.Hour
	lookupTime = 10 * time.Second

	// redemption is longer than every registry keeps an ended registration for
	// its holder: 45 days to renew it, 30 to redeem it, 5 until it is deleted.
	redemption = 90 * 24 * time.Hour
)

// lookup is what the DNS said about the TXT record of a domain.
type lookup struct {
	seen    []string
	problem string // the DNS answered with an error
	silence error  // nobody answered
}

// answered reports whether the DNS said which records exist.
func (l lookup) answered() bool { return l.problem == "" && l.silence == nil }

// lookUp asks the DNS for the TXT record of a domain.
func (d *Domains) lookUp(ctx context.Context, name string) lookup {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	seen, err := d.cfg.LookupTXT(ctx, verificationLabel+"."+name)
	return found(seen, err)
}

// found is what the answer of the DNS means.
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

// The part of an answer of the DNS that callers see: it is a stranger's text.
const (
	shownRecords = 20
	shownText    = 500
)

// shown makes records of the DNS fit for an answer.
func shown(seen []string) []string {
	out := make([]string, 0, min(len(seen), shownRecords))
	for _, s := range seen[:min(len(seen), shownRecords)] {
		text := []rune(strings.ToValidUTF8(s, "\uFFFD"))
		out = append(out, string(text[:min(len(text), shownText)]))
	}
	return out
}

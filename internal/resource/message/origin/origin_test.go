package origin_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/dkimkey"
	"frontdesk/internal/resource/message/origin"

	"github.com/emersion/go-msgauth/dkim"
)

// zone is a resolver that knows a few names. A name that begins with "slow."
// answers never.
type zone struct {
	txt   map[string]string
	asked int
}

func (z *zone) LookupTXT(ctx context.Context, name string) ([]string, error) {
	z.asked++
	if strings.HasPrefix(name, "slow.") {
		<-ctx.Done()
		return nil, &net.DNSError{Err: "timeout", IsTimeout: true}
	}
	if v, ok := z.txt[strings.TrimSuffix(name, ".")]; ok {
		return []string{v}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (z *zone) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	z.asked++
	var out []*net.MX
	for i := range 10 {
		out = append(out, &net.MX{Host: fmt.Sprintf("mx%d.%s", i, name)})
	}
	return out, nil
}

func (z *zone) LookupIPAddr(_ context.Context, name string) ([]net.IPAddr, error) {
	z.asked++
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (z *zone) LookupAddr(context.Context, string) ([]string, error) {
	z.asked++
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// signed is a mail with a signature of a domain, and the zone that has its key.
func signed(t *testing.T, z *zone, domain, mail string) string {
	t.Helper()
	keys, err := dkimkey.GeneratePair()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := dkimkey.ParsePrivate(keys[0].Private)
	if err != nil {
		t.Fatal(err)
	}
	z.txt[dkimkey.RecordName(keys[0].Selector)+"."+domain] = keys[0].Record
	var b bytes.Buffer
	err = dkim.Sign(&b, strings.NewReader(mail),
		&dkim.SignOptions{Domain: domain, Selector: keys[0].Selector, Signer: signer})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	hello    = "From: Ada <ada@shop.example.com>\r\nSubject: Hello\r\n\r\nHello\r\n"
	theirs   = "198.51.100.7" // may send for example.com
	stranger = "203.0.113.9"
)

func TestJudge(t *testing.T) {
	z := &zone{txt: map[string]string{
		"example.com":        "v=spf1 ip4:198.51.100.0/24 -all",
		"soft.example.org":   "v=spf1 ~all",
		"maybe.example.org":  "v=spf1 ?all",
		"broken.example.org": "v=spf1 nonsense",
		"_dmarc.example.com": "v=DMARC1; p=reject",
		"evil.example.net":   "v=spf1 +all",
		"_dmarc.strict.test": "v=DMARC1; p=none; adkim=s; aspf=s",
		"sub.strict.test":    "v=spf1 +all",
	}}
	good := signed(t, z, "example.com", hello)
	foreign := signed(t, z, "evil.example.net", hello)
	rekeyed := strings.Replace(good, "d=example.com", "d=example.net", 1)
	two := "From: x@bank.test, a@example.com\r\n\r\nx\r\n"
	strict := strings.Replace(hello, "shop.example.com", "strict.test", 1)
	for name, c := range map[string]struct {
		peer, sender, mail string
		want               string // spf, dkim, dmarc
	}{
		"its server, no signature":     {theirs, "a@example.com", hello, "pass none pass"},
		"its server, signed":           {theirs, "a@example.com", good, "pass pass pass"},
		"forwarded, signed":            {stranger, "list@lists.example.net", good, "none pass pass"},
		"forged":                       {stranger, "a@example.com", hello, "fail none fail"},
		"forged, by one who may":       {stranger, "a@evil.example.net", foreign, "pass pass fail"},
		"tampered":                     {stranger, "a@example.com", good + "more\r\n", "fail fail fail"},
		"tampered, from its server":    {theirs, "a@example.com", good + "more\r\n", "pass fail pass"},
		"softly refused":               {theirs, "a@soft.example.org", hello, "fail none fail"},
		"perhaps":                      {theirs, "a@maybe.example.org", hello, "none none fail"},
		"unreadable":                   {theirs, "a@broken.example.org", hello, "none none fail"},
		"nothing published":            {theirs, "a@none.test", "From: a@none.test\r\n\r\nx\r\n", "none none none"},
		"a report":                     {theirs, "", hello, "none none fail"},
		"a relay of ours":              {"127.0.0.1", "a@example.com", hello, "none none none"},
		"a relay of ours, signed":      {"10.0.0.1", "a@example.com", good, "none pass pass"},
		"a relay of ours, by another":  {"10.0.0.1", "a@example.com", foreign, "none pass none"},
		"nobody knows":                 {"", "a@example.com", hello, "none none none"},
		"mapped":                       {"::ffff:" + theirs, "a@example.com", hello, "pass none pass"},
		"two authors":                  {theirs, "a@example.com", "From: x@bank.test\r\n" + hello, "pass none none"},
		"two in one":                   {theirs, "a@example.com", two, "pass none none"},
		"no author":                    {theirs, "a@example.com", "Subject: x\r\n\r\nx\r\n", "pass none none"},
		"strictly another":             {theirs, "a@sub.strict.test", strict, "pass none fail"},
		"no headers at all":            {theirs, "a@example.com", "x", "pass none none"},
		"its key is gone":              {stranger, "a@none.test", rekeyed, "none fail fail"},
		"a domain that cannot be":      {theirs, "a@example.com", "From: a@.x..y\r\n\r\nx\r\n", "pass none none"},
		"a suffix is nobody's":         {theirs, "a@example.com", "From: a@com\r\n\r\nx\r\n", "pass none none"},
		"the return path is no domain": {theirs, "nobody", hello, "none none fail"},
	} {
		peer, _ := netip.ParseAddr(c.peer)
		got, err := origin.JudgeOrigin(t.Context(), z, origin.Evidence{
			Peer:    peer,
			Helo:    "mail.unknown.test",
			Sender:  c.sender,
			Content: strings.NewReader(c.mail),
		})
		if s := fmt.Sprintf("%s %s %s", got.SPF, got.DKIM, got.DMARC); s != c.want || err != nil {
			t.Errorf("%s: %s, want %s (%v)", name, s, c.want, err)
		}
	}
	if got, err := origin.JudgeOrigin(t.Context(), nil, origin.Evidence{}); got.SPF != origin.None || err != nil {
		t.Errorf("without a resolver: %+v, %v", got, err)
	}
}

// What somebody publishes or writes costs a bounded number of lookups, and a
// bounded time.
func TestAttackJudge(t *testing.T) {
	peer := netip.MustParseAddr(theirs)
	ctx := t.Context()
	judge := func(z *zone, sender, mail string) origin.Authentication {
		t.Helper()
		began := time.Now()
		got, err := origin.JudgeOrigin(ctx, z, origin.Evidence{
			Peer:    peer,
			Helo:    "x.test",
			Sender:  sender,
			Content: strings.NewReader(mail),
		})
		if took := time.Since(began); err != nil || took > 15*time.Second || z.asked > 40 {
			t.Errorf("%.60q: %v, %d lookups in %s", mail, err, z.asked, took)
		}
		return got
	}
	// Records that lead in circles, and to many servers each.
	z := &zone{txt: map[string]string{"loop.test": "v=spf1 include:loop.test -all", "mx.test": "v=spf1 " +
		strings.Repeat("mx ", 9) + "-all"}}
	if got := judge(z, "a@loop.test", hello); got.SPF != origin.None {
		t.Errorf("a loop: %+v", got)
	}
	z.asked = 0
	judge(z, "a@mx.test", hello)
	// More signatures than anybody needs, each asking somewhere else.
	many := ""
	for i := range 400 {
		many += fmt.Sprintf("DKIM-Signature: v=1; a=rsa-sha256; d=d%d.test; s=s; h=from; bh=AA==; b=AA==\r\n", i)
	}
	z.asked = 0
	if got := judge(z, "a@none.test", many+hello); got.DKIM != origin.Fail || z.asked > 12 {
		t.Errorf("many signatures: %+v after %d lookups", got, z.asked)
	}
	// A signature of as many names as there are fields, and of too many.
	names := strings.Repeat("from:", 700)
	wide := "DKIM-Signature: v=1; a=rsa-sha256; d=wide.test; s=s; h=" + names + "from; bh=AA==; b=AA==\r\n"
	judge(z, "a@none.test", strings.Repeat(wide, 5)+strings.Repeat("X: y\r\n", 450)+hello)
	for name, mail := range map[string]string{
		"names":  "DKIM-Signature: v=1; h=" + strings.Repeat(names, 10) + "\r\n" + hello,
		"folded": "DKIM-Signature: v=1;\r\n" + strings.Repeat(" h=from;\r\n", 9000) + hello,
		"fields": strings.Repeat("X: y\r\n", 600) + hello,
		"bytes":  "X: " + strings.Repeat("y", 300<<10) + "\r\n" + hello,
	} {
		z.asked = 0
		if got := judge(z, "a@none.test", mail); got.DKIM != origin.None || got.DMARC != origin.None || z.asked > 1 {
			t.Errorf("%s: %+v after %d lookups", name, got, z.asked)
		}
	}
	// A key that would take long to compute with is none.
	z.txt["s._domainkey.d0.test"] = "v=DKIM1; p=" + strings.Repeat("A", 60<<10)
	if got := judge(z, "a@none.test", many[:strings.Index(many, "\n")+1]+hello); got.DKIM != origin.Fail {
		t.Errorf("a long key: %+v", got)
	}
	// A name server that does not answer.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := judge(z, "a@slow.test", hello); got.SPF != origin.None {
		t.Errorf("slow: %+v", got)
	}
}

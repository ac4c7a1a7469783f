package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"frontdesk/internal/adapter/certificate"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/dkimkey"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/mailhost"
)

// checkWebCertificate checks what browsers are shown: by connecting to the server that runs,
// or by reading the operator's files.
func (d *doctor) checkWebCertificate(ctx context.Context) {
	s := &d.settings
	if s.Domain == "" {
		return
	}
	const check = "certificate"
	remedy := "The name must lead here, and ports 80 and 443 must be reachable from outside. Read the server's log."
	var end time.Time
	var err error
	switch {
	case !s.ObtainsCertificate():
		remedy = "Renew it, and check that this user can read both files. The server picks up a new one by itself."
		end, err = certificate.FilesValidUntil(s.TLS.Cert, s.TLS.Key)
	case !d.serverIsRunning():
		d.addFinding(check, statusOK, "", "serve obtains one for %s from %s.", s.Domain, s.ACME.Directory)
		return
	default:
		end, err = shownCertificate(ctx, s.TLS.Listen, s.Domain)
	}
	switch left := time.Until(end); {
	case err != nil:
		d.addFinding(check, statusFail, remedy, "The server has no certificate for %s: %v.", s.Domain, err)
	case left < 0:
		d.addFinding(check, statusFail, remedy, "The certificate of %s expired on %s.", s.Domain,
			end.UTC().Format(time.DateOnly))
	case left < renewalMargin && !s.ObtainsCertificate():
		d.addFinding(check, statusWarn, remedy, "The certificate of %s expires on %s.", s.Domain,
			end.UTC().Format(time.DateOnly))
	default:
		d.addFinding(check, statusOK, "", "The certificate of %s is valid until %s.", s.Domain,
			end.UTC().Format(time.DateOnly))
	}
}

// shownCertificate tells until when the certificate of a running server is valid. It is
// read whoever signed it; only its name is verified.
func shownCertificate(ctx context.Context, addr, name string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	dialer := tls.Dialer{NetDialer: &net.Dialer{}, Config: &tls.Config{ServerName: name, InsecureSkipVerify: true}}
	c, err := dialer.DialContext(ctx, "tcp", localAddress(addr))
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	leaf := c.(*tls.Conn).ConnectionState().PeerCertificates[0]
	return leaf.NotAfter, leaf.VerifyHostname(name)
}

// checkServerRecords looks up the DNS records that should be published for the server.
func (d *doctor) checkServerRecords(ctx context.Context) {
	s := &d.settings
	if s.Domain == "" {
		return
	}
	if len(s.Addresses()) == 0 {
		d.addFinding("DNS", statusWarn, "Name them in --public-addresses.",
			"This machine has no public address of its own, so where %s should lead is not known.", s.Domain)
	}
	dkim, err := d.readDKIMRecords(ctx)
	if err != nil {
		d.addFinding("DNS", statusWarn, "", "The keys that sign mail cannot be read: %v.", err)
	}
	records := ServerDNSRecords(s, dkim)
	CheckRecords(ctx, s, records)
	for i := range records {
		r, status := &records[i], statusOK
		switch {
		case r.State == domain.SeenFound:
		case r.Optional, r.Type == "MX", r.Type == "TXT":
			status = statusWarn
		default:
			status = statusFail
		}
		d.addFinding("DNS", status, "", "%s", r.Sentence())
	}
}

// readDKIMRecords are the records of the keys that sign the server's mail, if it has made
// them yet.
func (d *doctor) readDKIMRecords(ctx context.Context) (out []mailhost.Record, err error) {
	if c := d.database; c == nil || c.Missing || c.Schema == 0 {
		return nil, nil
	}
	err = db.ViewSnapshot(ctx, d.options, func(s *db.Snapshot) error {
		keys := s.FindTable("mail_keys")
		if keys == nil {
			return fmt.Errorf("the schema has no mail_keys")
		}
		return s.EachRow(ctx, keys, "domain = $1", []any{d.settings.Mail.Domain}, func(c []db.Cell) error {
			selector := string(c[keys.ColumnIndex("selector")].Text)
			out = append(out, mailhost.Record{Name: dkimkey.RecordName(selector) + "." + d.settings.Mail.Domain,
				Type: "TXT", Value: string(c[keys.ColumnIndex("record")].Text)})
			return nil
		})
	})
	return out, err
}

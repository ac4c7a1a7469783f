package app

import (
	"time"

	"frontdesk/internal/adapter/mailserver"
)

// certificateSoon is when a certificate should have been renewed.
const certificateSoon = 14 * 24 * time.Hour

// certificate checks what mail servers are shown when they ask for TLS.
func (d *doctor) certificate() {
	s := &d.settings.MailServer
	if s.Listen == "" {
		return
	}
	if s.TLSCert == "" && loopback(s.Listen) {
		d.note("mail certificate", fine, "", "None is needed: only this machine reaches %s.", s.Listen)
		return
	}
	if s.TLSCert == "" {
		d.note("mail certificate", warn, "Give --smtp-tls-cert and --smtp-tls-key.", "There is none, so mail comes in the clear.")
		return
	}
	const remedy = "Renew it, and check that this user can read both files. The server takes a new one up by itself."
	end, err := mailserver.CertificateEnd(s.TLSCert, s.TLSKey)
	switch left := time.Until(end); {
	case err != nil:
		d.note("mail certificate", fail, remedy, "%v.", err)
	case left < 0:
		d.note("mail certificate", fail, remedy, "It ended on %s.", end.UTC().Format(time.DateOnly))
	case left < certificateSoon:
		d.note("mail certificate", warn, remedy, "It ends on %s.", end.UTC().Format(time.DateOnly))
	default:
		d.note("mail certificate", fine, "", "It is good until %s.", end.UTC().Format(time.DateOnly))
	}
}

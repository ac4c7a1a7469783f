package app

import (
	"context"
	"time"

	"frontdesk/internal/adapter/certificate"
	"frontdesk/internal/kernel/peer"
)

// checkMail checks that the relay takes our mail, by signing in to it.
func (d *doctor) checkMail(ctx context.Context) {
	s := &d.settings
	if s.Mail.Provider != "smtp" {
		d.addFinding("mail", statusOK, "",
			"Nothing leaves the machine: what would be sent from %s is kept in the mailbox.", s.Mail.Domain)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if err := newRelay(s).Check(ctx); err != nil {
		d.addFinding("mail", statusFail, "Check --smtp-host, --smtp-port, --smtp-tls and the user.",
			"The relay does not take our mail: %v.", err)
		return
	}
	const publish = "If you have not yet: publish what frontdesk admin mail dns shows."
	if s.SMTP.TLS == "none" || s.SMTP.TLS == "opportunistic" {
		d.addFinding("mail", statusWarn, "Use --smtp-tls=starttls or tls where the relay is another machine.",
			"%s:%d accepts our mail, but the connection may be unencrypted.", s.SMTP.Host, s.SMTP.Port)
		return
	}
	d.addFinding("mail", statusOK, publish, "%s:%d takes our mail from %s.", s.SMTP.Host, s.SMTP.Port, s.Mail.Domain)
}

// renewalMargin is how long before its end a certificate should have been renewed.
const renewalMargin = 14 * 24 * time.Hour

// checkMailCertificate checks the certificate that other mail servers are shown.
func (d *doctor) checkMailCertificate() {
	s := &d.settings.MailServer
	if s.Listen == "" {
		return
	}
	if s.TLSCert == "" && d.settings.Domain != "" {
		d.addFinding("mail certificate", statusOK, "", "Mail servers are shown the certificate of %s.",
			d.settings.Domain)
		return
	}
	if s.TLSCert == "" && peer.IsLoopback(s.Listen) {
		d.addFinding("mail certificate", statusOK, "", "None is needed: only this machine reaches %s.", s.Listen)
		return
	}
	if s.TLSCert == "" {
		d.addFinding("mail certificate", statusWarn, "Give --smtp-tls-cert and --smtp-tls-key.",
			"There is none, so mail arrives unencrypted.")
		return
	}
	const remedy = "Renew it, and check that this user can read both files. The server picks up a new one by itself."
	end, err := certificate.FilesValidUntil(s.TLSCert, s.TLSKey)
	switch left := time.Until(end); {
	case err != nil:
		d.addFinding("mail certificate", statusFail, remedy, "%v.", err)
	case left < 0:
		d.addFinding("mail certificate", statusFail, remedy, "It expired on %s.", end.UTC().Format(time.DateOnly))
	case left < renewalMargin:
		d.addFinding("mail certificate", statusWarn, remedy, "It expires on %s.", end.UTC().Format(time.DateOnly))
	default:
		d.addFinding("mail certificate", statusOK, "", "It is valid until %s.", end.UTC().Format(time.DateOnly))
	}
}

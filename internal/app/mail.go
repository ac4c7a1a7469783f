package app

import (
	"context"
	"net/url"
	"syscall"

	"frontdesk/internal/adapter/certificate"
	"frontdesk/internal/adapter/mailbox"
	"frontdesk/internal/adapter/mailserver"
	"frontdesk/internal/adapter/smtp"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message"
)

// openMail joins what sends mail, by the provider that the settings name: from
// the domains of organizations, and from the service's own. Without a relay mail is
// kept in the embedded mailbox.
func (a *App) openMail() {
	s := &a.Settings
	a.Mailer = mailbox.New(a.DB, a.Clock)
	if s.Mail.Provider == "smtp" {
		a.Mailer = newRelay(s)
	}
	a.MailHosts = mailhost.New(mailhost.Config{
		Domain:    s.Mail.Domain,
		Host:      hostOfURL(s.BaseURL),
		TakesMail: s.MailServer.Listen != "",
		DB:        a.DB,
		Clock:     a.Clock,
		Seal:      a.seal,
		Email:     a.Domains.Email,
	})
	a.Messages = message.New(message.Config{
		DB:     a.DB,
		Clock:  a.Clock,
		Jobs:   a.Jobs,
		Events: a.Events,
		Files:  a.Files,
		Links:  a.Links,
		Hosts:  a.MailHosts,
		Mailer: a.Mailer,

		Invoices: messageInvoices{a},
		Resolver: newResolver(s.DNSResolver),
	})
	a.Messages.Handle()
}

// openMailServer creates the server that receives mail. Serve makes it listen.
func (a *App) openMailServer() (err error) {
	s := &a.Settings
	c := mailserver.Config{
		Domain:         s.Mail.Domain,
		MaxBytes:       min(s.MailServer.MaxBytes, s.Files.MaxBytes),
		PerMinute:      s.MailServer.Limit,
		BytesPerMinute: s.MailServer.LimitBytes,
		Full:           a.wouldFillDisk,
		Connections:    s.MailServer.Connections,
		Spool:          s.SpoolPath(),
	}
	c.TLS = a.mailTLS
	if s.MailServer.TLSCert != "" && s.MailServer.Listen != "" {
		if c.TLS, err = certificate.FilesTLSConfig(s.MailServer.TLSCert, s.MailServer.TLSKey); err != nil {
			return err
		}
	}
	a.MailServer = mailserver.New(a.Messages, a.Log, c)
	return nil
}

// newRelay is the SMTP server that takes outgoing mail.
func newRelay(s *config.Settings) *smtp.Relay {
	return smtp.New(smtp.Config{
		Host:     s.SMTP.Host,
		Port:     s.SMTP.Port,
		Username: s.SMTP.Username,
		Password: s.SMTP.Password,
		TLS:      s.SMTP.TLS,
		Helo:     s.Mail.Domain,
	})
}

// wouldFillDisk reports whether n more bytes would use the part of the disk that is
// kept free, so that mail from outside cannot fill it. A disk that cannot be examined is
// not full.
func (a *App) wouldFillDisk(n int64) bool {
	free, total, err := diskSpace(a.Settings.Data)
	return err == nil && free-n < reservedBytes(&a.Settings, total)
}

// reservedBytes returns how much of a disk incoming mail must leave free.
func reservedBytes(s *config.Settings, total int64) int64 {
	return total / 100 * int64(s.StorageReserve)
}

// diskSpace returns the free and the total space on the disk of a folder.
func diskSpace(dir string) (free, total int64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
}

// messageInvoices gives messages access to the invoices, which are created after them.
type messageInvoices struct{ app *App }

// States tells how invoices stand.
func (e messageInvoices) States(ctx context.Context, tx *db.Tx, org id.ID, ids []id.ID) (map[id.ID]message.InvoiceState,
	error) {
	return e.app.Invoices.States(ctx, tx, org, ids)
}

// PDF draws an invoice.
func (e messageInvoices) PDF(ctx context.Context, org, invoice id.ID) (name string, pdf []byte, err error) {
	return e.app.Invoices.PDF(ctx, org, invoice)
}

// hostOfURL is the host name in a URL, or empty.
func hostOfURL(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

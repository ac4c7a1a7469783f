package app

import (
	"frontdesk/internal/adapter/mailbox"
	"frontdesk/internal/adapter/mailserver"
	"frontdesk/internal/adapter/smtp"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/resource/message"
)

// openMail joins what sends mail, by the provider that the settings name: from
// the domains of organizations, and from the service's own.
func (a *App) openMail() {
	s := &a.Settings
	a.Mailer = mailbox.New(a.DB, a.Clock)
	if s.Mail.Provider == "smtp" {
		a.Mailer = relay(s)
	}
	a.Home = message.NewHome(s.Mail.Domain, a.DB, a.Clock, a.seal)
	a.Home.TakesMail = s.MailServer.Listen != ""
	hosted := message.NewHosted(a.Home, a.Domains.Email)
	a.Messages = message.New(a.DB, a.Clock, a.Jobs, a.Events, a.Files, a.Links, hosted, a.Mailer)
	a.Messages.Handle(a.Jobs)
	a.Inbox = message.NewInbox(a.Messages, a.Home, hosted)
}

// openMailServer makes the server that takes mail. It listens later.
func (a *App) openMailServer() (err error) {
	s := &a.Settings
	c := mailserver.Config{Domain: s.Mail.Domain, MaxBytes: min(s.MailServer.MaxBytes, s.Files.MaxBytes), PerMinute: s.MailServer.Limit, Connections: s.MailServer.Connections, Spool: s.SpoolPath()}
	if s.MailServer.TLSCert != "" && s.MailServer.Listen != "" {
		if c.TLS, err = mailserver.Certificate(s.MailServer.TLSCert, s.MailServer.TLSKey); err != nil {
			return err
		}
	}
	a.MailServer = mailserver.New(a.Inbox, a.Log, c)
	return nil
}

func relay(s *config.Settings) *smtp.Relay {
	return smtp.New(smtp.Config{Host: s.SMTP.Host, Port: s.SMTP.Port, Username: s.SMTP.Username, Password: s.SMTP.Password, TLS: s.SMTP.TLS, Helo: s.Mail.Domain})
}

package app_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message/messagetest"
)

// The doctor signs in to the relay that the settings name.
func TestDoctorMail(t *testing.T) {
	relay := messagetest.NewRelay(t, nil)
	finding := func(change func(*config.Settings)) app.Finding {
		t.Helper()
		s := apptest.Settings(t, db.SQLite)
		change(&s)
		if err := s.FillAndValidate(false); err != nil {
			t.Fatal(err)
		}
		found := app.RunDoctor(t.Context(), s)
		i := slices.IndexFunc(found, func(f app.Finding) bool { return f.Check == "mail" })
		if i < 0 {
			t.Fatal("it does not look at mail")
		}
		return found[i]
	}
	use := func(port int, tls string) func(*config.Settings) {
		return func(s *config.Settings) {
			s.Mail.Provider, s.SMTP = "smtp", config.SMTP{Host: relay.Host, Port: port, TLS: tls}
		}
	}
	if f := finding(func(*config.Settings) {}); f.Status != "ok" || !strings.Contains(f.Text, "mailbox") {
		t.Errorf("mailbox: %+v", f)
	}
	if f := finding(use(relay.Port, "none")); f.Status != "warn" {
		t.Errorf("open: %+v", f)
	}
	if f := finding(use(relay.Port, "starttls")); f.Status != "fail" {
		t.Errorf("no TLS: %+v", f)
	}
	if f := finding(use(1, "none")); f.Status != "fail" || f.Remedy == "" {
		t.Errorf("nobody there: %+v", f)
	}
}

func TestMailSettings(t *testing.T) {
	for name, change := range map[string]func(*config.Settings){
		"--mail-domain": func(s *config.Settings) { s.Mail.Domain = "localhost" },
		"--smtp-host":   func(s *config.Settings) { s.Mail.Provider = "smtp" },
		"--smtp-port":   func(s *config.Settings) { s.Mail.Provider, s.SMTP = "smtp", config.SMTP{Host: "x", Port: 0} },
		"--smtp-password": func(s *config.Settings) {
			s.Mail.Provider, s.SMTP = "smtp", config.SMTP{Host: "x", Port: 25, Username: "x"}
		},
		"mail-provider": func(s *config.Settings) { s.SMTP.Host = "x" },
	} {
		s := apptest.Settings(t, db.SQLite)
		change(&s)
		if err := s.FillAndValidate(false); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := apptest.Settings(t, db.SQLite)
	s.Mail.Domain = "Mail.Example.COM"
	if err := s.FillAndValidate(false); err != nil || s.Mail.Domain != "mail.example.com" {
		t.Errorf("%q, %v", s.Mail.Domain, err)
	}
}

// The keys that sign are made once, and outlive a new sealing key and a start.
func TestMailKeysStay(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		var before []mailhost.Record
		t.Run("rotate", func(t *testing.T) {
			a := apptest.StartWith(t, s)
			var err error
			if before, err = a.MailHosts.Records(t.Context()); err != nil || len(before) != 2 {
				t.Fatalf("%v %v", before, err)
			}
			for _, retire := range []bool{false, e == db.Postgres} {
				if _, err := a.Admin.RunTask(t.Context(), "secrets.rotate", app.RotateTask{Retire: retire},
					nil); err != nil {
					t.Fatal(err)
				}
			}
		})
		a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		keys, err := a.MailHosts.SigningKeys(t.Context(), "", a.MailHosts.DefaultAddress())
		if err != nil || len(keys) != 2 {
			t.Fatalf("%v %v", keys, err)
		}
		after, err := a.MailHosts.Records(t.Context())
		if err != nil || !slices.Equal(before, after) {
			t.Errorf("%v became %v, %v", before, after, err)
		}
	})
}

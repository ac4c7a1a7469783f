package smtp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/adapter/smtp"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/message/messagetest"
)

// certificate is one for 127.0.0.1, and those who trust it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	client = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	client.ServerName = "127.0.0.1"
	return &tls.Config{Certificates: s.TLS.Certificates}, client
}

func config(r *messagetest.Relay, policy string) smtp.Config {
	return smtp.Config{Host: r.Host, Port: r.Port, TLS: policy, Helo: "frontdesk.example"}
}

func letter(to ...string) *message.Mail {
	return &message.Mail{Key: "k", Message: id.New(), From: "no-reply@frontdesk.example", To: to,
		Content: []byte("Subject: x\r\nMessage-ID: <x@frontdesk.example>\r\n\r\nHello\r\n")}
}

func TestRelay(t *testing.T) {
	for name, policy := range map[string]string{"plain": smtp.Plain, "starttls": smtp.StartTLS,
		"opportunistic": smtp.Opportunistic, "tls": smtp.Implicit} {
		t.Run(name, func(t *testing.T) {
			messagetest.CheckMailer(t, func(t *testing.T) (message.Mailer, id.ID,
				func(t *testing.T) []messagetest.AcceptedMail) {
				server, trust := certificate(t)
				if policy != smtp.StartTLS {
					server = nil
				}
				r := messagetest.NewRelay(t, server)
				if policy == smtp.Implicit {
					server, trust = certificate(t)
					r = messagetest.NewTLSRelay(t, server)
				}
				c := config(r, policy)
				c.Trust = trust
				if policy == smtp.StartTLS || policy == smtp.Implicit { // a password wants protection
					r.User, r.Password = "desk", "secret"
					c.Username, c.Password = "desk", "secret"
				}
				return smtp.New(c), id.New(), func(*testing.T) []messagetest.AcceptedMail { return r.Accepted() }
			})
		})
	}
}

// Protection that was asked for is not done without.
func TestRelayInsists(t *testing.T) {
	r := messagetest.NewRelay(t, nil)
	if _, err := smtp.New(config(r, smtp.StartTLS)).Send(t.Context(), letter("ada@example.com")); err == nil ||
		len(r.Accepted()) > 0 {
		t.Errorf("sent without TLS: %v", err)
	}
	server, _ := certificate(t)
	r = messagetest.NewRelay(t, server)
	if _, err := smtp.New(config(r, smtp.StartTLS)).Send(t.Context(), letter("ada@example.com")); err == nil ||
		len(r.Accepted()) > 0 {
		t.Errorf("sent to somebody whom nobody vouches for: %v", err)
	}
	r = messagetest.NewRelay(t, nil)
	r.User, r.Password = "desk", "secret"
	c := config(r, smtp.Plain)
	c.Username, c.Password = "desk", "wrong"
	if err := smtp.New(c).Check(t.Context()); err == nil {
		t.Error("signed in with a wrong password")
	}
}

// What a relay answers decides whether and for whom a mail is tried again.
func TestRelayRefusals(t *testing.T) {
	r := messagetest.NewRelay(t, nil)
	m := smtp.New(config(r, smtp.Plain))
	at := func(step, text string, code int) func(string, string) error {
		return func(s, what string) error {
			if s == step && strings.Contains(what, text) {
				return messagetest.RefusalError(code, "No such luck")
			}
			return nil
		}
	}
	for _, c := range []struct {
		answer    func(string, string) error
		whole     bool
		temporary bool
	}{
		{at("MAIL", "", 451), true, true},
		{at("MAIL", "", 550), true, false},
		{at("DATA", "", 452), true, true},
		{at("DATA", "", 554), true, false},
		{at("RCPT", "ada", 450), false, true},
		{at("RCPT", "ada", 550), false, false},
	} {
		r.Answer = c.answer
		before := len(r.Accepted())
		refused, err := m.Send(t.Context(), letter("grace@example.com", "ada@example.com"))
		var whole *message.Refusal
		switch {
		case c.whole && (!errors.As(err, &whole) || whole.Temporary != c.temporary ||
			!strings.Contains(whole.Reason, "No such luck") || len(r.Accepted()) != before):
			t.Errorf("%v, %v", refused, err)
		case !c.whole && (err != nil || len(refused) != 1 || refused[0].Recipient != "ada@example.com" ||
			refused[0].Temporary != c.temporary):
			t.Errorf("%v, %v", refused, err)
		case !c.whole:
			if got := r.Accepted(); len(got) != before+1 ||
				!slices.Equal(got[before].To, []string{"grace@example.com"}) {
				t.Errorf("the other one got nothing: %v", got)
			}
		}
	}
	r.Answer = at("RCPT", "", 550)
	if refused, err := m.Send(t.Context(), letter("grace@example.com", "ada@example.com")); err != nil ||
		len(refused) != 2 {
		t.Errorf("all refused: %v %v", refused, err)
	}
	for _, injected := range []string{"a@example.com>\r\nRCPT TO:<eve@example.com", "a@example.com\nDATA"} {
		r.Answer = nil
		before := len(r.Accepted())
		if _, err := m.Send(t.Context(), letter(injected)); err == nil || len(r.Accepted()) != before {
			t.Errorf("%q was sent: %v", injected, err)
		}
	}
}

// Nobody there, or nobody who answers, is no refusal.
func TestRelayAway(t *testing.T) {
	m := smtp.New(smtp.Config{Host: "127.0.0.1", Port: 1, TLS: smtp.Plain, Helo: "frontdesk.example"})
	var refused *message.Refusal
	if _, err := m.Send(t.Context(), letter("ada@example.com")); err == nil || errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	r := messagetest.NewRelay(t, nil)
	hold := make(chan struct{})
	defer close(hold)
	r.Answer = func(string, string) error { <-hold; return nil } // for ever
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := smtp.New(config(r, smtp.Plain)).Send(ctx, letter("ada@example.com")); err == nil ||
		errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
}

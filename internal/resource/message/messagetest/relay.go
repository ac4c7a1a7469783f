// Package messagetest holds what tests of mail need: Relay, a server that speaks
// real SMTP and remembers what it accepted (relay.go), and CheckMailer, the
// suite that every adapter of message.Mailer must pass (suite.go). Only tests
// import it.
package messagetest

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// AcceptedMail is a mail that a relay accepted.
type AcceptedMail struct {
	At      time.Time
	From    string
	To      []string
	Content []byte
}

// Header is one of its headers as transmitted.
func (g *AcceptedMail) Header(t testing.TB, name string) string {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(g.Content))
	if err != nil {
		t.Fatalf("%v in %s", err, g.Content)
	}
	return m.Header.Get(name)
}

// Relay is an SMTP server for a test.
type Relay struct {
	Host string
	Port int
	// Answer is called at each step: MAIL and RCPT with the address, DATA with
	// the content. An error refuses, as RefusalError makes it. It may block. Nil
	// accepts everything.
	Answer func(step, what string) error
	// User and Password are required when they are set.
	User, Password string

	mu  sync.Mutex
	got []AcceptedMail
}

// NewRelay runs a relay until the test ends, with STARTTLS if a certificate is
// given.
func NewRelay(t testing.TB, certificate *tls.Config) *Relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startRelay(t, l, certificate)
}

// NewTLSRelay is a relay that speaks TLS from the first byte.
func NewTLSRelay(t testing.TB, certificate *tls.Config) *Relay {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", certificate)
	if err != nil {
		t.Fatal(err)
	}
	return startRelay(t, l, nil)
}

func startRelay(t testing.TB, l net.Listener, certificate *tls.Config) *Relay {
	t.Helper()
	r := &Relay{Host: "127.0.0.1"}
	s := smtp.NewServer(r)
	s.Domain, s.AllowInsecureAuth, s.TLSConfig, s.MaxRecipients = "relay.example", true, certificate, 1000
	s.ReadTimeout, s.WriteTimeout = time.Minute, time.Minute
	r.Port = l.Addr().(*net.TCPAddr).Port
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(l) }() //nolint:errcheck // it ends with the test
	t.Cleanup(func() { s.Close(); <-done })       //nolint:errcheck // the same
	return r
}

// RefusalError makes the error by which Relay.Answer refuses.
func RefusalError(code int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}
}

// Accepted lists everything that was accepted so far.
func (r *Relay) Accepted() []AcceptedMail {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]AcceptedMail(nil), r.got...)
}

// NewSession starts a connection.
func (r *Relay) NewSession(*smtp.Conn) (smtp.Session, error) {
	return &session{relay: r, authenticated: r.User == ""}, nil
}

type session struct {
	relay         *Relay
	authenticated bool
	mail          AcceptedMail
}

func (s *session) answerStep(step, what string) error {
	if s.relay.Answer == nil {
		return nil
	}
	return s.relay.Answer(step, what)
}

func (s *session) AuthMechanisms() []string {
	if s.relay.User == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.relay.User || password != s.relay.Password {
			return errors.New("wrong password")
		}
		s.authenticated = true
		return nil
	}), nil
}

func (s *session) Reset()        { s.mail = AcceptedMail{} }
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if !s.authenticated {
		return RefusalError(530, "Authentication required")
	}
	s.mail = AcceptedMail{From: from}
	return s.answerStep("MAIL", from)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.answerStep("RCPT", to); err != nil {
		return err
	}
	s.mail.To = append(s.mail.To, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.answerStep("DATA", string(content)); err != nil {
		return err
	}
	s.mail.At = time.Now() //nolint:forbidigo // compared with the times of kills, which are the machine's
	s.mail.Content = content
	s.relay.mu.Lock()
	defer s.relay.mu.Unlock()
	s.relay.got = append(s.relay.got, s.mail)
	return nil
}

// ID is the Message-ID, without its brackets.
func (g *AcceptedMail) ID(t testing.TB) string {
	t.Helper()
	return strings.Trim(g.Header(t, "Message-ID"), "<>")
}

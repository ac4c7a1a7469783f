// Package smtp hands mail to an SMTP relay (RFC 5321). It is a message.Mailer: Send
// opens a connection, signs in, offers the mail to each recipient and waits until the
// relay has taken it. There is one connection for each mail, and none inside a database
// transaction. It changes and signs nothing: the mail it gets is ready to send.
//
// A negative answer of the relay is a message.Refusal, temporary or for good. Any other
// error leaves open whether the mail was taken. Start reading at Relay.Send.
package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/message/incoming"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// How the connection is protected.
const (
	StartTLS      = "starttls"      // required: without it, no mail is sent
	Opportunistic = "opportunistic" // STARTTLS where the relay offers it
	Implicit      = "tls"           // from the first byte
	Plain         = "none"
)

// Config says which relay.
type Config struct {
	Host               string
	Port               int
	Username, Password string // empty if the relay needs no sign-in
	TLS                string
	Helo               string      // the name in the greeting
	Trust              *tls.Config // nil to trust the system's roots; tests have their own
}

// Relay is an SMTP server that forwards our mail.
type Relay struct{ config Config }

var _ message.Mailer = (*Relay)(nil)

// New prepares a relay without connecting to it.
func New(c Config) *Relay { return &Relay{c} }

// How long each step may take. The answer to the content gets the longest: a
// relay may scan the mail first, and giving up then means sending it twice
// (RFC 5321 §4.5.3.2.6).
const (
	dialTimeout = 30 * time.Second
	stepTimeout = 2 * time.Minute
	dataTimeout = 4 * time.Minute
)

// Send delivers a mail in one SMTP transaction. Recipients that the relay
// refuses are left out, and the others get the mail.
func (r *Relay) Send(ctx context.Context, m *message.Mail) ([]message.Refusal, error) {
	if db.InTransaction(ctx) {
		panic("smtp: the network waits for the commit")
	}
	c, hangUp, err := r.dialAndSignIn(ctx)
	if err != nil {
		return nil, err
	}
	defer hangUp()
	c.SkipSMTPUTF8(allASCII(append(m.To, m.From)))
	if err := c.UpdateDeadline(stepTimeout); err != nil {
		return nil, err
	}
	if err := c.Mail("<" + m.From + ">"); err != nil {
		return nil, asRefusal("", err)
	}
	var refused []message.Refusal
	for _, to := range m.To {
		err := c.Rcpt("<" + to + ">")
		if err == nil {
			continue
		}
		var answer *message.Refusal
		if !errors.As(asRefusal(to, err), &answer) {
			return nil, err
		}
		refused = append(refused, *answer)
	}
	if len(refused) == len(m.To) {
		return refused, nil
	}
	if err := c.UpdateDeadline(dataTimeout); err != nil {
		return nil, err
	}
	w, err := c.Data()
	if err != nil {
		return nil, asRefusal("", err)
	}
	if _, err := w.Write(m.Content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil { // waits until the relay confirms the mail
		return nil, asRefusal("", err)
	}
	return refused, nil
}

func allASCII(list []string) bool {
	for _, s := range list {
		if strings.ContainsFunc(s, func(r rune) bool { return r > '~' }) {
			return false
		}
	}
	return true
}

// Check signs in to the relay and disconnects.
func (r *Relay) Check(ctx context.Context) error {
	c, hangUp, err := r.dialAndSignIn(ctx)
	if err != nil {
		return err
	}
	defer hangUp()
	return c.Noop()
}

// dialAndSignIn connects, sets up TLS and signs in. The function it returns hangs up.
func (r *Relay) dialAndSignIn(ctx context.Context) (*smtp.Client, func(), error) {
	var conn net.Conn
	options := []mail.Option{mail.WithPort(r.config.Port), mail.WithTimeout(dialTimeout), mail.WithHELO(r.config.Helo),
		mail.WithTLSConfig(r.tlsConfig()),
		// The connection is kept here, because the library does not close one after a
		// failure.
		mail.WithDialContextFunc(func(ctx context.Context, network, address string) (_ net.Conn, err error) {
			if r.config.TLS == Implicit {
				conn, err = (&tls.Dialer{Config: r.tlsConfig()}).DialContext(ctx, network, address)
			} else {
				conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
			}
			return conn, err
		})}
	switch r.config.TLS {
	case StartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case Opportunistic:
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	case Implicit:
		options = append(options, mail.WithSSL())
	default:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	client, err := mail.NewClient(r.config.Host, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("smtp: %w", err)
	}
	c, err := client.DialToSMTPClientWithContext(ctx)
	if err == nil {
		err = r.signIn(c)
	}
	if err != nil {
		if conn != nil {
			conn.Close() //nolint:errcheck // it is of no use
		}
		return nil, nil, fmt.Errorf("smtp: %s: %w", client.ServerAddr(), err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() }) //nolint:errcheck // the attempt is over
	return c, func() {
		if stop() {
			c.UpdateDeadline(5 * time.Second) //nolint:errcheck // it is closed in any case
			c.Quit()                          //nolint:errcheck // the mail was answered already
		}
		conn.Close() //nolint:errcheck // Quit has closed it
	}, nil
}

// signIn uses the best mechanism that the relay offers. The library's own choice
// takes our TLS connection for an unprotected one; the mechanisms themselves know
// better, and none sends a password over a connection without TLS.
func (r *Relay) signIn(c *smtp.Client) error {
	user, password := r.config.Username, r.config.Password
	if user == "" {
		return nil
	}
	_, offered := c.Extension("AUTH")
	for _, way := range []struct {
		name string
		auth smtp.Auth
	}{
		{"SCRAM-SHA-256", smtp.ScramSHA256Auth(user, password)},
		{"PLAIN", smtp.PlainAuth("", user, password, r.config.Host, false)},
		{"LOGIN", smtp.LoginAuth(user, password, r.config.Host, false)},
	} {
		if slices.Contains(strings.Fields(offered), way.name) {
			return c.Auth(way.auth)
		}
	}
	return fmt.Errorf("the relay offers no sign-in mechanism that we know: %q", offered)
}

// tlsConfig is the TLS configuration for the relay.
func (r *Relay) tlsConfig() *tls.Config {
	if r.config.Trust != nil {
		return r.config.Trust
	}
	return &tls.Config{ServerName: r.config.Host, MinVersion: tls.VersionTLS12}
}

// maxReasonLength bounds a stored answer, in characters. If an answer could not be
// stored, the mail would be sent again to those who already have it.
const maxReasonLength = 500

// asRefusal turns a negative answer of the relay into a Refusal: 4yz may be tried
// again, 5yz may not. Any other error is returned unchanged.
func asRefusal(recipient string, err error) error {
	var answer *textproto.Error
	if !errors.As(err, &answer) || answer.Code < 400 {
		return err
	}
	return &message.Refusal{Recipient: recipient, Temporary: answer.Code < 500,
		Reason: fmt.Sprintf("%d %s", answer.Code, incoming.BoundedLine(answer.Msg, maxReasonLength))}
}

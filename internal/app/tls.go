package app

import (
	"context"
	"crypto/tls"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"frontdesk/internal/adapter/certificate"
)

// openTLS creates what shows the server's certificate: the operator's files, or one from
// a certificate authority. Nothing is obtained before the server listens.
func (a *App) openTLS() (err error) {
	s := &a.Settings
	if s.Domain == "" {
		return nil
	}
	if !s.ObtainsCertificate() {
		a.webTLS, err = certificate.FilesTLSConfig(s.TLS.Cert, s.TLS.Key)
		a.mailTLS = a.webTLS
		return err
	}
	a.certificates, err = certificate.New(certificate.Config{
		DB:        a.DB,
		Seal:      a.seal,
		Log:       a.Log,
		Domain:    s.Domain,
		Directory: s.ACME.Directory,
		Email:     s.ACME.Email,
		Root:      s.ACME.Root,
		Listen:    s.TLS.Listen,
		Redirect:  s.TLS.Redirect,
		Check:     s.ACME.Check,
	})
	if err != nil {
		return err
	}
	a.webTLS, a.mailTLS = a.certificates.Web(), a.certificates.Mail()
	return nil
}

// hstsAge is a year. Subdomains are left out: they may belong to other servers.
const hstsAge = "max-age=31536000"

// withHSTS tells browsers to use nothing but https from now on (RFC 6797).
func withHSTS(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", hstsAge)
		h.ServeHTTP(w, r)
	})
}

// RedirectHandler is everything on the listener for plain http: it answers the
// certificate authority's challenges and sends everybody else to https.
func (a *App) RedirectHandler() http.Handler {
	h := http.Handler(http.HandlerFunc(a.redirectToHTTPS))
	if a.certificates != nil {
		h = a.certificates.AnswerChallenges(h)
	}
	return h
}

// redirectToHTTPS sends a request to the same path of the configured address, whatever
// name the request gives. A key that came unencrypted may have been read by others, so
// its sender is refused and told to replace it.
func (a *App) redirectToHTTPS(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "Use "+a.Settings.BaseURL+". The key was just sent unencrypted: replace it.",
			http.StatusForbidden)
		return
	}
	target := a.Settings.BaseURL
	if path := r.URL.EscapedPath(); strings.HasPrefix(path, "/") {
		target += path
	}
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	// Not http.Redirect, which would clean the path.
	w.Header().Set("Location", target)
	w.WriteHeader(http.StatusPermanentRedirect)
}

// httpServerLog is where an http.Server writes. Failed TLS handshakes are only for
// debugging: scanners cause them all the time.
func httpServerLog(l *slog.Logger) *log.Logger {
	return log.New(serverLogWriter{l}, "", 0)
}

// serverLogWriter passes the lines of a log.Logger on to a slog.Logger.
type serverLogWriter struct{ log *slog.Logger }

// Write logs one line.
func (s serverLogWriter) Write(line []byte) (int, error) {
	level, text := slog.LevelWarn, strings.TrimSpace(string(line))
	if strings.Contains(text, "TLS handshake error") {
		level = slog.LevelDebug
	}
	ctx := context.Background()
	if !s.log.Enabled(ctx, level) {
		return len(line), nil
	}
	return len(line), s.log.Handler().Handle(ctx, slog.NewRecord(time.Now(), level, text, 0))
}

// webTLSConfig is the TLS configuration of the https listener, with HTTP/2.
func webTLSConfig(c *tls.Config) *tls.Config {
	c = c.Clone()
	if len(c.NextProtos) == 0 {
		c.NextProtos = []string{"h2", "http/1.1"}
	}
	return c
}

package app_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/adapter/certificate"
	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
	"frontdesk/internal/kernel/secret"
)

const deskName = "desk.example.com"

// ownCertificate writes a certificate and its key, and returns the certificate.
func ownCertificate(t *testing.T, s *config.Settings, at time.Time) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(at.UnixNano()), DNSNames: []string{deskName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
		BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{s.TLS.Key: {Type: "PRIVATE KEY", Bytes: private},
		s.TLS.Cert: {Type: "CERTIFICATE", Bytes: der}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// domainSettings are those of a server that encrypts by itself.
func domainSettings(t *testing.T, e db.Engine) config.Settings {
	t.Helper()
	s := apptest.Settings(t, e)
	s.Domain, s.BaseURL, s.MCPURL, s.MailServer.Listen = deskName, "", "", listentest.FreeAddress(t)
	s.TLS = config.TLS{Listen: listentest.FreeAddress(t), Redirect: listentest.FreeAddress(t)}
	s.ACME = config.ACME{Directory: "https://127.0.0.1:1/directory", Check: time.Hour}
	return s
}

// serve runs a server until the test ends.
func serve(t *testing.T, s config.Settings) *app.App {
	t.Helper()
	a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	started, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- a.Serve(ctx, func(string) { close(started) }) }()
	select {
	case <-started:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// trusting is a client that believes in one certificate and reaches our name there.
func trusting(s *config.Settings, leaf *x509.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			ForceAttemptHTTP2: true,
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				to := s.TLS.Listen
				if strings.HasSuffix(addr, ":80") {
					to = s.TLS.Redirect
				}
				return (&net.Dialer{}).DialContext(ctx, network, to)
			},
		},
	}
}

// reply is an answer that was read to its end.
type reply struct {
	status, version int
	header          http.Header
	body            string
	tls             *tls.ConnectionState
}

func fetch(t *testing.T, c *http.Client, url string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.ProtoMajor, res.Header, string(body), res.TLS}
}

// With a certificate of one's own: one name for everything, over HTTP/2, with
// HSTS; a redirect that keeps the path; STARTTLS with the same certificate; and a
// new certificate without a restart.
func TestOwnCertificate(t *testing.T) {
	s := domainSettings(t, db.SQLite)
	dir := t.TempDir()
	s.TLS.Cert, s.TLS.Key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	leaf := ownCertificate(t, &s, time.Now().Add(-time.Hour))
	if err := s.FillAndValidate(false); err != nil {
		t.Fatal(err)
	}
	serve(t, s)
	client := trusting(&s, leaf)
	for path, want := range map[string]string{"/healthz": "ok", "/v1/openapi.json": `"url":"https://desk.example.com"`,
		"/.well-known/oauth-protected-resource/mcp": `"https://desk.example.com/mcp"`} {
		r := fetch(t, client, "https://"+deskName+path)
		if r.status != 200 || !strings.Contains(strings.ReplaceAll(r.body, `": "`, `":"`), want) {
			t.Errorf("%s: %d %.300s", path, r.status, r.body)
		}
		if r.version != 2 || r.header.Get("Strict-Transport-Security") != "max-age=31536000" {
			t.Errorf("%s: HTTP/%d, %q", path, r.version, r.header)
		}
	}
	if r := fetch(t, client, "https://"+deskName+"/mcp"); r.status != 401 && r.status != 405 {
		t.Errorf("the agent connection: %d %s", r.status, r.body)
	}
	r := fetch(t, client, "http://"+deskName+"/inbox/a%2Fb?q=1&r=%20")
	if got := r.header.Get("Location"); r.status != 308 || got != "https://desk.example.com/inbox/a%2Fb?q=1&r=%20" {
		t.Errorf("%d to %s", r.status, got)
	}
	if r.header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS over http") // RFC 6797 §7.2
	}
	mail, err := smtp.Dial(s.MailServer.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer mail.Close()
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	inside := &tls.Config{RootCAs: roots, ServerName: deskName, MinVersion: tls.VersionTLS12}
	if err := mail.StartTLS(inside); err != nil {
		t.Error(err)
	}
	next := ownCertificate(t, &s, time.Now())
	r = fetch(t, trusting(&s, next), "https://"+deskName+"/healthz")
	if !r.tls.PeerCertificates[0].Equal(next) {
		t.Error("the new certificate is not shown")
	}
}

// The redirect goes to our own name and nowhere else, whatever the request says.
func TestAttackRedirect(t *testing.T) {
	s := domainSettings(t, db.SQLite)
	if err := s.FillAndValidate(false); err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	server := httptest.NewServer(a.RedirectHandler())
	defer server.Close()
	send := func(lines ...string) (status string, header http.Header) {
		t.Helper()
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := bytes.Cut(text, []byte("\r\n\r\n"))
		first, rest, _ := strings.Cut(string(head), "\r\n")
		header = http.Header{}
		for line := range strings.SplitSeq(rest, "\r\n") {
			name, value, _ := strings.Cut(line, ": ")
			header.Add(name, value)
		}
		return first, header
	}
	for _, c := range []struct{ request, host, want string }{
		{"GET / HTTP/1.1", "evil.example", "/"},
		{"GET /a HTTP/1.1", "desk.example.com.evil.example", "/a"},
		{"GET /a HTTP/1.1", "desk.example.com@evil.example", "/a"},
		{"GET //evil.example/a HTTP/1.1", deskName, "//evil.example/a"},
		{"GET /\\evil.example HTTP/1.1", deskName, "/%5Cevil.example"},
		{"GET http://evil.example/a HTTP/1.1", "evil.example", "/a"},
		{"GET /%0d%0aSet-Cookie:a=b HTTP/1.1", deskName, "/%0d%0aSet-Cookie:a=b"},
		{"GET /../../etc/passwd HTTP/1.1", deskName, "/../../etc/passwd"},
		{"GET /a?next=//evil.example HTTP/1.1", deskName, "/a?next=//evil.example"},
		{"POST /v1/contacts HTTP/1.1", deskName, "/v1/contacts"},
		{"OPTIONS * HTTP/1.1", deskName, ""},
	} {
		status, header := send(c.request, "Host: "+c.host, "Connection: close")
		got := header.Get("Location")
		if got == "" && (strings.Contains(status, " 400 ") || strings.HasPrefix(c.request, "OPTIONS")) {
			continue // refused as no valid request, or answered by net/http itself
		}
		if got != "https://"+deskName+c.want || header.Get("Set-Cookie") != "" {
			t.Errorf("%s, Host %s: %s, %q", c.request, c.host, status, got)
		}
	}
	status, header := send("GET /v1/contacts HTTP/1.1", "Host: "+deskName, "Authorization: Bearer x",
		"Connection: close")
	if !strings.Contains(status, "403") || header.Get("Location") != "" {
		t.Errorf("a key in the clear: %s", status)
	}
}

// Certificates are rotated with everything else that is sealed, and neither a
// backup nor an export nor a log has a key in the clear.
func TestCertificatesAreSealed(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		a := apptest.Start(t, e)
		box := func() *secret.Box {
			t.Helper()
			b, err := secret.ReadBox(a.Settings.SealingKeyPath())
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		const name, key = "certificates/ca/a/a.key", "-----BEGIN PRIVATE KEY----- very secret"
		storage := certificate.NewStorage(a.DB, box(), a.Log)
		if err := storage.Store(t.Context(), name, []byte(key)); err != nil {
			t.Fatal(err)
		}
		rotate(t, a, false)
		if e == db.Postgres {
			rotate(t, a, true)
		}
		if n := box().KeyNumbers(); len(n) != 1 || n[0] == 1 {
			t.Errorf("keys %v", n)
		}
		storage = certificate.NewStorage(a.DB, box(), a.Log)
		if v, err := storage.Load(t.Context(), name); err != nil || string(v) != key {
			t.Errorf("%q, %v", v, err)
		}
		dir := t.TempDir()
		if _, err := a.Admin.RunTask(t.Context(), "backup",
			app.BackupTask{Path: filepath.Join(dir, "backup")}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Admin.RunTask(t.Context(), "organizations.export",
			app.ExportTask{ID: a.Org, Out: filepath.Join(dir, "export")}, nil); err != nil {
			t.Fatal(err)
		}
		seen := 0
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			seen++
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte("very secret")) || strings.Contains(path, "certificate_") {
				t.Errorf("%s has it", path)
			}
			return err
		})
		if err != nil || seen < 5 {
			t.Errorf("%d files, %v", seen, err)
		}
		if strings.Contains(a.Logs.String(), "very secret") {
			t.Error("the log has it")
		}
	})
}

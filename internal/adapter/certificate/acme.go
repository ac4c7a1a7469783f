// Package certificate gives the server its TLS certificate: one that it obtains
// and renews by ACME, shared by all processes over the database, or one from the
// operator's files (files.go).
//
// certmagic does the work of ACME. This package gives it a storage in the service's
// database (store.go), with locks that end when their process dies (lock.go), and
// passes its log on (log.go). ACME makes the TLS configurations for the web and the
// mail server from what is stored, and answers the authority's challenges.
//
// It never obtains a certificate for any other name than the configured one, and
// never stores a private key unsealed. Start reading at ACME.Start.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// Config is what ACME needs. All fields but Email, Root and Redirect are required.
type Config struct {
	DB   *db.DB
	Seal op.Sealer
	Log  *slog.Logger

	Domain    string        // the one name that has a certificate
	Directory string        // of the certificate authority
	Email     string        // where the authority can reach the operator
	Root      string        // a file with the root certificates of an authority that is not public
	Listen    string        // where https is served
	Redirect  string        // where http is served; empty for nowhere
	Check     time.Duration // between two looks whether the certificate needs renewal
}

// ACME obtains the certificate of one name and renews it. Of several processes one
// does it, and the others take it from the database.
type ACME struct {
	cfg   Config
	roots *x509.CertPool
	store *store
	magic atomic.Pointer[certmagic.Config] // nil until Start
	cache *certmagic.Cache

	started chan struct{} // closed by Start once a stored certificate is loaded
	once    sync.Once
}

// New reads the root certificates, and starts nothing.
func New(c Config) (*ACME, error) {
	config.RequireFields(c, "DB", "Seal", "Log", "Domain", "Directory", "Listen", "Check")
	a := &ACME{cfg: c, store: newStore(c.DB, c.Seal, c.Log), started: make(chan struct{})}
	if c.Root != "" {
		text, err := os.ReadFile(c.Root)
		if err != nil {
			return nil, fmt.Errorf("--acme-root: %w", err)
		}
		a.roots = x509.NewCertPool()
		if !a.roots.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--acme-root: %s holds no certificate in PEM form", c.Root)
		}
	}
	return a, nil
}

// Start takes the certificate from the database, or begins to obtain one in the
// background, and looks after it until ctx ends and Stop is called. The listeners
// are open by then: the authority connects to them.
func (a *ACME) Start(ctx context.Context) error {
	log := zap.New(logCore{log: a.cfg.Log})
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return a.magic.Load(), nil },
		RenewCheckInterval: a.cfg.Check,
		Logger:             log,
	})
	magic := certmagic.New(a.cache, certmagic.Config{
		Storage:           a.store,
		Logger:            log,
		DefaultServerName: a.cfg.Domain,
		OnEvent:           a.logEvent,
	})
	issuer, err := a.newIssuer(magic, log)
	if err != nil {
		return err
	}
	magic.Issuers = []certmagic.Issuer{issuer}
	if err := a.removeMismatchedPair(ctx, issuer.IssuerKey()); err != nil {
		return err
	}
	a.magic.Store(magic)
	_, err = magic.CacheManagedCertificate(ctx, a.cfg.Domain)
	a.once.Do(func() { close(a.started) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return magic.ManageAsync(ctx, []string{a.cfg.Domain})
	case err != nil:
		return fmt.Errorf("the stored certificate: %w", err)
	}
	go a.cache.RenewManagedCertificates(ctx) //nolint:errcheck // it is logged, and tried again at the next check
	return nil
}

// newIssuer is the authority, and how it reaches us.
func (a *ACME) newIssuer(magic *certmagic.Config, log *zap.Logger) (*certmagic.ACMEIssuer, error) {
	template := certmagic.ACMEIssuer{
		CA:                   a.cfg.Directory,
		Email:                a.cfg.Email,
		Agreed:               true, // to the authority's terms: the guide says that setting --domain agrees
		TrustedRoots:         a.roots,
		Logger:               log,
		DisableHTTPChallenge: a.cfg.Redirect == "",
	}
	host, port, err := splitAddress(a.cfg.Listen)
	if err != nil {
		return nil, err
	}
	template.ListenHost, template.AltTLSALPNPort = host, port
	if a.cfg.Redirect != "" {
		if _, template.AltHTTPPort, err = splitAddress(a.cfg.Redirect); err != nil {
			return nil, err
		}
	}
	return certmagic.NewACMEIssuer(magic, template), nil
}

func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	return host, port, err
}

// removeMismatchedPair removes a stored certificate that does not match the stored key. certmagic
// stores the two one after the other, and the process may have been killed in between.
func (a *ACME) removeMismatchedPair(ctx context.Context, issuer string) error {
	chain, err1 := a.store.Load(ctx, certmagic.StorageKeys.SiteCert(issuer, a.cfg.Domain))
	key, err2 := a.store.Load(ctx, certmagic.StorageKeys.SitePrivateKey(issuer, a.cfg.Domain))
	if err1 != nil || err2 != nil {
		return nil // there is none, or only half of it, which counts as none
	}
	if _, err := tls.X509KeyPair(chain, key); err == nil {
		return nil
	}
	a.cfg.Log.WarnContext(ctx, "the stored certificate was incomplete; obtaining another one", "domain", a.cfg.Domain)
	return a.store.Delete(ctx, certmagic.StorageKeys.CertsSitePrefix(issuer, a.cfg.Domain))
}

// logEvent tells the operator what became of a certificate.
func (a *ACME) logEvent(ctx context.Context, event string, data map[string]any) error {
	switch event {
	case "cert_obtained":
		a.cfg.Log.InfoContext(ctx, "certificate obtained", "domain", a.cfg.Domain, "renewal", data["renewal"])
	case "cert_failed":
		a.cfg.Log.ErrorContext(ctx, "no certificate; it is tried again by itself. The name must lead to this server, "+
			"and its ports 80 and 443 must be reachable from outside",
			"domain", a.cfg.Domain, "directory", a.cfg.Directory, "err", data["error"])
	}
	return nil
}

// Stop ends the maintenance of certificates.
func (a *ACME) Stop(context.Context) error {
	if a.cache != nil {
		a.cache.Stop()
	}
	return nil
}

var (
	errOtherName      = errors.New("this server has no certificate for that name")
	errNotObtainedYet = errors.New("the certificate has not been obtained yet")
)

// Web is for https: HTTP/2, and the authority's challenges. It shows the
// certificate to clients that ask for its name or for none.
func (a *ACME) Web() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1", "acme-tls/1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			// Refused before certmagic sees it, which would look any name up in the database.
			name := strings.TrimSuffix(strings.ToLower(hello.ServerName), ".")
			if name != "" && name != a.cfg.Domain {
				return nil, errOtherName
			}
			return a.waitForCertificate(hello)
		},
	}
}

// Mail is for STARTTLS. Mail servers ask for the name in the MX record or for any
// other, and most accept whatever certificate they get, so every name gets this one.
func (a *ACME) Mail() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			own := *hello
			own.ServerName, own.SupportedProtos = a.cfg.Domain, nil
			return a.waitForCertificate(&own)
		},
	}
}

// startTimeout is how long a connection waits for Start. With socket activation, systemd
// accepts connections before this process has started.
const startTimeout = 10 * time.Second

// waitForCertificate waits for Start, and then asks certmagic for the certificate.
func (a *ACME) waitForCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	select {
	case <-a.started:
	case <-time.After(startTimeout):
	}
	magic := a.magic.Load()
	if magic == nil {
		return nil, errNotObtainedYet
	}
	return magic.GetCertificate(hello)
}

// challengePath is where an authority looks for the answer to its challenge
// (RFC 8555 §8.3). Behind it is a token, base64url.
const challengePath = "/.well-known/acme-challenge/"

var challengeToken = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// AnswerChallenges answers the authority's HTTP challenges, also those that another process
// began. Every other request goes to next.
func (a *ACME) AnswerChallenges(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.URL.Path, challengePath)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		// Only what can be a challenge for our name reaches the database.
		if magic := a.magic.Load(); magic != nil && r.Method == http.MethodGet &&
			challengeToken.MatchString(token) && strings.EqualFold(hostWithoutPort(r.Host), a.cfg.Domain) {
			if issuer, ok := magic.Issuers[0].(*certmagic.ACMEIssuer); ok && issuer.HandleHTTPChallenge(w, r) {
				return
			}
		}
		http.Error(w, "There is no such challenge.", http.StatusNotFound)
	})
}

// hostWithoutPort is the name in a Host header.
func hostWithoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(host, ".")
}

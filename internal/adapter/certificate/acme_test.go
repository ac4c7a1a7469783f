package certificate

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"

	"github.com/caddyserver/certmagic"
)

// pair is a certificate for some names, with its key, as an authority would sign it.
func pair(t *testing.T, names ...string) (chain, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: serial, DNSNames: names, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(90 * 24 * time.Hour), BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

const domain = "desk.example.com"

// obtained is an ACME over a store that has the certificate already.
func obtained(t *testing.T, s *store, logs *bytes.Buffer, chain, key []byte) *ACME {
	t.Helper()
	log := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, err := New(Config{DB: s.db, Seal: s.seal, Log: log, Domain: domain,
		Directory: "https://127.0.0.1:1/directory", Listen: "127.0.0.1:1", Redirect: "127.0.0.1:1", Check: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	a.store = s
	const issuer = "127.0.0.1-1-directory"
	for name, value := range map[string][]byte{
		certmagic.StorageKeys.SiteCert(issuer, domain):       chain,
		certmagic.StorageKeys.SitePrivateKey(issuer, domain): key,
		certmagic.StorageKeys.SiteMeta(issuer, domain):       []byte(`{"sans": ["` + domain + `"]}`),
	} {
		if err := s.Store(t.Context(), name, value); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); a.Stop(context.Background()) }) //nolint:errcheck // it returns none
	return a
}

// shake is a handshake with a server, which shows a certificate or refuses.
func shake(t *testing.T, server, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		tls.Server(c, server).HandshakeContext(t.Context()) //nolint:errcheck // the client tells
	}()
	client.InsecureSkipVerify = true // the certificate is looked at below
	c, err := (&tls.Dialer{Config: client}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer c.Close()
	return c.(*tls.Conn).ConnectionState(), nil
}

// The certificate is shown for its own name and for none. Another name, also one
// that an authority would ask for, gets no certificate and no look at the database.
func TestNames(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		chain, key := pair(t, domain)
		var logs bytes.Buffer
		a := obtained(t, s, &logs, chain, key)
		for _, c := range []struct {
			name   string
			protos []string
			proto  string // spoken then
			ok     bool
		}{
			{domain, []string{"h2", "http/1.1"}, "h2", true},
			{"DESK.example.com", []string{"http/1.1"}, "http/1.1", true},
			{"", nil, "", true},
			{"other.example.com", nil, "", false},
			{"neighbour.example", []string{"h2"}, "", false},
			{"neighbour.example", []string{"acme-tls/1"}, "", false},
			{domain, []string{"acme-tls/1"}, "", false}, // no challenge is under way
		} {
			state, err := shake(t, a.Web(), &tls.Config{ServerName: c.name, NextProtos: c.protos})
			if (err == nil) != c.ok || err == nil && (state.NegotiatedProtocol != c.proto ||
				state.PeerCertificates[0].VerifyHostname(domain) != nil) {
				t.Errorf("%q %v: %v, %q", c.name, c.protos, err, state.NegotiatedProtocol)
			}
		}
		for _, name := range []string{"", domain, "mx.example.com"} { // mail servers ask for anything
			state, err := shake(t, a.Mail(), &tls.Config{ServerName: name})
			if err != nil || state.PeerCertificates[0].VerifyHostname(domain) != nil {
				t.Errorf("mail to %q: %v", name, err)
			}
		}
		keys, err := s.List(t.Context(), "", true)
		if err != nil || strings.Contains(strings.Join(keys, " "), "neighbour") {
			t.Errorf("%q, %v", keys, err)
		}
		if body := strings.Split(string(key), "\n")[1]; strings.Contains(logs.String(), body) {
			t.Error("the key is in the log")
		}
	})
}

// A process that was killed between storing a key and its certificate leaves a pair
// that does not fit. It is given up, so that another one is obtained.
func TestHalfStoredCertificate(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		chain, _ := pair(t, domain)
		_, key := pair(t, domain)
		var logs bytes.Buffer
		a := obtained(t, s, &logs, chain, key)
		if _, err := s.Load(t.Context(), certmagic.StorageKeys.SiteCert("127.0.0.1-1-directory", domain)); err == nil {
			t.Error("the pair that does not fit is kept")
		}
		if _, err := shake(t, a.Web(), &tls.Config{ServerName: domain}); err == nil {
			t.Error("a certificate is shown")
		}
	})
}

// Only the answer to a challenge of our own is given, to whoever asks for it by our
// name and its exact path.
func TestAttackChallenges(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		chain, key := pair(t, domain)
		var logs bytes.Buffer
		a := obtained(t, s, &logs, chain, key)
		const token = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"
		err := s.Store(t.Context(), "acme/127.0.0.1-1-directory/challenge_tokens/"+domain+".json",
			[]byte(`{"type": "http-01", "token": "`+token+`", "keyAuthorization": "`+token+`.thumb",
				"identifier": {"type": "dns", "value": "`+domain+`"}}`))
		if err != nil {
			t.Fatal(err)
		}
		h := a.AnswerChallenges(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
		}))
		ask := func(method, host, path string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://x/", nil)
			r.Host, r.URL.Path = host, path
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		if w := ask("GET", domain, challengePath+token); w.Code != 200 || w.Body.String() != token+".thumb" {
			t.Errorf("%d %s\n%s", w.Code, w.Body, &logs)
		}
		for _, c := range []struct {
			method, host, path string
			want               int
		}{
			{"GET", domain + ":80", challengePath + token, 200},
			{"GET", "neighbour.example", challengePath + token, 404},
			{"GET", "127.0.0.1", challengePath + token, 404},
			{"GET", "", challengePath + token, 404},
			{"POST", domain, challengePath + token, 404},
			{"GET", domain, challengePath + token + "x", 404},
			{"GET", domain, challengePath, 404},
			{"GET", domain, challengePath + "../../../etc/passwd", 404},
			{"GET", domain, challengePath + "../challenge_tokens/" + domain + ".json", 404},
			{"GET", domain, challengePath + "a/b", 404},
			{"GET", domain, challengePath + "<script>", 404},
			{"GET", domain, challengePath + strings.Repeat("a", 300), 404},
			{"GET", domain + "/../" + "x", challengePath + token, 404},
			{"GET", domain, "/.well-known/acme-challenge", http.StatusTeapot},
			{"GET", domain, "/v1/contacts", http.StatusTeapot},
		} {
			if w := ask(c.method, c.host, c.path); w.Code != c.want {
				t.Errorf("%s %s %s: %d %s", c.method, c.host, c.path, w.Code, w.Body)
			}
		}
	})
}

// Two processes over one database: what one obtained, the other shows after its
// next look.
func TestShared(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		if s.db.Engine() == db.SQLite {
			return // one process owns the file
		}
		chain, key := pair(t, domain)
		var logs bytes.Buffer
		obtained(t, s, &logs, chain, key)
		other, err := New(Config{DB: s.db, Seal: s.seal, Log: s.log, Domain: domain,
			Directory: "https://127.0.0.1:1/directory", Listen: "127.0.0.1:1", Check: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer other.Stop(t.Context()) //nolint:errcheck // it returns none
		state, err := shake(t, other.Web(), &tls.Config{ServerName: domain})
		block, _ := pem.Decode(chain)
		if err != nil || !bytes.Equal(state.PeerCertificates[0].Raw, block.Bytes) {
			t.Errorf("it shows another one: %v\n%s", err, &logs)
		}
	})
}

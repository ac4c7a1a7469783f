package apptest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// IdentityProvider is an OpenID Connect provider that does what a test says,
// including what no honest one would do.
type IdentityProvider struct {
	URL    string
	Client string
	Secret string

	// Claims is what it says about the person who signs in.
	Claims map[string]any
	// UserInfo is what its userinfo endpoint adds.
	UserInfo map[string]any
	// ChangeDiscovery changes the discovery document, ChangeRedirect the parameters
	// that the browser brings back, ChangeClaims the claims of an ID token, and Token
	// replaces the token itself. Nil changes nothing.
	ChangeDiscovery func(doc map[string]any)
	ChangeRedirect  func(q url.Values)
	ChangeClaims    func(claims map[string]any)
	Token           func(claims map[string]any) string

	t     testing.TB
	key   *rsa.PrivateKey
	mu    sync.Mutex
	codes map[string]url.Values // the requests that codes were given for
}

// NewIdentityProvider starts a provider that runs until the test ends.
func NewIdentityProvider(t testing.TB) *IdentityProvider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &IdentityProvider{Client: "frontdesk", Secret: "a secret of the provider", t: t, key: key,
		codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.serveDiscovery)
	mux.HandleFunc("GET /authorize", p.serveAuthorize)
	mux.HandleFunc("POST /token", p.serveToken)
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) { p.writeJSON(w, p.UserInfo) })
	mux.HandleFunc("GET /jwks", p.serveKeys)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

func (p *IdentityProvider) writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

func (p *IdentityProvider) serveDiscovery(w http.ResponseWriter, _ *http.Request) {
	doc := map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize",
		"token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/jwks", "userinfo_endpoint": p.URL + "/userinfo",
		"id_token_signing_alg_values_supported":          []string{"RS256", "none", "HS256"},
		"authorization_response_iss_parameter_supported": true}
	if p.ChangeDiscovery != nil {
		p.ChangeDiscovery(doc)
	}
	p.writeJSON(w, doc)
}

// serveAuthorize signs the person in at once, and checks the request.
func (p *IdentityProvider) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for _, name := range []string{"state", "nonce", "code_challenge", "redirect_uri"} {
		if q.Get(name) == "" {
			p.t.Errorf("the request has no %s", name)
		}
	}
	if q.Get("client_id") != p.Client || q.Get("code_challenge_method") != "S256" || q.Get("response_type") != "code" {
		p.t.Errorf("the request: %s", q.Encode())
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}
	if p.ChangeRedirect != nil {
		p.ChangeRedirect(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// serveToken exchanges a code for an ID token, once, and checks client and PKCE.
func (p *IdentityProvider) serveToken(w http.ResponseWriter, r *http.Request) {
	client, secret, _ := r.BasicAuth()
	p.mu.Lock()
	asked, ok := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	p.mu.Unlock()
	if !ok || client != p.Client || secret != url.QueryEscape(p.Secret) ||
		Challenge(r.FormValue("code_verifier")) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		p.writeJSON(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": p.Client, "exp": time.Now().Add(time.Minute).Unix(),
		"iat": time.Now().Unix(), "auth_time": time.Now().Unix(), "nonce": asked.Get("nonce")}
	for name, value := range p.Claims {
		claims[name] = value
	}
	if p.ChangeClaims != nil {
		p.ChangeClaims(claims)
	}
	raw := p.SignToken(claims, p.key)
	if p.Token != nil {
		raw = p.Token(claims)
	}
	p.writeJSON(w, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "id_token": raw})
}

func (p *IdentityProvider) serveKeys(w http.ResponseWriter, _ *http.Request) {
	p.writeJSON(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1",
		"n": encodeBase64URL(p.key.N.Bytes()), "e": encodeBase64URL(big.NewInt(int64(p.key.E)).Bytes())}}})
}

// encodeSigningInput makes the part of a token that is signed: header and claims.
func (p *IdentityProvider) encodeSigningInput(alg string, claims map[string]any) string {
	head, err := json.Marshal(map[string]any{"alg": alg, "kid": "1", "typ": "JWT"})
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	return encodeBase64URL(head) + "." + encodeBase64URL(body)
}

// SignToken is a token signed with a key.
func (p *IdentityProvider) SignToken(claims map[string]any, key *rsa.PrivateKey) string {
	text := p.encodeSigningInput("RS256", claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		p.t.Error(err)
	}
	return text + "." + encodeBase64URL(signature)
}

// UnsignedToken is a token that nobody signed.
func (p *IdentityProvider) UnsignedToken(claims map[string]any) string {
	return p.encodeSigningInput("none", claims) + "."
}

// SignWithSecret is a token signed with the client's own secret, which a careless
// verifier would accept.
func (p *IdentityProvider) SignWithSecret(claims map[string]any) string {
	text := p.encodeSigningInput("HS256", claims)
	mac := hmac.New(sha256.New, []byte(p.Secret))
	mac.Write([]byte(text))
	return text + "." + encodeBase64URL(mac.Sum(nil))
}

// SignInAt signs the person in at the provider, and returns the path and query that
// the browser comes back with.
func (p *IdentityProvider) SignInAt(t testing.TB, address string) string {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	back, err := res.Location()
	if err != nil {
		t.Fatalf("%d: %v", res.StatusCode, err)
	}
	return back.RequestURI()
}

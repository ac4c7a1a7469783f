package console_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// The official client gets from a 401 to a session by itself, except for the
// consent, which a person gives in the browser. Later its token expires.
func TestOfficialClient(t *testing.T) {
	t.Setenv("FRONTDESK_OAUTH_REFRESH_REQUIRES_RESOURCE", "false") // it cannot send the resource on a refresh
	service := serve(t)
	s := open(t)
	setUp(s, service)
	s.visit(service.URL + "/agents/new")
	s.fill("name", "Assistant")
	s.do(chromedp.Click(chromedp.CSS(`input[value="all"]`)))
	s.press("main form button")
	s.has("Created.")
	s.press(`form[action="/sign-out"] button`)

	back := make(chan url.Values, 1)
	callback := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			back <- r.URL.Query()
		}
		io.WriteString(w, "You can close this window.")
	}))
	t.Cleanup(callback.Close)
	redirect := callback.URL + "/callback"

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	asked := make(chan string, 1)
	tokens, requests := &tokenKeeper{}, &requestLog{}
	client := &http.Client{Transport: requests}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect, RequestRefreshToken: true, Client: client,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "The official client",
				RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"}}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult,
			error) {
			asked <- args.URL
			select {
			case q := <-back:
				return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			tokens.fill(ctx, c, token)
			return tokens, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	// It connects, and waits while the person in the browser is asked.
	type connected struct {
		session *mcp.ClientSession
		err     error
	}
	done := make(chan connected, 1)
	go func() {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "judge", Version: "1"}, nil).Connect(ctx,
			&mcp.StreamableClientTransport{Endpoint: service.AgentURL + "/mcp", HTTPClient: client,
				OAuthHandler: handler}, nil)
		done <- connected{session, err}
	}()
	select {
	case address := <-asked:
		s.visit(address)
	case c := <-done:
		t.Fatalf("it did not ask for consent: %v; %v", c.err, requests.all())
	}
	s.fill("email", "ada@example.com", "password", password)
	s.press("main form button")
	s.has("Connect The official client", strings.TrimPrefix(callback.URL, "http://"), "Assistant")
	s.do(chromedp.Click(chromedp.CSS(`.offer:first-child input[name="agent_id"]`)))
	s.press("#approve")
	s.has("You can close this window.")
	c := <-done
	if c.err != nil {
		t.Fatalf("%v; %v", c.err, requests.all())
	}
	defer c.session.Close()
	if got := requests.all(); got[0] != "POST /mcp 401" {
		t.Errorf("it began with %s", got[0])
	}
	requests.has(t, "GET /.well-known/oauth-protected-resource/mcp 200", 1)
	requests.has(t, "GET /.well-known/oauth-authorization-server 200", 1)
	requests.has(t, "POST /oauth/register 201", 1)
	requests.has(t, "POST /oauth/token 200", 1)

	list, err := c.session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"contacts_create", "contacts_list"} {
		if !slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == name }) {
			t.Errorf("no %s among %d tools", name, len(list.Tools))
		}
	}
	call := func(name string, arguments map[string]any, want string) {
		t.Helper()
		r, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil || r.IsError || len(r.Content) == 0 {
			t.Fatalf("%s: %+v %v", name, r, err)
		}
		if text, ok := r.Content[0].(*mcp.TextContent); !ok || !strings.Contains(text.Text, want) {
			t.Fatalf("%s: no %s in %+v", name, want, r.Content[0])
		}
	}
	call("contacts_create", map[string]any{"firstName": "Grace", "idempotencyKey": "first"}, `"firstName":"Grace"`)
	call("contacts_list", map[string]any{}, `"firstName":"Grace"`)
	requests.has(t, "POST /oauth/token 200", 1)

	// Its token expires: it refreshes, once, and asks nobody.
	before := tokens.expire()
	call("contacts_list", map[string]any{}, `"firstName":"Grace"`)
	call("contacts_create", map[string]any{"firstName": "Mary", "idempotencyKey": "second"}, `"firstName":"Mary"`)
	requests.has(t, "POST /oauth/token 200", 2)
	requests.has(t, "POST /oauth/register 201", 1)
	requests.has(t, "POST /mcp 401", 1)
	if after, err := tokens.Token(); err != nil || after.AccessToken == before.AccessToken ||
		after.RefreshToken == before.RefreshToken {
		t.Errorf("the tokens after the refresh are those before it, or none: %v", err)
	}
	asks(t, s, service, c.session, tokens)
	t.Logf("protocol %s, %d tools", c.session.InitializeResult().ProtocolVersion, len(list.Tools))
}

// tokenKeeper is a source of tokens that can be made to expire.
type tokenKeeper struct {
	mu     sync.Mutex
	source oauth2.TokenSource
	renew  func(*oauth2.Token) oauth2.TokenSource
	last   oauth2.Token
}

func (p *tokenKeeper) fill(ctx context.Context, c *oauth2.Config, token *oauth2.Token) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.renew = func(token *oauth2.Token) oauth2.TokenSource { return c.TokenSource(ctx, token) }
	p.source, p.last = p.renew(token), *token
}

func (p *tokenKeeper) Token() (*oauth2.Token, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token, err := p.source.Token()
	if err == nil {
		p.last = *token
	}
	return token, err
}

// expire makes the current token expire and returns it.
func (p *tokenKeeper) expire() oauth2.Token {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.last
	old.Expiry = time.Now().Add(-time.Hour)
	p.source = p.renew(&old)
	return p.last
}

// requestLog records what a client requested and the status it got.
type requestLog struct {
	mu    sync.Mutex
	steps []string
}

func (l *requestLog) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(req)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.steps = append(l.steps, fmt.Sprintf("%s %s: %v", req.Method, req.URL.Path, err))
		return nil, err
	}
	l.steps = append(l.steps, fmt.Sprintf("%s %s %d", req.Method, req.URL.Path, res.StatusCode))
	return res, nil
}

func (l *requestLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.steps)
}

func (l *requestLog) has(t *testing.T, step string, times int) {
	t.Helper()
	n := 0
	for _, s := range l.all() {
		if s == step {
			n++
		}
	}
	if n != times {
		t.Errorf("%s: %d times in place of %d: %v", step, n, times, l.all())
	}
}

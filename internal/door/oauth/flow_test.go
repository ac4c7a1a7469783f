package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// connect lets the official client find its way from a 401 to a session:
// metadata, registration, authorization, consent, token.
func connect(t *testing.T, a *apptest.App, refreshAtOnce bool) (*sdk.ClientSession, error) {
	t.Helper()
	return connectWith(t, a, refreshAtOnce, nil)
}

func connectWith(t *testing.T, a *apptest.App, refreshAtOnce bool, options *sdk.ClientOptions) (*sdk.ClientSession,
	error) {
	t.Helper()
	agent := a.NewAgent(t, a.Tenant, "all")
	browser := &http.Client{CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: apptest.Callback, RequestRefreshToken: true,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "The official client", RedirectURIs: []string{apptest.Callback},
				GrantTypes: []string{"authorization_code", "refresh_token"}}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult,
			error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
			if err != nil {
				return nil, err
			}
			res, err := browser.Do(req)
			if err != nil {
				return nil, err
			}
			defer res.Body.Close()
			q := a.ApproveConsent(t, res.Header.Get("Location"), a.OwnerID, agent).Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			if until := time.Until(token.Expiry); until < 59*time.Minute || until > 61*time.Minute ||
				token.RefreshToken == "" {
				t.Errorf("token: expires in %s, refresh token %t", until, token.RefreshToken != "")
			}
			if refreshAtOnce {
				token.Expiry = time.Now().Add(-time.Hour)
			}
			return c.TokenSource(ctx, token), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: a.Settings.MCPURL + "/mcp", OAuthHandler: handler}, nil)
}

func TestOfficialClient(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.OAuth.RefreshRequiresResource = false // the client cannot send the resource on a refresh
		a := apptest.StartWith(t, s)
		session, err := connect(t, a, true)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		t.Logf("protocol %s", session.InitializeResult().ProtocolVersion)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) < 20 {
			t.Fatalf("%v %v", list, err)
		}
		r, err := session.CallTool(t.Context(),
			&sdk.CallToolParams{Name: "contacts_create",
				Arguments: map[string]any{"firstName": "Ada", "idempotencyKey": "k"}})
		if err != nil || r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, `"firstName":"Ada"`) {
			t.Fatalf("%v %v", r, err)
		}
		if r, err = session.CallTool(t.Context(),
			&sdk.CallToolParams{Name: "contacts_create", Arguments: map[string]any{}}); err != nil || !r.IsError {
			t.Errorf("%v %v", r, err)
		}
		if got := a.Events(t, "agent.connected", "contact."); got != "agent.connected contact.created" {
			t.Errorf("events %q", got)
		}
	})
}

// As the specification says, a refresh without the resource is refused.
func TestRefreshNeedsResource(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	if s, err := connect(t, a, true); err == nil {
		defer s.Close()
		t.Error("the official client refreshed without a resource")
	}
	session, err := connect(t, a, false)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// If the address has a path, everything is found below it.
func TestBelowAPath(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	s.MCPURL = "https://example.com/agents"
	a := apptest.StartWith(t, s)
	r := a.Agents(t, http.MethodPost, "/agents/mcp", "{}")
	want := "https://example.com/.well-known/oauth-protected-resource/agents/mcp"
	if r.Status != 401 || !strings.Contains(r.Header.Get("WWW-Authenticate"), want) {
		t.Fatalf("%d %v", r.Status, r.Header)
	}
	u, _ := url.Parse(want)
	a.Agents(t, http.MethodGet, u.Path, "").ParseJSON(t).Same("resource", "https://example.com/agents/mcp")
	a.Agents(t, http.MethodGet, "/.well-known/oauth-authorization-server/agents",
		"").ParseJSON(t).Same("authorization_endpoint", "https://example.com/agents/oauth/authorize")
}

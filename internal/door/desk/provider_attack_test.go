package desk_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/secret"
)

// lied signs the owner in with one claim of the token changed.
func lied(name string, value any) func(h *house, b *browser) page {
	return func(h *house, b *browser) page {
		h.provider.ChangeClaims = func(claims map[string]any) {
			claims[name] = value
			if value == nil {
				delete(claims, name)
			}
		}
		return h.signIn(b)
	}
}

// returned signs the owner in with one parameter of the way back changed.
func returned(name, value string) func(h *house, b *browser) page {
	return func(h *house, b *browser) page {
		h.provider.ChangeRedirect = func(q url.Values) {
			q.Set(name, value)
			if value == "" {
				q.Del(name)
			}
		}
		return h.signIn(b)
	}
}

// attacks on the way through the provider. Nobody is signed in by any of them.
var providerAttacks = []struct {
	name   string
	status int
	says   string
	try    func(h *house, b *browser) page
}{
	{"missing state", 401, "took too long", returned("state", "")},
	{"foreign state", 401, "took too long", returned("state", "AAAA")},
	{"state and code of the attacker's own visit", 401, "took too long", func(h *house, b *browser) page {
		h.begin(b, "%2F")
		h.person("eve", "eve@example.com")
		return b.get(h.begin(visit(h.t, h.URL), "%2F"))
	}},
	{"code of the attacker with the victim's state", 401, "not accepted", func(h *house, b *browser) page {
		mine, err := url.Parse(h.begin(b, "%2F"))
		if err != nil {
			h.t.Fatal(err)
		}
		theirs, err := url.Parse(h.begin(visit(h.t, h.URL), "%2F"))
		if err != nil {
			h.t.Fatal(err)
		}
		q := mine.Query()
		q.Set("code", theirs.Query().Get("code"))
		return b.get(mine.Path + "?" + q.Encode())
	}},
	{"another browser", 401, "took too long", func(h *house, b *browser) page {
		back := h.begin(visit(h.t, h.URL), "%2F")
		return b.get(back)
	}},
	{"made-up visit", 401, "took too long", func(h *house, b *browser) page {
		u, _ := url.Parse(b.site)
		b.http.Jar.SetCookies(u, []*http.Cookie{{Name: "frontdesk_provider", Value: secret.NewToken("fdo_")}})
		return b.get("/sign-in/provider/callback?code=x&state=y")
	}},
	{"replayed way back", 401, "took too long", func(h *house, b *browser) page {
		back := h.begin(b, "%2F")
		token := ""
		u, _ := url.Parse(b.site)
		for _, c := range b.http.Jar.Cookies(u) {
			if c.Name == "frontdesk_provider" {
				token = c.Value
			}
		}
		b.get(back).at("/", "Today")
		b.post("/sign-out")
		b.http.Jar.SetCookies(u, []*http.Cookie{{Name: "frontdesk_provider", Value: token}})
		return b.get(back)
	}},
	{"visit that expired", 401, "took too long", func(h *house, b *browser) page {
		back := h.begin(b, "%2F")
		exec(h.t, h.App, "UPDATE provider_visits SET expires_at = created_at")
		return b.get(back)
	}},
	{"mixed-up issuer", 401, "not accepted", returned("iss", "https://other.example")},
	{"issuer missing where it was promised", 401, "not accepted", returned("iss", "")},
	{"made-up code", 401, "not accepted", returned("code", "made-up")},
	{"no code", 401, "not accepted", returned("code", "")},
	{"refusal of the provider", 403, "refused, or you changed your mind", returned("error", "access_denied")},
	{"missing nonce", 401, "not accepted", lied("nonce", nil)},
	{"wrong nonce", 401, "not accepted", lied("nonce", "AAAA")},
	{"token of another issuer", 401, "not accepted", lied("iss", "https://other.example")},
	{"token for another audience", 401, "not accepted", lied("aud", "somebody else")},
	{"token for several audiences", 401, "not accepted", lied("aud", []string{"frontdesk", "somebody else"})},
	{"token of another party", 401, "not accepted", lied("azp", "somebody else")},
	{"token without a subject", 401, "not accepted", lied("sub", "")},
	{"expired token", 401, "not accepted", lied("exp", time.Now().Add(-time.Hour).Unix())},
	{"algorithm none", 401, "not accepted", func(h *house, b *browser) page {
		h.provider.Token = h.provider.UnsignedToken
		return h.signIn(b)
	}},
	{"signed with the client's secret", 401, "not accepted", func(h *house, b *browser) page {
		h.provider.Token = h.provider.SignWithSecret
		return h.signIn(b)
	}},
	{"signed with another key", 401, "not accepted", func(h *house, b *browser) page {
		other, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			h.t.Fatal(err)
		}
		h.provider.Token = func(claims map[string]any) string { return h.provider.SignToken(claims, other) }
		return h.signIn(b)
	}},
	{"no token", 401, "not accepted", func(h *house, b *browser) page {
		h.provider.Token = func(map[string]any) string { return "" }
		return h.signIn(b)
	}},
	{"unverified address", 403, "has not verified your address", lied("email_verified", false)},
	{"address without a word on verification", 403, "has not verified", lied("email_verified", nil)},
	{"userinfo of somebody else", 401, "not accepted", func(h *house, b *browser) page {
		delete(h.provider.Claims, "email")
		h.provider.UserInfo = map[string]any{"sub": "boss", "email": h.Owner, "email_verified": true}
		return h.signIn(b)
	}},
	{"verification of another address", 403, "has not verified", func(h *house, b *browser) page {
		// The token verifies nothing; userinfo verifies some other address.
		h.provider.Claims["email_verified"] = false
		h.provider.UserInfo = map[string]any{"sub": "ada", "email": "x@example.com", "email_verified": true,
			"groups": []string{}}
		return h.signIn(b)
	}},
	{"somebody unknown", 403, "You have no account here", func(h *house, b *browser) page {
		h.person("eve", "eve@example.com")
		return h.signIn(b)
	}},
	{"address that belongs to another subject now", 409, "belongs to somebody else", func(h *house, b *browser) page {
		h.signIn(visit(h.t, h.URL)).at("/")
		h.person("newcomer", h.Owner)
		return h.signIn(b)
	}},
	{"disabled user", 403, "This user is disabled", func(h *house, b *browser) page {
		h.signIn(visit(h.t, h.URL)).at("/")
		h.AsOperator(h.t, "users.disable", "", "", fmt.Sprintf(`{"email": %q}`, h.Owner))
		return h.signIn(b)
	}},
	{"confirmation without signing in again", 401, "did not ask you to sign in again", func(h *house, b *browser) page {
		h.provider.ChangeClaims = func(claims map[string]any) {
			claims["auth_time"] = time.Now().Add(-time.Hour).Unix()
		}
		p := b.get("/sign-in/provider?fresh=yes")
		return b.get(h.provider.SignInAt(h.t, p.Header.Get("Location")))
	}},
}

func TestAttackProvider(t *testing.T) {
	for _, attack := range providerAttacks {
		t.Run(attack.name, func(t *testing.T) {
			h := openHouse(t, db.SQLite, nil)
			h.person("ada", h.Owner)
			b := visit(t, h.URL)
			attack.try(h, b).refused(attack.status, attack.says)
			if b.cookie() != nil {
				t.Error("the browser has a session")
			}
			b.get("/").at("/sign-in")
		})
	}
	t.Logf("%d attacks refused", len(providerAttacks))
}

// Each of these needs more than one step, on both engines.
func TestAttackProviderAccounts(t *testing.T) {
	eachHouse(t, nil, func(t *testing.T, h *house) {
		t.Run("account made beforehand by somebody else", func(t *testing.T) {
			// Eve, an owner, invites Ada's address, opens the link herself, and adds a factor.
			link := h.operate("invites.create", h.Org, `{"email": "ada@example.com", "role": "member"}`).Text("url")
			eve := visit(t, h.URL)
			path := strings.TrimPrefix(link, h.Settings.BaseURL)
			eve.post(path, "name", "Ada", "password", "the attacker's own").at("/")
			eve.post("/settings/sign-in/confirm", "password", "the attacker's own", "next", "/settings/sign-in/codes")
			key := eve.get("/settings/sign-in/codes").find(`<code>([A-Z2-7 ]+)</code>`)
			recovery := eve.post("/settings/sign-in/codes", "code", code(t, h.App, key)).find(recoveryCode)
			h.person("ada", "ada@example.com")
			h.signIn(visit(t, h.URL)).at("/", "Today")
			eve.get("/").at("/sign-in")
			eve.signIn("ada@example.com", "the attacker's own").refused(401)
			if n := h.count("SELECT count(*) FROM recovery_codes"); n != 0 {
				t.Errorf("%d recovery codes like %s are left", n, recovery)
			}
		})
		t.Run("factor skipped by the provider", func(t *testing.T) {
			b := owner(t, h.App)
			b.post("/settings/sign-in/confirm", "password", "a long password", "next", "/settings/sign-in/codes")
			key := b.get("/settings/sign-in/codes").find(`<code>([A-Z2-7 ]+)</code>`)
			b.post("/settings/sign-in/codes", "code", code(t, h.App, key)).at("/settings/sign-in/codes", "recovery")
			h.person("owner", h.Owner)
			h.provider.Claims["amr"] = []string{"pwd", "mfa"} // which the operator did not say to trust
			other := visit(t, h.URL)
			h.signIn(other).at("/sign-in/second", "One more step")
			other.get("/").at("/sign-in")
			other.get(h.begin(other, "%2Fagents")).at("/sign-in/second?next=%2Fagents")
			other.post("/sign-in/second", "next", "/agents", "code", code(t, h.App, key)).at("/agents")
		})
		t.Run("another site to return to", func(t *testing.T) {
			for _, next := range []string{"https://evil.example/", "//evil.example", "/\\evil.example"} {
				h.person("grace", "grace@example.com")
				h.operate("users.create", h.Org, fmt.Sprintf(
					`{"email": "grace-%s@example.com", "name": "G", "password": "a long password"}`, id.New()))
				b := visit(t, h.URL)
				back := h.begin(b, url.QueryEscape(next))
				if n := h.count("SELECT count(*) FROM provider_visits WHERE next <> '/'"); n != 0 {
					t.Errorf("%s is kept", next)
				}
				b.get(back).refused(403)
			}
		})
		t.Run("planted session", func(t *testing.T) {
			h.person("owner", h.Owner)
			h.provider.Claims["amr"] = nil
			h.AsOperator(t, "users.reset_factors", "", "", fmt.Sprintf(`{"email": %q}`, h.Owner))
			eve, b := owner(t, h.App), visit(t, h.URL)
			planted := eve.cookie().Value
			u, _ := url.Parse(h.URL)
			b.http.Jar.SetCookies(u, []*http.Cookie{{Name: "frontdesk", Value: planted}})
			h.signIn(b).at("/", "Today")
			if b.cookie().Value == planted {
				t.Error("the session was planted")
			}
		})
	})
}

// A group that vanished takes the role, the sessions and the keys with it; a
// provider that sends no groups lets nobody in.
func TestAttackProviderGroups(t *testing.T) {
	eachHouse(t, func(o *config.OIDC) { o.Create, o.Roles = true, []string{"bosses=owner"} },
		func(t *testing.T, h *house) {
			h.person("boss", "boss@example.com", "bosses")
			h.signIn(visit(t, h.URL)).at("/")
			h.person("ada", "ada@example.com", "bosses")
			b := visit(t, h.URL)
			h.signIn(b).at("/")
			keys := "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND organization_id = $1"
			form := b.get("/settings/keys/new").find(`<option value="([0-9a-f-]{36})"`)
			b.post("/settings/keys/new", "name", "Shop", "business_id", form, "expires", "never", "permissions", "*")
			if n := h.count(keys, h.org()); n != 1 {
				t.Fatalf("%d keys", n)
			}
			h.person("ada", "ada@example.com") // says nothing about groups
			h.provider.UserInfo = map[string]any{"sub": "ada"}
			h.signIn(visit(t, h.URL)).refused(403, "sent no groups")
			b.get("/").at("/sign-in")
			if n := h.count("SELECT count(*) FROM memberships WHERE deleted_at IS NULL AND organization_id = $1",
				h.org()); n != 2 {
				t.Errorf("%d members after an answer without groups", n)
			}
			h.person("ada", "ada@example.com", "bosses")
			h.signIn(b).at("/")
			h.person("ada", "ada@example.com", "retired")
			h.signIn(visit(t, h.URL)).refused(403, "no longer belong")
			b.get("/").at("/sign-in")
			if n := h.count(keys, h.org()); n != 0 {
				t.Errorf("%d keys outlive the role", n)
			}
			// The last owner stays, and does not get in.
			h.person("boss", "boss@example.com", "retired")
			h.signIn(visit(t, h.URL)).refused(409, "at least one active owner")
			h.person("eve", "eve@example.com", "bosses=owner", "boss")
			h.signIn(visit(t, h.URL)).refused(403, "None of your groups")
		})
}

// The provider's own second factor counts only where the operator says so.
func TestProviderFactor(t *testing.T) {
	h := openHouse(t, db.SQLite, func(o *config.OIDC) { o.TrustMFA = true })
	exec(t, h.App, "UPDATE organizations SET requires_factor = TRUE WHERE id = $1", h.Org)
	h.person("ada", h.Owner)
	h.signIn(visit(t, h.URL)).at("/settings/sign-in", "Add a second factor")
	h.provider.Claims["amr"] = []string{"otp", "mfa"}
	h.signIn(visit(t, h.URL)).at("/", "Today")
	h.provider.Claims["amr"] = "pwd"
	h.signIn(visit(t, h.URL)).at("/settings/sign-in")
}

// A provider that is another than it says is never asked to sign anybody in.
func TestAttackProviderDiscovery(t *testing.T) {
	h := openHouse(t, db.SQLite, nil)
	h.provider.ChangeDiscovery = func(doc map[string]any) { doc["issuer"] = "https://other.example" }
	visit(t, h.URL).get("/sign-in/provider").refused(503, "does not work right now")
}

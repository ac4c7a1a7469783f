package desk_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Sessions of the console and of agents begin alike, and so do a visit to the identity provider and a client of OAuth.
// None of them is taken for the other.
func TestAttackSharedPrefixes(t *testing.T) {
	eachHouse(t, nil, func(t *testing.T, h *house) {
		door := action.New(h.Runner, h.Catalog, op.ConsoleDoor)
		do := func(operation, input string) (token string, err error) {
			answer, err := door.Do(t.Context(), action.Call{Operation: operation, Input: []byte(input),
				RequestID: string(id.New()), Caller: &op.Caller{Kind: op.UserActor}})
			var out struct {
				Data struct{ Token string }
			}
			if err == nil {
				err = json.Unmarshal(answer.Body, &out)
			}
			return out.Data.Token, err
		}
		must := func(token string, err error) string {
			t.Helper()
			if err != nil || token == "" {
				t.Fatalf("%q, %v", token, err)
			}
			return token
		}
		client, access, _ := h.ConnectAgent(t, h.Tenant, h.NewAgent(t, h.Tenant, "all"))
		login, err := h.Grants.LoginByToken(t.Context(), access)
		if err != nil {
			t.Fatal(err)
		}
		ofAgent := must(h.Grants.OpenSession(t.Context(), login, false))
		ofPerson := must(do("sessions.create",
			fmt.Sprintf(`{"email": %q, "password": "a long password", "address": "192.0.2.7"}`, h.Owner)))
		visit := must(do("sessions.begin_provider", `{"address": "192.0.2.7"}`))
		if client[:4] != visit[:4] || ofAgent[:4] != ofPerson[:4] {
			t.Fatal("they do not begin alike any more, and this test proves nothing")
		}

		for session, open := range map[string]bool{ofAgent: true, ofPerson: false} {
			if l, err := h.Grants.LoginInSession(t.Context(), access, session); err != nil || l.Session != open {
				t.Errorf("a session that is an agent's (%t): %v", open, err)
			}
			if _, err := h.Accounts.SessionByToken(t.Context(), session); (err == nil) == open ||
				open && !fault.IsKind(err, fault.Unauthorized) {
				t.Errorf("a session that is an agent's (%t) in the console: %v", open, err)
			}
		}

		finish := func(token string) error { // with the state that belongs to the token
			mac := hmac.New(sha256.New, []byte(token))
			mac.Write([]byte("state"))
			_, err := do("sessions.finish_provider", fmt.Sprintf(
				`{"token": %q, "state": %q, "code": "x", "address": "192.0.2.7"}`, token,
				base64.RawURLEncoding.EncodeToString(mac.Sum(nil))))
			return err
		}
		if err := finish(client); !fault.IsKind(err, account.SignInExpired) {
			t.Errorf("a client is taken for a visit: %v", err)
		}
		var refused *grant.Error
		if _, err := h.Grants.Ask(t.Context(), url.Values{"client_id": {visit}}); !errors.As(err, &refused) ||
			refused.Code != grant.InvalidClient {
			t.Errorf("a visit is taken for a client: %v", err)
		}
		// Each is taken for what it is.
		if err := finish(visit); err == nil || fault.IsKind(err, account.SignInExpired) {
			t.Errorf("a visit with a wrong code: %v", err)
		}
		if _, err := h.Grants.Ask(t.Context(), url.Values{"client_id": {client}}); !errors.As(err, &refused) ||
			refused.Code != grant.InvalidRequest { // it lacks a redirect URI
			t.Errorf("a client: %v", err)
		}
	})
}

package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

func TestRevoke(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		agent := a.NewAgent(t, a.Tenant, "all")
		revoke := func(client, token string) apptest.Result {
			return a.Agents(t, http.MethodPost, "/oauth/revoke",
				url.Values{"client_id": {client}, "token": {token}}.Encode(),
				"Content-Type", form)
		}
		for _, which := range []int{0, 1} {
			client, access, refresh := a.ConnectAgent(t, a.Tenant, agent)
			token := []string{access, refresh}[which]
			refused(t, "another client", revoke(a.NewClient(t), token), 400, "invalid_grant")
			if _, err := a.Grants.LoginByToken(t.Context(), access); err != nil {
				t.Errorf("another client revoked it: %v", err)
			}
			for range 2 {
				if r := revoke(client, token); r.Status != 200 || len(r.Body) != 0 {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			}
			if _, err := a.Grants.LoginByToken(t.Context(), access); err == nil {
				t.Error("a revoked token works")
			}
			refused(t, "refresh", a.RedeemToken(t, client, "refresh_token", refresh), 400, "invalid_grant")
		}
		if r := revoke("anybody", "unknown"); r.Status != 200 {
			t.Errorf("an unknown token: %d", r.Status)
		}
		refused(t, "no token", revoke("anybody", ""), 400, "invalid_request")
		refused(t, "no client", revoke("", "x"), 401, "invalid_client")

		// And in the console.
		client, access, refresh := a.ConnectAgent(t, a.Tenant, agent)
		if err := a.Grants.FlushLastUsed(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := a.Grants.ListConnections(t.Context(), a.Org)
		if err != nil || len(list) != 1 || list[0].AgentID != agent || list[0].ClientName != "Test client" ||
			list[0].CreatedAt == 0 {
			t.Fatalf("%+v %v", list, err)
		}
		other := a.NewTenant(t, "free")
		if err := a.Grants.Disconnect(t.Context(), other.Org, list[0].ID, other.OwnerID); err == nil {
			t.Error("another organization disconnects it")
		}
		if err := a.Grants.Disconnect(t.Context(), a.Org, list[0].ID, a.OwnerID); err != nil {
			t.Error(err)
		}
		if _, err := a.Grants.LoginByToken(t.Context(), access); err == nil {
			t.Error("a disconnected client works")
		}
		refused(t, "refresh", a.RedeemToken(t, client, "refresh_token", refresh), 400, "invalid_grant")
		if list, _ := a.Grants.ListConnections(t.Context(), a.Org); len(list) != 0 {
			t.Errorf("connections: %+v", list)
		}
	})
}

// Dead agents: the reason is given, and nothing revives the grant.
func TestDeadAgents(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		other := a.NewTenant(t, "free")
		for _, c := range []struct {
			operation, more, reason string
			undo                    func(agent id.ID)
		}{
			{"agents.deactivate", "", "Agent deactivated",
				func(agent id.ID) {
					a.AsOperator(t, "agents.activate", "agent", agent,
						fmt.Sprintf(`{"id": %q}`, agent))
				}},
			{"agents.move", fmt.Sprintf(`, "businessId": %q`, other.Business), "Agent moved to another organization",
				func(agent id.ID) {
					a.AsOperator(t, "agents.move", "agent", agent,
						fmt.Sprintf(`{"id": %q, "businessId": %q}`, agent, a.Business))
				}},
			{"agents.delete", "", "Agent deleted", func(id.ID) {}},
		} {
			agent := a.NewAgent(t, a.Tenant, "all")
			client, access, refresh := a.ConnectAgent(t, a.Tenant, agent)
			late := a.Code(t, client, a.OwnerID, agent)
			session := a.InitializeSession(t, access)
			a.AsOperator(t, c.operation, "agent", agent, fmt.Sprintf(`{"id": %q%s}`, agent, c.more))
			for range 2 {
				r := a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`, session...)
				refused(t, c.operation, r, 401, "invalid_token").Same("error_description", c.reason)
				if !strings.Contains(r.Header.Get("WWW-Authenticate"), c.reason) {
					t.Errorf("%v", r.Header)
				}
				refused(t, c.operation, a.RedeemToken(t, client, "refresh_token", refresh), 400,
					"invalid_grant").Same("error_description", c.reason)
				c.undo(agent)
			}
			refused(t, c.operation, a.RedeemToken(t, client, "authorization_code", late), 400, "invalid_grant")
		}
	})
}

// An agent ends with its business, for its token and for a refresh alike. The
// API deletes no business that has agents, so the row is deleted here.
func TestAgentOfDeletedBusiness(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		second := a.Tenant
		second.Business = a.SendREST(t, a.Key, "POST", "/v1/businesses", `{"name": "Second"}`).OK(t, 201).ID("id")
		a.AsOperator(t, "agreements.accept", "business", second.Business,
			fmt.Sprintf(`{"businessId": %q, "kind": "business", "by": %q}`, second.Business, a.Owner))
		agent := a.NewAgent(t, second, "all")
		client, access, refresh := a.ConnectAgent(t, second, agent)
		late := a.Code(t, client, a.OwnerID, agent)
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "UPDATE businesses SET deleted_at = 1 WHERE organization_id = $1 AND id = $2",
				a.Org,
				second.Business)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		refused(t, "the token", a.SendRPC(t, access, `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`), 401,
			"invalid_token").Same("error_description", "Agent deleted")
		refused(t, "a refresh", a.RedeemToken(t, client, "refresh_token", refresh), 400,
			"invalid_grant").Same("error_description",
			"Agent deleted")
		refused(t, "a code", a.RedeemToken(t, client, "authorization_code", late), 400,
			"invalid_grant").Same("error_description",
			"Agent deleted")
	})
}

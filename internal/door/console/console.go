// Package console is the door for people: pages rendered on the server, forms
// that work without JavaScript, and a session in a cookie. Every change that a
// page makes is an operation, run through the door Console, so that it is
// checked and logged like an API call. Pages show the types that operations
// answer with; the console has no copies of them.
//
// Start reading at Mount, which lists all pages; each is one file with its
// template in pages/. A visit is one request (visit.go), act.go runs
// operations, and form.go shows their refusals at the fields.
package console

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/peer"
)

// Grants is what the console needs from the authorization server: the requests
// that wait for consent, and the connected clients.
type Grants interface {
	Request(ctx context.Context, request id.ID) (*grant.Request, error)
	ApproveRequest(ctx context.Context, request, user, agent id.ID) (redirectURL string, err error)
	DeclineRequest(ctx context.Context, request id.ID) (redirectURL string, err error)
	ListConnections(ctx context.Context, org id.ID) ([]grant.Connection, error)
	Disconnect(ctx context.Context, org, connection, user id.ID) error
}

// Door serves the console.
type Door struct {
	Desk     *desk.Desk // the pages of the business, and the parts of all pages
	Runner   *op.Runner
	Catalog  *op.Catalog
	Accounts *account.Accounts
	Grants   Grants
	Log      *slog.Logger
	BaseURL  string // where people reach the console
	AgentURL string // the address that an agent's client connects to
	Proxies  peer.Proxies
	// CardsAt is the address of the payment provider's own card pages. Empty
	// means that cards are saved in the sandbox.
	CardsAt    string
	Allowances []Allowance
	Storage    map[string]int64 // bytes of files and mail, by plan
}

// Allowance is something that a plan limits per minute.
type Allowance struct {
	Name   string // "API requests"
	ByPlan map[string]int
	Spent  string // what happens once it is used up
	// Look reports what is left and how many wait, and spends nothing.
	Look func(ctx context.Context, org id.ID, plan string) (v limit.Verdict, waiting int, err error)
}

// Mount adds the pages.
func (d *Door) Mount(mux *http.ServeMux) {
	guard := d.guard()
	page := func(who access, routes ...any) {
		for i := 0; i < len(routes); i += 2 {
			mux.Handle(routes[i].(string), guard.Handler(d.page(who, routes[i+1].(func(*visit) error))))
		}
	}
	page(anyone,
		"GET /sign-in", (*visit).signInPage, "POST /sign-in", (*visit).signIn,
		"GET /sign-in/second", (*visit).secondPage, "POST /sign-in/second", (*visit).second,
		"POST /sign-in/passkey", (*visit).secondPasskey,
		"GET /sign-in/provider", (*visit).toProvider, "GET /sign-in/provider/callback", (*visit).fromProvider,
		"GET /sign-in/link/{token}", (*visit).emergencyPage, "POST /sign-in/link/{token}", (*visit).emergency,
		"GET /setup/{token}", (*visit).setupPage, "POST /setup/{token}", (*visit).setUp,
		"GET /join/{token}", (*visit).joinPage, "POST /join/{token}", (*visit).join,
		"GET /forgotten", (*visit).forgottenPage,
		"GET /password/{token}", (*visit).resetPage, "POST /password/{token}", (*visit).reset,
		"/", (*visit).notFound,
	)
	page(signedIn,
		"GET /sign-out", (*visit).signOutPage, "POST /sign-out", (*visit).signOut,
		"GET /setup", (*visit).setupSteps,
		"GET /agreements", (*visit).agreementsPage, "POST /agreements", (*visit).acceptAgreement,
		"GET /consent/{id}", (*visit).consentPage, "POST /consent/{id}", (*visit).consent,
		"GET /settings", (*visit).settings,
		"GET /settings/password", (*visit).passwordPage, "POST /settings/password", (*visit).changePassword,
		"GET /settings/organizations", (*visit).organizationsPage, "POST /settings/organizations",
		(*visit).switchOrganization,
	)
	page(signedIn, signInRoutes...)
	page(signedIn,
		"GET /webhooks", (*visit).webhooksPage,
		"GET /webhooks/new", (*visit).newWebhookPage, "POST /webhooks/new", (*visit).createWebhook,
		"GET /webhooks/{id}", (*visit).webhookPage,
		"GET /webhooks/{id}/edit", (*visit).editWebhookPage, "POST /webhooks/{id}/edit", (*visit).editWebhook,
		"GET /webhooks/{id}/rotate", (*visit).rotateWebhookPage, "POST /webhooks/{id}/rotate", (*visit).rotateWebhook,
		"POST /webhooks/{id}/test", (*visit).testWebhook,
		"POST /webhooks/{id}/enable", (*visit).enableWebhook,
		"GET /webhooks/{id}/disable", (*visit).disableWebhookPage, "POST /webhooks/{id}/disable",
		(*visit).disableWebhook,
		"GET /webhooks/{id}/delete", (*visit).deleteWebhookPage, "POST /webhooks/{id}/delete", (*visit).deleteWebhook,
		"GET /webhooks/{id}/deliveries/{delivery}", (*visit).deliveryPage,
		"POST /webhooks/{id}/deliveries/{delivery}/redeliver", (*visit).redeliver,
		"GET /automations", (*visit).automationsPage,
		"GET /automations/new", (*visit).newAutomationPage, "POST /automations/new", (*visit).createAutomation,
		"GET /automations/{id}", (*visit).automationPage,
		"GET /automations/{id}/edit", (*visit).editAutomationPage, "POST /automations/{id}/edit",
		(*visit).editAutomation,
		"GET /automations/{id}/test", (*visit).testAutomationPage,
		"POST /automations/{id}/run", (*visit).runAutomation,
		"GET /automations/{id}/pause", (*visit).pauseAutomationPage, "POST /automations/{id}/pause",
		(*visit).pauseAutomation,
		"POST /automations/{id}/activate", (*visit).activateAutomation,
		"GET /automations/{id}/delete", (*visit).deleteAutomationPage, "POST /automations/{id}/delete",
		(*visit).deleteAutomation,
		"GET /executions", (*visit).executionsPage,
		"GET /executions/{id}", (*visit).executionPage,
		"GET /executions/{id}/cancel", (*visit).cancelExecutionPage, "POST /executions/{id}/cancel",
		(*visit).cancelExecution,
		"POST /executions/{id}/retry", (*visit).retryExecution,
	)
	page(signedIn, reviewRoutes...)
	page(managers, reviewManagerRoutes...)
	page(managers,
		"GET /agents", (*visit).agentsPage,
		"GET /agents/new", (*visit).newAgentPage, "POST /agents/new", (*visit).createAgent,
		"GET /agents/{id}", (*visit).agentPage, "POST /agents/{id}", (*visit).saveAgent,
		"POST /agents/{id}/name", (*visit).renameAgent,
		"POST /agents/{id}/undo", (*visit).undoAgent,
		"POST /agents/{id}/activate", (*visit).activateAgent,
		"GET /agents/{id}/deactivate", (*visit).deactivateAgentPage, "POST /agents/{id}/deactivate",
		(*visit).deactivateAgent,
		"GET /agents/{id}/delete", (*visit).deleteAgentPage, "POST /agents/{id}/delete", (*visit).deleteAgent,
		"GET /agents/{id}/clients/{client}/disconnect", (*visit).disconnectPage,
		"POST /agents/{id}/clients/{client}/disconnect", (*visit).disconnect,
		"GET /settings/members", (*visit).membersPage,
		"GET /settings/members/invite", (*visit).invitePage, "POST /settings/members/invite", (*visit).invite,
		"GET /settings/members/invites/{id}/revoke", (*visit).revokeInvitePage,
		"POST /settings/members/invites/{id}/revoke",
		(*visit).revokeInvite,
		"GET /settings/members/{id}", (*visit).memberPage, "POST /settings/members/{id}", (*visit).setRole,
		"POST /settings/members/{id}/rights", (*visit).setRights,
		"GET /settings/members/{id}/remove", (*visit).removeMemberPage, "POST /settings/members/{id}/remove",
		(*visit).removeMember,
		"GET /settings/keys", (*visit).keysPage,
		"GET /settings/keys/new", (*visit).newKeyPage, "POST /settings/keys/new", (*visit).createKey,
		"GET /settings/keys/{id}/revoke", (*visit).revokeKeyPage, "POST /settings/keys/{id}/revoke", (*visit).revokeKey,
		"GET /settings/cards", (*visit).cardsPage, "POST /settings/cards", (*visit).addCard,
		"GET /settings/cards/saved", (*visit).savedCard,
		"POST /settings/cards/{id}/default", (*visit).setDefaultCard,
		"GET /settings/cards/{id}/delete", (*visit).deleteCardPage, "POST /settings/cards/{id}/delete",
		(*visit).deleteCard,
		"GET /settings/plan", (*visit).planPage,
	)
	// Mailbox providers submit this form themselves, and the token alone decides
	// (RFC 8058): there is no session for another site to misuse.
	mux.Handle("GET /unsubscribe/{token}", d.page(anyone, (*visit).unsubscribePage))
	mux.Handle("POST /unsubscribe/{token}", d.page(anyone, (*visit).unsubscribe))
	mux.Handle("GET /invoice/{token}", d.page(anyone, (*visit).publicInvoice))
	mux.Handle("GET /assets/{name}", http.HandlerFunc(desk.ServeAsset))
	for _, route := range d.Desk.Routes() {
		mux.Handle(route.Pattern, guard.Handler(d.handler(signedIn, route.Streams, func(v *visit) error {
			return route.Show(v.desk())
		})))
	}
	mux.Handle("GET /live", d.page(signedIn, func(v *visit) error {
		return d.Desk.Live.Serve(v.w, v.r, v.token, v.session)
	}))
}

// guard refuses forms sent by another site (Sec-Fetch-Site, or Origin). Behind
// a proxy, the Host may differ from the one that people see, so the configured
// address is trusted too.
func (d *Door) guard() *http.CrossOriginProtection {
	g := http.NewCrossOriginProtection()
	if err := g.AddTrustedOrigin(origin(d.BaseURL)); err != nil {
		panic(err) // the configuration was checked
	}
	g.SetDenyHandler(d.page(anyone, func(v *visit) error {
		return v.showMessage(http.StatusForbidden, "This form came from another site",
			"Nothing was changed. Open the page here and try again.")
	}))
	return g
}

func origin(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// secure reports whether people reach the console over https.
func (d *Door) secure() bool { return strings.HasPrefix(d.BaseURL, "https://") }

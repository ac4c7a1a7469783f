// Package app is the one place that knows every other package and joins them into
// the service: the database, the resources with their operations, the doors by which
// callers come in, and the background work.
//
// Open in this file builds an App, part by part, in the order in which the parts need
// each other; mail.go, domains.go, dns.go, proposals.go, tls.go and desk.go build
// the larger ones. Serve in serve.go starts the listeners and the jobs, and stops them
// again. operations.go lists what the service can do.
//
// The rest is what the operator needs: doctor*.go check a set-up, copies.go and
// backups.go make backups and restore them, export.go writes an organization's data,
// seal.go and rotate.go look after the sealing key, records.go says which DNS records
// to publish, neighbours.go keeps processes over one database in agreement, retention.go
// declares the jobs that remove old rows, health.go serves /readyz and /metrics. demo.go
// fills a new database with sample data.
//
// No rule of the business belongs here, and no other package but the command and tests
// may import this one.
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/account/card"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/adapter/certificate"
	"frontdesk/internal/adapter/dnsserver"
	"frontdesk/internal/adapter/mailserver"
	"frontdesk/internal/clients"
	"frontdesk/internal/door/action"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/door/docs"
	"frontdesk/internal/door/mcp"
	"frontdesk/internal/door/oauth"
	"frontdesk/internal/door/rest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/peer"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/guard"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/notification"
	"frontdesk/internal/resource/optin"
	"frontdesk/internal/resource/proposal"
	"frontdesk/internal/resource/transfer"
	"frontdesk/internal/resource/view"
	"frontdesk/internal/resource/webhook"
	"frontdesk/migrations"
)

// App is the whole service, joined together but not yet listening.
type App struct {
	Settings    config.Settings
	Log         *slog.Logger
	DB          *db.DB
	Clock       *clock.Clock
	Accounts    *account.Accounts
	Departures  *account.Departures
	Agents      *agent.Service
	Cards       *card.Service
	Grants      *grant.Grants
	Links       *optin.Links
	Domains     *domain.Domains
	DNS         *dnsserver.Server // nil when another provider holds the zones
	Catalog     *op.Catalog
	Runner      *op.Runner
	Jobs        *job.Queue
	Events      *event.Log
	Follower    *event.Follower
	Admin       *admin.Door
	REST        *rest.Door
	MCP         *mcp.Door
	Files       *file.Store
	Messages    *message.Messages
	Invoices    *invoice.Service
	MailHosts   *mailhost.Service
	Mailer      message.Mailer
	Webhooks    *webhook.Service
	MailServer  *mailserver.Server
	Automations *automation.Service
	Imports     *transfer.Service
	Proposals   *proposal.Service

	Notifications *notification.Service

	blobs    file.Blobs
	seal     *seal
	registry *metrics // what /metrics shows
	docs     *docs.Door
	agentMux *http.ServeMux // everything on the agents' listener
	ready    readiness
	requests requests

	certificates    *certificate.ACME // nil unless the server obtains its certificate
	webTLS, mailTLS *tls.Config       // nil unless the server encrypts by itself
}

// Extra is what only tests add: more operations, and the tables that they need.
type Extra struct {
	Operations []*op.Op
	Migrations []fs.FS
	DB         func(*db.Options)
	Clock      *clock.Clock
	Domains    func(*domain.Config)
}

// Open opens the database and joins the parts together. Nothing listens and no job
// runs before Serve.
func Open(ctx context.Context, s config.Settings, log *slog.Logger, extra ...Extra) (*App, error) {
	a := &App{Settings: s, Log: log, Clock: clock.New(s.ClockOffset)}
	o := db.Options{Path: s.DatabasePath(), URL: s.DatabaseURL, Migrations: []fs.FS{migrations.FS}, Log: log,
		MaxConns: s.Database.Connections, ConnectionWait: s.Database.Wait}
	var more []*op.Op
	for _, e := range extra {
		o.Migrations = append(o.Migrations, e.Migrations...)
		more = append(more, e.Operations...)
		if e.DB != nil {
			e.DB(&o)
		}
		if e.Clock != nil {
			a.Clock = e.Clock
		}
	}
	var err error
	if a.DB, err = db.Open(ctx, o); err != nil {
		return nil, err
	}
	if err := a.DB.CheckDeclaredColumns(ctx); err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	if err := a.followClock(ctx); err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	if a.seal, err = openSeal(ctx, a.DB, s.SealingKeyPath()); err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	a.Jobs = job.New(job.Options{
		DB:          a.DB,
		Clock:       a.Clock,
		Log:         log,
		TxWorkers:   s.Workers,
		FlowWorkers: 2 * s.Workers,
		Retention:   s.Retention.Jobs,
	})
	a.Events = event.New(a.Jobs)
	a.Follower = event.NewFollower(a.DB, log)
	a.Catalog = op.NewCatalog() // filled below, once every part exists
	a.Runner = &op.Runner{
		DB:          a.DB,
		Clock:       a.Clock,
		Log:         log,
		Events:      a.Events,
		Seal:        a.seal,
		KeyLifetime: s.Retention.Idempotency,
		FindView:    view.FindQuery,
	}
	a.openAccounts()
	if a.Links, err = a.openLinks(ctx); err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	if a.blobs, err = openBlobs(ctx, &s); err != nil {
		return nil, errors.Join(fmt.Errorf("the file store: %w", err), a.DB.Close())
	}
	a.Files = file.New(file.Config{
		DB:       a.DB,
		Clock:    a.Clock,
		Log:      log,
		Jobs:     a.Jobs,
		Blobs:    a.blobs,
		MaxBytes: s.Files.MaxBytes,
		BaseURL:  s.BaseURL,
		Limits:   s.StorageLimit.LimitsByPlan(),
	})
	a.Files.Handle()
	a.Domains = a.openDomains(extra)
	a.openMail()
	a.Notifications = notification.New(notification.Config{
		DB:       a.DB,
		Clock:    a.Clock,
		Log:      log,
		Jobs:     a.Jobs,
		Events:   a.Events,
		Seal:     a.seal,
		Mail:     a.mailNotifications,
		PushKey:  a.Links.DeriveKey,
		BaseURL:  s.BaseURL,
		Insecure: s.AllowInsecureWebhooks,
	})
	a.Notifications.Handle()
	if err := a.openTLS(); err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	if err := a.openMailServer(); err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	a.Invoices = invoice.New(invoice.Config{
		DB:       a.DB,
		Clock:    a.Clock,
		Log:      log,
		Jobs:     a.Jobs,
		Events:   a.Events,
		Files:    a.Files,
		Messages: a.Messages,
		Links:    a.Links,
	})
	a.Invoices.Handle()
	a.openReactions()
	a.Imports = transfer.New(transfer.Config{
		DB:      a.DB,
		Clock:   a.Clock,
		Log:     log,
		Jobs:    a.Jobs,
		Events:  a.Events,
		Files:   a.Files,
		Makers:  a.Accounts,
		Runner:  a.Runner,
		Catalog: a.Catalog,
	})
	a.Imports.Handle()
	a.fillCatalog(more)
	a.declareRetention()
	if err := a.declareBackupJob(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.Admin = &admin.Door{Runner: a.Runner, Catalog: a.Catalog, Accounts: a.Accounts, Log: log, Tasks: a.adminTasks()}
	a.REST = &rest.Door{
		Runner:      a.Runner,
		Accounts:    a.Accounts,
		Log:         log,
		Limits:      s.RateLimit.LimitsByPlan(),
		PublicLimit: s.RateLimit.Public,
		Proxies:     a.trustedProxies(),
	}
	a.REST.Mount(a.Catalog)
	a.openAgents()
	a.registry = a.newMetrics()
	a.docs = docs.New(a.Catalog, s.BaseURL, clients.Samples)
	return a, nil
}

// openAccounts creates the accounts and the agents' connections, which end with
// the accounts they act for.
func (a *App) openAccounts() {
	s := &a.Settings
	a.Grants = grant.New(grant.Config{
		DB:                   a.DB,
		Clock:                a.Clock,
		Events:               a.Events,
		Documents:            oauth.NewDocuments(s.AllowInsecureClientMetadata),
		Issuer:               s.MCPURL,
		Resource:             oauth.ResourceURL(s.MCPURL),
		BaseURL:              s.BaseURL,
		BusinessAgreement:    s.Agreement.Business,
		DomainAgreement:      s.Agreement.Domain,
		RefreshNeedsResource: s.OAuth.RefreshRequiresResource,
		InsecureMetadata:     s.AllowInsecureClientMetadata,
	})
	a.Accounts = account.New(account.Config{
		DB:                a.DB,
		Clock:             a.Clock,
		Connections:       a.Grants,
		BusinessAgreement: s.Agreement.Business,
		DomainAgreement:   s.Agreement.Domain,
		BaseURL:           s.BaseURL,
		Seal:              a.seal,
		Notify:            a.notifyUser,
		Provider:          a.identityProvider(),
		AgentAllowance: func(ctx context.Context, tx *db.Tx, org id.ID, plan string) (limit.Verdict, error) {
			return a.MCP.Allowance(ctx, tx, org, plan)
		},
		DailyUse:   agent.LoadDailyUse,
		CountCards: card.Count,
	})
	a.Agents = agent.New(agent.Config{Accounts: a.Accounts, Connections: a.Grants,
		BusinessAgreement: s.Agreement.Business})
	a.Cards = card.New(card.Config{DB: a.DB, Jobs: a.Jobs, Provider: a.cardProvider(), BaseURL: s.BaseURL})
	a.Cards.Handle()
}

// openLinks opens the unsubscribe links. Without the right sealing key they cannot be
// signed, so there are none: Serve refuses to start then, but admin commands work.
func (a *App) openLinks(ctx context.Context) (*optin.Links, error) {
	c := optin.Config{DB: a.DB, Clock: a.Clock, BaseURL: a.Settings.BaseURL}
	if a.seal.checkKey() == nil {
		c.Seal = a.seal
	}
	return optin.New(ctx, c)
}

// openReactions creates what reacts to events: webhooks and automations, which end
// with the member who made them.
func (a *App) openReactions() {
	s := &a.Settings
	a.Webhooks = webhook.New(webhook.Config{
		DB:       a.DB,
		Clock:    a.Clock,
		Jobs:     a.Jobs,
		Events:   a.Events,
		Seal:     a.seal,
		Catalog:  a.Catalog,
		Insecure: s.AllowInsecureWebhooks,
	})
	a.Webhooks.Handle()
	a.Automations = automation.New(automation.Config{
		DB:      a.DB,
		Clock:   a.Clock,
		Log:     a.Log,
		Jobs:    a.Jobs,
		Events:  a.Events,
		Makers:  a.Accounts,
		Catalog: a.Catalog,
		Steps:   steps{action.New(a.Runner, a.Catalog, op.AutomationDoor)},
		Limits:  s.AutomationLimit.LimitsByPlan(),
		Workers: 4 * s.Workers, // they wait for commits, which are shared
	})
	a.Automations.Handle()
	a.openProposals()
	a.Departures = account.NewDepartures(account.DeparturesConfig{
		Accounts: a.Accounts,
		Keepers:  []account.Keeper{a.Webhooks, a.Automations},
	})
}

// Close closes the database. Serve has returned by now; a worker that never ends
// does not keep the process from ending.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var err error
	flush := func() { err = errors.Join(a.Accounts.FlushLastUsed(ctx), a.Grants.FlushLastUsed(ctx), a.DB.Close()) }
	if waitUntilDone(ctx, flush) != nil {
		return errors.New("the database stays open, because something still uses it; " +
			"the next start recovers as after a crash")
	}
	return err
}

// Handler is everything on the API's listener. Where agents share that listener, their
// paths are in it too.
func (a *App) Handler() http.Handler {
	h := a.mainHandler()
	if !a.Settings.SharesListener() {
		return h
	}
	base := ""
	if u, err := url.Parse(a.Settings.MCPURL); err == nil {
		base = u.Path
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if path == base+"/mcp" || strings.HasPrefix(path, base+"/oauth/") ||
			strings.HasPrefix(path, "/.well-known/oauth-") {
			a.agentMux.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// mainHandler serves the API, the documents, the console and the health checks.
func (a *App) mainHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", a.serveReadyz)
	a.docs.Mount(mux)
	a.newDesk().Mount(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect an unclean path; under /v1 it is just not found.
		if a.REST.OwnsPath(r.URL.Path) && !docs.IsDocument(r) {
			a.REST.ServeHTTP(w, r)
			return
		}
		if _, pattern := mux.Handler(r); (pattern == "" || pattern == "/") && isProgram(r) {
			a.REST.NotFound(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

var versionPath = regexp.MustCompile(`^/v\d+(/|$)`)

// isProgram tells a caller of the API, who wants a JSON error, from a browser, which
// wants a page.
func isProgram(r *http.Request) bool {
	return versionPath.MatchString(r.URL.Path) || r.Header.Get("Authorization") != "" ||
		!strings.Contains(r.Header.Get("Accept"), "text/html")
}

// openAgents mounts what the agents' listener serves: the authorization server and
// the tools.
func (a *App) openAgents() {
	s := &a.Settings
	a.agentMux = http.NewServeMux()
	grants := &oauth.Door{
		Grants:        a.Grants,
		Log:           a.Log,
		Issuer:        s.MCPURL,
		Proxies:       a.trustedProxies(),
		RegisterLimit: s.OAuth.RegisterLimit,
		TokenLimit:    s.OAuth.TokenLimit,
	}
	grants.Mount(a.agentMux)
	a.MCP = &mcp.Door{
		Runner:      a.Runner,
		Grants:      a.Grants,
		Log:         a.Log,
		URL:         s.MCPURL,
		MetadataURL: oauth.MetadataURL(s.MCPURL),
		Allowances:  s.AgentLimit.LimitsByPlan(),
		Backstop:    s.AgentLimit.Transport,
		Proposals:   agentProposals{a.Proposals},
		Note:        (&guard.Guard{DB: a.DB, Clock: a.Clock}).Note,
		Midnight:    a.findMidnight,
		Seal:        a.seal,
		Toolsets:    toolsets,
		Daily:       compactTools,

		KeepsDeleted: s.Retention.Deleted,
	}
	a.MCP.Mount(a.agentMux, a.Catalog)
}

// trustedProxies returns the proxies that are trusted to name a client's address.
func (a *App) trustedProxies() peer.Proxies {
	p, err := peer.ParseProxies(a.Settings.TrustedProxies)
	if err != nil {
		panic(err) // cannot fail: Settle has parsed them
	}
	return p
}

// AgentHandler is everything on the agents' listener.
func (a *App) AgentHandler() http.Handler { return a.agentMux }

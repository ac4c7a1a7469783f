// Package app is the one place that names everything and joins it: the
// database, the operations, the doors and the background work.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/door/docs"
	"frontdesk/internal/door/rest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/migrations"
)

// App is the whole service, joined but not yet listening.
type App struct {
	Settings config.Settings
	Log      *slog.Logger
	DB       *db.DB
	Clock    *clock.Clock
	Accounts *account.Accounts
	Catalog  *op.Catalog
	Runner   *op.Runner
	Jobs     *job.Queue
	Admin    *admin.Door
	REST     *rest.Door

	seal     *seal
	registry *metrics
	docs     *docs.Door
	ready    readiness
}

// Extra is what only tests add: more operations, and the tables they need.
type Extra struct {
	Operations []*op.Op
	Migrations []fs.FS
	DB         func(*db.Options)
}

// Open opens the database and joins the parts.
func Open(ctx context.Context, s config.Settings, log *slog.Logger, extra ...Extra) (*App, error) {
	a := &App{Settings: s, Log: log, Clock: clock.New(s.ClockOffset)}
	o := db.Options{Path: s.DatabasePath(), URL: s.DatabaseURL, Migrations: []fs.FS{migrations.FS}, Log: log}
	var more []*op.Op
	for _, e := range extra {
		o.Migrations = append(o.Migrations, e.Migrations...)
		more = append(more, e.Operations...)
		if e.DB != nil {
			e.DB(&o)
		}
	}
	var err error
	if a.DB, err = db.Open(ctx, o); err != nil {
		return nil, err
	}
	if a.seal, err = openSeal(ctx, a.DB, s.KeyPath()); err != nil {
		return nil, errors.Join(err, a.DB.Close())
	}
	a.Accounts = account.New(a.DB, a.Clock, account.Config{BusinessAgreement: s.Agreement.Business, DomainAgreement: s.Agreement.Domain, BaseURL: s.BaseURL})
	a.Catalog = operations(a.Accounts, more)
	a.Runner = &op.Runner{DB: a.DB, Clock: a.Clock, Log: log, Seal: a.seal}
	a.Jobs = job.New(job.Options{DB: a.DB, Clock: a.Clock, Log: log, TxWorkers: s.Workers, FlowWorkers: 2 * s.Workers, Retention: s.Retention.Jobs})
	a.retention()
	a.Admin = &admin.Door{Runner: a.Runner, Catalog: a.Catalog, Accounts: a.Accounts, Log: log}
	a.REST = &rest.Door{Runner: a.Runner, Accounts: a.Accounts, Log: log, Limits: s.RateLimit.ByPlan()}
	a.REST.Mount(a.Catalog)
	a.registry = a.newMetrics()
	a.docs = docs.New(a.Catalog, s.BaseURL)
	return a, nil
}

// Close closes the database. Whoever serves has stopped.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := a.Accounts.FlushUsed(ctx)
	return errors.Join(err, a.DB.Close())
}

// Handler is everything on the API's listener.
func (a *App) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("GET /metrics", a.registry.handler())
	a.docs.Mount(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect an unclean path; under /v1 it is just not found.
		if (strings.HasPrefix(r.URL.Path, "/v1/") || r.URL.Path == "/v1") && r.URL.Path != docs.DocumentPath {
			a.REST.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

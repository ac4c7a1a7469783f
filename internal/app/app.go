// Package app is the one place that names everything and joins it: the
// database, the operations, the doors and the background work.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/door/rest"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
	"frontdesk/internal/resource/contact"
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

	registry *metrics
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
	box, err := secret.OpenBox(s.KeyPath())
	if err != nil {
		a.DB.Close()
		return nil, err
	}
	a.Accounts = account.New(a.DB, a.Clock, account.Config{BusinessAgreement: s.Agreement.Business, DomainAgreement: s.Agreement.Domain, BaseURL: s.BaseURL})
	a.Catalog = op.NewCatalog(a.Accounts.Operations(), contact.Operations(), more)
	a.Runner = &op.Runner{DB: a.DB, Clock: a.Clock, Log: log, Seal: box}
	a.Jobs = job.New(job.Options{DB: a.DB, Clock: a.Clock, Log: log, TxWorkers: s.Workers, FlowWorkers: 2 * s.Workers, Retention: s.Retention.Jobs})
	a.retention()
	a.Admin = &admin.Door{Runner: a.Runner, Catalog: a.Catalog, Accounts: a.Accounts, Log: log}
	a.REST = &rest.Door{Runner: a.Runner, Accounts: a.Accounts, Log: log, Limits: s.RateLimit.ByPlan()}
	a.REST.Mount(a.Catalog)
	a.registry = a.newMetrics()
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect an unclean path; under /v1 it is just not found.
		if len(r.URL.Path) >= 4 && r.URL.Path[:4] == "/v1/" || r.URL.Path == "/v1" {
			a.REST.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

const (
	drainTime   = 30 * time.Second // for requests that are being answered
	headerTime  = 10 * time.Second
	readTime    = 60 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
)

// Serve listens until ctx ends, then lets what is running finish. started is
// called with the address once requests are taken.
func (a *App) Serve(ctx context.Context, started func(addr string)) error {
	l, err := net.Listen("tcp", a.Settings.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", a.Settings.Listen, err)
	}
	server := &http.Server{Handler: a.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn)}
	var socket *http.Server
	if a.DB.Engine() == db.SQLite {
		if socket, err = a.Admin.Listen(a.Settings.SocketPath()); err != nil {
			l.Close()
			return err
		}
		defer os.Remove(a.Settings.SocketPath())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	work := a.background(background)
	if err := a.Jobs.Start(background); err != nil {
		l.Close()
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	a.ready.set(true)
	if started != nil {
		started(l.Addr().String())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		a.Log.Info("stopping; requests in flight finish first")
		a.ready.set(false)
		drain, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		err = server.Shutdown(drain)
		if socket != nil {
			err = errors.Join(err, socket.Shutdown(drain))
		}
		err = errors.Join(err, a.Jobs.Stop(drain))
	}
	stop()
	work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

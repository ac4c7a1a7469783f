package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/listen"

	"golang.org/x/net/netutil"
)

// How long a stop waits, unless a test is in a hurry.
var (
	drainTime = 30 * time.Second // for what is under way
	closeTime = 10 * time.Second // for the database, which whatever still runs may hold
)

const (
	headerTime  = 10 * time.Second
	readTime    = 60 * time.Second
	writeTime   = 3 * time.Minute // from a request's first byte to its answer's last; streams set their own
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
)

// Serve listens until ctx ends, then lets running work finish. Work that does not
// finish in time is logged and abandoned: its jobs are taken over as after a
// crash. started is called with the address once the server accepts requests.
func (a *App) Serve(ctx context.Context, started func(addr string)) (err error) {
	if err := a.seal.checkKey(); err != nil {
		return err
	}
	// All parts are stopped at the same time, so that none starts new work while
	// another waits for a hanging request.
	var stops []func(context.Context) error
	defer func() {
		a.ready.setReady(false)
		drain, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		errs := make([]error, len(stops))
		var all sync.WaitGroup
		for i, stop := range stops {
			all.Go(func() { errs[i] = stop(drain) })
		}
		all.Wait()
		err = errors.Join(err, errors.Join(errs...))
		if drain.Err() != nil {
			a.Log.ErrorContext(ctx, "stopping while work is still running; jobs are taken over as after a crash",
				"running",
				a.runningWork())
		}
	}()

	leave, err := a.joinProcesses(ctx)
	if err != nil {
		return err
	}
	stops = append(stops, leave)
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	work := a.startBackground(background)
	stops = append(stops, func(ctx context.Context) error { cancel(); return waitUntilDone(ctx, work.Wait) })
	if err := a.Jobs.Start(background); err != nil {
		return err
	}
	stops = append(stops, a.Jobs.Stop)
	if a.DB.Engine() == db.SQLite {
		socket, err := a.Admin.Listen(a.Settings.SocketPath())
		if err != nil {
			return err
		}
		stops = append(stops, func(ctx context.Context) error {
			defer os.Remove(a.Settings.SocketPath())
			return socket.Shutdown(ctx)
		})
	}
	// Why a listener ended by itself. Room for the four that may: nobody reads more than
	// the first.
	failed := make(chan error, 4)
	serve := func(address string, h http.Handler, t *tls.Config) (string, error) {
		l, server, err := a.listenHTTP(address, h, t)
		if err != nil {
			return "", err
		}
		stops = append(stops, shutdownFunc(l, server))
		go func() {
			if t != nil {
				failed <- server.ServeTLS(l, "", "")
			} else {
				failed <- server.Serve(l)
			}
		}()
		return l.Addr().String(), nil
	}
	if a.Settings.MCPListen != "" && !a.Settings.SharesListener() {
		if _, err := serve(a.Settings.MCPListen, a.AgentHandler(), nil); err != nil {
			return err
		}
	}
	if stop, err := a.serveMetrics(ctx); err != nil {
		return err
	} else if stop != nil {
		stops = append(stops, stop)
	}
	var dns chan error // nil without a DNS server
	if a.Settings.ServesDNS() {
		l, err := a.DNS.Listen(a.Settings.DNS.Listen)
		if err != nil {
			return err
		}
		dns = l.Failed
		stops = append(stops, l.Stop)
		a.Log.InfoContext(ctx, "answering DNS", "listen", l.Addr, "nameservers", a.Settings.DNS.Nameservers)
	}
	if a.Settings.MailServer.Listen != "" {
		if err := os.MkdirAll(a.Settings.SpoolPath(), 0o700); err != nil {
			return err
		}
		l, err := listen.OpenTCP(a.Settings.MailServer.Listen)
		if err != nil {
			return fmt.Errorf("cannot listen on %s for mail: %w", a.Settings.MailServer.Listen, err)
		}
		go func() { failed <- a.MailServer.Serve(l) }()
		stops = append(stops, a.MailServer.Shutdown)
	}
	addr, err := serve(a.Settings.Listen, a.Handler(), a.webTLS)
	if err != nil {
		return err
	}
	if a.webTLS != nil && a.Settings.TLS.Redirect != "" {
		if _, err := serve(a.Settings.TLS.Redirect, a.RedirectHandler(), nil); err != nil {
			return err
		}
	}
	if a.certificates != nil {
		if err := a.certificates.Start(background); err != nil {
			return err
		}
		stops = append(stops, a.certificates.Stop)
	}
	stops = append(stops, a.Follower.Stop) // which ends the streams that a server would wait for
	a.ready.setReady(true)
	if started != nil {
		started(addr)
	}
	select {
	case err := <-failed:
		return err
	case err := <-dns:
		return err
	case <-ctx.Done():
		return a.waitForBalancers(ctx, failed)
	}
}

// listenHTTP opens an address for requests, encrypted where t is given.
func (a *App) listenHTTP(address string, h http.Handler, t *tls.Config) (net.Listener, *http.Server, error) {
	l, err := listen.OpenTCP(address)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	h = a.closeWhenLeaving(a.requests.trackRequests(a.withRequestTurn(h)))
	if t != nil {
		t, h = webTLSConfig(t), withHSTS(h)
	}
	return netutil.LimitListener(l, maxConnections()), &http.Server{Handler: h, TLSConfig: t,
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerBytes, ErrorLog: httpServerLog(a.Log)}, nil
}

// firstRequestWait is how long a new connection has for its first request once the server
// stops, counted from when it was made: a request may already be on its way.
const firstRequestWait = 500 * time.Millisecond

// shutdownFunc returns the function that stops a server as its own Shutdown does, with two
// differences: a connection that was just made may still send a request, which Shutdown
// would drop, and it does not wait five seconds for one on which nobody says anything.
func shutdownFunc(l net.Listener, server *http.Server) func(context.Context) error {
	var silent sync.Map // of connections to when they were made
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			silent.Store(c, time.Now())
		} else {
			silent.Delete(c)
		}
	}
	return func(ctx context.Context) error {
		l.Close()
		for waits := true; waits && ctx.Err() == nil; {
			waits = false
			silent.Range(func(c, made any) bool {
				if time.Since(made.(time.Time)) < firstRequestWait {
					waits = true
				} else {
					c.(net.Conn).Close() //nolint:errcheck // its end either way
				}
				return true
			})
			if waits {
				time.Sleep(5 * time.Millisecond)
			}
		}
		if err := server.Shutdown(ctx); !errors.Is(err, net.ErrClosed) { // it closes the listener too
			return err
		}
		return nil
	}
}

// withRequestTurn has a request wait for its turn at PostgreSQL once, not for each transaction.
func (a *App) withRequestTurn(h http.Handler) http.Handler {
	if a.DB.Engine() == db.SQLite {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(db.WithRequestTurn(r.Context())))
	})
}

// waitForBalancers gives load balancers time to notice that this process is going (/readyz says
// so) and to send their requests elsewhere, before it stops listening. On SQLite there
// is only this process, and no reason to wait.
func (a *App) waitForBalancers(ctx context.Context, failed <-chan error) error {
	a.ready.setReady(false)
	if a.DB.Engine() == db.Postgres && a.Settings.Drain > 0 {
		a.Log.InfoContext(ctx, "stopping; still serving while balancers notice", "for", a.Settings.Drain)
		select {
		case err := <-failed:
			return err
		case <-time.After(a.Settings.Drain):
		}
	}
	a.Log.InfoContext(ctx, "stopping; requests in flight finish first")
	return nil
}

// closeWhenLeaving closes each connection with its answer while the process is leaving, so
// that a balancer sends nothing more on one that is about to be closed.
func (a *App) closeWhenLeaving(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.ready.on.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// spareFiles is how many open files are kept for other things than connections
// from outside: the database, blobs, and calls to others.
const spareFiles = 512

// maxConnections is how many connections a listener takes at once. The others wait
// in the system's queue, so that the process never runs out of files.
func maxConnections() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur > 1<<20 {
		return 1 << 20
	}
	return max(int(l.Cur)-spareFiles, int(l.Cur)/2)
}

// waitUntilDone waits until a function returns, or ctx ends. The function then goes on alone.
func waitUntilDone(ctx context.Context, wait func()) error {
	done := make(chan struct{})
	go func() { wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runningWork names the jobs and requests in progress, for the log.
func (a *App) runningWork() []string {
	return slices.Concat(a.Jobs.RunningJobs(), a.requests.shortNames())
}

// requests are the requests in progress.
type requests struct{ open sync.Map }

// trackRequests remembers each request while it is served.
func (r *requests) trackRequests(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.open.Store(req, nil)
		defer r.open.Delete(req)
		h.ServeHTTP(w, req)
	})
}

// shortNames lists the requests in a form fit for a log: only the beginning of a path,
// because the rest may be a secret, as in an access link.
func (r *requests) shortNames() (out []string) {
	r.open.Range(func(key, _ any) bool {
		req := key.(*http.Request)
		parts := strings.Split(req.URL.Path, "/")
		most := 2
		if len(parts) > 1 && parts[1] == "v1" {
			most = 3
		}
		out = append(out, req.Method+" "+strings.Join(parts[:min(len(parts), most)], "/"))
		return true
	})
	return out
}

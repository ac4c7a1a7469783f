package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"frontdesk/internal/kernel/db"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readiness is whether this process wants requests: from the end of its start to the
// beginning of its stop.
type readiness struct{ on atomic.Bool }

func (r *readiness) setReady(on bool) { r.on.Store(on) }

// serveReadyz tells a load balancer whether to send requests here: not before the
// service has started, not while it stops, and not while the database does not
// answer or refuses writes.
func (a *App) serveReadyz(w http.ResponseWriter, r *http.Request) {
	if !a.ready.on.Load() {
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if err := a.DB.CheckReady(ctx); err != nil {
		a.Log.WarnContext(ctx, "not ready", "err", err)
		http.Error(w, "the database does not answer, or refuses writes", http.StatusServiceUnavailable)
		return
	}
	if a.isDataDiskFull() {
		http.Error(w, "the disk of the data is full", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// serveMetrics answers /metrics at an address of its own, so that nobody publishes it
// by mistake. If another program has that address, the service starts without.
func (a *App) serveMetrics(ctx context.Context) (stop func(context.Context) error, err error) {
	if a.Settings.MetricsListen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", a.Settings.MetricsListen)
	if errors.Is(err, syscall.EADDRINUSE) {
		a.Log.WarnContext(ctx, "the address of the metrics is in use, so there are none; set --metrics-listen to "+
			"another, or to nothing", "metrics_listen", a.Settings.MetricsListen)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s for --metrics-listen: %w", a.Settings.MetricsListen, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.registry.httpHandler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime,
		IdleTimeout: idleTime, MaxHeaderBytes: headerBytes, ErrorLog: httpServerLog(a.Log)}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.Log.ErrorContext(ctx, "the metrics are no longer served", "err", err)
		}
	}()
	return func(context.Context) error { return server.Close() }, nil
}

// minFreeBytes is how much a disk must have free for the server to be ready.
const minFreeBytes = 1 << 20

// isDataDiskFull reports whether the disk that the database or the files are on is full. A
// disk that cannot be examined is not.
func (a *App) isDataDiskFull() bool {
	if a.DB.Engine() != db.SQLite && a.Settings.Files.S3.Bucket != "" {
		return false
	}
	free, _, err := diskSpace(a.Settings.Data)
	return err == nil && free < minFreeBytes
}

// metrics is the registry of everything that /metrics shows.
type metrics struct{ *prometheus.Registry }

func (m *metrics) httpHandler() http.Handler { return promhttp.HandlerFor(m, promhttp.HandlerOpts{}) }

func (a *App) newMetrics() *metrics {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.MustRegister(a.REST.Collectors()...)
	r.MustRegister(a.MCP.Collectors()...)
	if a.DNS != nil {
		r.MustRegister(a.DNS.Collectors()...)
	}
	r.MustRegister(a.MailServer.Collectors()...)
	r.MustRegister(&gauges{a})
	return &metrics{r}
}

// gauges reads the figures of the database and the jobs when they are scraped.
type gauges struct{ app *App }

// Describe names nothing, which makes it an unchecked collector: the figures depend on
// the engine.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

func (g *gauges) Collect(out chan<- prometheus.Metric) {
	d := g.app.DB.ReadGauges()
	send := func(kind prometheus.ValueType, name, help string, v float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("frontdesk_"+name, help, nil, nil), kind, v)
	}
	send(prometheus.CounterValue, "db_commits_total", "Commits; on SQLite one commit holds a batch of writes.",
		float64(d.Batches))
	send(prometheus.CounterValue, "db_writes_total", "Write transactions requested.", float64(d.Writes))
	send(prometheus.CounterValue, "db_queue_wait_seconds_total", "Time writes spent waiting for the writer.",
		d.WaitSeconds)
	send(prometheus.CounterValue, "db_commit_seconds_total", "Time commits took, including their work.", d.BusySeconds)
	send(prometheus.CounterValue, "db_refused_total", "Writes refused; too many were waiting.", float64(d.Refused))
	send(prometheus.CounterValue, "db_slow_writes_total", "Writes that held up all others for more than 50 ms.",
		float64(d.Slow))
	send(prometheus.CounterValue, "db_retried_total", "Writes that PostgreSQL asked to retry.", float64(d.Retried))
	send(prometheus.GaugeValue, "db_largest_batch", "The most writes in one commit.", float64(d.LargestBatch))
	g.collectJobs(send)
	if g.app.DB.Engine() == db.SQLite {
		send(prometheus.GaugeValue, "db_queue_length", "Writes waiting for the writer.", float64(d.QueueLength))
		send(prometheus.GaugeValue, "db_wal_bytes", "Size of the write-ahead log.", float64(d.WALBytes))
		send(prometheus.GaugeValue, "db_readers_idle", "Read connections not in use.", float64(d.ReadersIdle))
		send(prometheus.GaugeValue, "db_readers", "Read connections.", float64(d.Readers))
		return
	}
	send(prometheus.GaugeValue, "db_pool_acquired", "PostgreSQL connections in use.", float64(d.PoolAcquired))
	send(prometheus.GaugeValue, "db_pool_max", "Maximum number of PostgreSQL connections.", float64(d.PoolMax))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	v, err := g.app.DB.ReadVacuumState(ctx)
	if err != nil {
		g.app.Log.WarnContext(ctx, "the figures of the vacuum cannot be read", "err", err)
		return
	}
	send(prometheus.GaugeValue, "db_dead_rows", "Rows that PostgreSQL has yet to clear away.", float64(v.Dead))
	send(prometheus.GaugeValue, "db_oldest_snapshot_seconds", "Age of the oldest snapshot, which keeps dead rows.",
		float64(v.Oldest)/1e6)
}

// collectJobs adds the figures of background work.
func (g *gauges) collectJobs(send func(prometheus.ValueType, string, string, float64)) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	j, err := g.app.Jobs.ReadGauges(ctx)
	if err != nil {
		g.app.Log.WarnContext(ctx, "the figures of the jobs cannot be read", "err", err)
		return
	}
	ready, lag, busy := 0, 0.0, 0
	for _, l := range j.Lanes {
		ready, busy = ready+l.Ready, busy+l.Busy
		lag = max(lag, l.LagSeconds)
	}
	send(prometheus.GaugeValue, "jobs_ready", "Jobs that are due and waiting.", float64(ready))
	send(prometheus.GaugeValue, "jobs_lag_seconds", "How long the oldest waiting job has been due.", lag)
	send(prometheus.GaugeValue, "jobs_busy", "Jobs that this process is running.", float64(busy))
	send(prometheus.GaugeValue, "jobs_failed", "Jobs that failed for good and are still kept.", float64(j.Failed))
	send(prometheus.CounterValue, "jobs_ran_total", "Jobs that this process ran.", float64(j.Ran))
	send(prometheus.CounterValue, "jobs_locked_total", "Runs that gave up at once because a row was locked.",
		float64(j.Locked))
	send(prometheus.CounterValue, "jobs_errors_total", "Runs that ended with an error.", float64(j.Errors))
	send(prometheus.CounterValue, "jobs_panics_total", "Runs that panicked.", float64(j.Panics))
}

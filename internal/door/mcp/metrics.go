package mcp

import (
	"time"

	"frontdesk/internal/kernel/fault"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts tool calls by operation and outcome, and measures how long
// they took.
type metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	refused *prometheus.CounterVec
}

func newMetrics() *metrics {
	return &metrics{
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "frontdesk_agent_calls_total",
			Help: "Tool calls of agents, by operation and outcome."}, []string{"operation", "outcome"}),
		prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "frontdesk_agent_call_seconds",
			Help: "How long tool calls took, by operation.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5,
				10}}, []string{"operation"}),
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "frontdesk_agent_refused_total",
			Help: "Agent requests that reached no tool, by reason."}, []string{"reason"}),
	}
}

// toolMetrics are one tool's metrics, looked up once.
type toolMetrics struct {
	seconds             prometheus.Observer
	ok, refused, failed prometheus.Counter
}

func (m *metrics) forTool(name string) *toolMetrics {
	return &toolMetrics{m.seconds.WithLabelValues(name), m.calls.WithLabelValues(name, "ok"),
		m.calls.WithLabelValues(name, "refused"), m.calls.WithLabelValues(name, "failed")}
}

func (o *toolMetrics) observeCall(err error, took time.Duration) {
	o.seconds.Observe(took.Seconds())
	switch {
	case err == nil:
		o.ok.Inc()
	case fault.FromError(err).Kind == fault.Internal:
		o.failed.Inc()
	default:
		o.refused.Inc()
	}
}

// Collectors are the door's metrics, to be registered once.
func (d *Door) Collectors() []prometheus.Collector {
	return []prometheus.Collector{d.metrics.calls, d.metrics.seconds, d.metrics.refused}
}

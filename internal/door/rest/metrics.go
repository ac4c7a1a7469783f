package rest

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests by operation and status, and measures how long they
// took.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics() *metrics {
	return &metrics{
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "frontdesk_http_requests_total",
			Help: "API requests, by operation and status."}, []string{"operation", "status"}),
		prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "frontdesk_http_request_seconds",
			Help: "How long API requests took, by operation.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5,
				10}}, []string{"operation"}),
	}
}

// operationMetrics are one operation's metrics. The counters of successes are looked up once, at
// start, so that most requests do not pay for it.
type operationMetrics struct {
	all     *metrics
	name    string
	seconds prometheus.Observer
	success map[int]prometheus.Counter
}

func (m *metrics) forOperation(name string) *operationMetrics {
	f := &operationMetrics{all: m, name: name, seconds: m.seconds.WithLabelValues(name),
		success: map[int]prometheus.Counter{}}
	for _, status := range []int{200, 201, 202, 204} {
		f.success[status] = m.requests.WithLabelValues(name, strconv.Itoa(status))
	}
	return f
}

func (f *operationMetrics) observeRequest(status int, took time.Duration) {
	f.seconds.Observe(took.Seconds())
	if c := f.success[status]; c != nil {
		c.Inc()
		return
	}
	f.all.requests.WithLabelValues(f.name, strconv.Itoa(status)).Inc()
}

// countRefused counts a request that reached no operation.
func (m *metrics) countRefused(status int) {
	m.requests.WithLabelValues("", strconv.Itoa(status)).Inc()
}

// Collectors are the door's metrics, to be registered once.
func (d *Door) Collectors() []prometheus.Collector {
	return []prometheus.Collector{d.metrics.requests, d.metrics.seconds}
}

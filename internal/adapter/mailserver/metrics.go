package mailserver

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	mails   *prometheus.CounterVec
	bytes   prometheus.Counter
	open    prometheus.Gauge
	refused prometheus.Counter
}

func newMetrics() metrics {
	return metrics{
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "frontdesk_smtp_mails_total",
			Help: "Mails that were offered, by what came of them."}, []string{"result"}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "frontdesk_smtp_bytes_total",
			Help: "Bytes of the mails that were stored."}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{Name: "frontdesk_smtp_connections",
			Help: "Connections of mail servers."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "frontdesk_smtp_connections_refused_total",
			Help: "Connections refused because there were too many."}),
	}
}

func (m *metrics) countMail(result string) { m.mails.WithLabelValues(result).Inc() }

// Collectors are the server's metrics, to be registered once.
func (m *metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.mails, m.bytes, m.open, m.refused}
}

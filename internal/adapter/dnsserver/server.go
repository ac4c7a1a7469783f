package dnsserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/listen"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
)

// Bounds of the server.
const (
	udpSize            = 1232 // bytes that pass everywhere without fragments (DNS Flag Day 2020)
	maxQuestionsAtOnce = 256  // questions that are answered at the same time; more get SERVFAIL
	maxConnections     = 256  // over TCP
	maxPerPeer         = 32   // of these from one peer
	maxPerConnection   = 128  // questions on one connection
	idleTimeout        = 5 * time.Second
	silentTimeout      = time.Second // after which a connection makes room for another
	ioTimeout          = 4 * time.Second
	answerTimeout      = 2 * time.Second
)

// Server answers for the zones of a Store. Make one with NewServer.
type Server struct {
	Store     *Store
	Log       *slog.Logger
	PerMinute int // answers over UDP for one address; more are told to use TCP

	cache   zoneCache
	limiter limit.Limiter[netip.Addr]
	slots   chan struct{}
	answers *prometheus.CounterVec
	seconds prometheus.Histogram
}

// NewServer prepares a server for the zones of a store.
func NewServer(s *Store, log *slog.Logger, perMinute int) *Server {
	return &Server{Store: s, Log: log, PerMinute: perMinute, slots: make(chan struct{}, maxQuestionsAtOnce),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "frontdesk_dns_answers_total",
			Help: "DNS answers by transport and response code."}, []string{"transport", "rcode"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "frontdesk_dns_seconds",
			Help: "Time to answer a DNS question.", Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1}})}
}

// Collectors are the server's figures.
func (s *Server) Collectors() []prometheus.Collector {
	return []prometheus.Collector{s.answers, s.seconds}
}

// Listening is a server at work.
type Listening struct {
	Addr    string     // host:port, for UDP and TCP alike
	Failed  chan error // gets the error of a listener that ended without Stop
	servers []*dns.Server
}

// Listen answers on an address over UDP and TCP until it is stopped.
func (s *Server) Listen(addr string) (*Listening, error) {
	tcp, udp, err := bindBothTransports(addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for DNS on %s: %w", addr, err)
	}
	l := &Listening{Addr: tcp.Addr().String(), Failed: make(chan error, 2)}
	up := make(chan struct{}, 2)
	started := func() { up <- struct{}{} }
	l.servers = []*dns.Server{
		{PacketConn: udp, Handler: s, UDPSize: 4096, NotifyStartedFunc: started, MsgAcceptFunc: acceptMessage},
		{Listener: listen.New(tcp, listen.Bounds{Total: maxConnections, PerPeer: maxPerPeer,
			SilentAfter: silentTimeout}), Handler: s,
			ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, MaxTCPQueries: maxPerConnection,
			IdleTimeout: func() time.Duration { return idleTimeout }, NotifyStartedFunc: started,
			MsgAcceptFunc: acceptMessage},
	}
	for _, server := range l.servers {
		go func() {
			if err := server.ActivateAndServe(); err != nil {
				l.Failed <- fmt.Errorf("dns: %w", err)
				up <- struct{}{}
			}
		}()
	}
	<-up
	<-up
	return l, nil
}

// bindBothTransports opens the same port for both transports. With port 0 it may need several tries:
// a port that is free for TCP may be taken for UDP.
func bindBothTransports(addr string) (net.Listener, net.PacketConn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, nil, err
	}
	for try := 0; ; try++ {
		tcp, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			return nil, nil, err
		}
		udp, err := (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", tcp.Addr().String())
		if err == nil {
			return tcp, udp, nil
		}
		tcp.Close()
		if port != "0" || try == 10 {
			return nil, nil, err
		}
	}
}

// Stop answers the pending questions and stops the server.
func (l *Listening) Stop(ctx context.Context) error {
	errs := make([]error, len(l.servers))
	var wg sync.WaitGroup
	for i, server := range l.servers {
		wg.Go(func() { errs[i] = server.ShutdownContext(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// acceptMessage decides by the header what happens to a message: a response is dropped, one
// without exactly one question or with too many records is refused by the library, the
// rest is answered here.
func acceptMessage(h dns.Header) dns.MsgAcceptAction {
	const response = 1 << 15
	switch {
	case h.Bits&response != 0:
		return dns.MsgIgnore // otherwise two servers could answer each other for ever
	case h.Qdcount != 1 || h.Ancount > 1 || h.Nscount > 1 || h.Arcount > 2:
		return dns.MsgReject
	}
	return dns.MsgAccept
}

// ServeDNS answers one question. It is called by the library.
func (s *Server) ServeDNS(w dns.ResponseWriter, r *dns.Msg) {
	begin := time.Now()
	_, stream := w.RemoteAddr().(*net.TCPAddr)
	m := new(dns.Msg)
	m.SetReply(r)
	m.RecursionAvailable, m.Compress = false, true
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		s.answerOrFail(m, r, w.RemoteAddr(), stream)
	default:
		m.Rcode = dns.RcodeServerFailure
	}
	size := dns.MaxMsgSize
	if opt := r.IsEdns0(); opt != nil {
		m.SetEdns0(udpSize, false) // without the question's own options and DO bit
		if !stream {
			size = max(dns.MinMsgSize, min(int(opt.UDPSize()), udpSize))
		}
	} else if !stream {
		size = dns.MinMsgSize
	}
	m.Truncate(size)
	if err := w.WriteMsg(m); err != nil {
		s.Log.Debug("a DNS answer was not sent", "to", w.RemoteAddr().String(), "err", err)
	}
	transport := "udp"
	if stream {
		transport = "tcp"
	}
	s.answers.WithLabelValues(transport, dns.RcodeToString[m.Rcode]).Inc()
	s.seconds.Observe(time.Since(begin).Seconds())
}

// answerOrFail answers a question after the address's limit, and turns a panic or an error
// into SERVFAIL.
func (s *Server) answerOrFail(m, r *dns.Msg, from net.Addr, stream bool) {
	defer func() {
		if v := recover(); v != nil {
			s.Log.Error("a DNS question panicked", "panic", v, "stack", string(debug.Stack()))
			*m = dns.Msg{}
			m.SetRcode(r, dns.RcodeServerFailure)
		}
	}()
	if a, ok := from.(*net.UDPAddr); ok && !stream && s.PerMinute > 0 {
		// Over the limit, the answer is empty and asks for TCP. The sender's address may be
		// forged, and its owner must not be flooded with answers larger than the questions.
		if !s.limiter.Spend(a.AddrPort().Addr(), s.PerMinute, time.Minute, time.Now()).OK {
			m.Truncated = true
			return
		}
	}
	if err := s.answerQuestion(m, r); err != nil {
		s.Log.Error("a DNS question was not answered", "name", r.Question[0].Name, "err", err)
		m.Answer, m.Ns, m.Extra = nil, nil, nil
		m.Authoritative, m.Rcode = false, dns.RcodeServerFailure
	}
}

// answerQuestion refuses what an authoritative server does not do, finds the zone and answers
// from it. An error is the server's own failure.
func (s *Server) answerQuestion(m, r *dns.Msg) error {
	q := r.Question[0]
	opt := r.IsEdns0()
	switch {
	case r.Opcode != dns.OpcodeQuery:
		m.Rcode = dns.RcodeNotImplemented
		return nil
	case opt != nil && opt.Version() != 0:
		m.Rcode = dns.RcodeBadVers
		return nil
	case q.Qclass != dns.ClassINET, q.Qtype == dns.TypeAXFR, q.Qtype == dns.TypeIXFR:
		m.Rcode = dns.RcodeRefused
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	z, err := s.zoneForName(ctx, strings.ToLower(q.Name))
	if err != nil {
		return err
	}
	if z == nil {
		m.Rcode = dns.RcodeRefused
		return nil
	}
	z.replyFromZone(m, q)
	return nil
}

// Package outbound makes HTTP requests to the outside world. There are two clients, for two kinds of address.
//
// Client (outbound.go) is for addresses that callers choose: webhooks and the metadata documents of OAuth clients. An
// attacker could name a server of the internal network (SSRF), so it reaches public addresses only. It checks the
// address when it dials, so that a name gains nothing by resolving to another address a moment later. It follows no
// redirect, uses no proxy, and bounds the time, size and number of its requests.
//
// Provider (provider.go) is for APIs that the operator chose, such as a payment provider. It speaks JSON and may reach
// any address.
//
// Neither may be used inside a transaction, which would stay open while the network is slow: they panic at once.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"frontdesk/internal/kernel/db"

	"code.dny.dev/ssrf"
)

// Options bound what a client does.
type Options struct {
	Timeout       time.Duration // of a whole request, from looking up the name to the last byte of the answer
	MaxBytes      int64         // of an answer's body
	TruncateBody  bool          // a larger body is cut off; otherwise it is an error
	MaxConcurrent int           // requests at the same time; further ones are refused with ErrBusy
	AllowInsecure bool          // also allows http, and addresses of this machine, for development and tests
}

// Client makes requests within its bounds.
type Client struct {
	options Options
	guard   *ssrf.Guardian
	http    *http.Client
	slots   chan struct{}
}

// The client's own refusals.
var (
	ErrBusy     = errors.New("outbound: too many requests at once")
	ErrTooLarge = errors.New("outbound: the answer is too large")
	ErrScheme   = errors.New("outbound: only https")
	ErrPrivate  = errors.New("outbound: not a public address")
)

// New returns a client within the bounds of o.
func New(o Options) *Client {
	rules := []ssrf.Option{ssrf.WithAnyPort()}
	if o.AllowInsecure {
		rules = append(rules, ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.0/8")),
			ssrf.WithAllowedV6Prefixes(netip.MustParsePrefix("::1/128")))
	}
	guard := ssrf.New(rules...)
	dialer := &net.Dialer{Timeout: o.Timeout, Control: guard.Safe}
	return &Client{
		options: o,
		guard:   guard,
		slots:   make(chan struct{}, max(o.MaxConcurrent, 1)),
		http: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy: nil, DialContext: dialer.DialContext, TLSHandshakeTimeout: o.Timeout,
				// A reused connection would skip the check of the next address.
				DisableKeepAlives: true, ForceAttemptHTTP2: true,
				// Without compression, MaxBytes bounds the bytes on the wire as well.
				DisableCompression: true, MaxResponseHeaderBytes: 32 << 10,
			},
		},
	}
}

// idleConnTimeout is how long a session keeps an idle connection: less than servers commonly do, so that none is reused
// just as the server closes it.
const idleConnTimeout = 2 * time.Second

// Session returns a client for several requests in a row to one host. It keeps the connection between them, whose
// address was checked when it was dialled. The next session looks up the name again. end closes the connection.
func (c *Client) Session() (session *Client, end func()) {
	t := c.http.Transport.(*http.Transport).Clone()
	t.DisableKeepAlives, t.MaxIdleConnsPerHost, t.IdleConnTimeout = false, 1, idleConnTimeout
	kept := *c
	kept.http = &http.Client{CheckRedirect: c.http.CheckRedirect, Transport: t}
	return &kept, t.CloseIdleConnections
}

// CheckHost refuses a host that is an IP address which the client would not connect to. A name is accepted here, and
// checked when it is dialled.
func (c *Client) CheckHost(host string) error {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	network := "tcp4"
	if addr.Is6() {
		network = "tcp6"
	}
	if err := c.guard.Safe(network, netip.AddrPortFrom(addr, 443).String(), nil); err != nil {
		return fmt.Errorf("%w: %w", ErrPrivate, err)
	}
	return nil
}

// Answer is the answer to a request, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get fetches a URL.
func (c *Client) Get(ctx context.Context, address string) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("outbound: %w", err)
	}
	return c.Do(req)
}

// Do makes a request and reads the whole answer.
func (c *Client) Do(req *http.Request) (*Answer, error) {
	if db.InTransaction(req.Context()) {
		panic("outbound: network call inside a transaction")
	}
	if req.URL.Scheme != "https" && (req.URL.Scheme != "http" || !c.options.AllowInsecure) {
		return nil, ErrScheme
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	default:
		return nil, ErrBusy
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.options.Timeout)
	defer cancel()
	res, err := c.http.Do(req.WithContext(ctx))
	if errors.Is(err, ssrf.ErrProhibitedIP) {
		return nil, fmt.Errorf("%w: %w", ErrPrivate, err)
	}
	if err != nil {
		return nil, fmt.Errorf("outbound: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.options.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("outbound: %w", err)
	}
	if int64(len(body)) > c.options.MaxBytes {
		if !c.options.TruncateBody {
			return nil, ErrTooLarge
		}
		body = body[:c.options.MaxBytes]
	}
	return &Answer{res.StatusCode, res.Header, body}, nil
}

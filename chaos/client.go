package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// outcome is what a caller knows after a request.
type outcome int

const (
	done    outcome = iota
	refused         // the request was wrong, or came too late
	notDone         // 503, or nobody answered the call: it did not happen
	unknown         // the answer was lost, or the service itself does not know
)

// answer is what came back.
type answer struct {
	outcome    outcome
	status     int
	body       map[string]any
	list       []map[string]any
	next       string // the cursor of the next page
	retryAfter time.Duration
}

func (a answer) text(field string) string {
	s, _ := a.body[field].(string)
	return s
}

var client = &http.Client{Timeout: 3 * time.Minute,
	Transport: &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 4096}}

// request is what a caller sends.
type request struct {
	key         string // of the API
	method      string
	path        string
	idempotency string // the Idempotency-Key, or none
	kind        string // of the body; empty is JSON
	body        string
}

func get(key, path string) request { return request{key: key, method: http.MethodGet, path: path} }

func post(key, path, idempotency, body string) request {
	return request{key: key, method: http.MethodPost, path: path, idempotency: idempotency, body: body}
}

// call sends a request to the balancer; or else to any process, as a balancer
// without health checks would.
func (l *load) call(ctx context.Context, q request) answer { return l.callTo(ctx, l.world.anyone(), q) }

// anyone is where a caller goes.
func (w *world) anyone() *process {
	if w.front != nil {
		return &w.front.process
	}
	for {
		p := w.fleet[rand.IntN(len(w.fleet))] //nolint:gosec // any of them
		if !p.away.Load() {
			return p
		}
	}
}

func (l *load) callTo(ctx context.Context, p *process, q request) answer {
	a := l.exchange(ctx, p, q)
	behind := l.world.front != nil && p == &l.world.front.process
	if behind && a.outcome != done && a.text("code") != "IDEMPOTENCY_KEY_IN_FLIGHT" { // its twin is under way
		l.report.wrong("behind the balancer %s %s failed: %d %v", q.method, q.path, a.status, a.body)
	}
	return a
}

func (l *load) exchange(ctx context.Context, p *process, q request) answer {
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), q.method, "http://"+p.address+q.path,
		strings.NewReader(q.body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+q.key)
	if q.body != "" {
		req.Header.Set("Content-Type", cmp.Or(q.kind, "application/json"))
	}
	if q.idempotency != "" {
		req.Header.Set("Idempotency-Key", q.idempotency)
	}
	l.report.count("requests")
	began := time.Now()
	res, err := client.Do(req)
	if err != nil {
		l.report.count("connections that broke")
		return answer{outcome: lost(err)}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if took := time.Since(began); took > l.world.slowest && p.troubled.Load() < began.UnixNano() {
		l.report.wrong("a request took %s: %s %s, %d", took, q.method, q.path, res.StatusCode)
	} else if p.troubled.Load() < began.UnixNano() {
		l.report.slow(took)
	}
	if err != nil {
		return answer{outcome: unknown}
	}
	a := answer{status: res.StatusCode}
	var envelope struct {
		Data  json.RawMessage `json:"data"`
		Error map[string]any  `json:"error"`
		Meta  struct {
			Pagination struct {
				NextCursor string `json:"nextCursor"`
			} `json:"pagination"`
		} `json:"meta"`
	}
	if len(text) > 0 {
		err = json.Unmarshal(text, &envelope)
	}
	switch a.body = envelope.Error; {
	case bytes.HasPrefix(envelope.Data, []byte("[")):
		err = json.Unmarshal(envelope.Data, &a.list)
		a.next = envelope.Meta.Pagination.NextCursor
	case len(envelope.Data) > 0:
		err = json.Unmarshal(envelope.Data, &a.body)
	}
	switch {
	case err != nil:
		l.report.wrong("%s %s: %d with a body that is not JSON: %.200s", q.method, q.path, a.status, text)
		a.outcome = unknown
	case a.status < 300:
		l.report.count("requests done")
	case a.status == http.StatusServiceUnavailable:
		a.outcome = notDone
		if a.text("code") == "OUTCOME_UNKNOWN" {
			a.outcome = unknown
			l.report.count("OUTCOME_UNKNOWN")
		} else {
			l.report.count("503")
		}
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil {
			l.report.wrong("a 503 without Retry-After: %s", text)
		}
		a.retryAfter = time.Duration(seconds) * time.Second
	case a.status >= 500:
		l.report.wrong("%s %s: %d %s", q.method, q.path, a.status, text)
		a.outcome = unknown
	default:
		a.outcome = refused
	}
	return a
}

// lost tells a call that nobody took from one whose answer was lost.
func lost(err error) outcome {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return notDone
	}
	return unknown
}

// insist repeats a request with the same Idempotency-Key until it is done.
func (l *load) insist(ctx context.Context, q request) (answer, bool) {
	for range 600 {
		a := l.call(ctx, q)
		switch {
		case a.outcome == done:
			return a, true
		case a.outcome == refused && a.status != http.StatusConflict:
			l.report.wrong("%s %s was refused: %d %v", q.method, q.path, a.status, a.body)
			return a, false
		}
		time.Sleep(200 * time.Millisecond)
	}
	l.report.wrong("%s %s did not get through in minutes", q.method, q.path)
	return answer{}, false
}

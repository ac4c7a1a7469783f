package mcp

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"frontdesk/internal/account/grant"

	"github.com/go-json-experiment/json"
)

// An answer is JSON, unless there is something to say before it: that a call goes on for long, or that the agent's
// tools changed. Then it is a stream of events that ends with the answer. Nothing is streamed between requests.

// progressEvery is after how long, and how often, a client is told that its call goes on.
var progressEvery = 2 * time.Second

const streamWriteTime = 10 * time.Second

// wantsProgress reports whether the client asked to be told how a call goes on.
func (q *request) wantsProgress() bool {
	if !bytes.Contains(q.params, []byte("progressToken")) || json.Unmarshal(q.params, &q.in, lenient) != nil {
		return false // params that cannot be read are refused later
	}
	k := q.in.Meta.ProgressToken.Kind()
	return k == '"' || k == '0'
}

// rightsOf is a text that changes whenever the list of an agent's tools may.
func rightsOf(l *grant.Login) string {
	return fmt.Sprintf("%x %t", uint64(l.Caller.Permissions|l.Caller.Proposable), l.Compact)
}

// noteListed notes for which rights the session got the list of tools.
func (d *Door) noteListed(ctx context.Context, q *request) error {
	rights := rightsOf(q.login)
	if !q.login.Session || q.login.Listed != nil && *q.login.Listed == rights {
		return nil
	}
	return d.Grants.NoteListed(ctx, q.login, q.session, rights)
}

// toolsChanged reports whether a person changed the agent's rights since the session got the list of tools. It says so
// once: the client gets the list anew, or does not care.
func (d *Door) toolsChanged(ctx context.Context, q *request) bool {
	if q.method != "tools/call" || q.gate != nil || !q.login.Session || q.login.Listed == nil ||
		*q.login.Listed == rightsOf(q.login) {
		return false
	}
	if err := d.noteListed(ctx, q); err != nil {
		d.Log.WarnContext(ctx, "that tools changed could not be noted; the next call says it again", "err", err)
	}
	return true
}

// answered is the answer to a message, or the panic that there was instead.
type answered struct {
	text     []byte
	status   int
	panicked any
}

// answerOne answers a message that is not in a batch.
func (d *Door) answerOne(ctx context.Context, w http.ResponseWriter, q *request) {
	s := &eventStream{w: w}
	if d.toolsChanged(ctx, q) {
		s.send([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	}
	if q.method != "tools/call" || !q.wantsProgress() {
		s.finish(d.handleMessage(ctx, q))
		return
	}
	token, began := q.in.Meta.ProgressToken.Clone(), time.Now()
	done := make(chan answered, 1)
	go func() {
		var a answered
		defer func() {
			a.panicked = recover()
			done <- a
		}()
		a.text, a.status = d.handleMessage(ctx, q)
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case a := <-done:
			if a.panicked != nil {
				panic(a.panicked) // to the server, which logs it, as it does for other requests
			}
			s.finish(a.text, a.status)
			return
		case <-tick.C:
			seconds := int(time.Since(began).Round(time.Second).Seconds())
			s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,`+
				`"progress":%d,"message":"Working for %d seconds."}}`, token, seconds, seconds))
		}
	}
}

// eventStream writes messages before the answer as a stream of events, or, if there are none, just the answer.
type eventStream struct {
	w       http.ResponseWriter
	started bool
}

func (s *eventStream) send(message []byte) {
	control := http.NewResponseController(s.w)
	if !s.started {
		s.started = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("X-Accel-Buffering", "no") // a proxy would keep it back until the end
		s.w.WriteHeader(http.StatusOK)
	}
	// The server's deadlines are for requests that end soon.
	control.SetWriteDeadline(time.Now().Add(streamWriteTime)) //nolint:errcheck // a test has no connection
	fmt.Fprintf(s.w, "event: message\ndata: %s\n\n", message)
	control.Flush() //nolint:errcheck // as above
}

// finish writes the answer. A stream has begun with 200, so the status counts only without one.
func (s *eventStream) finish(text []byte, status int) {
	switch {
	case s.started && text != nil:
		s.send(text)
	case s.started:
	case text == nil:
		s.w.WriteHeader(http.StatusAccepted)
	default:
		writeJSON(s.w, status, text)
	}
}

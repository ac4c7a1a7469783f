package desk

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
)

// Live tells open pages what happens, as server-sent events: the type of each
// event and the id of what it happened to, and nothing else. The page then asks
// for itself again, with the rights it has.
//
// A browser keeps one stream for all of its tabs (desk.js), because over HTTP/1
// it has only six connections to a server.
type Live struct {
	Follower *event.Follower
	Catalog  *op.Catalog
	// Session checks that a session still exists.
	Session func(ctx context.Context, token string) (*account.Session, error)
	// Unread counts the notifications that the visitor has not read.
	Unread func(ctx context.Context, s *account.Session) (int, error)
}

const (
	liveMost  = 5000             // streams per process
	liveBeat  = 25 * time.Second // proxies end a silent connection
	liveWrite = 10 * time.Second // a reader that takes longer is gone
	liveBell  = time.Second      // after news: how long notifications of it take
)

// streams bounds those of one organization in a process, so that it leaves room for
// the others.
var streams = limit.ConcurrencyLimiter[id.ID]{Most: 200}

// Serve streams to one browser until it leaves, its session ends or the process
// stops.
func (l *Live) Serve(w http.ResponseWriter, r *http.Request, token string, s *account.Session) error {
	end, ok := streams.Begin(s.Org)
	if !ok {
		return fault.Unavailable.New()
	}
	defer end()
	sub := l.Follower.Subscribe(s.Org, liveMost)
	if sub == nil {
		return fault.Unavailable.New()
	}
	defer l.Follower.Unsubscribe(sub)
	control := http.NewResponseController(w)
	// The server's deadlines are for requests that end.
	control.SetReadDeadline(time.Time{}) //nolint:errcheck // a test has no connection
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	permissions := account.CallerOfSession(s).Permissions
	may := map[string]bool{}
	hears := func(eventType string) bool {
		ok, known := may[eventType]
		if !known {
			ok = l.Catalog.PermitListening(permissions, eventType) == nil
			may[eventType] = ok
		}
		return ok
	}
	write := func(text string) bool {
		control.SetWriteDeadline(time.Now().Add(liveWrite)) //nolint:errcheck // as above
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	if !write("retry: 2000\n: hello\n\n") {
		return nil
	}
	beat := time.NewTicker(liveBeat)
	defer beat.Stop()
	// A notification is no event, but is made of one: after each there may be some.
	bell, ringing, unread := time.NewTimer(liveBell), true, -1
	defer bell.Stop()
	for {
		text := ""
		select {
		case <-r.Context().Done():
			return nil
		case n, open := <-sub.C:
			if !open {
				return nil
			}
			text = drain(n, sub, hears)
			if !ringing {
				bell.Reset(liveBell)
				ringing = true
			}
		case <-bell.C:
			ringing = false
			text = l.ring(r.Context(), s, &unread)
		case <-sub.Missed:
			text = "event: all\ndata: all\n\n"
		case <-beat.C:
			now, err := l.Session(r.Context(), token)
			if err != nil || now.Org != s.Org || now.Role != s.Role || now.MustEnroll() {
				return nil // the page learns the rest when it asks
			}
			text = ": beat\n\n" + l.ring(r.Context(), s, &unread)
		}
		if text != "" && !write(text) {
			return nil
		}
	}
}

// ring tells how many notifications are unread, if that changed.
func (l *Live) ring(ctx context.Context, s *account.Session, was *int) string {
	n, err := l.Unread(ctx, s)
	if err != nil || n == *was {
		return "" // the next beat asks again
	}
	*was = n
	return fmt.Sprintf("event: unread\ndata: %d\n\n", n)
}

// drain writes a notice, and those that came with it, as one message.
func drain(n event.Notice, sub *event.Subscription, hears func(string) bool) string {
	var b strings.Builder
	add := func(n event.Notice) {
		if hears(n.Type) {
			b.WriteString("data: " + n.Type + " " + string(n.ResourceID) + "\n")
		}
	}
	add(n)
	for range cap(sub.C) {
		select {
		case n, open := <-sub.C:
			if open {
				add(n)
				continue
			}
		default:
		}
		break
	}
	if b.Len() == 0 {
		return ""
	}
	return "event: news\n" + b.String() + "\n"
}

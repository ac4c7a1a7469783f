package desk_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/migrations"
)

// greeted is a browser that tells when its stream has begun.
type greeted struct {
	*httptest.ResponseRecorder
	begun func()
}

func (w greeted) Write(p []byte) (int, error) {
	w.begun()
	return w.ResponseRecorder.Write(p)
}

// One organization that opens as many streams as it can leaves room for the others,
// and gets a place again when one of them ends.
func TestAttackStreams(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, engine db.Engine) {
		live := &desk.Live{Follower: event.NewFollower(dbtest.Open(t, engine, migrations.FS), slog.Default()),
			Session: func(_ context.Context, org string) (*account.Session, error) {
				return &account.Session{Org: id.ID(org)}, nil
			}}
		// open returns what ends the stream, or why it did not begin.
		open := func(org id.ID) (func(), error) {
			ctx, cancel := context.WithCancel(context.Background())
			begun, ended := make(chan struct{}), make(chan error, 1)
			w := greeted{httptest.NewRecorder(), sync.OnceFunc(func() { close(begun) })}
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live", nil)
			go func() { ended <- live.Serve(w, r, string(org), &account.Session{Org: org}) }()
			end := sync.OnceFunc(func() { cancel(); <-ended })
			select {
			case <-begun:
				t.Cleanup(end)
				return end, nil
			case err := <-ended:
				cancel()
				return nil, err
			}
		}
		mine, most := id.New(), 200
		end, err := open(mine)
		for n := 1; n < most && err == nil; n++ {
			_, err = open(mine)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open(mine); !fault.IsKind(err, fault.Unavailable) {
			t.Errorf("one more than %d streams: %v", most, err)
		}
		if _, err := open(id.New()); err != nil {
			t.Errorf("a stream of another organization: %v", err)
		}
		end()
		if _, err := open(mine); err != nil {
			t.Errorf("a place that was given up: %v", err)
		}
	})
}

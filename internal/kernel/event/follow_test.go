package event_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/migrations"
)

// A subscriber hears of its own organization alone, also one that comes when nobody else is left, and a stop
// ends all subscriptions.
func TestFollow(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine, migrations.FS)
		log := event.New(job.New(job.Options{DB: d, Clock: clock.New(0)}))
		f := event.NewFollower(d, slog.New(slog.DiscardHandler))
		mine, theirs := id.New(), id.New()
		happen := func(org id.ID) {
			t.Helper()
			if err := d.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
				return log.Append(ctx, tx,
					event.Event{Organization: org, Type: "thing.made", ResourceID: id.New()}.BySystem())
			}); err != nil {
				t.Fatal(err)
			}
		}
		// The follower finds the end of the log only after Subscribe has returned, so the first events may
		// come before that.
		hear := func(s *event.Subscription, org id.ID) {
			t.Helper()
			for end := time.After(time.Minute); ; {
				happen(theirs)
				happen(mine)
				select {
				case n := <-s.C:
					if n.Organization != org {
						t.Errorf("a subscriber of %s hears of %s", org, n.Organization)
					}
					return
				case <-time.After(300 * time.Millisecond):
				case <-end:
					t.Fatal("nothing was heard")
				}
			}
		}
		one, other := f.Subscribe(mine, 2), f.Subscribe(theirs, 2)
		if f.Subscribe(mine, 2) != nil {
			t.Error("a third subscriber of two")
		}
		hear(one, mine)
		hear(other, theirs)
		for len(one.C) > 0 {
			if n := <-one.C; n.Organization != mine {
				t.Errorf("heard of %s", n.Organization)
			}
		}
		f.Unsubscribe(one)
		f.Unsubscribe(other)
		time.Sleep(600 * time.Millisecond) // in which the follower notices that nobody is left

		late := f.Subscribe(mine, 2)
		hear(late, mine)
		for range 70 { // more than a channel holds
			happen(mine)
		}
		select {
		case <-late.Missed:
		case <-time.After(time.Minute):
			t.Error("a subscriber with a full channel was not told")
		}
		if err := f.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range late.C { // ends because it is closed
		}
		if f.Subscribe(mine, 2) != nil {
			t.Error("a subscriber after the stop")
		}
	})
}

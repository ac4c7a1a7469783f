package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"frontdesk/internal/account"
)

// background starts what runs beside requests, until ctx ends.
func (a *App) background(ctx context.Context) *sync.WaitGroup {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(account.FlushEvery):
			}
			a.seal.refresh()
			if err := a.followClock(ctx); err != nil {
				a.Log.WarnContext(ctx, "the database's clock could not be read", "err", err)
			}
			if err := errors.Join(a.Accounts.FlushUsed(ctx), a.Grants.FlushUsed(ctx)); err != nil {
				a.Log.WarnContext(ctx, "the last use of keys and connections was not saved", "err", err)
			}
		}
	})
	return &wg
}

// followClock sets the clock by the database's, so that all processes agree.
func (a *App) followClock(ctx context.Context) error {
	drift, err := a.DB.FollowClock(ctx, a.Clock)
	if drift.Abs() > time.Second {
		a.Log.WarnContext(ctx, "this machine's clock differs from the database's, which is followed", "by", drift)
	}
	return err
}

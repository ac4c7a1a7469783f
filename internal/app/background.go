package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
)

// startBackground starts what runs beside requests until ctx ends: saving when keys were
// last used, following the key file and the database's clock, and the care for
// PostgreSQL's growing tables.
func (a *App) startBackground(ctx context.Context) *sync.WaitGroup {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(account.FlushInterval):
			}
			a.seal.refreshBox()
			if err := a.followClock(ctx); err != nil {
				a.Log.WarnContext(ctx, "the database's clock could not be read", "err", err)
			}
			if err := errors.Join(a.Accounts.FlushLastUsed(ctx), a.Grants.FlushLastUsed(ctx)); err != nil {
				a.Log.WarnContext(ctx, "the last use of keys and connections was not saved", "err", err)
			}
		}
	})
	wg.Go(func() { a.MaintainGrownTables(ctx) })
	return &wg
}

// MaintainGrownTables keeps PostgreSQL's plans right while tables grow from empty, until ctx
// ends. It warns once, until it succeeds again. On SQLite it returns at once.
func (a *App) MaintainGrownTables(ctx context.Context) {
	for well := true; a.DB.Engine() == db.Postgres; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(db.GrowthInterval):
		}
		grown, err := a.DB.MaintainGrownTables(ctx)
		if len(grown) > 0 {
			a.Log.DebugContext(ctx, "the database has looked at tables that have grown", "tables", grown)
		}
		if err != nil && well && ctx.Err() == nil {
			a.Log.WarnContext(ctx, "the database did not look at tables that have grown", "err", err)
		}
		well = err == nil
	}
}

// followClock sets the clock by the database's, so that all processes agree.
func (a *App) followClock(ctx context.Context) error {
	drift, err := a.DB.FollowClock(ctx, a.Clock)
	if drift.Abs() > time.Second {
		a.Log.WarnContext(ctx, "this machine's clock differs from the database's, which is followed", "by", drift)
	}
	return err
}

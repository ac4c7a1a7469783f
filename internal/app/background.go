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
			if err := errors.Join(a.Accounts.FlushUsed(ctx), a.Grants.FlushUsed(ctx)); err != nil {
				a.Log.WarnContext(ctx, "the last use of keys and connections was not saved", "err", err)
			}
		}
	})
	return &wg
}

package app

import "time"

// Hurry has a stop wait for less.
func Hurry(d time.Duration) { drainTime, closeTime = d, d }

// BeReady has /readyz answer as it does while Serve runs.
func BeReady(a *App) { a.ready.setReady(true) }

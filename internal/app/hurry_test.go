package app

import "time"

// Hurry has a stop wait for less.
func Hurry(d time.Duration) { drainTime, closeTime = d, d }

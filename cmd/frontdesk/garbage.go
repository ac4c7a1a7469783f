package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// garbageRoom is how much garbage the heap may hold before it is collected. The
// heap is small, about 12 MB, and most of it short-lived: to collect it whenever it
// has doubled, as Go does by itself, would take a fifth of a list's CPU time.
const garbageRoom = 20 << 20

// tuneGarbageCollection sets Go's percentage so that the heap has that room, or as much as is in
// use where that is more, and does so again after each collection. A fixed percentage
// would let an import or a sign-in, which use more for a moment, leave a large process
// behind. GOGC in the environment wins.
func tuneGarbageCollection() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var look func(*[16]byte)
	look = func(*[16]byte) {
		metrics.Read(live)
		debug.SetGCPercent(int(min(max(100, garbageRoom*100/max(live[0].Value.Uint64(), 1)), 400)))
		runtime.SetFinalizer(new([16]byte), look) // unreachable at once, so the next collection calls look again
	}
	look(nil)
}

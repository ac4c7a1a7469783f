package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// report collects figures, and what went wrong.
type report struct {
	mu      sync.Mutex
	counts  map[string]int
	wrongs  []string
	slowest time.Duration
	lags    map[string][]time.Duration
	faults  map[string]int
}

func newReport() *report {
	return &report{counts: map[string]int{}, lags: map[string][]time.Duration{}}
}

func (r *report) count(what string) { r.add(what, 1) }

func (r *report) add(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what] += n
}

func (r *report) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	r.wrongs = append(r.wrongs, text)
	if len(r.wrongs) <= 20 {
		say("WRONG: %s", text)
	}
}

func (r *report) slow(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slowest = max(r.slowest, d)
}

func (r *report) lag(what string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lags[what] = append(r.lags[what], d)
}

// at is what a part of the lags did not exceed.
func (r *report) at(what string, part float64) time.Duration {
	all := slices.Sorted(slices.Values(r.lags[what]))
	if len(all) == 0 {
		return 0
	}
	return all[int(part*float64(len(all)-1))].Round(time.Millisecond)
}

// print writes everything and reports whether anything went wrong.
func (r *report) print(scene string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Printf("\n%s: faults\n", scene)
	for _, what := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Printf("  %6d %s\n", r.faults[what], what)
	}
	fmt.Printf("%s: seen\n", scene)
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		fmt.Printf("  %6d %s\n", r.counts[what], what)
	}
	fmt.Printf("  %6s the longest answer of a running process\n", r.slowest.Round(10*time.Millisecond))
	for _, what := range slices.Sorted(maps.Keys(r.lags)) {
		fmt.Printf("  %s: middle %s, p99 %s, longest %s of %d\n", what, r.at(what, .5), r.at(what, .99), r.at(what, 1),
			len(r.lags[what]))
	}
	if len(r.wrongs) == 0 {
		fmt.Println("Nothing was lost, done twice or out of order.")
		return false
	}
	fmt.Printf("%d things went wrong.\n", len(r.wrongs))
	return true
}

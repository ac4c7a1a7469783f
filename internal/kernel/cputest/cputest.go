// Package cputest holds readers of outside text to a bound: a text of 1 KB takes
// at most 50 ms to read, and one of 1 MB at most 2 s. It measures the CPU time of
// one thread, because wall time is longer on a busy machine.
//
// Start reading at Within; Shape builds the texts that make readers slow.
package cputest

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// thread is RUSAGE_THREAD of getrusage(2), which Linux has.
const thread = 1

// Spent is the CPU time that the calling thread has used. The caller has
// locked itself to it.
func Spent(t testing.TB) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(thread, &r); err != nil {
		t.Skipf("this system does not tell a thread's CPU time: %v", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// Of returns the CPU time that a function takes.
func Of(t testing.TB, fn func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := Spent(t)
	fn()
	return Spent(t) - before
}

// slack is how much slower than meant a machine may be: neighbours take its caches
// and its clock. An attack that works takes many times more.
const slack = 2

// Limit is what fails a test: the bound, and slack.
func Limit(n int) time.Duration { return slack * Bound(n) }

// Bound returns how much CPU time a text of n bytes may take.
func Bound(n int) time.Duration {
	const small, large = 50 * time.Millisecond, 2 * time.Second
	return small + time.Duration(float64(large-small)*float64(max(n-1<<10, 0))/(1<<20-1<<10))
}

// Within fails a test when reading a text of n bytes takes longer than its limit,
// three times, because the first reading also sets up what the others share. One
// that takes more than a third of its limit is logged.
func Within(t testing.TB, n int, read func()) {
	t.Helper()
	took := Of(t, read)
	for range 2 {
		if took > Limit(n) {
			took = min(took, Of(t, read))
		}
	}
	if took > Limit(n)/3 {
		t.Logf("%d bytes took %s of CPU; the limit is %s", n, took, Limit(n))
	}
	if took > Limit(n) {
		t.Errorf("%d bytes took %s of CPU; the limit is %s", n, took, Limit(n))
	}
}

// Shape is a text that repeats itself: Before, Open again and again, as many
// Close, After.
type Shape struct{ Name, Before, Open, Close, After string }

// Text builds the shape with at most n bytes.
func (s Shape) Text(n int) string {
	times := max((n-len(s.Before)-len(s.After))/max(len(s.Open)+len(s.Close), 1), 0)
	return s.Before + strings.Repeat(s.Open, times) + strings.Repeat(s.Close, times) + s.After
}

// Sizes are the sizes that the bound is defined by.
var Sizes = []int{1 << 10, 1 << 20}

// Each reads every shape in each size and holds it to its limit.
func Each(t *testing.T, shapes []Shape, read func(t testing.TB, text string)) {
	for _, s := range shapes {
		t.Run(s.Name, func(t *testing.T) {
			for _, n := range Sizes {
				text := s.Text(n)
				Within(t, n, func() { read(t, text) })
			}
		})
	}
}

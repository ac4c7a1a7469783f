// Package cputest is for tests that code which reads text from outside cannot be made slow by it. A text of 1 KB may
// take 50 ms to read and one of 1 MB 2 s, and in between in proportion. It measures the CPU time of one thread, because
// wall time is longer on a busy machine.
//
// CheckShapes is what most tests call: it builds texts of both sizes from a Shape, such as ten thousand open brackets,
// and checks each with CheckWithin. Code that works in other goroutines is not measured.
package cputest

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rusageThread is RUSAGE_THREAD of getrusage(2). Package syscall does not have it, and only Linux knows it.
const rusageThread = 1

// ThreadCPUTime is the CPU time that the calling thread has used so far. The caller must have locked its goroutine to
// the thread. It skips the test on systems that do not know this.
func ThreadCPUTime(t testing.TB) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &r); err != nil {
		t.Skipf("this system does not tell a thread's CPU time: %v", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// ProcessCPUTime is the CPU time that the process has used so far, with everything that it does beside the test.
func ProcessCPUTime(t testing.TB) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// CPUTimeOf returns the CPU time that a function takes.
func CPUTimeOf(t testing.TB, fn func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := ThreadCPUTime(t)
	fn()
	return ThreadCPUTime(t) - before
}

// slack is how much slower than expected a machine may be, because others use its caches too. An attack that works
// takes many times longer.
const slack = 2

// MaxCPUTime is the CPU time above which a test fails: the target, and slack.
func MaxCPUTime(n int) time.Duration { return slack * TargetCPUTime(n) }

// TargetCPUTime is how much CPU time a text of n bytes may take.
func TargetCPUTime(n int) time.Duration {
	const small, large = 50 * time.Millisecond, 2 * time.Second
	return small + time.Duration(float64(large-small)*float64(max(n-1<<10, 0))/(1<<20-1<<10))
}

// CheckWithin fails a test when reading a text of n bytes takes longer than MaxCPUTime three times in a row. The first
// time also pays for what later ones share, such as compiled expressions. More than a third of the limit is logged.
func CheckWithin(t testing.TB, n int, read func()) {
	t.Helper()
	took := CPUTimeOf(t, read)
	for range 2 {
		if took > MaxCPUTime(n) {
			took = min(took, CPUTimeOf(t, read))
		}
	}
	if took > MaxCPUTime(n)/3 {
		t.Logf("%d bytes took %s of CPU; the limit is %s", n, took, MaxCPUTime(n))
	}
	if took > MaxCPUTime(n) {
		t.Errorf("%d bytes took %s of CPU; the limit is %s", n, took, MaxCPUTime(n))
	}
}

// Shape is a form of text that may be slow to read: Before, then Open many times, then Close as many times, then After.
type Shape struct{ Name, Before, Open, Close, After string }

// Text builds the shape with at most n bytes.
func (s Shape) Text(n int) string {
	times := max((n-len(s.Before)-len(s.After))/max(len(s.Open)+len(s.Close), 1), 0)
	return s.Before + strings.Repeat(s.Open, times) + strings.Repeat(s.Close, times) + s.After
}

// Sizes are the sizes for which the target is defined, 1 KB and 1 MB.
var Sizes = []int{1 << 10, 1 << 20}

// CheckShapes reads every shape in both sizes, and fails for those that take too long.
func CheckShapes(t *testing.T, shapes []Shape, read func(t testing.TB, text string)) {
	for _, s := range shapes {
		t.Run(s.Name, func(t *testing.T) {
			for _, n := range Sizes {
				text := s.Text(n)
				CheckWithin(t, n, func() { read(t, text) })
			}
		})
	}
}

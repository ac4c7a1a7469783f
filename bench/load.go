package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// figures are what one run measured.
type figures struct {
	Throughput float64 `json:"throughput"`                     // requests per second
	P50        float64 `json:"p50Ms"`                          // latency
	P99        float64 `json:"p99Ms"`                          //
	CPU        float64 `json:"cpuMicroseconds"`                // of the server, per request
	Database   float64 `json:"databaseMicroseconds,omitempty"` // of a database beside it
	Bytes      int     `json:"bytes"`                          // of an answer's body
	Requests   int     `json:"requests,omitempty"`             // measured
}

// slack is how long a request may take past the end of its run.
const slack = 20 * time.Second

// measure runs one workload against one server: each connection sends the
// next request when the answer to the last one has been read. Any answer that
// is not 2xx, and a first answer that does not hold what it should, is an error.
func measure(ctx context.Context, o options, s side, load string) (figures, error) {
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		all      []time.Duration
		failed   error
		answered atomic.Int64
		size     atomic.Int64
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now().Add(seconds(o.warm))
	end := start.Add(seconds(o.seconds))
	conns := o.conns
	if load == createLone || load == createBatch {
		conns = 1
	}
	for range conns {
		wg.Go(func() {
			l := &loop{side: s, load: load, start: start, end: end}
			err := l.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, l.took...)
			answered.Add(int64(l.answered))
			size.Store(int64(l.size))
			if err != nil {
				cancel() // the others stop too; theirs is not the first error
				if failed == nil {
					failed = err
				}
			}
		})
	}
	sleepUntil(ctx, start)
	before, err := s.cpu()
	beside, err3 := s.databaseCPU()
	sleepUntil(ctx, end)
	after, err2 := s.cpu()
	besideAfter, err4 := s.databaseCPU()
	wg.Wait()
	s.count(load, int(answered.Load()))
	if err := errors.Join(s.alive(), failed); err != nil {
		return figures{}, err
	}
	if err := errors.Join(err, err2, err3, err4, ctx.Err()); err != nil {
		return figures{}, err
	}
	if len(all) < 2 {
		return figures{}, errors.New("too few answers to measure; give it more -seconds")
	}
	slices.Sort(all)
	n := len(all)
	rows := n * rowsOf(load)
	return figures{
		Throughput: float64(rows) / o.seconds,
		P50:        ms(all[n/2]),
		P99:        ms(all[n*99/100]),
		CPU:        float64((after - before).Microseconds()) / float64(rows),
		Database:   float64((besideAfter - beside).Microseconds()) / float64(rows),
		Bytes:      int(size.Load()),
		Requests:   n,
	}, nil
}

// sleepUntil ends early when something failed.
func sleepUntil(ctx context.Context, t time.Time) {
	select {
	case <-time.After(time.Until(t)):
	case <-ctx.Done():
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// loop is one connection's part of a run.
type loop struct {
	side       side
	load       string
	start, end time.Time

	took     []time.Duration // of requests that ended between start and end
	answered int             // requests, those of the warm-up included
	size     int
}

func (l *loop) run(ctx context.Context) error {
	c, br, err := dial(ctx, l.side.address())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(l.end.Add(slack)); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	var req []byte
	for ctx.Err() == nil {
		var want string
		req, want = l.side.request(l.load, req[:0], r)
		sent := time.Now()
		if sent.After(l.end) {
			return nil
		}
		if _, err := c.Write(req); err != nil {
			return err
		}
		first := l.answered == 0
		a, err := readResponse(br, first)
		if err != nil {
			return err
		}
		done := time.Now()
		if a.status/100 != 2 {
			return fmt.Errorf("status %d: %.300s", a.status, a.body)
		}
		if first {
			if err := l.side.check(l.load, want, a.body); err != nil {
				return fmt.Errorf("%w: %.600s", err, a.body)
			}
		}
		l.answered++
		l.size = a.size
		if done.After(l.start) && !done.After(l.end) {
			l.took = append(l.took, done.Sub(sent))
		}
	}
	return nil
}

func dial(ctx context.Context, addr string) (net.Conn, *bufio.Reader, error) {
	c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	return c, bufio.NewReaderSize(c, 64<<10), nil
}

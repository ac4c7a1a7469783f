// Command jobs measures the service's job queue beside River, on one PostgreSQL, with
// as many workers and connections: how many jobs that do nothing are inserted and
// worked in a second, and what that costs this process.
//
//	cd bench/jobs && FRONTDESK_TEST_FSYNC=on ../../scripts/with-postgres go run .
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/job"
	"frontdesk/migrations"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// conns is how many connections and workers each queue has.
const conns = 16

// queue is one that is measured.
type queue struct {
	name string
	// insert adds n jobs in one transaction.
	insert func(ctx context.Context, n int) error
	// work runs jobs until there were n.
	work func(ctx context.Context, n int) error
	end  func()
}

// figures are those of a round.
type figures struct{ single, bulk, worked, cpu float64 }

func main() {
	jobs := flag.Int("jobs", 10_000, "how many jobs are worked in each round")
	rounds := flag.Int("rounds", 1, "rounds; medians over them are printed")
	flag.Parse()
	if err := run(context.Background(), *jobs, *rounds); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, jobs, rounds int) error {
	makers := []func(context.Context, string) (*queue, error){frontdeskQueue(false), frontdeskQueue(true),
		riverWith(conns), riverWith(1000)}
	var names []string
	all := map[string][]figures{}
	for range rounds {
		for i, maker := range makers {
			url, drop, err := database(ctx, fmt.Sprintf("jobs_%d_%d", os.Getpid(), i))
			if err != nil {
				return err
			}
			q, err := maker(ctx, url)
			if err != nil {
				return errors.Join(err, drop())
			}
			f, err := measure(ctx, q, jobs)
			q.end()
			if err := errors.Join(err, drop()); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
			if all[q.name] == nil {
				names = append(names, q.name)
			}
			all[q.name] = append(all[q.name], f)
		}
	}
	fmt.Printf("%-32s %14s %14s %14s %16s\n", "jobs a second", "inserted each", "in hundreds", "worked",
		"µs CPU/worked")
	for _, name := range names {
		median := func(of func(figures) float64) float64 {
			var list []float64
			for _, f := range all[name] {
				list = append(list, of(f))
			}
			slices.Sort(list)
			return list[len(list)/2]
		}
		fmt.Printf("%-32s %14.0f %14.0f %14.0f %16.0f\n", name, median(func(f figures) float64 { return f.single }),
			median(func(f figures) float64 { return f.bulk }), median(func(f figures) float64 { return f.worked }),
			median(func(f figures) float64 { return f.cpu }))
	}
	return nil
}

// measure inserts a tenth of the jobs one by one and the rest in hundreds, and then
// has all of them worked.
func measure(ctx context.Context, q *queue, jobs int) (f figures, err error) {
	insert := func(n, each int) (rate float64, err error) {
		began := time.Now()
		var left atomic.Int64
		left.Store(int64(n / each))
		errs := make([]error, conns)
		var all sync.WaitGroup
		for i := range conns {
			all.Go(func() {
				for errs[i] == nil && left.Add(-1) >= 0 {
					errs[i] = q.insert(ctx, each)
				}
			})
		}
		all.Wait()
		return float64(n) / time.Since(began).Seconds(), errors.Join(errs...)
	}
	if f.single, err = insert(jobs/10, 1); err != nil {
		return f, err
	}
	if f.bulk, err = insert(jobs-jobs/10, 100); err != nil {
		return f, err
	}
	began, used := time.Now(), cpuTime()
	err = q.work(ctx, jobs)
	f.cpu = float64((cpuTime() - used).Microseconds()) / float64(jobs)
	f.worked = float64(jobs) / time.Since(began).Seconds()
	return f, err
}

// cpuTime is what this process has used. PostgreSQL's part is not in it.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		log.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// database makes an empty database on the server of scripts/with-postgres.
func database(ctx context.Context, name string) (url string, drop func() error, err error) {
	server := os.Getenv("FRONTDESK_TEST_POSTGRES")
	if server == "" {
		return "", nil, errors.New("jobs: run it with scripts/with-postgres, which sets FRONTDESK_TEST_POSTGRES")
	}
	do := func(text string) error {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, text)
		return err
	}
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return "", nil, err
	}
	url = fmt.Sprintf("postgres://%s@%s:%d/%s?sslmode=disable", config.User, config.Host, config.Port, name)
	drop = func() error { return do("DROP DATABASE " + name + " WITH (FORCE)") }
	return url, drop, do("CREATE DATABASE " + name)
}

type noArgs struct{}

func (noArgs) Kind() string { return "bench_nothing" }

// counter counts the jobs that are left.
type counter struct {
	left atomic.Int64
	done chan struct{} // closed when there are none
}

func (c *counter) begin(n int) {
	c.left.Store(int64(n))
	c.done = make(chan struct{})
}

func (c *counter) count() {
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
}

// frontdeskQueue is the service's queue, with jobs that work in the database (Tx) or call the
// outside world (Flow).
func frontdeskQueue(flow bool) func(context.Context, string) (*queue, error) {
	return func(ctx context.Context, url string) (*queue, error) {
		quiet := slog.New(slog.DiscardHandler)
		d, err := db.Open(ctx, db.Options{URL: url, MaxConns: conns, Migrations: []fs.FS{migrations.FS}, Log: quiet})
		if err != nil {
			return nil, err
		}
		q := job.New(job.Options{DB: d, Clock: clock.New(0), Log: quiet, TxWorkers: conns, FlowWorkers: conns})
		c := &counter{}
		name := "ours, claimed and done in one Tx"
		if flow {
			name = "ours, leased and settled (Flow)"
			job.HandleFlow(q, "bench.nothing", func(context.Context, job.Job, noArgs) (job.Outcome, error) {
				c.count()
				return nil, nil
			}, job.ForgetWhenDone())
		} else {
			job.HandleTx(q, "bench.nothing", func(_ context.Context, tx *db.Tx, _ job.Job, _ noArgs) error {
				tx.OnCommit(c.count)
				return nil
			}, job.ForgetWhenDone())
		}
		return &queue{name: name,
			insert: func(ctx context.Context, n int) error {
				return d.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
					for range n {
						if _, err := q.Enqueue(ctx, tx, "bench.nothing", noArgs{}); err != nil {
							return err
						}
					}
					return nil
				})
			},
			work: func(ctx context.Context, n int) error {
				c.begin(n)
				if err := q.Start(ctx); err != nil {
					return err
				}
				<-c.done
				return q.Stop(ctx)
			},
			end: func() { d.Close() }}, nil
	}
}

type riverWorker struct {
	river.WorkerDefaults[noArgs]
	c *counter
}

func (w *riverWorker) Work(context.Context, *river.Job[noArgs]) error {
	w.c.count()
	return nil
}

// riverWith is River with so many workers. It fetches as often as it may: by default
// it waits for 100 ms between two fetches.
func riverWith(most int) func(context.Context, string) (*queue, error) {
	return func(ctx context.Context, url string) (*queue, error) {
		config, err := pgxpool.ParseConfig(url)
		if err != nil {
			return nil, err
		}
		config.MaxConns = conns
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		driver := riverpgxv5.New(pool)
		migrator, err := rivermigrate.New(driver, nil)
		if err != nil {
			return nil, err
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return nil, err
		}
		c := &counter{}
		workers := river.NewWorkers()
		river.AddWorker(workers, &riverWorker{c: c})
		client, err := river.NewClient(driver, &river.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler),
			FetchCooldown: river.FetchCooldownMin, FetchPollInterval: 10 * time.Millisecond,
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: most}}})
		if err != nil {
			return nil, err
		}
		return &queue{name: fmt.Sprintf("River, %d workers", most),
			insert: func(ctx context.Context, n int) error {
				if n == 1 {
					_, err := client.Insert(ctx, noArgs{}, nil)
					return err
				}
				_, err := client.InsertMany(ctx, slices.Repeat([]river.InsertManyParams{{Args: noArgs{}}}, n))
				return err
			},
			work: func(ctx context.Context, n int) error {
				c.begin(n)
				if err := client.Start(ctx); err != nil {
					return err
				}
				<-c.done
				return client.Stop(ctx) // which writes what was done
			},
			end: pool.Close}, nil
	}
}

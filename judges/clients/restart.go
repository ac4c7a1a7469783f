package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// each is how many calls every client makes at least while the server restarts.
const each = 1700

// restarts kills the server, and restarts it in order, while three clients with their
// default settings make contacts. Every call must succeed, and have made one.
func restarts(binary, folder string) error {
	s, err := serve(binary, folder, "")
	if err != nil {
		return err
	}
	defer func() { s.stop() }()
	began := time.Now()
	var over atomic.Bool
	var calls atomic.Int64
	var wait sync.WaitGroup
	failures := make([]error, len(clients))
	for i, c := range clients {
		if c.name == "command" { // a process for each call, which goes by the client for Go
			continue
		}
		key, err := s.organization("Judges", "enterprise")
		if err != nil {
			return err
		}
		r := &raw{s.url, key}
		d, end, err := driverOf(c.name, folder, r)
		if err != nil {
			return err
		}
		defer end()
		wait.Go(func() {
			made := 0
			for made < each || !over.Load() {
				answer, err := d.do(object{"do": "hammer", "n": 50, "from": made})
				if err != nil || answer["error"] != nil {
					failures[i] = fmt.Errorf("%s after %d calls: %v %w", c.name, made, answer["error"], err)
					return
				}
				made += 50
				calls.Add(50)
			}
			if err := r.hasEach(made); err != nil {
				failures[i] = fmt.Errorf("%s: %w", c.name, err)
			}
		})
	}
	err = nil
	for _, signal := range []os.Signal{syscall.SIGKILL, os.Interrupt} {
		time.Sleep(time.Second)
		if err == nil {
			s.cmd.Process.Signal(signal) //nolint:errcheck // it runs, or the clients notice
			s.cmd.Wait()                 //nolint:errcheck // it was killed
			err = s.start()
		}
	}
	over.Store(true)
	wait.Wait()
	if err := errors.Join(append(failures, err)...); err != nil {
		return err
	}
	fmt.Printf("judge-clients: %d calls of three clients over a kill and a restart, none lost, none doubled (%.0f s)\n",
		calls.Load(), time.Since(began).Seconds())
	return nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running server.
type process struct {
	cmd  *exec.Cmd
	said *bytes.Buffer // what it printed; read only after done
	done chan struct{}
}

const (
	readyTime = 30 * time.Second // for a server to come up
	stopTime  = 20 * time.Second // for a server to go, before it is killed
	pollEvery = 2 * time.Millisecond
)

// freeAddress is an address that nobody listens on now.
func freeAddress() (string, error) {
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)) // outgoing connections get higher ports
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("no port is free")
}

// launch starts a server and waits until path answers 200. It tells how long
// that took from the moment before the process was made.
func launch(ctx context.Context, addr, path, binary string, args ...string) (*process, time.Duration, error) {
	p := &process{said: &bytes.Buffer{}, done: make(chan struct{})}
	p.cmd = exec.Command(binary, args...) //nolint:noctx // stop ends it, in its own time
	p.cmd.Env = environment()
	p.cmd.Stdout, p.cmd.Stderr = p.said, p.said
	// A bench that is killed must not leave servers behind.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	start := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, 0, err
	}
	go func() {
		p.cmd.Wait() //nolint:errcheck // how it ended does not matter, that it did is noticed
		close(p.done)
	}()
	for time.Since(start) < readyTime {
		if ok(addr, path) {
			return p, time.Since(start), nil
		}
		select {
		case <-p.done:
			return nil, 0, fmt.Errorf("bench: %s ended at once: %s", binary, p.said)
		case <-ctx.Done():
			p.stop()
			return nil, 0, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	p.stop()
	return nil, 0, fmt.Errorf("bench: %s was not ready after %v: %s", binary, readyTime, p.said)
}

// environment is ours without settings that would change a server.
func environment() (out []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FRONTDESK_") && !strings.HasPrefix(v, "GOGC=") &&
			!strings.HasPrefix(v, "GOMEMLIMIT=") &&
			!strings.HasPrefix(v, "GODEBUG=") {
			out = append(out, v)
		}
	}
	return out
}

// ok asks once, on a connection of its own.
func ok(addr, path string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second) //nolint:noctx // bounded
	if err != nil {
		return false
	}
	defer c.Close()
	if c.SetDeadline(time.Now().Add(time.Second)) != nil {
		return false
	}
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, addr); err != nil {
		return false
	}
	var line [12]byte
	n, err := c.Read(line[:])
	return err == nil && n == len(line) && string(line[9:]) == "200"
}

// stop asks the server to end and kills it when it does not. It may be called twice.
func (p *process) stop() {
	if p == nil {
		return
	}
	p.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may be gone
	select {
	case <-p.done:
	case <-time.After(stopTime):
		p.cmd.Process.Kill() //nolint:errcheck // it may be gone
		<-p.done
	}
}

// alive fails when the server ended by itself.
func (p *process) alive() error {
	select {
	case <-p.done:
		return fmt.Errorf("the server ended: %s", p.said)
	default:
		return nil
	}
}

// cpu is the time that the server and its children have spent on processors,
// user and system. The kernel counts it in ticks of 10 ms.
func (p *process) cpu() (time.Duration, error) { return cpuOf(strconv.Itoa(p.cmd.Process.Pid)) }

func cpuOf(pid string) (time.Duration, error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	// proc(5): the name in parentheses may hold anything; utime, stime,
	// cutime and cstime are fields 14 to 17.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 15 {
		return 0, errors.New("bench: /proc/PID/stat is too short")
	}
	var ticks int64
	for _, s := range f[11:15] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// databaseCPU is nothing: the database is in the process.
func (p *process) databaseCPU() (time.Duration, error) { return 0, nil }

// rssAnonMB is the server's own memory: what is resident and no file's.
func (p *process) rssAnonMB() (float64, error) { return p.statusMB("RssAnon:") }

// peakMB is the most memory that the server had, without what it had of files at
// the end. The kernel keeps only the peak of both together.
func (p *process) peakMB() (float64, error) {
	peak, err := p.statusMB("VmHWM:")
	if err != nil {
		return 0, err
	}
	files, err := p.statusMB("RssFile:")
	return peak - files, err
}

func (p *process) statusMB(name string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, name); found {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb / 1024, err
		}
	}
	return 0, errors.New("bench: no " + name + " in /proc/PID/status")
}

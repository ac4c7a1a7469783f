package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// world is the database, the networks to it and the processes of the service.
type world struct {
	options
	dir      string
	random   *rand.Rand
	database store
	cluster  *cluster // nil for one server
	proxies  *toxiproxy.ApiServer
	fleet    []*process
	front    *balancer // nil: callers go to any process themselves
}

// process is one of the service's, behind its own network to the database.
type process struct {
	world   *world
	address string
	binary  string
	skew    time.Duration // of its clock
	network *toxiproxy.Proxy

	mu       sync.Mutex
	cmd      *exec.Cmd
	ended    chan struct{}
	frozen   atomic.Bool
	away     atomic.Bool  // dead for a while; nobody calls it
	troubled atomic.Int64 // when it was last frozen or dead, in Unix nanoseconds
}

// build makes the service from its source.
func build(ctx context.Context, source, to string, flags ...string) (string, error) {
	args := append([]string{"build", "-trimpath", "-o", to}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/frontdesk")...)
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the service: %w: %s", err, out)
	}
	return to, nil
}

func freePort() (int, error) {
	for range 100 {
		port := 10_000 + rand.IntN(20_000) //nolint:gosec // outgoing connections get higher ports
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no port is free")
}

func (w *world) start(ctx context.Context) (err error) {
	if err := w.open(ctx); err != nil {
		return err
	}
	w.proxies = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for i := range w.processes {
		p := &process{world: w, binary: w.binary}
		if w.skew > 0 {
			p.skew = w.skew * time.Duration((i+1)%3-1) // the first is right, one is ahead, one behind
		}
		p.network = toxiproxy.NewProxy(w.proxies, fmt.Sprint(i), "127.0.0.1:0",
			fmt.Sprint("127.0.0.1:", w.database.entrance()))
		if err := p.network.Start(); err != nil {
			return err
		}
		port, err := freePort()
		if err != nil {
			return err
		}
		p.address = fmt.Sprint("127.0.0.1:", port)
		w.fleet = append(w.fleet, p)
		if err := p.start(ctx); err != nil {
			return err
		}
	}
	over := "one PostgreSQL"
	if w.cluster != nil {
		over = "Patroni"
	}
	say("%d processes over %s", len(w.fleet), over)
	return nil
}

// open starts the database: a cluster if somebody is to take over.
func (w *world) open(ctx context.Context) error {
	if w.failovers == 0 {
		d, err := startDatabase(ctx, w.dir)
		if d != nil {
			w.database = d
		}
		return err
	}
	c, err := startCluster(ctx, w.dir)
	if c != nil {
		w.database, w.cluster = c, c
	}
	return err
}

func (w *world) stop() {
	for _, p := range w.fleet {
		p.kill()
		p.network.Stop()
	}
	if w.front != nil {
		w.front.stop()
	}
	if w.database != nil {
		w.database.stop()
	}
}

// url is the database as a process reaches it.
func (p *process) url() string { return "postgres://postgres@" + p.network.Listen + "/postgres" }

// log is the file with what it says.
func (p *process) log() string {
	return filepath.Join(p.world.dir, strings.ReplaceAll(p.address, ":", "-")+".log")
}

// start runs the process and waits until it is ready. One that ends, because the
// database is away, is started again.
func (p *process) start(ctx context.Context) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		ended, err := p.launch()
		if err != nil {
			return err
		}
		for alive := true; alive && time.Now().Before(end); {
			if p.ready(ctx) {
				return nil
			}
			select {
			case <-ended:
				alive = false
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return fmt.Errorf("a process is not ready after two minutes; see %s", p.log())
}

// launch runs the process; the channel is closed when it has ended.
func (p *process) launch() (<-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(p.binary, "serve", "--data", filepath.Join(p.world.dir, "data"), //nolint:noctx // ended by us
		"--database-url", p.url(), "--listen", p.address, "--base-url", "http://desk.example", "--mcp-listen", "",
		"--dns-listen", "", "--smtp-listen", "", "--allow-insecure-webhooks", "--rate-limit-enterprise", "6000000",
		"--rate-limit-free", strconv.Itoa(planned), "--automation-limit-enterprise", "6000000", "--drain", "3s")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.world.dir, clockVariable + "=" + p.skew.String()}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	p.cmd, p.ended = cmd, ended
	go func() { cmd.Wait(); close(ended) }() //nolint:errcheck // how it ended is told by its log
	return ended, nil
}

func (p *process) ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Process.Signal(s) //nolint:errcheck // it may be gone
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	p.signal(syscall.SIGCONT)
	if p.ended != nil {
		<-p.ended
	}
}

// inTrouble marks a process whose requests may take any time, from now until a
// moment after the returned function is called.
func (p *process) inTrouble() func() {
	p.troubled.Store(1 << 62)
	return func() { p.troubled.Store(time.Now().UnixNano()) }
}

// fault is something that goes wrong.
type fault struct {
	name string
	play func(ctx context.Context, p *process) error
}

func (w *world) faults() (all []fault) {
	add := func(n int, name string, play func(ctx context.Context, p *process) error) {
		for range n {
			all = append(all, fault{name, play})
		}
	}
	add(w.kills, "kill", func(ctx context.Context, p *process) error {
		defer p.inTrouble()()
		p.kill()
		return p.start(ctx)
	})
	add(w.freezes, "freeze", func(ctx context.Context, p *process) error {
		length := 5*time.Second + time.Duration(w.random.Int64N(int64(w.longest-5*time.Second)))
		calm := p.inTrouble()
		p.frozen.Store(true)
		p.signal(syscall.SIGSTOP)
		go func() { // others go on meanwhile
			select {
			case <-time.After(length):
			case <-ctx.Done():
			}
			p.signal(syscall.SIGCONT)
			p.frozen.Store(false)
			calm()
		}()
		return nil
	})
	add(w.restarts, "restart of the database", func(ctx context.Context, _ *process) error {
		how := []string{"fast", "immediate"}[w.random.IntN(2)]
		return w.database.restart(ctx, how)
	})
	add(w.failovers, "failover", func(ctx context.Context, _ *process) error { return w.cluster.failover(ctx) })
	add(w.cuts, "cut", func(_ context.Context, p *process) error {
		p.network.Stop()
		return p.network.Start()
	})
	add(w.holes, "black hole", func(ctx context.Context, p *process) error {
		toxic, err := p.network.Toxics.AddToxicJson(strings.NewReader(
			`{"name": "hole", "type": "timeout", "stream": "downstream", "attributes": {"timeout": 0}}`))
		if err != nil {
			return err
		}
		select {
		case <-time.After(w.hole):
		case <-ctx.Done():
		}
		return p.network.Toxics.RemoveToxic(ctx, toxic.Name)
	})
	w.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// disturb plays all faults, one after the other, and counts them.
func (w *world) disturb(ctx context.Context) map[string]int {
	played := map[string]int{}
	all := w.faults()
	for i, f := range all {
		p := w.fleet[w.random.IntN(len(w.fleet))]
		for p.frozen.Load() && ctx.Err() == nil {
			p = w.fleet[w.random.IntN(len(w.fleet))]
			time.Sleep(10 * time.Millisecond) // all of them may be frozen
		}
		if err := f.play(ctx, p); err != nil && ctx.Err() == nil {
			say("%s: %v", f.name, err)
		}
		played[f.name]++
		if (i+1)%10 == 0 {
			say("%d of %d faults", i+1, len(all))
		}
		select {
		case <-time.After(w.pause/2 + time.Duration(w.random.Int64N(int64(w.pause)))):
		case <-ctx.Done():
			return played
		}
	}
	return played
}

// heal waits until every process is well again.
func (w *world) heal(ctx context.Context) error {
	for _, p := range w.fleet {
		for range 1200 {
			if !p.frozen.Load() && p.ready(ctx) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if !p.ready(ctx) {
			return errors.New("a process did not recover")
		}
	}
	return nil
}

// admin runs an operator's command.
func (w *world) admin(ctx context.Context, args ...string) (map[string]any, error) {
	all := append([]string{"--data", filepath.Join(w.dir, "data"), "--database-url", w.fleet[0].url(), "admin",
		"--json"}, args...)
	cmd := exec.CommandContext(ctx, w.fleet[0].binary, all...)
	cmd.Stdin = strings.NewReader("a password that nobody needs\n")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("admin %s: %w: %s", strings.Join(args, " "), err, &said)
	}
	var answer map[string]any
	return answer, json.Unmarshal(out.Bytes(), &answer)
}

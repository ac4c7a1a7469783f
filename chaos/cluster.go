package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"
)

// store is where the processes keep everything: one PostgreSQL, or a cluster of them.
type store interface {
	// entrance is the port by which it is reached.
	entrance() int
	// output runs one of PostgreSQL's programs and returns what it says.
	output(ctx context.Context, command string, args ...string) (string, error)
	// restart ends the server that is in charge as a power cut would ("immediate"), or
	// politely ("fast"), and has it start again.
	restart(ctx context.Context, how string) error
	stop()
}

// cluster is three PostgreSQL servers that Patroni watches: one is in charge, one
// follows it with every commit. HAProxy leads to the one in charge.
type cluster struct {
	*server
	dir                     string
	etcd, etcdPeer, haproxy int
	nodes                   []*node
	others                  []*exec.Cmd
}

type node struct {
	Name           string
	Port, Watch    int // of PostgreSQL, and of what Patroni says about it
	Etcd           int
	Bin, Data, Dir string
	patroni        *exec.Cmd
	ended          chan struct{}
}

//go:embed patroni.yml
var patroniText string

//go:embed haproxy.cfg
var haproxyText string

func startCluster(ctx context.Context, dir string) (*cluster, error) {
	s, err := newServer()
	if err != nil {
		return nil, err
	}
	c := &cluster{server: s, dir: filepath.Join(dir, "cluster")}
	if err := c.own(c.dir); err != nil {
		return nil, err
	}
	for _, port := range []*int{&c.etcd, &c.etcdPeer, &c.haproxy} {
		if *port, err = freePort(); err != nil {
			return nil, err
		}
	}
	peer := fmt.Sprint("http://127.0.0.1:", c.etcdPeer)
	client := fmt.Sprint("http://127.0.0.1:", c.etcd)
	err = c.spawn("etcd", "--data-dir", filepath.Join(c.dir, "etcd"), "--name", "one", "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "one="+peer)
	if err != nil {
		return c, err
	}
	for i := range 3 {
		n := &node{Name: "node" + strconv.Itoa(i+1), Etcd: c.etcd, Bin: c.bin, Dir: c.dir}
		n.Data = filepath.Join(c.dir, n.Name)
		for _, port := range []*int{&n.Port, &n.Watch} {
			if *port, err = freePort(); err != nil {
				return c, err
			}
		}
		if err := fill(patroniText, n.settings(), n); err != nil {
			return c, err
		}
		c.nodes = append(c.nodes, n)
		if err := c.startNode(n); err != nil {
			return c, err
		}
	}
	settings := filepath.Join(c.dir, "haproxy.cfg")
	if err := fill(haproxyText, settings, map[string]any{"Port": c.haproxy, "Nodes": c.nodes}); err != nil {
		return c, err
	}
	if err := c.spawn("haproxy", "-f", settings, "-db"); err != nil {
		return c, err
	}
	for range 600 {
		if c.leader(ctx) != nil && c.followed(ctx) {
			return c, nil
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return c, err
		}
	}
	return c, fmt.Errorf("no server of the cluster is in charge after two minutes; see %s", c.dir)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (n *node) settings() string { return filepath.Join(n.Dir, n.Name+".yml") }

func (c *cluster) entrance() int { return c.haproxy }

// fill writes settings.
func fill(text, to string, values any) error {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	return template.Must(template.New("").Parse(text)).Execute(f, values)
}

// command is a program as the user of the database, which ends with us.
func (c *cluster) command(name string, args ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(name, args...) //nolint:noctx // ended by us
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin", "HOME=" + c.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.who, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w (Debian: sudo apt-get install patroni etcd-server haproxy)", name, err)
	}
	return cmd, nil
}

func (c *cluster) spawn(name string, args ...string) error {
	cmd, err := c.command(name, args...)
	if err == nil {
		c.others = append(c.others, cmd)
	}
	return err
}

func (c *cluster) startNode(n *node) (err error) {
	if n.patroni, err = c.command("patroni", n.settings()); err != nil {
		return err
	}
	n.ended = make(chan struct{})
	go func() { n.patroni.Wait(); close(n.ended) }() //nolint:errcheck // its log says how it ended
	return nil
}

// says asks Patroni about a server.
func (n *node) says(ctx context.Context, what string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	url := fmt.Sprintf("http://127.0.0.1:%d/%s", n.Watch, what)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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

// leader is the server in charge, or nil.
func (c *cluster) leader(ctx context.Context) *node {
	for _, n := range c.nodes {
		if n.says(ctx, "primary") {
			return n
		}
	}
	return nil
}

// followed reports whether a server has every commit of the one in charge.
func (c *cluster) followed(ctx context.Context) bool {
	for _, n := range c.nodes {
		if n.says(ctx, "synchronous") {
			return true
		}
	}
	return false
}

// killServer ends PostgreSQL as a power cut would.
func (n *node) killServer() error {
	b, err := os.ReadFile(filepath.Join(n.Data, "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// restart ends the server in charge; Patroni starts it again, or has another take over.
func (c *cluster) restart(ctx context.Context, how string) error {
	n := c.leader(ctx)
	if n == nil {
		return nil // it is away already
	}
	if how == "immediate" {
		return n.killServer()
	}
	return c.run(ctx, "pg_ctl", "-D", n.Data, "-m", "fast", "-l", filepath.Join(c.dir, n.Name+".log"), "-w", "restart")
}

// failover kills the server in charge with its watcher, waits until another one has
// taken over, and has the dead one come back as a follower.
func (c *cluster) failover(ctx context.Context) error {
	var n *node
	for range 600 { // only a server with every commit may take over
		if n = c.leader(ctx); n != nil && c.followed(ctx) {
			break
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	if n == nil {
		return errors.New("no server is in charge")
	}
	began := time.Now()
	n.patroni.Process.Kill() //nolint:errcheck // it is waited for
	<-n.ended
	if err := n.killServer(); err != nil {
		return err
	}
	for range 600 {
		if now := c.leader(ctx); now != nil && now != n {
			say("failover: %s after %s, %.1f s", now.Name, n.Name, time.Since(began).Seconds())
			return c.startNode(n)
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.Join(errors.New("nobody took over in two minutes"), c.startNode(n))
}

func (c *cluster) stop() {
	for _, n := range c.nodes {
		if n.patroni != nil {
			n.patroni.Process.Kill() //nolint:errcheck // it goes with its folder
			<-n.ended
		}
		n.killServer() //nolint:errcheck // it may be down
	}
	for _, cmd := range c.others {
		cmd.Process.Kill() //nolint:errcheck // it goes with its folder
		cmd.Wait()         //nolint:errcheck // killed
	}
}

package console_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// service is a running server on an empty database, as an operator starts it.
type service struct {
	URL, AgentURL string
	Setup         string   // the first-run link that it printed
	Where         []string // the flags that say where it and its data are, for every command

	arguments []string
	process   *exec.Cmd
}

var ports sync.Map // that were given to a test

func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)) // outgoing connections get higher ports
		if _, given := ports.LoadOrStore(addr, true); given {
			continue
		}
		if l, err := net.Listen("tcp", addr); err == nil {
			l.Close()
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// database makes an empty database on the PostgreSQL server that JUDGE_POSTGRES
// names. Without one, the service uses SQLite.
func database(t *testing.T) (flags []string) {
	t.Helper()
	server := os.Getenv("JUDGE_POSTGRES")
	if server == "" {
		return nil
	}
	name := fmt.Sprintf("judge_%d", rand.Uint64())
	out, err := exec.CommandContext(t.Context(), "psql", server, "-qc", "CREATE DATABASE "+name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return []string{"--database-url", server[:strings.LastIndexByte(server, '/')+1] + name}
}

// serve starts the binary that FRONTDESK_BIN names.
func serve(t *testing.T, more ...string) *service {
	t.Helper()
	return serveAs(t, "127.0.0.1", more...)
}

// serveAs is serve under a name of this machine.
func serveAs(t *testing.T, host string, more ...string) *service {
	t.Helper()
	if os.Getenv("FRONTDESK_BIN") == "" {
		t.Skip("run by scripts/judge-console")
	}
	api, agents := freePort(t), freePort(t)
	_, port, _ := strings.Cut(api, ":")
	s := &service{URL: "http://" + host + ":" + port, AgentURL: "http://" + agents}
	s.Where = append([]string{"--data", t.TempDir(), "--base-url", s.URL}, database(t)...)
	s.arguments = append([]string{"serve", "--listen", api, "--mcp-listen", agents,
		"--dns-listen", "127.0.0.1:0", "--smtp-listen", "", "--allow-insecure-webhooks",
		"--storage-reserve", "0"}, // the disk of a judge may be nearly full
		append(s.Where, more...)...)
	out := s.start(t)
	t.Cleanup(func() {
		s.process.Process.Signal(syscall.SIGTERM)
		if err := s.process.Wait(); err != nil {
			t.Errorf("the service: %v", err)
		}
	})
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if text := strings.TrimSpace(lines.Text()); strings.HasPrefix(text, s.URL+"/setup/") {
				found <- text
			}
		}
		io.Copy(io.Discard, out)
	}()
	select {
	case s.Setup = <-found:
	case <-time.After(2 * time.Minute):
		t.Fatal("the service printed no set-up link")
	}
	return s
}

// start runs the binary.
func (s *service) start(t *testing.T) (out io.Reader) {
	t.Helper()
	s.process = exec.CommandContext(context.Background(), os.Getenv("FRONTDESK_BIN"), s.arguments...)
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	return out
}

// kill ends the service in the middle of whatever it does, and starts it again.
func (s *service) kill(t *testing.T) {
	t.Helper()
	s.process.Process.Kill()
	s.process.Wait() // says that it was killed
	go io.Copy(io.Discard, s.start(t))
	for range 600 {
		if r, err := http.Get(s.URL + "/healthz"); err == nil {
			r.Body.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the service did not start again")
}

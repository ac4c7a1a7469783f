package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// server is the real service, in a process of its own.
type server struct {
	binary, data, database, url string
	cmd                         *exec.Cmd
}

func serve(binary, data, database string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{binary: binary, data: data, database: database, url: "http://127.0.0.1:" + port}
	return s, s.start()
}

// start runs the service, and waits until it is ready.
func (s *server) start() error {
	s.cmd = exec.Command(s.binary, append([]string{"serve", "--listen", strings.TrimPrefix(s.url, "http://"),
		"--mcp-listen", "", "--dns-listen", "127.0.0.1:0", "--smtp-listen", "", "--metrics-listen", "",
		"--allow-insecure-webhooks", "--log-level", "error", "--base-url", s.url, "--rate-limit-free", "12",
		"--rate-limit-enterprise", "1000000"}, s.where()...)...)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for range 600 {
		if answer, err := http.Get(s.url + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return errors.New("the service does not start")
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func (s *server) where() []string {
	out := []string{"--data", s.data}
	if s.database != "" {
		out = append(out, "--database-url", s.database)
	}
	return out
}

func (s *server) stop() {
	s.cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
	s.cmd.Wait()                       //nolint:errcheck // what it did was seen
}

func (s *server) admin(stdin string, args ...string) (object, error) {
	cmd := exec.Command(s.binary, append(append([]string{"admin"}, args...), append(s.where(), "--json")...)...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("admin %v: %w", args, err)
	}
	var out object
	return out, json.Unmarshal(text, &out)
}

// organization makes one, and returns a key for everything.
func (s *server) organization(name, plan string) (key string, err error) {
	org, err := s.admin("", "org", "create", "--name", name, "--plan", plan)
	if err != nil {
		return "", err
	}
	email := fmt.Sprintf("owner-%s@example.com", org["organizationId"])
	business := org["businessId"].(string)
	for _, step := range []struct {
		stdin string
		args  []string
	}{
		{"a long password\n", []string{"user", "create", "--org", org["organizationId"].(string), "--email", email,
			"--name", "Owner", "--role", "owner", "--password-stdin"}},
		{"", []string{"agreement", "accept", "--business", business, "--kind", "business", "--by", email}},
	} {
		if _, err := s.admin(step.stdin, step.args...); err != nil {
			return "", err
		}
	}
	made, err := s.admin("", "key", "create", "--business", business, "--name", "Judge", "--permissions", "*")
	if err != nil {
		return "", err
	}
	return made["key"].(string), nil
}

// raw asks the server without any client of ours.
type raw struct{ url, key string }

// path is where a step of a read goes.
func (r *raw) path(step object) string {
	out := "/v1/" + strings.ReplaceAll(strings.Split(step["call"].(string), ".")[0], "_", "-")
	if path, ok := step["path"].([]any); ok {
		out += "/" + url.PathEscape(path[0].(string))
	}
	if query, ok := step["query"].(object); ok {
		values := url.Values{}
		for name, v := range query {
			if list, ok := v.([]any); ok {
				for _, e := range list {
					values.Add(name, fmt.Sprint(e))
				}
				continue
			}
			values.Set(name, fmt.Sprint(v))
		}
		out += "?" + values.Encode()
	}
	return out
}

func (r *raw) send(path string) (*http.Response, error) {
	q, err := http.NewRequest(http.MethodGet, r.url+path, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+r.key)
	return http.DefaultClient.Do(q)
}

func (r *raw) get(path string) (object, http.Header, error) {
	answer, err := r.send(path)
	if err != nil {
		return nil, http.Header{}, err
	}
	defer answer.Body.Close()
	var out object
	return out, answer.Header, json.NewDecoder(answer.Body).Decode(&out)
}

// front is an address before the server's, which shows each request to look on its way.
func (r *raw) front(look func(*http.Request)) (*httptest.Server, error) {
	to, err := url.Parse(r.url)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		look(q)
		proxy.ServeHTTP(w, q)
	})), nil
}

// named is the name and the type of a file.
func (r *raw) named(path string) (name, kind string, err error) {
	answer, err := r.send(path)
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body) //nolint:errcheck // only the headers count
	_, params, err := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
	return params["filename"], answer.Header.Get("Content-Type"), err
}

// exhaust uses up the allowance, and says how long to wait for more.
func (r *raw) exhaust() (wait time.Duration, err error) {
	for range 1000 {
		answer, err := r.send("/v1/me")
		if err != nil {
			return 0, err
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusTooManyRequests {
			return time.ParseDuration(answer.Header.Get("Retry-After") + "s")
		}
	}
	return 0, errors.New("there is no limit")
}

func scratch(parts ...string) (string, error) {
	path := filepath.Join(parts...)
	return path, os.MkdirAll(path, 0o755)
}

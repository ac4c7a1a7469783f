// Command clients has one scenario played by every client of clients/ and by
// frontdesk api, against real servers on both engines. All must see the same.
// Then connections are cut at random bytes, and no effect may happen twice. A page
// in Chromium imports the client for TypeScript and works with it. At the end the
// server is killed, and restarted, under clients as they are set by default.
//
// With -bench it measures what a call costs beside one without a client.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// clients are those who play, and how many connections each has cut. The
// command starts a process for each call.
var clients = []struct {
	name string
	cuts int64
}{{"typescript", 320}, {"python", 320}, {"go", 320}, {"command", 40}}

func main() {
	bench := flag.Bool("bench", false, "measure instead")
	flag.Parse()
	run := judge
	if *bench {
		run = measure
	}
	if err := run(os.Getenv("FRONTDESK"), os.Getenv("SCRATCH"), os.Getenv("FRONTDESK_TEST_POSTGRES")); err != nil {
		fmt.Fprintln(os.Stderr, "judge-clients:", err)
		os.Exit(1)
	}
}

func judge(binary, folder, postgres string) error {
	var steps []object
	text, err := os.ReadFile("scenario.json")
	if err == nil {
		err = json.Unmarshal(text, &steps)
	}
	if err != nil {
		return err
	}
	first, whose := "", ""
	for _, engine := range []struct{ name, database string }{{"sqlite", ""}, {"postgresql", postgres}} {
		began := time.Now()
		transcripts, cuts, err := onEngine(binary, filepath.Join(folder, engine.name), engine.database, steps)
		if err != nil {
			return fmt.Errorf("on %s: %w", engine.name, err)
		}
		for _, c := range clients {
			got := transcripts[c.name]
			if first == "" {
				first, whose = got, c.name+" on "+engine.name
			}
			if got != first {
				return fmt.Errorf("%s on %s saw something else than %s:\n%s", c.name, engine.name, whose,
					difference(first, got))
			}
		}
		fmt.Printf("judge-clients: %s: %d steps, the same for all %d clients; %d connections cut, nothing twice; "+
			"a page in Chromium works with the client (%.0f s)\n", engine.name, len(steps), len(clients), cuts,
			time.Since(began).Seconds())
	}
	if err := restarts(binary, filepath.Join(folder, "restarts")); err != nil {
		return fmt.Errorf("when the server restarts: %w", err)
	}
	return os.WriteFile(filepath.Join(folder, "transcript.json"), []byte(first), 0o644)
}

// onEngine plays the scenario with all clients at once.
func onEngine(binary, folder, database string, steps []object) (map[string]string, int64, error) {
	s, err := serve(binary, filepath.Join(folder, "data"), database)
	if err != nil {
		return nil, 0, err
	}
	defer s.stop()
	h := &hooks{received: map[string]chan hookRequest{}}
	for _, c := range clients {
		h.received[c.name] = make(chan hookRequest, 1)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		select {
		case h.received[strings.Trim(r.URL.Path, "/")] <- hookRequest{r.Header, string(body)}:
		default: // one is enough
		}
	}))
	defer receiver.Close()
	h.address = receiver.URL

	var wait sync.WaitGroup
	var mu sync.Mutex
	transcripts, failures, cuts := map[string]string{}, []string{}, int64(0)
	for _, c := range clients {
		wait.Go(func() {
			transcript, n, err := one(s, h, folder, c.name, c.cuts/2, steps)
			mu.Lock()
			defer mu.Unlock()
			transcripts[c.name], cuts = transcript, cuts+n
			if err != nil {
				failures = append(failures, fmt.Sprintf("%s: %v", c.name, err))
			}
		})
	}
	wait.Wait()
	if len(failures) > 0 {
		return nil, 0, fmt.Errorf("%s", strings.Join(failures, "\n"))
	}
	if err := inBrowser(s); err != nil {
		return nil, 0, fmt.Errorf("in a browser: %w", err)
	}
	return transcripts, cuts, nil
}

// one has a client play the scenario, and then create while connections are cut.
func one(s *server, h *hooks, folder, name string, cuts int64, steps []object) (string, int64, error) {
	own, err := scratch(folder, name)
	if err != nil {
		return "", 0, err
	}
	w := &world{name: name, scratch: own, hooks: h}
	for _, org := range []struct {
		into **raw
		plan string
	}{{&w.raw, "enterprise"}, {&w.limited, "free"}} {
		key, err := s.organization("Judges", org.plan)
		if err != nil {
			return "", 0, err
		}
		*org.into = &raw{s.url, key}
	}
	d, end, err := driverOf(name, own, w.raw)
	if err != nil {
		return "", 0, err
	}
	defer end()
	w.driver = d
	transcript, err := w.play(steps)
	if err != nil {
		return "", 0, err
	}
	n, err := w.hammer(cuts)
	return transcript, n, err
}

func driverOf(name, folder string, r *raw) (driver, func(), error) {
	// The defaults of all clients.
	env := []string{"FRONTDESK_URL=" + r.url, "FRONTDESK_API_KEY=" + r.key, "XDG_CONFIG_HOME=" + folder}
	var p *process
	var err error
	switch name {
	case "typescript":
		p, err = start(env, "node", "driver/driver.mjs")
	case "python":
		p, err = start(env, os.Getenv("PYTHON"), "-B", "driver/driver.py")
	case "go":
		p, err = start(env, os.Getenv("GO_DRIVER"))
	default:
		return &command{os.Getenv("FRONTDESK"), folder, env, r}, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return p, p.close, nil
}

// hammer creates contacts while connections are cut at random bytes, until
// enough were.
func (w *world) hammer(cuts int64) (int64, error) {
	p, err := newProxy(w.raw.url, "random")
	if err != nil {
		return 0, err
	}
	defer p.listener.Close()
	via := object{"baseUrl": p.url, "apiKey": w.raw.key, "maxRetries": 60, "retryDelay": 2}
	made := 0
	for p.cuts.Load() < cuts {
		answer, err := w.do(object{"do": "hammer", "n": 10, "from": made, "via": via})
		if err != nil || answer["error"] != nil {
			return 0, fmt.Errorf("while connections are cut: %v %w", answer["error"], err)
		}
		made += 10
	}
	return p.cuts.Load(), w.raw.hasEach(made)
}

// hasEach looks for what hammer made twice or not at all.
func (r *raw) hasEach(made int) error {
	seen := map[string]int{}
	for offset := 0; ; offset += 100 {
		page, _, err := r.get(fmt.Sprintf("/v1/contacts?limit=100&offset=%d", offset))
		if err != nil {
			return err
		}
		rows := page["data"].([]any)
		for _, row := range rows {
			if name, _ := row.(object)["firstName"].(string); strings.HasPrefix(name, "H-") {
				seen[name]++
			}
		}
		if len(rows) == 0 {
			break
		}
	}
	for i := range made {
		if n := seen[fmt.Sprintf("H-%d", i)]; n != 1 {
			return fmt.Errorf("H-%d is there %d times", i, n)
		}
	}
	return nil
}

// difference shows the first lines that differ.
func difference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			from := max(0, i-12)
			return fmt.Sprintf("%s\n< %s\n> %s", strings.Join(left[from:i], "\n"), left[i], right[i])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(left), len(right))
}

// measure prints what a call costs with each client and without one.
func measure(binary, folder, _ string) error {
	s, err := serve(binary, filepath.Join(folder, "bench"), "")
	if err != nil {
		return err
	}
	defer s.stop()
	key, err := s.organization("Bench", "enterprise")
	if err != nil {
		return err
	}
	r := &raw{s.url, key}
	for _, c := range []struct{ name, bare string }{{"typescript", "fetch"}, {"python", "urllib"}, {"go", "net/http"}} {
		d, end, err := driverOf(c.name, folder, r)
		if err != nil {
			return err
		}
		made, err := d.do(object{"do": "call", "call": "contacts.create", "input": object{"firstName": "Ada"}})
		if err != nil {
			return err
		}
		answer, err := d.do(object{"do": "bench", "n": 1500, "path": []any{at(made["data"], "id")}})
		end()
		if err != nil || answer["error"] != nil {
			return fmt.Errorf("%v %w", answer, err)
		}
		ours, bare := at(answer["data"], "ours").(float64), at(answer["data"], "bare").(float64)
		fmt.Printf("%-10s a get takes %4.0f µs, with %s alone %4.0f µs: %+.1f %%\n", c.name, ours, c.bare, bare,
			100*(ours-bare)/bare)
	}
	return nil
}

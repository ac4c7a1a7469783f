package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// world is what one client plays the scenario in: an organization of its own, and a
// second organization with a small allowance.
type world struct {
	driver
	name, scratch string
	raw, limited  *raw
	hooks         *hooks
	saved         map[string]string
	transcript    []any
}

// play does every step, and returns what was seen, without what differs from
// one time to the next.
func (w *world) play(steps []object) (string, error) {
	w.saved = map[string]string{}
	for i, step := range steps {
		if err := w.step(step); err != nil {
			return "", fmt.Errorf("step %d, %v: %w", i+1, step, err)
		}
	}
	return normalize(w.transcript)
}

func (w *world) step(step object) error {
	text, err := json.Marshal(step)
	if err != nil {
		return err
	}
	filled := string(text)
	for name, value := range w.saved {
		quoted, _ := json.Marshal(value) //nolint:errcheck // it is a string
		filled = strings.ReplaceAll(filled, "{"+name+"}", string(quoted[1:len(quoted)-1]))
	}
	var s object
	if err := json.Unmarshal([]byte(filled), &s); err != nil {
		return err
	}
	via, _ := s["via"].(object)
	if via == nil {
		via = object{}
	}
	switch {
	case s["limited"] == true:
		return w.rateLimited(s, via)
	case s["do"] == "verify":
		return w.webhook(s)
	case s["do"] == "propose":
		return w.propose(s)
	case s["do"] == "await":
		return w.await(s)
	case s["do"] == "upload":
		path := filepath.Join(w.scratch, s["name"].(string))
		if err := os.WriteFile(path, []byte(s["text"].(string)), 0o644); err != nil {
			return err
		}
		s["file"] = path
	}
	if mode, ok := s["proxy"].(string); ok {
		// A new one each time: a connection that was used before is tried again by Go itself.
		p, err := newProxy(w.raw.url, mode)
		if err != nil {
			return err
		}
		defer p.listener.Close()
		via["baseUrl"], via["apiKey"] = p.url, w.raw.key
	}
	if as, ok := s["as"]; ok {
		s["do"] = as
	}
	_, err = w.take(s, via)
	return err
}

// take does a step, notes its answer and keeps what later steps need.
func (w *world) take(s, via object) (object, error) {
	if len(via) > 0 {
		s["via"] = via
	}
	save, keep, refused := s["save"], s["keep"], s["refused"]
	for _, ours := range []string{"save", "keep", "refused", "proxy", "limited", "as", "event"} {
		delete(s, ours)
	}
	answer, err := w.do(s)
	if err != nil {
		return nil, err
	}
	if e, failed := answer["error"].(object); failed && e["code"] != refused && e["kind"] != refused ||
		!failed && refused != nil {
		return nil, fmt.Errorf("the answer is %v, want a refusal: %v", answer, refused)
	}
	names, _ := save.(object)
	for name, path := range names {
		value, ok := at(answer["data"], path.(string)).(string)
		if !ok {
			return nil, fmt.Errorf("there is no %v in %v", path, answer)
		}
		w.saved[name] = value
	}
	noted := answer
	if list, ok := keep.([]any); ok && answer["data"] != nil {
		kept := object{}
		for _, path := range list {
			kept[path.(string)] = at(answer["data"], path.(string))
		}
		noted = object{"data": kept}
	}
	w.transcript = append(w.transcript, object{"step": fmt.Sprint(s["do"], " ", s["call"]), "answer": noted})
	return answer, nil
}

func at(v any, path string) any {
	if path == "" {
		return v
	}
	for _, name := range strings.Split(path, ".") {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

// rateLimited uses up an allowance before the step. It is refused, or waits as
// long as it is told.
func (w *world) rateLimited(s, via object) error {
	via["baseUrl"], via["apiKey"] = w.limited.url, w.limited.key
	for try := 0; ; try++ {
		wait, err := w.limited.exhaust()
		if err != nil {
			return err
		}
		began, noted := time.Now(), len(w.transcript)
		_, err = w.take(maps.Clone(s), via)
		if err == nil && (s["refused"] != nil || time.Since(began) >= wait-time.Second) {
			return nil
		}
		if try == 5 { // a slow machine gets a request back meanwhile
			return fmt.Errorf("it was not refused, or did not wait for %v: %w", wait, err)
		}
		w.transcript = w.transcript[:noted]
	}
}

// webhook has an event sent, and the genuine and a forged request judged.
func (w *world) webhook(s object) error {
	event := s["event"]
	hook, err := w.take(object{"do": "call", "call": "webhooks.create", "input": object{"url": w.hooks.url(w.name),
		"events": []any{event}}, "keep": []any{"events", "status"}}, nil)
	if err != nil {
		return err
	}
	if _, err := w.take(object{"do": "call", "call": "contacts.create", "input": object{"firstName": "Zoë"}},
		nil); err != nil {
		return err
	}
	request, err := w.hooks.next(w.name)
	if err != nil {
		return err
	}
	headers := object{}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		headers[name] = request.header.Get(name)
	}
	secret := at(hook["data"], "secret")
	keep := []any{"type", "data.firstName", "resourceType", "actorKind", "door"}
	for _, body := range []string{request.body, strings.Replace(request.body, "Zoë", "Zoe", 1)} {
		step := object{"do": "verify", "body": body, "headers": headers, "secret": secret, "keep": keep}
		if body != request.body {
			step["refused"] = "webhook"
		}
		if _, err := w.take(step, nil); err != nil {
			return err
		}
	}
	return nil
}

// propose has steps rehearsed, carried out and waited for; and withdraws others.
func (w *world) propose(s object) error {
	keep := []any{"status", "title", "totals"}
	for _, calls := range [][]string{{"proposals.execute", "wait"}, {"proposals.cancel"}} {
		proposal, err := w.take(object{"do": "call", "call": "proposals.create", "input": s["input"]}, nil)
		if err != nil {
			return err
		}
		path := []any{at(proposal["data"], "id")}
		for _, call := range calls {
			step := object{"do": "call", "call": call, "path": path, "keep": keep}
			if call == "wait" {
				step = object{"do": "wait", "path": path, "keep": keep}
			}
			if _, err := w.take(step, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// await has a client wait for what ends only while it waits: a proposal whose step
// is answered elsewhere, by a receiver that holds its answer until the client's
// question has come.
func (w *world) await(s object) error {
	knocked, release := make(chan struct{}, 1), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case knocked <- struct{}{}:
		default: // once is enough
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer receiver.Close()
	hook, err := w.take(object{"do": "call", "call": "webhooks.create", "input": object{"url": receiver.URL,
		"events": []any{"file.deleted"}}, "keep": []any{"status"}}, nil)
	if err != nil {
		return err
	}
	keep := []any{"status", "title", "totals"}
	steps := []any{object{"operation": "webhooks.test", "input": object{"id": at(hook["data"], "id")}}}
	proposal, err := w.take(object{"do": "call", "call": "proposals.create", "input": object{"title": s["title"],
		"steps": steps}, "keep": keep}, nil)
	if err != nil {
		return err
	}
	path := []any{at(proposal["data"], "id")}
	begun, err := w.take(object{"do": "call", "call": "proposals.execute", "path": path, "keep": keep}, nil)
	if err != nil {
		return err
	}
	if status := at(begun["data"], "status"); status != "executing" {
		return fmt.Errorf("it is %v while its step is not answered", status)
	}
	asks := make(chan struct{}, 1)
	front, err := w.raw.front(func(r *http.Request) {
		if r.URL.Query().Get("waitSeconds") != "" {
			select {
			case asks <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		return err
	}
	defer front.Close()
	go func() {
		defer close(release)
		for _, c := range []chan struct{}{knocked, asks} {
			select {
			case <-c:
			case <-time.After(time.Minute): // the answer to wait says what is wrong
			}
		}
	}()
	done, err := w.take(object{"do": "wait", "path": path, "keep": keep}, object{"baseUrl": front.URL,
		"apiKey": w.raw.key})
	if err != nil {
		return err
	}
	if status := at(done["data"], "status"); status != "executed" {
		return fmt.Errorf("waited for, it is %v", status)
	}
	return nil
}

var (
	ids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	tags    = regexp.MustCompile(`\\"[A-Za-z0-9_-]{16}\\"`)
	hashes  = regexp.MustCompile(`"sha256": "[0-9a-f]{64}"`)
	secrets = regexp.MustCompile(`whsec_[A-Za-z0-9+/=]+`)
	hosts   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// normalize numbers the ids in their order, and hides times, tags and secrets.
func normalize(transcript []any) (string, error) {
	text, err := json.MarshalIndent(withoutNull(transcript), "", " ")
	if err != nil {
		return "", err
	}
	seen := []string{}
	out := ids.ReplaceAllStringFunc(string(text), func(id string) string {
		i := slices.Index(seen, id)
		if i < 0 {
			i, seen = len(seen), append(seen, id)
		}
		return fmt.Sprintf("#%d", i)
	})
	out = moments.ReplaceAllString(out, "T")
	out = tags.ReplaceAllString(out, "TAG")
	out = hashes.ReplaceAllString(out, `"sha256": "HASH"`)
	out = hosts.ReplaceAllString(out, "HOST")
	return secrets.ReplaceAllString(out, "SECRET"), nil
}

// withoutNull leaves out what has no value: typed clients do not tell it from
// what is absent.
func withoutNull(v any) any {
	switch v := v.(type) {
	case object:
		for name, below := range v {
			if below == nil {
				delete(v, name)
				continue
			}
			v[name] = withoutNull(below)
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	}
	return v
}

// hooks receives webhooks, for each client at a path of its own.
type hooks struct {
	address  string
	received map[string]chan hookRequest
}

type hookRequest struct {
	header http.Header
	body   string
}

func (h *hooks) url(name string) string { return h.address + "/" + name }

func (h *hooks) next(name string) (hookRequest, error) {
	select {
	case r := <-h.received[name]:
		return r, nil
	case <-time.After(time.Minute):
		return hookRequest{}, errors.New("no webhook arrived")
	}
}

// Package admin is the operator's door: the frontdesk admin command. While a
// server runs that owns the embedded database, the command goes through a
// socket in the data folder, which only the server's user can open. Otherwise
// the command opens the database itself. Whoever can do either is the operator.
//
// There are two kinds of work. A command is an operation of the catalog, with an
// answer (admin.go). A task, such as a backup, is a function that may take long and
// reports its progress line by line (task.go). Both run the same way here (Door) and
// through the socket (Client). There is no other check of who calls: the file
// permissions of the socket and the data folder are the check.
//
// Start reading at Door.Do.
package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Request is one admin command.
type Request struct {
	Operation string `json:"operation"`
	// Noun and Ref name a thing, such as an agent and its id. Its organization is the
	// one that the command acts in. They are empty for an operation that needs none.
	Noun  string          `json:"noun,omitempty"`
	Ref   string          `json:"ref,omitempty"`
	Input json.RawMessage `json:"input"`
}

// Door runs operations for the operator.
type Door struct {
	Runner   *op.Runner
	Catalog  *op.Catalog
	Accounts *account.Accounts
	Log      *slog.Logger
	Tasks    map[string]Task
}

// Task is work by the operator that is not an operation on an organization's
// data. It may take long, and reports its progress.
type Task func(ctx context.Context, input json.RawMessage, say func(line string)) (any, error)

// CommandRunner runs commands and tasks, in this process or through the socket. It returns the
// data of the answer, without its envelope.
type CommandRunner interface {
	Do(context.Context, Request) (json.RawMessage, error)
	RunTask(ctx context.Context, task string, input any, say func(line string)) (json.RawMessage, error)
}

var (
	_ CommandRunner = (*Door)(nil)
	_ CommandRunner = (*Client)(nil)
)

// Do runs one command in this process.
func (d *Door) Do(ctx context.Context, q Request) (json.RawMessage, error) {
	o := d.Catalog.Named(q.Operation)
	if o == nil {
		return nil, fault.NotFound.Say("There is no operation %s.", q.Operation)
	}
	caller := &op.Caller{Kind: op.SystemActor}
	if q.Noun != "" {
		ref, ok := id.Parse(q.Ref)
		if !ok {
			return nil, fault.BadInput.Say("%q is not the id of a %s; an id is a UUID.", q.Ref, q.Noun)
		}
		org, err := d.Accounts.OwningOrganization(ctx, q.Noun, ref)
		if err != nil {
			return nil, err
		}
		caller.Organization = org
	}
	answer, err := d.Runner.Do(ctx, o, op.Request{Caller: caller, Door: op.AdminDoor, ID: string(id.NewRequestID()),
		Body: func() ([]byte, error) { return q.Input, nil }})
	if err != nil {
		return nil, err
	}
	if answer.Body == nil {
		return json.RawMessage("{}"), nil
	}
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	err = json.Unmarshal(answer.Body, &envelope)
	return envelope.Data, err
}

// Listen opens the socket in the data folder. Only the server that holds the
// database's lock calls it, so an existing socket belongs to nobody.
func (d *Door) Listen(path string) (*http.Server, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	// With this mask, only our user can open the socket from the moment it exists. A
	// chmod afterwards would leave a gap.
	mask := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(mask)
	if err != nil {
		return nil, fmt.Errorf("admin socket (its path may be too long; give a shorter --data): %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", d)
	// Shutdown waits for requests, but a task may take longer than a stopping server can
	// wait. So it is canceled.
	life, stop := context.WithCancel(context.Background())
	mux.HandleFunc("POST /tasks/{name}", func(w http.ResponseWriter, r *http.Request) { d.serveTask(life, w, r) })
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	s.RegisterOnShutdown(stop)
	go s.Serve(l) //nolint:errcheck // it ends with Shutdown
	return s, nil
}

// ServeHTTP answers a command that came through the socket.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q Request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	data, err := d.Do(r.Context(), q)
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		f := fault.FromError(err)
		if f.Kind == fault.Internal {
			d.Log.ErrorContext(r.Context(), "admin command failed", "operation", q.Operation, "err", err)
		}
		body, err := op.ErrorBody(f)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(f.Status)
		w.Write(body) //nolint:errcheck // the command is gone
		return
	}
	w.Write(data) //nolint:errcheck // the command is gone
}

// Client talks to a running server's socket.
type Client struct{ http *http.Client }

// Dial prepares a client for the socket at path.
func Dial(path string) *Client {
	return &Client{&http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}}}
}

// Do sends one command to the server.
func (c *Client) Do(ctx context.Context, q Request) (json.RawMessage, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin/", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the running server does not answer on its socket: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return body, nil
	}
	var envelope struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Error.Code == "" {
		return nil, fmt.Errorf("the running server answered %s", res.Status)
	}
	return nil, &fault.Fault{Kind: &fault.Kind{Code: envelope.Error.Code, Status: res.StatusCode,
		Message: envelope.Error.Message}}
}

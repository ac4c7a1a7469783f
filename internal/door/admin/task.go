package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"frontdesk/internal/kernel/fault"
)

// RunTask runs a task in this process.
func (d *Door) RunTask(ctx context.Context, task string, input any, say func(string)) (json.RawMessage, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	return d.runTaskJSON(ctx, task, text, say)
}

func (d *Door) runTaskJSON(ctx context.Context, task string, input json.RawMessage, say func(string)) (json.RawMessage,
	error) {
	fn := d.Tasks[task]
	if fn == nil {
		return nil, fault.NotFound.Say("There is no task %s.", task)
	}
	out, err := fn(ctx, input, say)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// taskMessage is one line of a task's answer through the socket: progress, the result or an
// error. A result or an error is the last line.
type taskMessage struct {
	Say   string          `json:"say,omitempty"`
	Data  json.RawMessage `json:"data,omitempty"`
	Error string          `json:"error,omitempty"`
}

// serveTask runs a task for a command, and ends it when the command or the
// server ends. Whoever opens the socket is the operator, who may see errors
// unfiltered.
func (d *Door) serveTask(life context.Context, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(life, cancel)()
	input, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	send := func(m taskMessage) {
		json.NewEncoder(w).Encode(m)          //nolint:errcheck // the command is gone
		http.NewResponseController(w).Flush() //nolint:errcheck // the command is gone
	}
	data, err := d.runTaskJSON(ctx, r.PathValue("name"), input, func(line string) { send(taskMessage{Say: line}) })
	if err != nil {
		d.Log.ErrorContext(ctx, "admin task failed", "task", r.PathValue("name"), "err", err)
		send(taskMessage{Error: errorSentence(err)})
		return
	}
	send(taskMessage{Data: data})
}

// errorSentence is a fault as a sentence with its code, and any other error as it is.
func errorSentence(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return fmt.Sprintf("%s (%s)", f.Sentence(), f.Code)
	}
	return err.Error()
}

// RunTask makes the running server do a task, however long it takes.
func (c *Client) RunTask(ctx context.Context, task string, input any, say func(string)) (json.RawMessage, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin/tasks/"+task, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	patient := *c.http
	patient.Timeout = 0
	res, err := patient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the running server does not answer on its socket: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the running server answered %s; it may be another version", res.Status)
	}
	for d := json.NewDecoder(res.Body); ; {
		var m taskMessage
		if err := d.Decode(&m); err != nil {
			return nil, fmt.Errorf("the running server did not finish: %w", err)
		}
		switch {
		case m.Error != "":
			return nil, errors.New(m.Error)
		case m.Data != nil:
			return m.Data, nil
		case say != nil:
			say(m.Say)
		}
	}
}

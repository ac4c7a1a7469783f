package frontdesk

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Code says why something was refused. It is an error, so that errors.Is(err,
// frontdesk.CodeNotFound) asks for it.
type Code string

func (c Code) Error() string { return string(c) }

// Error is a refusal. Branch on its Code; the Message is for people.
type Error struct {
	Status     int
	Code       Code
	Message    string
	Details    json.RawMessage
	RequestID  string        // names the request in the server's logs
	RetryAfter time.Duration // after which the same request is worth another try
	Header     http.Header
}

func (e *Error) Error() string {
	return fmt.Sprintf("frontdesk: %s (%s, request %s)", e.Message, e.Code, e.RequestID)
}

// Is reports whether the target is the error's code.
func (e *Error) Is(target error) bool { return target == e.Code } //nolint:errorlint // a code wraps nothing

// ErrorTree is what is wrong with a request, as a tree that mirrors it.
type ErrorTree struct {
	Errors     []string              `json:"errors"`
	Properties map[string]*ErrorTree `json:"properties"`
	Items      []*ErrorTree          `json:"items"` // nil where an element is fine
}

// Tree is what is wrong with the request, or nil.
func (e *Error) Tree() *ErrorTree {
	var t ErrorTree
	if json.Unmarshal(e.Details, &t) != nil || t.Errors == nil {
		return nil
	}
	return &t
}

// Fields says what is wrong with which field: "emails[1].email".
func (e *Error) Fields() map[string][]string {
	out := map[string][]string{}
	var walk func(t *ErrorTree, at string)
	walk = func(t *ErrorTree, at string) {
		if t == nil {
			return
		}
		if len(t.Errors) > 0 {
			out[at] = t.Errors
		}
		for name, below := range t.Properties {
			if at != "" {
				name = at + "." + name
			}
			walk(below, name)
		}
		for i, below := range t.Items {
			walk(below, at+"["+strconv.Itoa(i)+"]")
		}
	}
	walk(e.Tree(), "")
	return out
}

// ConnectionError means that there is no answer, and that what became of the
// request is not known.
type ConnectionError struct {
	Err       error
	RequestID string // if the answer had begun
}

func (e *ConnectionError) Error() string { return "frontdesk: the connection failed: " + e.Err.Error() }

func (e *ConnectionError) Unwrap() error { return e.Err }

// errorOf reads a refusal. A body that is not ours comes from something between.
func errorOf(answer *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return &ConnectionError{Err: err, RequestID: answer.Header.Get("X-Request-Id")}
	}
	var body struct {
		Error struct {
			Code    Code            `json:"code"`
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Code == "" {
		body.Error.Code, body.Error.Message = "UNKNOWN", fmt.Sprintf("The server answered %s.", answer.Status)
		if answer.StatusCode < 400 {
			body.Error.Message = "The server redirects. Is the base URL right?"
		}
	}
	return &Error{Status: answer.StatusCode, Code: body.Error.Code, Message: body.Error.Message,
		Details: body.Error.Details, RequestID: answer.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(answer.Header.Get("Retry-After")), Header: answer.Header}
}

func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return 0
}

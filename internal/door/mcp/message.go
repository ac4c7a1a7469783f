package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// message is what must be known about a JSON-RPC message before it continues.
type message struct {
	id     jsontext.Value // nil in a notification
	method string         // empty in an answer
	params jsontext.Value
}

// response is an answer of our own.
type response struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   *rpcError      `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitzero"`
}

func failure(ref jsontext.Value, code int, text string, data any) response {
	if ref == nil {
		ref = jsontext.Value("null")
	}
	return response{Version: "2.0", ID: ref, Error: &rpcError{code, text, data}}
}

// lenient accepts anything inside params: the operation refuses it with better
// words.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// parse reads the envelope of one message, or of a batch.
func parse(text []byte) (messages []message, batch bool, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), lenient...)
	if d.PeekKind() != '[' {
		m, err := parseOne(d)
		if err != nil {
			return nil, false, err
		}
		return []message{m}, false, end(d)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, err
	}
	for d.PeekKind() != ']' {
		m, err := parseOne(d)
		if err != nil {
			return nil, true, err
		}
		if messages = append(messages, m); len(messages) > maxBatch {
			return nil, true, errors.New("a batch has at most 20 messages")
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, err
	}
	if len(messages) == 0 {
		return nil, true, errors.New("the batch is empty")
	}
	return messages, true, end(d)
}

func end(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}

// parseOne reads the members of one message. None may appear twice: two parsers
// would not agree on which one counts.
func parseOne(d *jsontext.Decoder) (m message, err error) {
	if d.PeekKind() != '{' {
		return m, errors.New("not an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return m, err
	}
	seen := map[string]bool{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return m, err
		}
		key := name.String()
		if seen[key] {
			return m, errors.New("a member comes twice")
		}
		seen[key] = true
		value, err := d.ReadValue()
		if err != nil {
			return m, err
		}
		switch key {
		case "id":
			// The SDK would answer 1.5 as 1.
			if k := value.Kind(); k != '"' && k != 'n' && (k != '0' || bytes.ContainsAny(value, ".eE")) {
				return m, errors.New("id is a string or a whole number")
			}
			if !value.IsValid() {
				return m, errors.New("id is not valid text") // it could not be repeated in an answer
			}
			if value.Kind() != 'n' {
				m.id = value.Clone()
			}
		case "method":
			if value.Kind() != '"' {
				return m, errors.New("method is a string")
			}
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				return m, err
			}
			m.method = string(text)
		case "params":
			m.params = value.Clone()
		}
	}
	_, err = d.ReadToken()
	return m, err
}

// takeKey takes the idempotency key out of a tool's arguments. ok is false when
// it is not a string. Everything else stays as written, because a retry is
// compared by its text.
func takeKey(arguments []byte) (rest []byte, key string, has, ok bool) {
	if !bytes.Contains(arguments, []byte(keyArgument)) {
		return arguments, "", false, true
	}
	d := jsontext.NewDecoder(bytes.NewReader(arguments), lenient...)
	if d.PeekKind() != '{' {
		return arguments, "", false, true
	}
	if _, err := d.ReadToken(); err != nil {
		return arguments, "", false, true
	}
	out := []byte{'{'}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return arguments, "", false, true
		}
		name = name.Clone()
		value, err := d.ReadValue()
		if err != nil {
			return arguments, "", false, true
		}
		if text, err := jsontext.AppendUnquote(nil, name); err == nil && string(text) == keyArgument {
			switch value.Kind() {
			case 'n': // null counts as absent
				continue
			case '"':
			default:
				return nil, "", false, false
			}
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil || has {
				return nil, "", false, false
			}
			key, has = string(text), true
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), key, has, true
}

// enveloped writes the SDK's refusals, which are plain text, as JSON-RPC
// errors, and the tools into the places that were kept for them.
type enveloped struct {
	http.ResponseWriter
	from    *asker
	refused int // the status of a refusal, or 0
	text    []byte
}

// WriteHeader holds a refusal back until its text is known.
func (e *enveloped) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(e.Header().Get("Content-Type"), "text/plain") {
		e.refused = status
		return
	}
	e.ResponseWriter.WriteHeader(status)
}

func (e *enveloped) Write(b []byte) (int, error) {
	if e.refused != 0 {
		e.text = append(e.text, b...)
		return len(b), nil
	}
	parts := [][]byte{b}
	if e.from.place != nil {
		parts = bytes.Split(b, e.from.place)
	}
	for i, part := range parts {
		if i > 0 {
			if _, err := e.ResponseWriter.Write(e.from.tools); err != nil {
				return 0, err
			}
		}
		if _, err := e.ResponseWriter.Write(part); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// Unwrap lets the SDK flush.
func (e *enveloped) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// end answers with the refusal, if there was one. A call of an unknown method
// is answered like any other call. Whatever else the SDK refuses is not a
// proper message, and keeps its status.
func (e *enveloped) end(messages []message) {
	if e.refused == 0 {
		return
	}
	var ref jsontext.Value
	if len(messages) == 1 {
		ref = messages[0].id
	}
	text, status, code := strings.TrimSpace(string(e.text)), e.refused, codeInvalid
	if method, ok := strings.CutPrefix(text, "JSON RPC not handled: "); ok && ref != nil {
		text, status, code = "There is no method "+strings.TrimSuffix(method, " unsupported")+".", http.StatusOK,
			codeNoMethod
	}
	answer(e.ResponseWriter, status, failure(ref, code, text, nil))
}

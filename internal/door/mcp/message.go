package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is a JSON-RPC message as it came in.
type message struct {
	jsonrpc string         // its version
	id      jsontext.Value // nil in a notification
	method  string         // empty in an answer
	params  jsontext.Value // nil if there are none
}

// result is what a method answers with, by the names of its members.
type result map[string]any

// addMeta adds to _meta, which tells clients something about a result and is not shown to
// models.
func (r result) addMeta(key string, value any) {
	meta, ok := r["_meta"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		r["_meta"] = meta
	}
	meta[key] = value
}

// rpcError refuses a message inside the envelope. A tool that refuses answers with a
// result instead, because clients show models only results.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitzero"`
}

func (e *rpcError) Error() string { return e.Message }

func newRPCError(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// encodeSuccess answers the message with this id. Members that are JSON already are copied:
// encoding a list of tools again would take longer than everything else.
func encodeSuccess(ref jsontext.Value, r result) []byte {
	text := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{`, ref)
	for i, name := range slices.Sorted(maps.Keys(r)) {
		if i > 0 {
			text = append(text, ',')
		}
		value, ok := r[name].(jsontext.Value)
		if !ok {
			value = mustEncode(r[name])
		}
		text = append(fmt.Appendf(text, "%q:", name), value...)
	}
	return append(text, "}}"...)
}

// encodeFailure refuses the message with this id, or nil if it has none.
func encodeFailure(ref jsontext.Value, e *rpcError) []byte {
	if ref == nil {
		ref = jsontext.Value("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, ref, mustEncode(e))
}

// mustEncode encodes a value of this package's own, which cannot fail.
func mustEncode(v any) []byte {
	text, err := json.Marshal(v, json.Deterministic(true), lenient)
	if err != nil {
		panic(err)
	}
	return text
}

// lenient accepts duplicate names and invalid UTF-8 inside params: the operation refuses
// them with a message that names the field.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// parseMessages reads the envelope of one message, or of a batch.
func parseMessages(text []byte) (messages []message, batch bool, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), lenient)
	if d.PeekKind() != '[' {
		m, err := parseMessage(d)
		if err != nil {
			return nil, false, err
		}
		return []message{m}, false, expectEnd(d)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, err
	}
	for d.PeekKind() != ']' {
		m, err := parseMessage(d)
		if err != nil {
			return nil, true, err
		}
		if messages = append(messages, m); len(messages) > maxBatchMessages {
			return nil, true, errors.New("a batch has at most 20 messages")
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, true, err
	}
	if len(messages) == 0 {
		return nil, true, errors.New("the batch is empty")
	}
	return messages, true, expectEnd(d)
}

// expectEnd refuses what follows the message.
func expectEnd(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}

// parseMessage reads the members of one message. None may appear twice: a proxy that
// reads messages too might not agree on which one counts.
func parseMessage(d *jsontext.Decoder) (m message, err error) {
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
		case "jsonrpc":
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				return m, errors.New("jsonrpc is a string")
			}
			m.jsonrpc = string(text)
		case "id":
			// Clients that keep numbers as floats would not recognize 1.5 or 1e3 in an answer.
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
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil || len(text) == 0 {
				return m, errors.New("method is a string, and not empty")
			}
			m.method = string(text)
		case "params":
			if value.Kind() != 'n' { // null counts as absent
				m.params = value.Clone()
			}
		}
	}
	_, err = d.ReadToken()
	return m, err
}

// takeArguments takes some arguments out of those of a tool, by name, and returns the rest. null counts as absent.
// Arguments that are not an object are returned as they are, for the operation to refuse. The values stay as written,
// because a retry is compared with the first call by its text. twice names one of them that is given twice.
func takeArguments(arguments []byte, names ...string) (rest []byte, taken map[string]jsontext.Value, twice string) {
	if !slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(arguments, []byte(name)) }) {
		return arguments, nil, ""
	}
	d := jsontext.NewDecoder(bytes.NewReader(arguments), lenient)
	if d.PeekKind() != '{' {
		return arguments, nil, ""
	}
	if _, err := d.ReadToken(); err != nil {
		return arguments, nil, ""
	}
	out := []byte{'{'}
	taken = map[string]jsontext.Value{}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return arguments, nil, ""
		}
		name = name.Clone()
		value, err := d.ReadValue()
		if err != nil {
			return arguments, nil, ""
		}
		text, err := jsontext.AppendUnquote(nil, name)
		if key := string(text); err == nil && slices.Contains(names, key) {
			if taken[key] != nil {
				return nil, nil, key
			}
			if value.Kind() != 'n' {
				taken[key] = value.Clone()
			}
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), taken, ""
}

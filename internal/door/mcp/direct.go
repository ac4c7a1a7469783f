package mcp

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/account/grant"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Most of what agents send is a call of a tool inside a session. Such a call needs
// the SDK's types but not its transport, which opens a connection of its own for
// every request, and reads and writes each message several times. Whatever is not
// plainly such a call goes through the SDK, which also words what it refuses.

// token is the caller in the form that the SDK passes on.
func (a *asker) token() *auth.TokenInfo {
	return &auth.TokenInfo{UserID: string(a.login.Grant), Scopes: []string{grant.Transport},
		Expiration: time.Now().Add(time.Hour), Extra: map[string]any{askerExtra: a}}
}

// direct answers a plain call of a tool, and reports whether the message was one.
func (d *Door) direct(w http.ResponseWriter, r *http.Request, from *asker, m message) bool {
	if m.method != "tools/call" || m.id == nil || !plain(r.Header) {
		return false
	}
	p := callOf(m.params)
	if p == nil || d.byName[p.Name] == nil {
		return false
	}
	out, err := d.guarded(r.Context(), m.method, &sdk.CallToolRequest{Params: p,
		Extra: &sdk.RequestExtra{TokenInfo: from.token(), Header: r.Header}})
	var refused *jsonrpc.Error
	var text []byte
	switch {
	case errors.As(err, &refused):
		var data any
		if refused.Data != nil {
			data = jsontext.Value(refused.Data)
		}
		answer(w, http.StatusOK, failure(m.id, int(refused.Code), refused.Message, data))
		return true
	case err == nil:
		text, err = json.Marshal(out)
	}
	if err != nil {
		d.Log.ErrorContext(r.Context(), "tool failed", "tool", p.Name, "err", err)
		answer(w, http.StatusOK, failure(m.id, jsonrpc.CodeInternalError, "Something went wrong on our side.", nil))
		return true
	}
	answer(w, http.StatusOK, response{Version: "2.0", ID: m.id, Result: text})
	return true
}

// runPlain is what guard lets a plain call through to.
func (d *Door) runPlain(ctx context.Context, _ string, r sdk.Request) (sdk.Result, error) {
	call := r.(*sdk.CallToolRequest)
	return d.call(ctx, d.byName[call.Params.Name], call)
}

var versions = sdk.SupportedProtocolVersions()

// plain reports whether headers are those of a message inside a session.
func plain(h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	accept, version := h.Get("Accept"), h.Get(versionHeader)
	return h.Get(sessionHeader) != "" && version < stateless && slices.Contains(versions, version) &&
		strings.TrimSpace(kind) == "application/json" &&
		strings.Contains(accept, "application/json") && strings.Contains(accept, "text/event-stream")
}

// callOf reads the parameters of a call, or returns nil when there is more to them
// than a tool's name and arguments.
func callOf(params jsontext.Value) *sdk.CallToolParamsRaw {
	d := jsontext.NewDecoder(bytes.NewReader(params), lenient...)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil
	}
	p := &sdk.CallToolParamsRaw{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		key := name.String()
		value, err := d.ReadValue()
		switch {
		case err != nil:
			return nil
		case key == "name" && p.Name == "" && value.Kind() == '"':
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				return nil
			}
			p.Name = string(text)
		case key == "arguments" && p.Arguments == nil:
			p.Arguments = []byte(value.Clone())
		case key == "_meta" && !bytes.Contains(value, []byte("io.modelcontextprotocol")):
			// such as a progress token: no tool reports progress
		default:
			return nil
		}
	}
	return p
}

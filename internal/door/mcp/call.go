package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// instructions apply to all tools, so that no tool repeats them.
const instructions = `Frontdesk keeps the contacts, customers, messages, invoices, tasks and domains of a business. ` +
	`Ids are UUIDs from earlier results, times RFC 3339 in UTC, money is in cents. ` +
	`Every list also takes limit (1 to 100, default 10), offset and sortOrder (newest first by default). Lists of a ` +
	`noun, such as contacts_list, take sortBy, ids, createdAfter, createdBefore, updatedAfter and updatedBefore too; ` +
	`to read one whole, send cursor "first", then each nextCursor. A filter by status takes one value or several. A ` +
	`query finds what has all its words, in any order. An update takes the fields of the tool that creates: what you ` +
	`leave out stays, null clears. A batch takes rows of the same fields. ` +
	`When a call with an idempotencyKey fails or gets no answer, repeat it with the same key: nothing is done twice. ` +
	`A refused call answers {error: {code, message, details}}. A call that answers {status: "pending_approval"} ` +
	`waits for a person: give them approvalUrl, then call proposals_get; repeating it makes no second proposal.`

// server is the SDK's server with all tools. What a caller sees of them is
// decided at each request.
func (d *Door) server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "frontdesk", Title: "Frontdesk", Version: "1.0.0"}, &sdk.ServerOptions{
		Instructions: instructions,
		PageSize:     10_000,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		// One agent's list is not another's.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	})
	for _, t := range d.tools {
		s.AddTool(t.sdk, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return d.call(ctx, t, r)
		})
	}
	d.addSearch(s)
	s.AddReceivingMiddleware(d.guard)
	return s
}

// askerOf is who sent a message. The context would name whoever began the
// session.
func askerOf(r sdk.Request) *asker {
	extra := r.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	a, _ := extra.TokenInfo.Extra[askerExtra].(*asker)
	return a
}

// allowed reports whether a caller sees the tool: it may use it, or propose to.
func (t *tool) allowed(c *op.Caller) bool { return t.op.AllowedBy(c.Permissions | c.Asks) }

// guard counts the call against the allowance and hides what the agent may not
// use.
func (d *Door) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		from := askerOf(r)
		if from == nil {
			return nil, fmt.Errorf("mcp: a message without a caller")
		}
		c := from.login.Caller
		switch method {
		case "tools/list":
			out, err := next(ctx, method, r)
			if all, ok := out.(*sdk.ListToolsResult); ok && err == nil {
				out := *all
				out.Tools = []*sdk.Tool{}
				return listing{&out, from.place}, nil
			}
			return out, err
		case "tools/call":
			v := d.allowance.SpendMany(ctx, c.Organization, 1, d.Allowances[c.Plan], time.Minute, time.Now())
			if !v.OK {
				d.metrics.refused.WithLabelValues("allowance").Inc()
				return nil,
					&jsonrpc.Error{Code: codeThrottled,
						Message: fmt.Sprintf("The agent allowance of this account is used up. Wait %d seconds.",
							limit.Seconds(v.Retry)),
						Data: json.RawMessage(fmt.Sprintf(`{"retryAfter":%d}`, limit.Seconds(v.Retry)))}
			}
			p, ok := r.GetParams().(*sdk.CallToolParamsRaw)
			if !ok {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params"}
			}
			if from.view.compact && p.Name == callName {
				if err := unwrap(p); err != nil {
					return nil, err
				}
			}
			if from.view.compact && p.Name == searchName || p.Name == describeName {
				return next(ctx, method, r)
			}
			if t := d.byName[p.Name]; t == nil || !from.view.reaches(t, c) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Unknown tool: " + p.Name}
			}
		}
		return next(ctx, method, r)
	}
}

// Allowance tells how many tool calls an organization has left.
func (d *Door) Allowance(ctx context.Context, tx *db.Tx, org id.ID, plan string) (limit.Verdict, error) {
	return d.allowance.Look(ctx, tx, org, d.Allowances[plan], time.Minute, time.Now())
}

// listing is the SDK's answer to tools/list with a text in the place of the tools.
// The SDK would encode each tool again, and write out every hint that is false; and
// a hundred kilobytes are read and copied at each step of its way. They come in
// where the answer is written.
type listing struct {
	*sdk.ListToolsResult
	place []byte
}

// MarshalJSON puts the text into the empty list that the SDK writes.
func (l listing) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(l.ListToolsResult)
	if err != nil {
		return nil, err
	}
	const empty = `"tools":[`
	before, after, ok := bytes.Cut(text, []byte(empty+`]`))
	if !ok {
		return nil, fmt.Errorf("mcp: no empty list of tools in %s", text)
	}
	return slices.Concat(before, []byte(empty), l.place, []byte(`]`), after), nil
}

// received finds a message that somebody outside wrote, wherever an answer has it:
// as it is, in an event, in a step's result, or in a text that is JSON itself.
var received = regexp.MustCompile(`direction\\*": ?\\*"inbound`)

// call runs a tool. A refused operation is a result, which the model can read
// and act upon.
func (d *Door) call(ctx context.Context, t *tool, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	began, request := time.Now(), string(id.OfRequest())
	a, asked, err := d.run(ctx, t, r, request)
	t.calls.observe(err, time.Since(began))
	if err != nil {
		return d.refusal(ctx, t, request, err), nil
	}
	body := a.Body
	if asked != nil {
		body = asked.Body
	}
	if body == nil {
		body = []byte("{}") // 204: done, without content
	}
	// What strangers wrote is marked, and noted before the model reads it.
	outside := t.op.Strangers != "" && bytes.Contains(body, []byte(t.op.Strangers)) || received.Match(body)
	if outside {
		if err := d.ReadOutside(ctx, askerOf(r).login.Caller); err != nil {
			return d.refusal(ctx, t, request, err), nil
		}
	}
	if asked != nil {
		out, err := d.pending(t, r, asked)
		return marked(out, outside), err
	}
	// A refusal that is bound to its key comes back as an answer.
	out := &sdk.CallToolResult{IsError: a.Status >= http.StatusBadRequest,
		Content: []sdk.Content{&sdk.TextContent{Text: string(body)}}, StructuredContent: json.RawMessage(body)}
	if a.Replay {
		out.Meta = sdk.Meta{"idempotencyReplay": true}
	}
	return marked(out, outside), nil
}

// marked says of a result that somebody outside wrote some of it.
func marked(out *sdk.CallToolResult, outside bool) *sdk.CallToolResult {
	if !outside || out == nil {
		return out
	}
	if out.Meta == nil {
		out.Meta = sdk.Meta{}
	}
	out.Meta["annotations"] = map[string]any{"openWorldHint": true, "attribution": []string{"external"}}
	return out
}

func (d *Door) run(ctx context.Context, t *tool, r *sdk.CallToolRequest, request string) (a op.Answer, asked *Asked,
	err error) {
	defer func() {
		if v := recover(); v != nil { // the SDK would crash the process
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	l := askerOf(r).login
	if l.Paused {
		return a, nil, account.AgentsPaused.New()
	}
	arguments := []byte(r.Params.Arguments)
	if bytes.Equal(bytes.TrimSpace(arguments), []byte("null")) {
		arguments = nil
	}
	q := op.Request{Caller: l.Caller, Door: op.Agent, ID: request}
	q.Spend = func(more int) error {
		c := l.Caller
		v := d.allowance.SpendMany(ctx, c.Organization, more, d.Allowances[c.Plan], time.Minute, time.Now())
		if v.OK {
			return nil
		}
		f := fault.RateLimited.New()
		f.RetryAfter = v.Retry
		return f
	}
	if t.op.TakesKey() {
		rest, key, has, ok := takeKey(arguments)
		if !ok {
			return a, nil, fault.Field(keyArgument, "Invalid input: expected one string")
		}
		arguments, q.Key, q.HasKey = rest, key, has
	}
	if err := t.op.CheckKey(q); err != nil {
		return a, nil, err
	}
	q.Body = func() ([]byte, error) { return arguments, nil }
	ask := Ask{Caller: l.Caller, Op: t.op, Input: arguments, Key: q.Key, RequestID: request}
	if q.Key != "" { // it may have waited for a person when it was made first
		if asked, err = d.Propose(ctx, ask); asked != nil || err != nil {
			return a, asked, err
		}
	}
	if !t.op.AllowedBy(l.Caller.Permissions) || l.Proposes && !t.op.Alone(l.Caller, arguments) {
		ask.Because, ask.Text = "ask", "The agent may do this only after asking a person."
		asked, err = d.Propose(ctx, ask)
		return a, asked, err
	}
	a, err = d.Runner.Do(ctx, t.op, q)
	if why := because(err); why != "" && l.Proposes {
		ask.Because, ask.Text = why, fault.Of(err).Sentence()
		asked, err = d.Propose(ctx, ask)
	}
	return a, asked, err
}

// refusal is the API's error object. An error that is not a refusal is logged
// once, here.
func (d *Door) refusal(ctx context.Context, t *tool, request string, err error) *sdk.CallToolResult {
	f := fault.Of(err)
	if ctx.Err() != nil && f.Kind == fault.Internal {
		f = fault.Unavailable.Because(err) // the client hung up
	}
	switch f.Kind {
	case fault.Internal:
		d.Log.ErrorContext(ctx, "tool failed", "trace_id", request, "operation", t.op.Name, "err", err)
	case fault.Unavailable, fault.OutcomeUnknown:
		d.Log.WarnContext(ctx, "tool turned away", "trace_id", request, "operation", t.op.Name, "err", err)
	}
	body, encodeErr := op.ErrorBody(f)
	if encodeErr != nil {
		d.Log.ErrorContext(ctx, "a refusal could not be encoded", "trace_id", request, "err", encodeErr)
		body = []byte(`{"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side."}}`)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(body)}},
		StructuredContent: json.RawMessage(body)}
}

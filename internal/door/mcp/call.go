package mcp

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// isVisibleTo reports whether a caller sees the tool: the caller may use it, or propose to.
func (t *tool) isVisibleTo(c *op.Caller) bool { return t.op.AllowedBy(c.Permissions | c.Proposable) }

// callTool answers tools/call. It takes the call from the organization's allowance and
// finds the tool. One that the agent may not use, or that its client's view leaves out,
// is unknown.
func (d *Door) callTool(ctx context.Context, q *request) (result, error) {
	c := q.login.Caller
	v := d.allowance.SpendMany(ctx, c.Organization, 1, d.Allowances[c.Plan], time.Now())
	if !v.OK {
		d.metrics.refused.WithLabelValues("allowance").Inc()
		return nil, throttledError("The agent allowance of this account is used up.", v.Retry)
	}
	if q.view.compact && q.in.Name == callName {
		if err := unwrapToolCall(&q.in); err != nil {
			return nil, err
		}
	}
	switch {
	case q.view.compact && q.in.Name == searchName:
		return d.searchTools(q.view, c, q.in.Arguments)
	case q.in.Name == describeName:
		return d.describeTools(q.view, c, q.in.Arguments)
	}
	t := d.byName[q.in.Name]
	if t == nil || !q.view.includesTool(t, c) {
		return nil, newRPCError(codeBadParams, "Unknown tool: %s", q.in.Name)
	}
	return d.runTool(ctx, t, q)
}

// Allowance tells how many tool calls an organization has left.
func (d *Door) Allowance(ctx context.Context, tx *db.Tx, org id.ID, plan string) (limit.Verdict, error) {
	return d.allowance.Peek(ctx, tx, org, d.Allowances[plan], time.Now())
}

// toolResult is the result of a tool: the same JSON as text, which every client shows its
// model, and as an object, which programs read.
func toolResult(body []byte) result {
	return result{"content": []any{map[string]string{"type": "text", "text": string(body)}},
		"structuredContent": jsontext.Value(body)}
}

// runTool runs a tool. A refused operation is a result, which the model can read
// and act upon.
func (d *Door) runTool(ctx context.Context, t *tool, q *request) (result, error) {
	began, trace := time.Now(), string(id.NewRequestID())
	a, waiting, err := d.runOrPropose(ctx, t, q, trace)
	t.calls.observeCall(err, time.Since(began))
	if err != nil {
		return d.refusalResult(ctx, t, trace, err), nil
	}
	body, sight := a.Body, a.Exposure
	if waiting != nil {
		body, sight = waiting.Body, waiting.Sight
	}
	// If the answer shows text that people outside wrote, that is noted before the model
	// reads it: from then on the guard holds. Below, the answer is marked.
	if err := d.Note(ctx, q.login.Caller, sight); err != nil {
		return d.refusalResult(ctx, t, trace, err), nil
	}
	if len(body) == 0 {
		body = []byte("{}") // 204: done, without content
	}
	out := toolResult(body)
	if waiting != nil {
		if out, err = d.answerPending(t, q, waiting, out); err != nil {
			return nil, err
		}
	}
	if a.Status >= http.StatusBadRequest { // a refusal that is bound to its key comes back as an answer
		out["isError"] = true
	}
	if a.Replay {
		out.addMeta("idempotencyReplay", true)
	}
	if sight.External {
		out.addMeta("annotations", map[string]any{"openWorldHint": true, "attribution": []string{"external"}})
	}
	return out, nil
}

// runOrPropose carries out the operation, or makes a proposal of the call if the agent must ask
// a person for it, or if a limit or the guard refused it. waiting is the proposal, new
// or from an equal call before.
func (d *Door) runOrPropose(ctx context.Context, t *tool, r *request, trace string) (a op.Answer, waiting *Proposal,
	err error) {
	defer func() {
		if v := recover(); v != nil { // answered and logged like any other failure
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	l, arguments := r.login, []byte(r.in.Arguments)
	if l.Paused {
		return a, nil, account.AgentsPaused.New()
	}
	if r.in.Arguments.Kind() == 'n' {
		arguments = nil
	}
	q := op.Request{Caller: l.Caller, Door: op.AgentDoor, ID: trace}
	if t.op.TakesIdempotencyKey() {
		rest, key, has, ok := takeIdempotencyKey(arguments)
		if !ok {
			return a, nil, fault.Field(keyArgument, "Invalid input: expected one string")
		}
		arguments, q.Key, q.HasKey = rest, key, has
	}
	if err := t.op.CheckIdempotencyKey(q); err != nil {
		return a, nil, err
	}
	q.Body = func() ([]byte, error) { return arguments, nil }
	alone := t.op.AllowedBy(l.Caller.Permissions) && (!l.Proposes || t.op.NeedsNoProposal(l.Caller, arguments))
	look := func() bool {
		waiting, err = d.Proposals.Find(ctx, t.op, q)
		return waiting != nil || err != nil
	}
	if q.Key != "" && look() { // a repeated call, which became a proposal the first time
		return a, waiting, err
	}
	because, text := "ask", "The agent may do this only after asking a person."
	if alone {
		a, err = d.Runner.Do(ctx, t.op, q)
		if because = reasonToPropose(err); because == "" || !l.Proposes {
			return a, nil, err
		}
		text = fault.FromError(err).Sentence()
	}
	if q.Key == "" && look() {
		return op.Answer{}, waiting, err
	}
	waiting, err = d.Proposals.Propose(ctx, t.op, q, because, text)
	return op.Answer{}, waiting, err
}

// refusalResult is a result with the API's error object. An error that is not a refusal is
// logged once, here.
func (d *Door) refusalResult(ctx context.Context, t *tool, trace string, err error) result {
	f := fault.FromError(err)
	if ctx.Err() != nil && f.Kind == fault.Internal {
		f = fault.Unavailable.Because(err) // the client hung up
	}
	switch f.Kind {
	case fault.Internal:
		d.Log.ErrorContext(ctx, "tool failed", "trace_id", trace, "operation", t.op.Name, "err", err)
	case fault.Unavailable, fault.OutcomeUnknown:
		d.Log.WarnContext(ctx, "tool turned away", "trace_id", trace, "operation", t.op.Name, "err", err)
	}
	body, encodeErr := op.ErrorBody(f)
	if encodeErr != nil {
		d.Log.ErrorContext(ctx, "a refusal could not be encoded", "trace_id", trace, "err", encodeErr)
		body = []byte(`{"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side."}}`)
	}
	out := toolResult(body)
	out["isError"] = true
	return out
}

package mcp

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/account/grant"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
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
	reads, wraps := wrappers[q.in.Name]
	if wraps = wraps && q.view.compact; wraps {
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
	t := d.findTool(q.view, c, q.in.Name)
	switch {
	case t == nil:
		return nil, d.unknownTool(q.view, c, q.in.Name)
	case wraps && reads && !t.reads:
		return nil, newRPCError(codeBadParams, "%s changes something: call it with %s.", t.name, writeName)
	}
	return d.runTool(ctx, t, q)
}

// findTool is the tool of this name, which may be written like its operation, tasks.create. It is nil for one that the
// agent may not use, or that its client's view leaves out.
func (d *Door) findTool(v view, c *op.Caller, name string) *tool {
	t := d.byName[strings.ReplaceAll(name, ".", "_")]
	if t == nil || !v.includesTool(t, c) {
		return nil
	}
	return t
}

// unknownTool refuses the name of a tool, and says which are the nearest to it.
func (d *Door) unknownTool(v view, c *op.Caller, name string) error {
	var names []string
	for _, t := range d.tools {
		if v.includesTool(t, c) {
			names = append(names, t.name)
		}
	}
	near := op.NearestNames(name, names, maxNearest)
	if near == nil && len(name) <= maxQuery {
		for _, t := range d.findByWords(v, c, name, maxNearest) {
			near = append(near, t.name)
		}
	}
	if near == nil {
		return newRPCError(codeBadParams, "Unknown tool: %s", name)
	}
	return newRPCError(codeBadParams, "Unknown tool: %s. The nearest: %s", name, strings.Join(near, ", "))
}

// Allowance tells how many tool calls an organization has left.
func (d *Door) Allowance(ctx context.Context, tx *db.Tx, org id.ID, plan string) (limit.Verdict, error) {
	return d.allowance.Peek(ctx, tx, org, d.Allowances[plan], time.Now())
}

// runTool runs a tool. A refused operation is a result, which the model can read
// and act upon.
func (d *Door) runTool(ctx context.Context, t *tool, q *request) (result, error) {
	began, trace := time.Now(), string(id.NewRequestID())
	c, err := d.newToolCall(ctx, t, q, trace)
	var a op.Answer
	var waiting *Proposal
	if err == nil {
		a, waiting, err = d.runOrPropose(ctx, c, q.login)
	}
	t.calls.observeCall(err, time.Since(began))
	if err != nil {
		err = t.op.ExplainKeys(err, func(key string) string { return d.toolsTaking(key, t, q) })
		return d.refusalResult(ctx, c, trace, err), nil
	}
	if waiting != nil {
		a.Body, a.Exposure = waiting.Body, waiting.Sight
	}
	if a, err = d.shortenAnswer(ctx, c, a); err != nil {
		return d.refusalResult(ctx, c, trace, err), nil
	}
	// If the answer shows text that people outside wrote, that is noted before the model
	// reads it: from then on the guard holds. Below, the answer is marked.
	if err := d.Note(ctx, q.login.Caller, a.Exposure); err != nil {
		return d.refusalResult(ctx, c, trace, err), nil
	}
	out := toolResult(a.Body, c.structured)
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
	if a.Exposure.External {
		out.addMeta("annotations", map[string]any{"openWorldHint": true, "attribution": []string{"external"}})
	}
	return out, nil
}

// runOrPropose carries out the operation, or makes a proposal of the call if the agent must ask
// a person for it, or if a limit or the guard refused it. waiting is the proposal, new
// or from an equal call before.
func (d *Door) runOrPropose(ctx context.Context, c *toolCall, l *grant.Login) (a op.Answer, waiting *Proposal,
	err error) {
	defer func() {
		if v := recover(); v != nil { // answered and logged like any other failure
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if l.Paused {
		return a, nil, account.AgentsPaused.New()
	}
	o, q := c.tool.op, c.request
	if err := o.CheckIdempotencyKey(q); err != nil {
		return a, nil, err
	}
	alone := o.AllowedBy(l.Caller.Permissions) && (!l.Proposes || o.NeedsNoProposal(l.Caller, c.arguments))
	look := func() bool {
		waiting, err = d.Proposals.Find(ctx, o, q)
		return waiting != nil || err != nil
	}
	if q.Key != "" && look() { // a repeated call, which became a proposal the first time
		return a, waiting, err
	}
	because, text := "ask", "The agent may do this only after asking a person."
	if alone {
		a, err = d.Runner.Do(ctx, o, q)
		if because = reasonToPropose(err); because == "" || !l.Proposes {
			return a, nil, err
		}
		text = fault.FromError(err).Sentence()
	}
	if q.Key == "" && look() {
		return op.Answer{}, waiting, err
	}
	waiting, err = d.Proposals.Propose(ctx, o, q, because, text)
	return op.Answer{}, waiting, err
}

// refusalResult is a result with the API's error object. An error that is not a refusal is
// logged once, here.
func (d *Door) refusalResult(ctx context.Context, c *toolCall, trace string, err error) result {
	f, t := fault.FromError(err), c.tool
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
	out := toolResult(c.cutBody(body), c.structured)
	out["isError"] = true
	return out
}

package mcp

import (
	"context"
	"encoding/base64"
	"time"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Proposals has people decide the calls that an agent may not make alone.
type Proposals interface {
	// Find looks for the proposal of an equal call; there may be none.
	Find(ctx context.Context, o *op.Op, q op.Request) (*Proposal, error)
	// Propose makes a proposal of a call. because is ask, limit or guard, and text says it for people.
	Propose(ctx context.Context, o *op.Op, q op.Request, because, text string) (*Proposal, error)
}

// Proposal is a call that waits for a person, or what was decided.
type Proposal struct {
	ID      id.ID
	New     bool   // this call made it
	Waiting bool   // nobody has decided yet
	URL     string // where a person decides
	Summary string
	Body    []byte // what the model reads
	Sight   op.Exposure
}

// reasonToPropose is why a refused call may be proposed to a person: limit or guard. It is empty
// for a success, and for a refusal that no person can lift.
func reasonToPropose(err error) string {
	switch {
	case err == nil:
	case fault.IsKind(err, op.AgentLimitReached):
		return "limit"
	case fault.IsKind(err, op.AgentGuarded):
		return "guard"
	}
	return ""
}

// pendingStateLifetime is how long a client may take to show a person the address.
const pendingStateLifetime = 15 * time.Minute

// pendingState is what a client keeps while a person decides, and sends back with the
// same call. It is sealed for one agent and one tool.
type pendingState struct {
	Proposal id.ID     `json:"proposal"`
	Until    time.Time `json:"until"`
}

func pendingStatePlace(agent id.ID, tool string) string {
	return "mcp/ask/" + string(agent) + "/" + tool
}

// answerPending answers a call that waits for a person. plain is an ordinary result that a
// model understands. A client that can show a person an address (URL elicitation) is
// asked to do so once, when the proposal is new; when it repeats the call, it gets
// plain. Versions without sessions ask in a result, older ones in an error.
func (d *Door) answerPending(t *tool, q *request, p *Proposal, plain result) (result, error) {
	if q.in.RequestState != "" {
		return plain, d.checkPendingState(q, t, p)
	}
	if !p.New || !p.Waiting {
		return plain, nil
	}
	show := map[string]string{"mode": "url", "url": p.URL, "elicitationId": string(p.ID),
		"message": "A person must approve this: " + p.Summary}
	if can := q.in.Meta.Capabilities; can != nil && can.Elicitation.URL != nil {
		state, err := json.Marshal(pendingState{p.ID, time.Now().Add(pendingStateLifetime)})
		if err != nil {
			return nil, err
		}
		sealed, err := d.Seal.Seal(state, pendingStatePlace(q.login.Caller.ID, t.name))
		if err != nil {
			return nil, err
		}
		return result{"resultType": "input_required", "requestState": base64.StdEncoding.EncodeToString(sealed),
			"inputRequests": map[string]any{
				"approval": map[string]any{"method": "elicitation/create", "params": show}}}, nil
	}
	if q.login.ShowsURL {
		return nil, &rpcError{codeShowURL, "A person must approve this at an address.",
			map[string]any{"elicitations": []any{show}}}
	}
	return plain, nil
}

// checkPendingState refuses a state that was not made for this agent, this call and now.
func (d *Door) checkPendingState(q *request, t *tool, p *Proposal) error {
	var s pendingState
	sealed, err := base64.StdEncoding.DecodeString(q.in.RequestState)
	if err == nil {
		sealed, err = d.Seal.Open(sealed, pendingStatePlace(q.login.Caller.ID, t.name))
	}
	if err == nil {
		err = json.Unmarshal(sealed, &s)
	}
	if err != nil || s.Proposal != p.ID || time.Now().After(s.Until) {
		return newRPCError(codeBadParams, "requestState is not valid, or too old. Make the call again without it.")
	}
	return nil
}

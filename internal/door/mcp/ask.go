package mcp

import (
	"encoding/json"
	"fmt"
	"time"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Ask is a call that a person must decide.
type Ask struct {
	Caller    *op.Caller
	Op        *op.Op
	Input     []byte
	Key       string // the idempotency key, or none
	RequestID string
	Because   string // ask, limit or guard; none: only look for an earlier proposal of this call
	Text      string // the same for people
}

// Asked is what became of it: a proposal that waits, or what was decided.
type Asked struct {
	Proposal id.ID
	New      bool   // this call made it
	Waiting  bool   // nobody has decided yet
	URL      string // where a person decides
	Summary  string
	Body     []byte // what the model reads
	Sight    op.Sight
}

// because is why a person may allow what was refused, or nothing.
func because(err error) string {
	switch {
	case err == nil:
	case fault.Has(err, op.LimitReached):
		return "limit"
	case fault.Has(err, op.Guarded):
		return "guard"
	}
	return ""
}

// stateTime is how long a client may take to show a person the address.
const stateTime = 15 * time.Minute

// askState is what a client keeps between the two halves of a call. It is sealed
// for one agent and one proposal.
type askState struct {
	Proposal id.ID     `json:"proposal"`
	Until    time.Time `json:"until"`
}

func statePlace(agent id.ID, tool string) string { return "mcp/ask/" + string(agent) + "/" + tool }

// approvalRequest names the request for a person's attention.
const approvalRequest = "approval"

// pending answers a call that waits for a person. The answer is an ordinary
// result that a model understands. A client that can show a person an address is
// asked to, once, when the proposal is new; its second try gets the result.
func (d *Door) pending(t *tool, r *sdk.CallToolRequest, a *Asked) (*sdk.CallToolResult, error) {
	plain := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(a.Body)}},
		StructuredContent: json.RawMessage(a.Body)}
	l := askerOf(r).login
	if state := r.Params.RequestState; state != "" {
		return plain, d.checkState(l.Caller.ID, t, state, a)
	}
	if !a.New || !a.Waiting {
		return plain, nil
	}
	show := &sdk.ElicitParams{Mode: "url", URL: a.URL, ElicitationID: string(a.Proposal),
		Message: "A person must approve this: " + a.Summary}
	switch {
	case metaShowsURL(r.Params.Meta):
		state, err := json.Marshal(askState{a.Proposal, time.Now().Add(stateTime)})
		if err != nil {
			return nil, err
		}
		sealed, err := d.Seal.Seal(state, statePlace(l.Caller.ID, t.sdk.Name))
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(sealed)
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{approvalRequest: show},
			RequestState: string(text[1 : len(text)-1])}, nil
	case l.ShowsURL:
		return nil, sdk.URLElicitationRequiredError([]*sdk.ElicitParams{show})
	}
	return plain, nil
}

// checkState refuses a state that was not made for this agent, this call and now.
func (d *Door) checkState(agent id.ID, t *tool, text string, a *Asked) error {
	bad := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: "requestState is not valid, or too old. Make the call again without it."}
	var sealed []byte
	if json.Unmarshal([]byte(fmt.Sprintf("%q", text)), &sealed) != nil {
		return bad
	}
	state, err := d.Seal.Open(sealed, statePlace(agent, t.sdk.Name))
	if err != nil {
		return bad
	}
	var s askState
	if json.Unmarshal(state, &s) != nil || s.Proposal != a.Proposal || time.Now().After(s.Until) {
		return bad
	}
	return nil
}

// elicitation is the part of a client's capabilities that matters here.
type elicitation struct {
	Elicitation struct {
		URL *struct{} `json:"url"`
	} `json:"elicitation"`
}

// metaShowsURL reports whether a request without a session says that its client
// can show a person an address.
func metaShowsURL(meta sdk.Meta) bool {
	raw, ok := meta[sdk.MetaKeyClientCapabilities]
	if !ok {
		return false
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return false
	}
	var c elicitation
	return json.Unmarshal(text, &c) == nil && c.Elicitation.URL != nil
}

// initializeShowsURL reports the same of the message that begins a session.
func initializeShowsURL(text []byte) bool {
	var m struct {
		Params struct {
			Capabilities elicitation `json:"capabilities"`
		} `json:"params"`
	}
	return json.Unmarshal(text, &m) == nil && m.Params.Capabilities.Elicitation.URL != nil
}

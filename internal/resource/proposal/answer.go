package proposal

import (
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// pendingAnswer is the answer to an agent whose call waits for a person.
type pendingAnswer struct {
	Status      string     `json:"status"`
	ProposalID  id.ID      `json:"proposalId"`
	ApprovalURL string     `json:"approvalUrl"`
	ExpiresAt   clock.Time `json:"expiresAt"`
	Because     string     `json:"because"`
	Summary     string     `json:"summary"`
	Effects     []Effect   `json:"effects"`
	Total       int        `json:"effectsTotal"` // effects has the first of them
	Withheld    bool       `json:"withheld,omitempty"`
	Next        string     `json:"next"`
}

// decidedAnswer is the answer once the call was rejected, or ended in another way
// without being carried out.
type decidedAnswer struct {
	Status     string     `json:"status"`
	ProposalID id.ID      `json:"proposalId"`
	Reason     *string    `json:"reason,omitempty"`
	Error      *StepError `json:"error,omitempty"`
	Next       string     `json:"next,omitempty"`
}

// maxAnswerEffects bounds how many effects an agent's model has to read.
const maxAnswerEffects = 20

// Summary is the first effect in a sentence.
func (v *Proposal) Summary() string {
	if len(v.Effects) == 0 {
		return v.Title
	}
	return v.Effects[0].Summary
}

// withoutHTML drops the HTML of a mail for a model, if there is a text, and
// shortens the rest: how the mail looks only matters to a person.
func withoutHTML(after jsontext.Value) jsontext.Value {
	var fields map[string]any
	if json.Unmarshal(after, &fields) != nil {
		return after
	}
	if fields["text"] != nil {
		delete(fields, "html")
	}
	return marshalShortened(fields)
}

// Answer is what an agent's call answers with: that it waits, what was decided,
// or, once it was carried out, what the call itself would have answered.
func (v *Proposal) Answer() ([]byte, error) {
	switch v.Status {
	case Pending, Approved, Executing:
		a := pendingAnswer{Status: "pending_approval", ProposalID: v.ID, ApprovalURL: v.ApprovalURL,
			ExpiresAt: v.ExpiresAt, Summary: v.Summary(), Effects: slices.Clone(v.Effects),
			Total: max(v.EffectsTotal, len(v.Effects)), Withheld: v.Withheld,
			Next: "Call proposals_get with waitSeconds up to 45."}
		if v.BecauseText != nil {
			a.Because = *v.BecauseText
		}
		if len(a.Effects) > maxAnswerEffects {
			a.Effects = a.Effects[:maxAnswerEffects]
		}
		for i := range a.Effects {
			if e := &a.Effects[i]; e.Kind == KindSend {
				e.After = withoutHTML(e.After)
			}
		}
		return json.Marshal(a, json.Deterministic(true))
	case Executed:
		data := v.Steps[0].Result
		if data == nil || string(*data) == "null" {
			return []byte("{}"), nil
		}
		return json.Marshal(map[string]jsontext.Value{"data": *data}, json.Deterministic(true))
	case Rejected:
		return json.Marshal(decidedAnswer{Status: "rejected", ProposalID: v.ID, Reason: v.Rejection,
			Next: "A person decided against it. Do not try it again unless they ask for it."})
	}
	return json.Marshal(decidedAnswer{Status: string(v.Status), ProposalID: v.ID, Error: v.Steps[0].Error})
}

package proposal

import (
	"fmt"
	"slices"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/automation"

	"github.com/go-json-experiment/json/jsontext"
)

// A person may leave steps out of a plan before deciding. Such a step is no longer one of
// Steps: what was approved is what is done, and nothing that carries a plan out has to know
// of the others. LeftOut keeps them, so that they can be put back.

// LeftOutStep is a step of the plan that a person left out.
type LeftOutStep struct {
	Position  int            `json:"position" doc:"its place in the whole plan, from 0"`
	Operation string         `json:"operation"`
	Input     jsontext.Value `json:"input" kinds:"object" doc:"the whole input, path fields included"`
	SaveAs    *string        `json:"saveAs"`
}

// WholePlan is the plan as it was made, with the steps that were left out.
func (v *Proposal) WholePlan() []ProposalStep {
	plan := slices.Clone(v.Steps)
	for _, left := range v.LeftOut { // by their positions, the first first
		plan = slices.Insert(plan, min(left.Position, len(plan)),
			ProposalStep{Operation: left.Operation, Input: left.Input, SaveAs: left.SaveAs})
	}
	return plan
}

// leaveOut takes steps out of the plan and puts all others back. It refuses to leave out
// what a step that stays needs: its placeholders would have nothing to stand for.
func (v *Proposal) leaveOut(positions []int) error {
	plan := v.WholePlan()
	for _, at := range positions {
		if at < 0 || at >= len(plan) {
			return fault.Field("leaveOut", fmt.Sprintf("There is no step %d", at+1))
		}
	}
	v.Steps, v.LeftOut = []ProposalStep{}, []LeftOutStep{}
	gone := map[string]int{} // what the steps that are left out would have saved, with their positions
	for i, step := range plan {
		if slices.Contains(positions, i) {
			v.LeftOut = append(v.LeftOut, LeftOutStep{i, step.Operation, step.Input, step.SaveAs})
			if step.SaveAs != nil {
				gone[*step.SaveAs] = i
			}
			continue
		}
		needed := -1
		automation.EachPlaceholder(step.Input, func(_ []any, root string) {
			if at, ok := gone[root]; ok {
				needed = at
			}
		})
		if needed >= 0 {
			return fault.Field("leaveOut", fmt.Sprintf("Step %d needs what step %d makes. Leave out step %d too",
				i+1, needed+1, i+1))
		}
		if step.SaveAs != nil {
			delete(gone, *step.SaveAs)
		}
		v.Steps = append(v.Steps, step)
	}
	if len(v.Steps) == 0 {
		return fault.Field("leaveOut", "One step must stay. To do nothing, reject the proposal")
	}
	return nil
}

package automation

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"

	"github.com/go-json-experiment/json/jsontext"
)

// Rehearsal is what an automation would have done.
type Rehearsal struct {
	Runs []RehearsedRun `json:"runs" doc:"one for each event, newest first"`
}

// RunCause is what an automation would have run for.
type RunCause struct {
	EventID   *id.ID      `json:"eventId"`
	EventType *string     `json:"eventType"`
	CreatedAt *clock.Time `json:"createdAt" doc:"of the event"`
}

// RehearsedRun is what it would have done for one event.
type RehearsedRun struct {
	RunCause
	Runs         bool            `json:"runs" doc:"whether the condition holds"`
	ErrorMessage *string         `json:"errorMessage" max:"10000" doc:"why the condition could not be evaluated"`
	Steps        []RehearsedStep `json:"steps"`

	op.ExternalMark
}

// RehearsedStep is a step with the values that can be known.
type RehearsedStep struct {
	Operation    string          `json:"operation"`
	Input        *jsontext.Value `json:"input" doc:"what the operation would receive"`
	InputOmitted bool            `json:"inputOmitted" doc:"the input is too large to show"`
	ErrorMessage *string         `json:"errorMessage" max:"10000" doc:"why the input could not be built"`
}

type automationTest struct {
	automationRef
	Limit int            `json:"limit" default:"10" min:"1" max:"20" doc:"the most events to test"`
	Input jsontext.Value `json:"input,omitempty" kinds:"object" doc:"what the condition and steps see as input"`
}

// maxRehearsed bounds the inputs of all steps for all events together.
const maxRehearsed = 2 << 20

func (in *automationTest) Prepare(context.Context, *op.Call) error { return checkInputSize(in.Input) }

func (s *Service) testAutomation(ctx context.Context, c *op.Call, in automationTest) (*Rehearsal, error) {
	v, err := automations.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.permitTrigger(signingCaller(c).Permissions, &v.Trigger); err != nil {
		return nil, err
	}
	found := []*event.Event{nil}
	if v.Trigger.Kind == onEvent {
		events, err := event.ListNewestOfType(ctx, c.Tx, c.Org, *v.Trigger.Event, in.Limit)
		if err != nil {
			return nil, err
		}
		found = nil
		for i := range events {
			found = append(found, &events[i])
		}
	}
	out, left := &Rehearsal{Runs: []RehearsedRun{}}, maxRehearsed
	for _, ev := range found {
		run, _, err := rehearseRun(ctx, v, ev, in.Input, &left)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, *run)
	}
	return out, nil
}

// rehearseRun shows what one run would do, with the values that it saw. It deducts
// the size of the inputs from left, which bounds what all runs show together.
func rehearseRun(ctx context.Context, v *Automation, ev *event.Event, input jsontext.Value,
	left *int) (out *RehearsedRun, values map[string]any, err error) {
	if len(input) == 0 {
		input = jsontext.Value("{}")
	}
	if values, err = (&Execution{Input: input}).placeholderValues(ev); err != nil {
		return nil, nil, err
	}
	out = &RehearsedRun{Runs: true, Steps: []RehearsedStep{}}
	if ev != nil {
		out.EventID, out.EventType, out.CreatedAt = &ev.ID, &ev.Type, &ev.At
		out.External = ev.External
	}
	if v.Condition != nil {
		c, issue := compileCondition(*v.Condition)
		if issue == "" {
			out.Runs, issue = c.evaluateFully(ctx, values)
		}
		if issue != "" {
			out.Runs, out.ErrorMessage = false, &issue
		}
	}
	if !out.Runs {
		return out, values, nil
	}
	for i := range v.Steps {
		step := RehearsedStep{Operation: v.Steps[i].Operation}
		if text, err := renderInput(v.Steps[i].Input,
			keepUnsaved(v.Steps[:i], placeholder.LookupIn(values))); err != nil {
			said := err.Error()
			step.ErrorMessage = &said
		} else if step.InputOmitted = len(text) > min(maxShownBytes, *left); !step.InputOmitted {
			*left -= len(text)
			value := jsontext.Value(text)
			step.Input = &value
		}
		out.Steps = append(out.Steps, step)
	}
	return out, values, nil
}

// keepUnsaved looks values up, but leaves a placeholder for what an earlier step would
// save as it is: no value is known for it.
func keepUnsaved(before []Step, values placeholder.Lookup) placeholder.Lookup {
	return func(path []string) (any, bool) {
		for i := range before {
			if name := before[i].SaveAs; name != nil && *name == path[0] {
				text := path[0]
				for _, p := range path[1:] {
					text += "." + p
				}
				return "{{ " + text + " }}", true
			}
		}
		return values(path)
	}
}

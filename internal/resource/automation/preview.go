package automation

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/placeholder"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Preview is what an automation would have done in the past days.
type Preview struct {
	Since    clock.Time     `json:"since" doc:"how far back it looked"`
	Complete bool           `json:"complete" doc:"false: there was more to look at than one call does"`
	Checked  int            `json:"checked" doc:"events, or times of the schedule"`
	Matched  int            `json:"matched" doc:"how often it would have run"`
	Unclear  int            `json:"unclear" doc:"how often the condition could not be evaluated"`
	Days     []PreviewDay   `json:"days" doc:"days on which something was checked, newest first, in UTC"`
	Runs     []RehearsedRun `json:"runs" doc:"the newest runs, and those that the condition could not decide"`
	Skipped  []SkippedRun   `json:"skipped" doc:"the newest of those for which the condition is false"`
}

// PreviewDay is what would have happened on one day.
type PreviewDay struct {
	Date    string `json:"date" format:"date"`
	Checked int    `json:"checked"`
	Matched int    `json:"matched"`
}

// SkippedRun is an event for which nothing would have been done, with what the
// condition saw of it.
type SkippedRun struct {
	RunCause
	Saw []SeenValue `json:"saw" doc:"what the condition names, and its value"`
}

// SeenValue is a value that a condition names.
type SeenValue struct {
	Name  string          `json:"name" max:"2000"`
	Value *jsontext.Value `json:"value" doc:"null also where there is none or it is too large"`
}

type automationPreview struct {
	Trigger   Trigger        `json:"trigger"`
	Condition *string        `json:"condition" min:"1" max:"2000" doc:"CEL over event, input: event.data.x == 1"`
	Steps     []Step         `json:"steps" min:"1" max:"20"`
	Input     jsontext.Value `json:"input,omitempty" kinds:"object" doc:"for a trigger of kind manual"`
	Days      int            `json:"days" default:"30" min:"1" max:"30"`
	Limit     int            `json:"limit" default:"10" min:"1" max:"20" doc:"the most runs to show"`
}

// The bounds of a preview. It goes backwards in time, so they cut off the oldest.
const (
	previewEvents = 10_000
	previewBytes  = 64 << 20 // of events
	previewTime   = 2 * time.Second
	previewPage   = 200
	maxSeenBytes  = 1 << 10 // bytes of a value
)

func (in *automationPreview) Prepare(_ context.Context, c *op.Call) (err error) {
	if err := checkInputSize(in.Input); err != nil {
		return err
	}
	if err := checkTriggerAndCondition(&in.Trigger, in.Condition, c.Now); err != nil {
		return err
	}
	in.Steps, err = NormalizeSteps(in.Steps)
	return err
}

// previewAutomation runs a condition over the past, within the bounds above. It saves
// nothing and calls no operation.
func (s *Service) previewAutomation(ctx context.Context, c *op.Call, in automationPreview) (*Preview, error) {
	v := &Automation{Fields: Fields{Trigger: in.Trigger, Condition: in.Condition, Steps: in.Steps}}
	if err := s.checkAutomation(v); err != nil {
		return nil, err
	}
	if err := s.permitTrigger(signingCaller(c).Permissions, &v.Trigger); err != nil {
		return nil, err
	}
	budget, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	p := &previewRun{Automation: v, limit: in.Limit, bytesLeft: maxRehearsed, checkBudget: budget.Err,
		out: &Preview{Since: c.Now.Add(-time.Duration(in.Days) * 24 * time.Hour), Complete: true,
			Days: []PreviewDay{}, Runs: []RehearsedRun{}, Skipped: []SkippedRun{}}}
	var err error
	switch v.Trigger.Kind {
	case onEvent:
		err = p.checkEvents(ctx, c)
	case onSchedule:
		err = p.checkDueTimes(ctx, c.Now)
	default:
		p.out.Since = c.Now
		err = p.checkOccurrence(ctx, nil, c.Now, in.Input)
	}
	return p.out, err
}

// previewRun is a run over the past that is under way.
type previewRun struct {
	*Automation
	out              *Preview
	limit, bytesLeft int
	checkBudget      func() error // fails once the time for it is over
}

// checkEvents checks the events of the trigger's type, newest first.
func (p *previewRun) checkEvents(ctx context.Context, c *op.Call) error {
	bytes := 0
	page := event.PageOfType{Type: *p.Trigger.Event, Since: p.out.Since, Before: c.Now + 1, Limit: previewPage}
	for {
		events, err := event.ListPageOfType(ctx, c.Tx, c.Org, page)
		if err != nil {
			return err
		}
		for i := range events {
			e := &events[i]
			if bytes += len(e.Data) + len(e.Previous); p.isBudgetSpent() || bytes > previewBytes {
				p.stopAt(page.Before)
				return nil
			}
			if err := p.checkOccurrence(ctx, e, e.At, nil); err != nil {
				return err
			}
			page.Before, page.BeforeSeq = e.At, e.Seq
		}
		if len(events) < previewPage {
			return nil
		}
	}
}

// checkDueTimes checks the times at which the schedule would have been due, newest
// first.
func (p *previewRun) checkDueTimes(ctx context.Context, now clock.Time) error {
	var due []clock.Time
	for at := p.Trigger.nextAfter(p.out.Since); at != nil && *at <= now; at = p.Trigger.nextAfter(*at) {
		due = append(due, *at)
	}
	slices.Reverse(due)
	for i, at := range due {
		if p.isBudgetSpent() {
			p.stopAt(due[i-1])
			return nil
		}
		if err := p.checkOccurrence(ctx, nil, at, scheduledInput(at)); err != nil {
			return err
		}
	}
	return nil
}

// isBudgetSpent reports whether the bounds are reached. The first event is looked at in
// any case.
func (p *previewRun) isBudgetSpent() bool {
	return p.out.Checked >= previewEvents || p.out.Checked > 0 && p.checkBudget() != nil
}

// stopAt notes that the preview looked no further back than at.
func (p *previewRun) stopAt(at clock.Time) { p.out.Complete, p.out.Since = false, at }

// checkOccurrence adds what would have happened for one event, or at one time.
func (p *previewRun) checkOccurrence(ctx context.Context, e *event.Event, at clock.Time, input jsontext.Value) error {
	shows := *p.Automation
	if len(p.out.Runs) >= p.limit {
		shows.Steps = nil
	}
	run, values, err := rehearseRun(ctx, &shows, e, input, &p.bytesLeft)
	if err != nil {
		return err
	}
	run.CreatedAt = &at
	p.out.Checked++
	day := at.Std().UTC().Format(time.DateOnly)
	if n := len(p.out.Days); n == 0 || p.out.Days[n-1].Date != day {
		p.out.Days = append(p.out.Days, PreviewDay{Date: day})
	}
	today := &p.out.Days[len(p.out.Days)-1]
	today.Checked++
	switch {
	case run.Runs:
		p.out.Matched++
		today.Matched++
	case run.ErrorMessage != nil:
		p.out.Unclear++
	default:
		if len(p.out.Skipped) < p.limit {
			p.out.Skipped = append(p.out.Skipped, SkippedRun{run.RunCause, valuesSeen(*p.Condition, values)})
		}
		return nil
	}
	if len(p.out.Runs) < p.limit {
		p.out.Runs = append(p.out.Runs, *run)
	}
	return nil
}

// namedValues matches the values that a condition names, like event.data.status. It
// also matches quoted texts, so that names inside of them are passed over.
var namedValues = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b(?:event|input)(?:\.[A-Za-z_]\w*)+(\()?`)

// valuesSeen lists the values that a condition names, in their order.
func valuesSeen(condition string, values map[string]any) []SeenValue {
	out := []SeenValue{}
	for _, name := range namedValues.FindAllString(condition, -1) {
		if strings.HasSuffix(name, "(") { // the last part is a function
			name = name[:strings.LastIndexByte(name, '.')]
		}
		if name[0] == '"' || name[0] == '\'' || len(out) >= 20 ||
			slices.ContainsFunc(out, func(s SeenValue) bool { return s.Name == name }) {
			continue
		}
		seen := SeenValue{Name: name}
		if value, ok := placeholder.LookupIn(values)(strings.Split(name, ".")); ok {
			if text, err := json.Marshal(value); err == nil && len(text) <= maxSeenBytes {
				v := jsontext.Value(text)
				seen.Value = &v
			}
		}
		out = append(out, seen)
	}
	return out
}

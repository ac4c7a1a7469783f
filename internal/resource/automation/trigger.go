package automation

import (
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// The kinds of triggers.
const (
	onEvent    = "event"
	onSchedule = "schedule"
	onDemand   = "manual"
)

// Trigger is what starts an automation. Any automation can also be started
// manually.
type Trigger struct {
	Kind     string  `json:"kind" enum:"event,schedule,manual"`
	Event    *string `json:"event" doc:"for kind event: its type, for example contact.created"`
	Cron     *string `json:"cron" doc:"for kind schedule: five cron fields like 0 9 * * 1-5, or @hourly, @daily etc."`
	Timezone *string `json:"timezone" format:"timezone" doc:"for kind schedule: an IANA name; by default UTC"`
}

// checkFields refuses fields that do not go together, and a schedule that never fires.
// Whether the event exists is checked elsewhere, with the catalog.
func (t *Trigger) checkFields(now clock.Time) (tree *fault.Tree) {
	only := func(kind, name string, v *string) {
		switch {
		case v != nil && t.Kind != kind:
			tree = tree.At([]any{name}, "Only a trigger of kind "+kind+" has this")
		case v == nil && t.Kind == kind && name != "timezone":
			tree = tree.At([]any{name}, fault.MissingIssue)
		}
	}
	only(onEvent, "event", t.Event)
	only(onSchedule, "cron", t.Cron)
	only(onSchedule, "timezone", t.Timezone)
	if tree != nil || t.Kind != onSchedule {
		return tree
	}
	if t.Timezone == nil {
		utc := "UTC"
		t.Timezone = &utc
	}
	s, issue := t.cronSchedule()
	if issue == "" && s.nextAfter(now.Std()).IsZero() {
		issue = "This time never comes"
	}
	if issue != "" {
		tree = tree.At([]any{"cron"}, issue)
	}
	return tree
}

// cronSchedule is when the trigger fires, or what is wrong with it.
func (t *Trigger) cronSchedule() (s *schedule, issue string) {
	if issue := op.FormatIssue("timezone", *t.Timezone); issue != "" {
		return nil, issue
	}
	zone, err := time.LoadLocation(*t.Timezone)
	if err != nil {
		return nil, err.Error()
	}
	return parseSchedule(*t.Cron, zone)
}

// nextAfter is when the trigger next fires after a given time; nil if it does not.
func (t *Trigger) nextAfter(after clock.Time) *clock.Time {
	if t.Kind != onSchedule {
		return nil
	}
	s, issue := t.cronSchedule()
	if issue != "" {
		return nil // checked when it was written
	}
	at := s.nextAfter(after.Std())
	if at.IsZero() {
		return nil
	}
	next := clock.FromStd(at)
	return &next
}

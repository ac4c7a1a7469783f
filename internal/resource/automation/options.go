package automation

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// AutomationOptions is what automations can be made of.
type AutomationOptions struct {
	Events       []EventOption     `json:"events" max:"-1" doc:"what a trigger can name"`
	Operations   []OperationOption `json:"operations" max:"-1" doc:"what a step can call"`
	Placeholders []Placeholder     `json:"placeholders" doc:"how a step's input names values"`

	op.NoExternalText
}

// EventOption is an event that an automation can listen to.
type EventOption struct {
	Type   string   `json:"type"`
	Fields []string `json:"fields" doc:"of its data"`
}

// OperationOption is an operation that a step can call.
type OperationOption struct {
	Name     string   `json:"name"`
	Summary  string   `json:"summary" max:"500"`
	Fields   []string `json:"fields" doc:"of its input"`
	Required []string `json:"required" doc:"of these"`
}

// Placeholder is a way to name a value.
type Placeholder struct {
	Syntax string `json:"syntax"`
	Means  string `json:"means"`
}

var placeholders = []Placeholder{
	{"{{ event.type }}", "the type of the event that started it"},
	{"{{ event.data.firstName }}", "a field of what the event is about, as GET returned it right after"},
	{"{{ event.previous.firstName }}", "the value that a changed field had before"},
	{"{{ input.name }}", "a value that automations.run was given, or scheduledAt"},
	{"{{ saved.id }}", "a field of what an earlier step with saveAs \"saved\" answered"},
	{"{{ event.data.tags.0 }}", "the first element of a list"},
	{"{{ event.data.firstName | default: \"there\" }}", "another text where there is no value"},
}

type automationOptions struct {
	Query *string `query:"query" max:"200" doc:"part of the name of an event or operation"`
}

// listOptions lists what the caller may listen to and call.
func (s *Service) listOptions(_ context.Context, c *op.Call, in automationOptions) (*AutomationOptions, error) {
	allowed := signingCaller(c).Permissions
	wanted := func(name string) bool {
		return in.Query == nil || strings.Contains(name, strings.ToLower(strings.TrimSpace(*in.Query)))
	}
	out := &AutomationOptions{Events: []EventOption{}, Operations: []OperationOption{}, Placeholders: placeholders}
	// All fields of everything would fill the context of an agent, which then asks again by a name.
	namesOnly := c.Door == op.AgentDoor && in.Query == nil
	for _, name := range s.catalog.EventNames() {
		if wanted(name) && s.catalog.PermitListening(allowed, name) == nil {
			v := EventOption{Type: name, Fields: []string{}}
			if !namesOnly {
				v.Fields = s.eventDataFields(name)
			}
			out.Events = append(out.Events, v)
		}
	}
	for _, o := range s.catalog.All() {
		if !Callable(o) || !wanted(o.Name) || !o.AllowedBy(allowed) {
			continue
		}
		v := OperationOption{Name: o.Name, Fields: []string{}, Required: []string{}}
		if namesOnly {
			out.Operations = append(out.Operations, v)
			continue
		}
		schema := o.InputSchema()
		v.Summary = o.Summary
		for name := range schema.Properties {
			v.Fields = append(v.Fields, name)
		}
		v.Required = append(v.Required, schema.Required...)
		slices.Sort(v.Fields)
		slices.Sort(v.Required)
		out.Operations = append(out.Operations, v)
	}
	return out, nil
}

// eventDataFields are the fields of an event's data.
func (s *Service) eventDataFields(eventType string) []string {
	out := []string{}
	if schema := EventDataSchema(s.catalog.All(), eventType); schema != nil {
		for name := range schema.Properties {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// EventDataSchema is the schema of an event's data: that of the answer of an operation
// whose first event is about the same kind of resource. It is nil if there is no such operation.
func EventDataSchema(operations []*op.Op, eventType string) *jsonschema.Schema {
	for _, o := range operations {
		if len(o.Events) == 0 || event.ResourceType(o.Events[0]) != event.ResourceType(eventType) {
			continue
		}
		if schema, list := o.OutputSchema(nil); schema != nil && !list && schema.Properties["id"] != nil {
			return schema
		}
	}
	return nil
}

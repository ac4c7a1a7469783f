package op_test

import (
	"slices"
	"testing"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/task"

	"github.com/go-json-experiment/json/jsontext"
)

// What an answer exposes its reader to is found in whatever it is made of.
func TestExposure(t *testing.T) {
	ada, bob, job := id.New(), id.New(), id.New()
	record := func(row id.ID, external bool) op.Record {
		r := op.Record{}
		r.ID, r.CreatedAt, r.External = row, 100, external
		return r
	}
	person := func(row id.ID, external bool) contact.Contact { return contact.Contact{Record: record(row, external)} }
	work := func(with *id.ID) *task.Task {
		v := &task.Task{Record: record(job, false)}
		v.ContactID = with
		return v
	}
	type note struct {
		op.NoExternalText
		Text string
	}
	type wrapped struct {
		op.Record
		Inner []*contact.Contact
		Raw   jsontext.Value
	}
	outsider := person(bob, true)
	for name, c := range map[string]struct {
		answer any
		now    int64
		want   op.Exposure
	}{
		"nothing":                   {nil, 0, op.Exposure{}},
		"a contact":                 {new(person(ada, false)), 0, op.Exposure{About: []id.ID{ada}}},
		"one that was just created": {new(person(ada, false)), 100, op.Exposure{}},
		"one that was there before": {new(person(ada, false)), 101, op.Exposure{About: []id.ID{ada}}},
		"a task about nobody":       {work(nil), 0, op.Exposure{}},
		"a task about somebody":     {work(&ada), 0, op.Exposure{About: []id.ID{ada}}},
		"a new task about somebody": {work(&ada), 100, op.Exposure{About: []id.ID{ada}}},
		"text from outside":         {&outsider, 0, op.Exposure{External: true, About: []id.ID{bob}}},
		"a list, and one of it twice": {[]*task.Task{work(&ada), work(&bob), work(&ada)}, 0,
			op.Exposure{About: []id.ID{ada, bob}}},
		"in a field of a row": {wrapped{Inner: []*contact.Contact{nil, &outsider}}, 0,
			op.Exposure{External: true, About: []id.ID{bob}}},
		"in a map of anything": {map[string]any{"x": &outsider}, 0,
			op.Exposure{External: true, About: []id.ID{bob}}},
		"raw JSON":      {wrapped{Raw: jsontext.Value(`{"x": 1}`)}, 0, op.Exposure{Opaque: true}},
		"raw null":      {wrapped{Raw: jsontext.Value(`null`)}, 0, op.Exposure{}},
		"no row at all": {note{Text: "x"}, 0, op.Exposure{Opaque: true}},
	} {
		got := op.ExposureOf(c.answer, clock.Time(c.now))
		if got.External != c.want.External || got.Opaque != c.want.Opaque || !slices.Equal(got.About, c.want.About) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

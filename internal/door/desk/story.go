package desk

import (
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/eventlog"
)

// storyRows is how many moments a page of a timeline shows. Each source gives as many, so that none is missing
// between those of another.
const storyRows = 40

// fillStory fills in a page of an object's timeline: its own events, and what the noun adds.
func (n *Noun[T]) fillStory(v *Visit, o *object[T], d *objectData) error {
	if n.Type == "" {
		return nil
	}
	events, err := v.EarlierEvents(Fields{"resourceId": o.row.RowID()})
	if err != nil {
		return err
	}
	moments, err := v.Moments(events, true)
	if err != nil {
		return err
	}
	for _, source := range n.Timeline {
		more, err := source(v, &o.row)
		if err != nil {
			return err
		}
		moments = append(moments, more...)
	}
	slices.SortStableFunc(moments, func(a, b Moment) int { return int(b.At.Sub(a.At)) })
	most := min(len(moments), storyRows)
	for most < len(moments) && moments[most].At == moments[most-1].At { // the next page begins before a time
		most++
	}
	if most < len(moments) {
		d.Earlier = v.With(beforeField, moments[most-1].At.String())
	}
	if v.before() != nil {
		d.Later = v.With(beforeField, "")
	}
	d.Story = v.Days(moments, most)
	return nil
}

// beforeField is the part of the address that says which page of a timeline is shown.
const beforeField = "before"

// before is the time that the shown page of a timeline ends before, or nil for the newest page.
func (v *Visit) before() *clock.Time {
	t, err := clock.ParseTime(v.R.URL.Query().Get(beforeField))
	if err != nil {
		return nil
	}
	return &t
}

// EarlierEvents are the newest events that the shown page of a timeline may have.
func (v *Visit) EarlierEvents(in Fields) ([]eventlog.Event, error) {
	if !v.May("events.list") {
		return nil, nil
	}
	in["limit"] = storyRows + 1 // one more tells that there is an earlier page
	if t := v.before(); t != nil {
		in["until"] = *t
	}
	rows, _, err := List[eventlog.Event](v, "events.list", in)
	return rows, err
}

// ListEarlier lists the newest rows that the shown page of a timeline may have: those of before its end. A list that
// cannot filter by time is read until they come.
func ListEarlier[T any](v *Visit, operation string, in Fields, at func(*T) clock.Time) ([]T, error) {
	if !v.May(operation) {
		return nil, nil
	}
	in["limit"] = storyRows + 1
	t := v.before()
	if t != nil && v.Catalog.Named(operation).HasQueryField("createdBefore") {
		in["createdBefore"], t = *t, nil
	}
	var out []T
	for offset := 0; ; offset += storyRows + 1 {
		in["offset"] = offset
		rows, page, err := List[T](v, operation, in)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if t == nil || at(&rows[i]) < *t {
				out = append(out, rows[i])
			}
		}
		if len(out) > storyRows || !page.HasMore {
			return out, nil
		}
	}
}

// Authors are those who wrote messages, as far as the log tells.
func (v *Visit) Authors(messages []id.ID) (map[id.ID]eventlog.Event, error) {
	out := map[id.ID]eventlog.Event{}
	if len(messages) == 0 || !v.May("events.list") {
		return out, nil
	}
	rows, _, err := List[eventlog.Event](v, "events.list", Fields{"resourceIds": messages[:min(len(messages), 100)],
		"type": "message.created", "limit": 100})
	if err != nil {
		return nil, err
	}
	for _, e := range rows {
		out[e.ResourceID] = e
	}
	return out, v.loadActorNames(rows)
}

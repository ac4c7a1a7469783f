package automation

import (
	"strings"
	"time"

	cron "github.com/netresearch/go-cron"
)

// cronParser reads the five fields of cron, and @daily and the like. If both day
// fields are given, either may match, as in every crontab.
var cronParser = cron.MustNewParser(
	cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.DowOrDom)

// schedule is when an automation runs.
type schedule struct {
	spec *cron.SpecSchedule
	zone *time.Location
}

// everyHourBit is the bit by which the cron library marks an hour field of *.
const everyHourBit = 1 << 63

// parseSchedule parses a cron expression, or says what is wrong with it.
func parseSchedule(text string, zone *time.Location) (s *schedule, issue string) {
	if strings.Contains(text, "TZ=") {
		return nil, "A time zone goes into timezone, not into cron"
	}
	const form = "Write five fields like 0 9 * * 1-5, or @daily"
	parsed, err := cronParser.Parse(text)
	if err != nil {
		return nil, "Not a cron expression: " + err.Error() + ". " + form
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, "Not a time of day. " + form
	}
	spec.Location = time.UTC
	return &schedule{spec, zone}, ""
}

// nextAfter is the first time after a given one, or zero if there is none for years.
//
// Daylight saving: a time that the clocks skip becomes the moment right after
// the skip, and a time that occurs twice means the first. An hourly schedule
// follows elapsed time and runs in both.
func (s *schedule) nextAfter(after time.Time) time.Time {
	if s.spec.Hour&everyHourBit != 0 {
		return s.nextHourly(after)
	}
	// The wall clock is treated as UTC, which never skips.
	local := after.In(s.zone)
	wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(),
		local.Nanosecond(), time.UTC)
	// After the clocks went back, the wall clock shows times for a second time. Those are passed over.
	for range 1000 {
		if wall = s.spec.Next(wall); wall.IsZero() {
			return wall
		}
		if t := firstMoment(wall, s.zone); t.After(after) {
			return t
		}
	}
	return time.Time{}
}

// nextHourly goes from one clock change of the zone to the next. Between them the
// offset is fixed, so the library finds every time without a skip.
func (s *schedule) nextHourly(after time.Time) time.Time {
	at := after
	for range 1000 {
		local := at.In(s.zone)
		_, offset := local.Zone()
		_, end := local.ZoneBounds()
		spec := *s.spec
		spec.Location = time.FixedZone("", offset)
		next := spec.Next(after)
		if next.IsZero() || end.IsZero() || next.Before(end) {
			return next
		}
		at, after = end, end.Add(-time.Nanosecond)
	}
	return time.Time{}
}

// firstMoment is when the wall clock of a zone first shows a time. For a time that is
// skipped, it is the moment of the skip.
func firstMoment(wall time.Time, zone *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	begin, end := t.ZoneBounds()
	switch shown := toWallClock(t); {
	case shown.After(wall): // wall is skipped, and time.Date chose a moment after the skip
		return begin
	case shown.Before(wall): // wall is skipped, and time.Date chose a moment before the skip
		return end
	}
	if begin.IsZero() {
		return t
	}
	// The same time may have been shown before the clocks went back.
	_, now := t.Zone()
	_, was := begin.Add(-time.Second).Zone()
	if earlier := t.Add(time.Duration(now-was) * time.Second); earlier.Before(begin) &&
		toWallClock(earlier).Equal(wall) {
		return earlier
	}
	return t
}

func toWallClock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

package automation

import (
	"testing"
	"time"
)

// Both daylight saving changes, and zones where they are unusual.
func TestNext(t *testing.T) {
	const layout = "2006-01-02T15:04:05-07:00"
	for _, c := range []struct {
		name, cron, zone, after string
		want                    []string
	}{
		{"leapt over", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		{"leapt over, several", "0,15,30 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00", "2026-03-09T02:15:00-04:00"}},
		{"twice", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00-04:00",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		{"twice, asked in the second", "30 1 * * *", "America/New_York", "2026-11-01T01:10:00-05:00",
			[]string{"2026-11-02T01:30:00-05:00"}},
		{"every quarter of an hour, leap", "*/15 * * * *", "America/New_York", "2026-03-08T01:40:00-05:00",
			[]string{"2026-03-08T01:45:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T03:15:00-04:00"}},
		{"every half hour, back", "*/30 * * * *", "America/New_York", "2026-11-01T01:20:00-04:00",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T01:30:00-05:00",
				"2026-11-01T02:00:00-05:00"}},
		{"Berlin, leap", "0 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"Berlin, back", "0 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+02:00",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00+01:00"}},
		{"half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"no midnight", "@daily", "America/Santiago", "2026-09-05T12:00:00-04:00",
			[]string{"2026-09-06T01:00:00-03:00", "2026-09-07T00:00:00-03:00"}},
		{"no midnight, every hour", "15 * * * 0", "Asia/Beirut", "2027-03-27T12:00:00+02:00",
			[]string{"2027-03-28T01:15:00+03:00", "2027-03-28T02:15:00+03:00"}},
		{"no midnight, every minute of a day", "* * 28 3 *", "Asia/Beirut", "2027-03-01T12:00:00+02:00",
			[]string{"2027-03-28T01:00:00+03:00", "2027-03-28T01:01:00+03:00"}},
		{"every hour of a leap day", "0 * 29 2 *", "America/New_York", "2026-01-01T00:00:00-05:00",
			[]string{"2028-02-29T00:00:00-05:00", "2028-02-29T01:00:00-05:00"}},
		{"either day", "0 9 1 * 1", "UTC", "2026-09-02T00:00:00+00:00",
			[]string{"2026-09-07T09:00:00+00:00", "2026-09-14T09:00:00+00:00", "2026-09-21T09:00:00+00:00",
				"2026-09-28T09:00:00+00:00", "2026-10-01T09:00:00+00:00"}},
		{"leap day", "0 0 29 2 *", "UTC", "2026-01-01T00:00:00+00:00", []string{"2028-02-29T00:00:00+00:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			s, issue := parseSchedule(c.cron, zone)
			if issue != "" {
				t.Fatal(issue)
			}
			at, err := time.Parse(layout, c.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if at = s.nextAfter(at); at.In(zone).Format(layout) != want {
					t.Fatalf("%s, want %s", at.In(zone).Format(layout), want)
				}
			}
		})
	}
}

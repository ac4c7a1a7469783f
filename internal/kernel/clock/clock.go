// Package clock is the service's clock, and the one representation of a moment: Time, microseconds since 1970 in UTC,
// which both databases store as an integer and callers see as RFC 3339 with milliseconds (ADR 0006). Date is a calendar
// day without a time.
//
// A Clock can be shifted, to rehearse what happens later, and follows the database's clock where several processes
// share one. Operations do not read it: they use op.Call.Now, so that everything in a call has the same time.
package clock

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Clock tells the time. A fixed offset shifts it, to rehearse expiries on a copy of the data. Processes that share a
// database correct their clocks by the database's (CorrectDrift), so that they agree.
type Clock struct {
	machine func() time.Time // time.Now, or a test's
	offset  time.Duration
	drift   atomic.Int64 // how far the database's clock is ahead of the machine's, in nanoseconds
}

// New returns a clock that is offset ahead of the machine's.
func New(offset time.Duration) *Clock { return NewFromSource(time.Now, offset) }

// NewFromSource is New with another source of time than time.Now, for tests.
func NewFromSource(machine func() time.Time, offset time.Duration) *Clock {
	return &Clock{machine: machine, offset: offset}
}

// Now is the present moment.
func (c *Clock) Now() Time { return FromStd(c.machine().Add(c.offset + time.Duration(c.drift.Load()))) }

// Offset is how far the clock is shifted ahead of the true time.
func (c *Clock) Offset() time.Duration { return c.offset }

// MachineTime is the time of the source alone, without offset and correction.
func (c *Clock) MachineTime() time.Time { return c.machine() }

// CorrectDrift sets how far the database's clock is ahead of the machine's. A difference of up to tolerance is taken
// for an error of the measurement and changes nothing. It reports whether the clock was changed.
func (c *Clock) CorrectDrift(drift, tolerance time.Duration) bool {
	if (drift - time.Duration(c.drift.Load())).Abs() <= tolerance {
		return false
	}
	c.drift.Store(int64(drift))
	return true
}

// Time is a moment in microseconds since 1970, UTC.
type Time int64

// FromStd converts a standard time.
func FromStd(t time.Time) Time { return Time(t.UnixMicro()) }

// Std converts to a standard time in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Add returns the moment d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Microseconds()) }

// Sub returns the time since u. It is at most 292 years, the longest Duration.
func (t Time) Sub(u Time) time.Duration { return t.Std().Sub(u.Std()) }

const timeLayout = "2006-01-02T15:04:05.000Z"

// String is the moment as callers see it.
func (t Time) String() string { return t.Std().Format(timeLayout) }

// MarshalJSONTo writes the moment as RFC 3339 with milliseconds.
func (t Time) MarshalJSONTo(e *jsontext.Encoder) error {
	b := append(e.AvailableBuffer(), '"')
	b = t.Std().AppendFormat(b, timeLayout)
	return e.WriteValue(append(b, '"'))
}

// UnmarshalJSONFrom reads what MarshalJSONTo wrote, or any RFC 3339 time.
func (t *Time) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	tok, err := d.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() != '"' {
		return errors.New("clock: a time is a string")
	}
	*t, err = ParseTime(tok.String())
	return err
}

// ParseTime reads an RFC 3339 time. Years other than 1 to 9999, in UTC, are refused, because they could not be written
// back.
func ParseTime(s string) (Time, error) {
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, err
	}
	if v = v.UTC(); v.Year() < 1 || v.Year() > 9999 {
		return 0, errors.New("clock: year out of range")
	}
	return FromStd(v), nil
}

// Date is a calendar day, "2006-01-02". The empty value is no day.
type Date string

// After reports whether the day is later than the day of a moment in UTC.
func (d Date) After(t Time) bool { return string(d) > t.Std().Format(time.DateOnly) }

// ParseDate reads a calendar day.
func ParseDate(s string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", err
	}
	return Date(s), nil
}

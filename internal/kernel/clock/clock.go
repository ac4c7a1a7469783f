// Package clock is the service's clock, and the one representation of a moment:
// microseconds since 1970 in UTC, written with milliseconds.
package clock

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Clock tells the time, shifted by a fixed offset to rehearse expiries.
type Clock struct{ offset time.Duration }

// New returns a clock that is offset ahead of the machine's.
func New(offset time.Duration) *Clock { return &Clock{offset} }

// Now is the present moment.
func (c *Clock) Now() Time { return Of(time.Now().Add(c.offset)) }

// Offset says how far the clock is ahead of the machine's.
func (c *Clock) Offset() time.Duration { return c.offset }

// Time is a moment in microseconds since 1970, UTC.
type Time int64

// Of converts a standard time.
func Of(t time.Time) Time { return Time(t.UnixMicro()) }

// Std converts to a standard time in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Add returns the moment d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Microseconds()) }

// Sub returns the time since u, at most 292 years, which is the longest Duration.
func (t Time) Sub(u Time) time.Duration { return t.Std().Sub(u.Std()) }

const layout = "2006-01-02T15:04:05.000Z"

// String is the moment as callers see it.
func (t Time) String() string { return t.Std().Format(layout) }

// MarshalJSONTo writes the moment as RFC 3339 with milliseconds.
func (t Time) MarshalJSONTo(e *jsontext.Encoder) error {
	b := append(e.AvailableBuffer(), '"')
	b = t.Std().AppendFormat(b, layout)
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
	*t, err = Parse(tok.String())
	return err
}

// Parse reads an RFC 3339 time between the years 1 and 9999.
func Parse(s string) (Time, error) {
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0, err
	}
	if v = v.UTC(); v.Year() < 1 || v.Year() > 9999 {
		return 0, errors.New("clock: year out of range")
	}
	return Of(v), nil
}

// Date is a calendar day, "2006-01-02". The empty value is no day.
type Date string

// After reports whether the day begins after a moment, in UTC.
func (d Date) After(t Time) bool { return string(d) > t.Std().Format(time.DateOnly) }

// ParseDate reads a calendar day.
func ParseDate(s string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", err
	}
	return Date(s), nil
}

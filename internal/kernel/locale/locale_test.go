package locale_test

import (
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/locale"
)

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		tag   string
		cents int64
		code  string
		want  string
	}{
		{"en-US", 123456789, "usd", "$1,234,567.89"},
		{"en-US", 5, "usd", "$0.05"},
		{"en-US", 0, "usd", "$0.00"},
		{"en-US", -1250, "usd", "-$12.50"},
		{"en-US", 1000, "chf", "CHF 10.00"},
		{"en-GB", 1000, "gbp", "£10.00"},
		{"en-GB", 1000, "usd", "US$10.00"},
		{"en-US", 1000, "jpy", "¥1,000"},
		{"ja-JP", 1000, "jpy", "¥1,000"},
		{"en-US", 1234, "kwd", "KWD 1.234"},
		{"en-US", 1234, "huf", "HUF 12.34"}, // two digits in ISO 4217, whatever cash there is
		{"de-DE", 123456789, "eur", "1.234.567,89 €"},
		{"de-DE", -5, "eur", "-0,05 €"},
		{"de-CH", 123456789, "chf", "CHF 1’234’567.89"},
		{"de-AT", 1050, "eur", "€ 10,50"},
		{"pl-PL", 1234567, "pln", "12 345,67 zł"},
		{"fr-FR", 1234567, "eur", "12 345,67 €"},
		{"nl-NL", 1050, "eur", "€ 10,50"},
		{"pt-BR", 123456, "brl", "R$ 1.234,56"},
		{"ru-RU", 123456, "rub", "1 234,56 ₽"},
		{"hi-IN", 123456789, "inr", "₹12,34,567.89"},
		{"en-US", 99_999_999_999_999, "usd", "$999,999,999,999.99"},
		{"nonsense tag", 100, "usd", "$1.00"},
		{"en-US", 100, "zzz", "ZZZ 1.00"},
	} {
		got := strings.NewReplacer("\u00a0", " ", "\u202f",
			" ").Replace(locale.New(c.tag, "UTC").Money(c.cents, c.code))
		if got != c.want {
			t.Errorf("%d %s in %s: %q, want %q", c.cents, c.code, c.tag, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range [][3]string{
		{"en-US", "1234.5", "1,234.5"}, {"en-US", "1", "1"}, {"en-US", "0.000001", "0.000001"},
		{"en-US", "999999999999.999999", "999,999,999,999.999999"},
		{"de-DE", "1234.50", "1.234,50"}, {"de-DE", "-2.5", "-2,5"}, {"en-US", "what", "what"},
	} {
		if got := locale.New(c[0], "UTC").Number(c[1]); got != c[2] {
			t.Errorf("%s in %s: %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

// The day is that of the place: late in the evening in UTC it is tomorrow in Tokyo.
func TestDate(t *testing.T) {
	at := time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC)
	for _, c := range [][3]string{
		{"en-US", "America/New_York", "Jan 31, 2026"}, {"en-GB", "Europe/London", "31 Jan 2026"},
		{"ja-JP", "Asia/Tokyo", "2026/02/01"},
		{"de-DE", "Europe/Berlin", "01.02.2026"}, {"fr-FR", "UTC", "31/01/2026"}, {"sv-SE", "UTC", "2026-01-31"},
		{"nl-NL", "UTC", "31-01-2026"},
		{"hu-HU", "UTC", "2026. 01. 31."}, {"fr-CA", "UTC", "2026-01-31"}, {"eu", "Nowhere/At_All", "2026-01-31"},
		{"nonsense tag", "UTC", "Jan 31, 2026"},
	} {
		if got := locale.New(c[0], c[1]).Date(at); got != c[2] {
			t.Errorf("%s in %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestCountry(t *testing.T) {
	for _, c := range [][3]string{{"en-US", "GB", "United Kingdom"}, {"de-DE", "PL", "Polen"},
		{"en-US", "England", "England"}, {"en-US", "ZZ", "ZZ"}, {"tlh", "SE", "Sweden"}, {"en", "", ""}} {
		if got := locale.New(c[0], "UTC").CountryName(c[1]); got != c[2] {
			t.Errorf("%s in %s: %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

func TestFirstWeekday(t *testing.T) {
	for tag, want := range map[string]time.Weekday{"en-US": time.Sunday, "en-GB": time.Monday, "de-DE": time.Monday,
		"pt-BR": time.Sunday, "ar-EG": time.Saturday, "ja": time.Sunday, "fr": time.Monday} {
		if got := locale.New(tag, "UTC").FirstWeekday(); got != want {
			t.Errorf("%s: %s, want %s", tag, got, want)
		}
	}
}

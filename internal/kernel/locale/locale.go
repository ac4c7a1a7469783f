// Package locale formats money, numbers, dates and country names for a locale: 1,250.50 in English is 1.250,50 in
// German. It is for documents, mail and pages; the API has one form for everybody.
//
// Format does the work; New makes one from a locale and a time zone. The functions without a Format write amounts the
// same for everybody. What x/text does not offer, such as where the currency stands and how dates are written, is in
// tables here. Formatting never fails: an unknown locale, currency or country is shown as well as possible.
package locale

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// Format formats values for one locale and time zone.
type Format struct {
	language, region string
	tag              language.Tag
	zone             *time.Location
	print            *message.Printer
	point            string // what separates the fraction: a point or a comma
}

// New reads a BCP 47 tag and an IANA time zone. Unknown ones become American
// English and UTC, so that an old record can always be shown.
func New(tag, timezone string) *Format {
	t, err := language.Parse(tag)
	if err != nil {
		t = language.AmericanEnglish
	}
	zone, err := time.LoadLocation(timezone)
	if err != nil {
		zone = time.UTC
	}
	base, _ := t.Base()
	region, _ := t.Region()
	f := &Format{language: base.String(), region: region.String(), tag: t, zone: zone, print: message.NewPrinter(t)}
	// x/text does not tell the decimal separator; it is what stands between the digits of 0.5.
	half := []rune(f.print.Sprint(number.Decimal(0.5, number.Scale(1))))
	f.point = string(half[1 : len(half)-1])
	return f
}

// RegionCode is the two letters of the country, as the tag says or implies.
func (f *Format) RegionCode() string { return f.region }

// Number writes a decimal that is given like "1234.5", with all its digits and no more. It takes text because a float
// would not keep the digits.
func (f *Format) Number(decimal string) string {
	sign := ""
	if strings.HasPrefix(decimal, "-") {
		sign, decimal = "-", decimal[1:]
	}
	whole, fraction, _ := strings.Cut(decimal, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return sign + decimal
	}
	out := sign + f.print.Sprint(number.Decimal(n))
	if fraction == "" {
		return out
	}
	out += f.point
	for _, digit := range fraction {
		out += f.print.Sprint(number.Decimal(int(digit - '0')))
	}
	return out
}

// CurrencyDigits returns how many digits a currency has after the point, by ISO 4217. The tables of x/text are not
// used, because they follow how people round cash.
func CurrencyDigits(code string) int {
	switch strings.ToLower(code) {
	case "bif", "clp", "djf", "gnf", "isk", "jpy", "kmf", "krw", "pyg", "rwf", "ugx", "uyi", "vnd", "vuv", "xaf", "xof",
		"xpf":
		return 0
	case "bhd", "iqd", "jod", "kwd", "lyd", "omr", "tnd":
		return 3
	}
	return 2
}

// PlainAmount writes an amount with a point and nothing else: 1250.50. cents is in the smallest unit of the currency.
func PlainAmount(cents int64, code string) string {
	sign, text := "", strconv.FormatInt(cents, 10)
	if cents < 0 {
		sign, text = "-", text[1:]
	}
	if digits := CurrencyDigits(code); digits > 0 {
		text = strings.Repeat("0", max(0, digits+1-len(text))) + text
		text = text[:len(text)-digits] + "." + text[len(text)-digits:]
	}
	return sign + text
}

// AmountWithCode writes an amount with the code of its currency, 1250.50 USD, for sentences whose reader's locale is
// not known.
func AmountWithCode(cents int64, code string) string {
	return PlainAmount(cents, code) + " " + strings.ToUpper(code)
}

// Money writes an amount with the symbol of its currency, as the locale does. cents is in the smallest unit.
func (f *Format) Money(cents int64, code string) string {
	sign, text := "", PlainAmount(cents, code)
	if cents < 0 {
		sign, text = "-", text[1:]
	}
	symbol := strings.ToUpper(code)
	if unit, err := currency.ParseISO(code); err == nil {
		// x/text has the full-width yen sign for some locales.
		symbol = strings.ReplaceAll(f.print.Sprint(currency.Symbol(unit)), "￥", "¥")
	}
	amount := f.Number(text)
	if f.symbolFollowsAmount() {
		return sign + amount + noBreakSpace + symbol
	}
	// A symbol before the amount has a space after it where that is the custom, and where it ends in a letter.
	last := symbol[len(symbol)-1]
	if f.language == "nl" || f.region == "BR" || f.region == "AT" || f.region == "CH" || last >= 'A' && last <= 'Z' ||
		last >= 'a' && last <= 'z' {
		symbol += noBreakSpace
	}
	return sign + symbol + amount
}

// noBreakSpace is a no-break space, so that an amount and its currency stay on one line.
const noBreakSpace = "\u00a0"

// symbolFollowsAmount reports whether the symbol of the currency follows the amount, which x/text knows but does not
// tell.
func (f *Format) symbolFollowsAmount() bool {
	switch f.language {
	case "en", "ja", "zh", "ko", "hi", "th", "nl", "tr", "ar", "fa", "id", "ms", "ga", "cy", "fil", "sw", "bn", "ta",
		"te":
		return false
	case "de":
		return f.region != "AT" && f.region != "CH" && f.region != "LI"
	case "es":
		return f.region == "ES"
	case "pt":
		return f.region != "BR"
	case "it", "rm":
		return f.region != "CH"
	}
	return true
}

// Date writes the day of a moment in the format's time zone.
func (f *Format) Date(t time.Time) string { return t.In(f.zone).Format(f.dateLayout()) }

// dateLayout is the locale's common short form of a date. Only English writes the name of the month: with digits alone,
// Americans and others would read different days.
func (f *Format) dateLayout() string {
	switch f.language {
	case "en":
		switch f.region {
		case "US", "CA", "PH", "PR":
			return "Jan 2, 2006"
		}
		return "2 Jan 2006"
	case "de", "pl", "cs", "sk", "ru", "uk", "be", "bg", "fi", "nb", "nn", "no", "da", "et", "lv", "ro", "hr", "sl",
		"sr",
		"bs", "mk", "tr", "kk", "he", "is", "hy", "ka", "az":
		return "02.01.2006"
	case "fr", "it":
		switch f.region {
		case "CA":
			return "2006-01-02"
		case "CH":
			return "02.01.2006"
		}
		return "02/01/2006"
	case "es", "pt", "el", "ca", "gl", "vi", "id", "ms", "ar", "hi", "ga", "cy", "mt":
		return "02/01/2006"
	case "nl":
		if f.region == "BE" {
			return "02/01/2006"
		}
		return "02-01-2006"
	case "hu", "ko":
		return "2006. 01. 02."
	case "ja", "zh":
		return "2006/01/02"
	}
	return "2006-01-02"
}

// CountryName is the name of a country that is given by its two letters. Anything else is returned as it is.
func (f *Format) CountryName(code string) string {
	region, err := language.ParseRegion(code)
	if len(code) != 2 || err != nil || !region.IsCountry() {
		return code
	}
	names := display.Regions(f.tag)
	if names == nil {
		names = display.Regions(language.English)
	}
	if name := names.Name(region); name != "" {
		return name
	}
	return code
}

// firstDays are the regions whose weeks begin on another day than Monday (CLDR, supplemental/weekData.json).
var firstDays = map[time.Weekday]string{
	time.Friday:   "MV",
	time.Saturday: "AE AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY",
	time.Sunday: "AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX MZ NI " +
		"NP PA PE PH PK PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW",
}

// FirstWeekday is the day that a week begins with.
func (f *Format) FirstWeekday() time.Weekday {
	for day, regions := range firstDays {
		if slices.Contains(strings.Fields(regions), f.region) {
			return day
		}
	}
	return time.Monday
}

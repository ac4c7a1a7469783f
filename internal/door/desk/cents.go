package desk

import (
	"strconv"
	"strings"

	"frontdesk/internal/kernel/locale"
)

// Cents reads a sum that a person typed, in the smallest unit of a currency:
// 1250.50, 1,250.50, 1.250,50 and 1 250,50 are the same. It takes only what can be
// read in one way; a guess would be another amount. Everything that a person types
// as money is read here.
//
// The whole number is plain or grouped in threes by one kind of separator, and one
// mark stands before at most as many decimals as the currency has.
func Cents(text, currency string) (any, string) {
	digits := locale.CurrencyDigits(currency)
	text, negative, ok := amountText(text, currency)
	whole, mark, fraction := cutDecimals(text)
	grouped, fits := ungroup(whole)
	switch {
	case !ok || text == "" || !allDigits(fraction):
		return nil, likeAmount(currency)
	case mark != "" && len(fraction) == 3 && digits != 3 && groupHead(whole):
		if digits == 0 { // there are no decimals, so it can only be a group
			grouped, fraction = whole+fraction, ""
			break
		}
		return nil, bothReadings(whole, fraction, digits)
	case mark == "," && len(fraction) == 3 && groupHead(whole):
		return nil, bothReadings(whole, fraction, digits) // 1.250 is how the desk itself writes three decimals
	case !fits || mark != "" && fraction == "":
		return nil, likeAmount(currency)
	case len(fraction) > digits:
		return nil, "Write an amount with at most " + Count(digits, "decimal", "decimals")
	}
	n, err := strconv.ParseInt(grouped+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err != nil {
		return nil, likeAmount(currency)
	}
	if negative {
		n = -n
	}
	return n, ""
}

// amountText takes the sign and the currency off a sum, and makes all spaces and
// apostrophes the same. Another currency's mark is refused.
func amountText(text, currency string) (rest string, negative, ok bool) {
	text = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2019", "'", "\u2212", "-").Replace(text)
	text = strings.TrimSpace(text)
	marks := []string{strings.ToUpper(currency)}
	switch strings.ToLower(currency) {
	case "eur":
		marks = append(marks, "€")
	case "gbp":
		marks = append(marks, "£")
	case "jpy", "cny":
		marks = append(marks, "¥")
	default:
		marks = append(marks, "$")
	}
	text, negative = strings.CutPrefix(text, "-")
	for _, mark := range marks {
		if n := len(mark); len(text) > n && strings.EqualFold(text[:n], mark) {
			text = strings.TrimSpace(text[n:])
			break
		} else if len(text) > n && strings.EqualFold(text[len(text)-n:], mark) {
			text = strings.TrimSpace(text[:len(text)-n])
			break
		}
	}
	if !negative {
		text, negative = strings.CutPrefix(text, "-")
	}
	return text, negative, strings.Trim(text, "0123456789., '") == ""
}

// cutDecimals cuts a sum at its last point or comma, which is taken for the decimal
// mark unless it also stands further left: then it separates groups.
func cutDecimals(text string) (whole, mark, fraction string) {
	i := strings.LastIndexAny(text, ".,")
	if i < 0 || strings.Count(text, text[i:i+1]) > 1 {
		return text, "", ""
	}
	return text[:i], text[i : i+1], text[i+1:]
}

// ungroup reads a whole number: plain digits, or groups of three.
func ungroup(text string) (digits string, ok bool) {
	i := strings.IndexAny(text, "., '")
	if i < 0 {
		return text, allDigits(text)
	}
	groups := strings.Split(text, text[i:i+1])
	if !groupHead(groups[0]) {
		return "", false
	}
	for _, g := range groups[1:] {
		if len(g) != 3 || !allDigits(g) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// groupHead reports whether digits can stand before a separator of thousands.
func groupHead(text string) bool {
	return len(text) >= 1 && len(text) <= 3 && text[0] != '0' && allDigits(text)
}

func allDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// bothReadings offers what a sum like 1.250 may mean.
func bothReadings(whole, fraction string, digits int) string {
	if decimals := strings.TrimRight(fraction, "0"); len(decimals) <= digits {
		if short := fraction[:digits]; decimals != "" {
			return "Write " + whole + fraction + " or " + whole + "." + short
		}
		return "Write " + whole + fraction + " or " + whole
	}
	return "Write " + whole + fraction + ", or at most " + Count(digits, "decimal", "decimals") + " after the point"
}

func likeAmount(currency string) string {
	return "Write an amount, like " + Plain(12050*pow10(locale.CurrencyDigits(currency))/100, currency)
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// Plain writes a sum for an input: 120.50.
func Plain(amount int64, currency string) string { return locale.PlainAmount(amount, currency) }

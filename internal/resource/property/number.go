package property

import (
	"regexp"
	"strconv"
	"strings"
)

// numberSyntax is the JSON syntax of a number (RFC 8259 §6).
var numberSyntax = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// maxDigits bounds a number written out, without its sign and point.
const maxDigits = 100

// maxExponent is larger than any number of zeros that fits in a body, and small enough that
// adding it to a length cannot overflow.
const maxExponent = 1 << 30

const tooManyDigits = "Too long: expected a number of at most 100 digits"

// normalizeNumber writes a decimal in full, without an exponent or redundant
// zeros, so that equal numbers are equal text. No digit is lost, because it
// never becomes a float.
func normalizeNumber(s string) (normal, issue string) {
	m := numberSyntax.FindStringSubmatch(s)
	if m == nil {
		return "", "Invalid number; write it like 12 or -0.5"
	}
	sign, whole, fraction := m[1], m[2], strings.TrimRight(m[3], "0")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", ""
	}
	if len(digits) > maxDigits {
		return "", tooManyDigits
	}
	exponent := 0
	if m[4] != "" {
		var err error
		if exponent, err = strconv.Atoi(m[4]); err != nil || exponent < -maxExponent || exponent > maxExponent {
			return "", tooManyDigits // not zero, so it has more digits than allowed
		}
	}
	// The value is 0.digits × 10^point.
	point := len(digits) - len(fraction) + exponent
	digits = strings.TrimRight(digits, "0")
	switch {
	case point > maxDigits || len(digits)-point > maxDigits:
		return "", tooManyDigits
	case point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits, ""
	case point >= len(digits):
		return sign + digits + strings.Repeat("0", point-len(digits)), ""
	}
	return sign + digits[:point] + "." + digits[point:], ""
}

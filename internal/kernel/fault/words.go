package fault

import (
	"fmt"
	"strings"
)

// The sentences for issues that many fields share. The forms of the desk compare an issue with what these functions
// return, to say it in other words to people. So an issue that is listed here must be made here, and not spelled out.

// Missing is the issue of a required field that was not sent.
const Missing = "Required"

// TooShort is the issue of a text with too few characters.
func TooShort(least int64) string {
	return "Too short: expected at least " + count(least, "character")
}

// TooLong is the issue of a text with too many characters.
func TooLong(most int64) string { return "Too long: expected at most " + count(most, "character") }

// TooFew is the issue of a list with too few elements.
func TooFew(least int64) string { return fmt.Sprintf("Too few: expected at least %d", least) }

// TooMany is the issue of a list with too many elements.
func TooMany(most int64) string { return fmt.Sprintf("Too many: expected at most %d", most) }

// TooSmall is the issue of a number below its bound.
func TooSmall(least int64) string { return fmt.Sprintf("Too small: expected at least %d", least) }

// TooBig is the issue of a number above its bound.
func TooBig(most int64) string { return fmt.Sprintf("Too big: expected at most %d", most) }

// NotAmong is the issue of a text that is none of the choices.
func NotAmong(choices []string) string {
	return "Invalid option: expected one of " + strings.Join(choices, ", ")
}

// WrongKind is the issue of a value of the wrong JSON type.
func WrongKind(expected, received string) string {
	return "Invalid input: expected " + expected + ", received " + received
}

// count is "1 character" or "5 characters".
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

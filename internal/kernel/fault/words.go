package fault

import (
	"fmt"
	"strings"
)

// The sentences for issues that many fields share. The forms of the desk compare an issue with what these functions
// return, to say it in other words to people. So an issue that is listed here must be made here, and not spelled out.

// MissingIssue is the issue of a required field that was not sent.
const MissingIssue = "Required"

// TooShortIssue is the issue of a text with too few characters.
func TooShortIssue(least int64) string {
	return "Too short: expected at least " + countNoun(least, "character")
}

// TooLongIssue is the issue of a text with too many characters.
func TooLongIssue(most int64) string {
	return "Too long: expected at most " + countNoun(most, "character")
}

// TooFewIssue is the issue of a list with too few elements.
func TooFewIssue(least int64) string { return fmt.Sprintf("Too few: expected at least %d", least) }

// TooManyIssue is the issue of a list with too many elements.
func TooManyIssue(most int64) string { return fmt.Sprintf("Too many: expected at most %d", most) }

// TooSmallIssue is the issue of a number below its bound.
func TooSmallIssue(least int64) string { return fmt.Sprintf("Too small: expected at least %d", least) }

// TooBigIssue is the issue of a number above its bound.
func TooBigIssue(most int64) string { return fmt.Sprintf("Too big: expected at most %d", most) }

// NotAmongIssue is the issue of a text that is none of the choices.
func NotAmongIssue(choices []string) string {
	return "Invalid option: expected one of " + strings.Join(choices, ", ")
}

// WrongKindIssue is the issue of a value of the wrong JSON type.
func WrongKindIssue(expected, received string) string {
	return "Invalid input: expected " + expected + ", received " + received
}

// countNoun is "1 character" or "5 characters".
func countNoun(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

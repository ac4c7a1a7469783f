package console

import (
	"strconv"

	"frontdesk/internal/door/desk"
)

// spendCurrency is what agents spend: domains are paid in it.
const spendCurrency = "usd"

// readLimit reads a limit of a day, money as everything else that a person types.
func readLimit(name, text string) (int64, string) {
	if name == "spendCents" {
		cents, issue := desk.Cents(text, spendCurrency)
		n, _ := cents.(int64)
		if n < 0 {
			issue = "Must not be negative"
		}
		return n, issue
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, "Must be a whole number, or empty for no limit"
	}
	return n, ""
}

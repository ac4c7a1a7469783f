package desk_test

import (
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/locale"
)

// What a person types as money has one reading, or is refused.
func TestAttackCents(t *testing.T) {
	for _, c := range []struct {
		text, currency string
		want           any
		issue          string
	}{
		{"80", "usd", int64(8000), ""},
		{"80.5", "usd", int64(8050), ""},
		{"1250.50", "usd", int64(125050), ""},
		{"1,250.50", "usd", int64(125050), ""},
		{"1.250,50", "eur", int64(125050), ""},
		{"1 250,50", "eur", int64(125050), ""},
		{"1\u202f250,50 €", "eur", int64(125050), ""},
		{"1'250.50", "chf", int64(125050), ""},
		{"1,250,500", "usd", int64(125050000), ""},
		{"-$12.30", "usd", int64(-1230), ""},
		{".50", "usd", int64(50), ""},
		{"1.250", "jpy", int64(1250), ""},
		{"1,250", "jpy", int64(1250), ""},
		{"1.250", "kwd", int64(1250), ""},
		{"1.25", "kwd", int64(1250), ""},
		{"1.250", "usd", nil, "Write 1250 or 1.25"},
		{"1,250", "usd", nil, "Write 1250 or 1.25"},
		{"1.000", "usd", nil, "Write 1000 or 1"},
		{"1.255", "usd", nil, "Write 1255, or at most 2 decimals after the point"},
		{"1,250", "kwd", nil, "Write 1250 or 1.250"},
		{"1250.500.00", "usd", nil, "Write an amount, like 120.50"},
		{"0.250", "usd", nil, "Write an amount with at most 2 decimals"},
		{"12.345.67", "usd", nil, "Write an amount, like 120.50"},
		{"12,34,567", "inr", nil, "Write an amount, like 120.50"},
		{"12 50", "usd", nil, "Write an amount, like 120.50"},
		{"80.", "usd", nil, "Write an amount, like 120.50"},
		{"80€", "usd", nil, "Write an amount, like 120.50"},
		{"1e3", "usd", nil, "Write an amount, like 120.50"},
		{"1/2", "usd", nil, "Write an amount, like 120.50"},
		{"80.5", "jpy", nil, "Write an amount with at most 0 decimals"},
		{"", "jpy", nil, "Write an amount, like 120"},
		{"x", "kwd", nil, "Write an amount, like 120.500"},
		{"99999999999999999999", "usd", nil, "Write an amount, like 120.50"},
	} {
		if got, issue := desk.Cents(c.text, c.currency); got != c.want || issue != c.issue {
			t.Errorf("%q in %s: %v %q, want %v %q", c.text, c.currency, got, issue, c.want, c.issue)
		}
	}
	pick := rand.New(rand.NewPCG(30, 11))
	taken := 0
	for range 10_000 {
		text, currency := someAmount(pick), []string{"usd", "eur", "jpy", "kwd"}[pick.IntN(4)]
		got, issue := desk.Cents(text, currency)
		want, ok := secondReader(text, currency)
		switch {
		case (issue == "") != ok, ok && got != want:
			t.Fatalf("%q in %s: %v %q; the second reader says %v %v", text, currency, got, issue, want, ok)
		case ok:
			taken++
			if back, issue := desk.Cents(desk.Plain(want, currency), currency); back != want || issue != "" {
				t.Fatalf("%q in %s is written %q and read back as %v %q", text, currency, desk.Plain(want, currency),
					back, issue)
			}
		}
	}
	if taken < 1000 || taken > 9000 {
		t.Errorf("%d of 10000 strings were sums", taken)
	}
	t.Logf("%d of 10000 strings had one reading", taken)
}

// someAmount is a string that looks like a sum more often than not.
func someAmount(pick *rand.Rand) string {
	var b strings.Builder
	if pick.IntN(8) == 0 {
		b.WriteString([]string{"-", "$", "€", "-$", " ", "−"}[pick.IntN(6)])
	}
	for range 1 + pick.IntN(4) {
		for range []int{0, 1, 2, 3, 3, 3, 4}[pick.IntN(7)] {
			b.WriteByte(byte('0' + pick.IntN(10)))
		}
		if pick.IntN(3) > 0 {
			b.WriteString([]string{".", ",", ".", ",", " ", "'", "\u00a0", "x"}[pick.IntN(8)])
		}
	}
	for range pick.IntN(4) {
		b.WriteByte(byte('0' + pick.IntN(10)))
	}
	return b.String()
}

// secondReader lists every reading that a sum can have, one for each pair of
// separator and decimal mark, and takes a sum that has one. Of two readings, only
// those without doubt: no decimals where the currency has none, and three decimals
// after a point where it has three, as the desk writes them.
func secondReader(text, currency string) (cents int64, ok bool) {
	text = strings.NewReplacer("\u00a0", " ", "−", "-").Replace(text)
	mark := map[string]string{"usd": `\$`, "eur": "€", "jpy": "¥", "kwd": `\$`}[currency]
	m := regexp.MustCompile(`^ *(-?)(?:` + mark + ` *(-?))? *(.*?) *(?:` + mark + `)?$`).FindStringSubmatch(text)
	sign, body := m[1]+m[2], m[3]
	if sign == "--" || m[1] == "-" && strings.HasPrefix(strings.TrimPrefix(text, "-"), " ") && m[2] == "" {
		return 0, false
	}
	readings := map[string]int{} // by value, with the decimals it has
	for _, group := range []string{"", `\.`, ",", " ", "'"} {
		for _, point := range []string{"", `\.`, ","} {
			if group == point && group != "" {
				continue
			}
			whole, fraction := `([0-9]*)`, `()`
			if group != "" {
				whole = `([1-9][0-9]{0,2}(?:` + group + `[0-9]{3})+)`
			}
			if point != "" {
				fraction = point + `([0-9]+)`
			}
			r := regexp.MustCompile(`^` + whole + fraction + `$`).FindStringSubmatch(body)
			if r == nil || r[1]+r[2] == "" {
				continue
			}
			digits := strings.NewReplacer(".", "", ",", "", " ", "", "'", "").Replace(r[1])
			value, _ := new(big.Rat).SetString("0" + digits)
			if r[2] != "" {
				value, _ = new(big.Rat).SetString("0" + digits + "." + r[2])
			}
			readings[value.String()] = len(r[2])
		}
	}
	allowed := locale.CurrencyDigits(currency)
	for value, decimals := range readings {
		if len(readings) == 2 && (allowed == 2 || allowed == 3 && (decimals == 0 || strings.Contains(body, ",")) ||
			allowed == 0 && decimals > 0) || decimals > allowed {
			continue
		}
		n, _ := new(big.Rat).SetString(value)
		for range allowed {
			n.Mul(n, big.NewRat(10, 1))
		}
		if cents, ok = n.Num().Int64(), n.Num().IsInt64(); sign == "-" {
			cents = -cents
		}
	}
	return cents, ok
}

package property

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestNormalNumber(t *testing.T) {
	nines := strings.Repeat("9", 100)
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.000": "0", "-0.0e5": "0", "0e99999999999999999999": "0",
		"1": "1", "-1": "-1", "10": "10", "1.50": "1.5", "1.0": "1", "0.10": "0.1", "-0.05": "-0.05",
		"1e3": "1000", "1E+3": "1000", "12.5e1": "125", "12.5e2": "1250", "125e-2": "1.25", "1e-3": "0.001",
		"1000e-3": "1",
		"100e-1":  "10", "-1.5e-2": "-0.015",
		"9007199254740993":                     "9007199254740993",
		"0.1000000000000000055511151231257827": "0.1000000000000000055511151231257827",
		nines:                                  nines, "0." + nines: "0." + nines,
		"1e99":                          "1" + strings.Repeat("0", 99),
		"1e-100":                        "0." + strings.Repeat("0", 99) + "1",
		"1." + strings.Repeat("0", 500): "1",

		"": "", " 1": "", "1 ": "", "+1": "", ".5": "", "5.": "", "01": "", "0x10": "", "NaN": "", "Infinity": "",
		"-":  "",
		"1e": "", "1,5": "", "1_000": "", "٣": "",
		nines + "9": "", "1e100": "", "1e-101": "", "1e999999999999999999999": "", "-1e-999999999999999999999": "",
		"1e9999999": "", "1e9223372036854775807": "", "1e-9223372036854775808": "", "-1.5e-9223372036854775807": "",
		"0." + nines + "9": "",
	} {
		got, issue := normalizeNumber(in)
		if got != want || (issue == "") != (want != "") {
			t.Errorf("%q is %q (%q), want %q", in, got, issue, want)
		}
	}
}

// An accepted number keeps its exact value, and is its own normal form.
func TestNumbersAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		b := make([]byte, 1+r.IntN(n))
		for i := range b {
			b[i] = "0012345678900"[r.IntN(13)]
		}
		return string(b)
	}
	accepted := 0
	for range 20_000 {
		in := strings.TrimLeft(digits(60), "0")
		if in == "" {
			in = "0"
		}
		if r.IntN(2) == 0 {
			in = "-" + in
		}
		if r.IntN(2) == 0 {
			in += "." + digits(60)
		}
		if r.IntN(2) == 0 {
			in += []string{"e", "E-", "e+"}[r.IntN(3)] + digits(2)
		}
		out, issue := normalizeNumber(in)
		if issue != "" {
			continue
		}
		accepted++
		a, _ := new(big.Rat).SetString(in)
		b, ok := new(big.Rat).SetString(out)
		if !ok || a.Cmp(b) != 0 {
			t.Fatalf("%s became %s", in, out)
		}
		if again, _ := normalizeNumber(out); again != out {
			t.Fatalf("%s became %s, which becomes %s", in, out, again)
		}
	}
	if accepted < 5_000 {
		t.Errorf("only %d were accepted", accepted)
	}
}

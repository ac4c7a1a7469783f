package desk

import (
	"slices"
	"strings"

	"frontdesk/internal/kernel/locale"
)

// currencies are all that are in use, to choose from: first those of the organization's
// businesses and the one that is chosen already, then the others.
func (v *Visit) currencies(chosen string) []OptionGroup {
	own := []string{}
	add := func(code string) {
		if code != "" && !slices.Contains(own, code) {
			own = append(own, code)
		}
	}
	add(v.CurrentBusiness().Currency)
	for _, b := range v.businesses() {
		add(b.Currency)
	}
	add(strings.ToLower(chosen))
	others := slices.DeleteFunc(locale.Currencies(), func(code string) bool { return slices.Contains(own, code) })
	return []OptionGroup{{"Yours", currencyOptions(own)}, {"Others", currencyOptions(others)}}
}

func currencyOptions(codes []string) (out []Option) {
	for _, code := range codes {
		text := strings.ToUpper(code)
		if name := locale.CurrencyName(code); name != "" {
			text += " · " + name
		}
		out = append(out, Option{code, text})
	}
	return out
}

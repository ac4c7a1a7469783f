package locale

import (
	"slices"
	"strings"

	"golang.org/x/text/currency"
)

// Currencies lists the codes of all currencies that some country pays with today, in order.
func Currencies() []string {
	out := []string{}
	for all := currency.Query(); all.Next(); {
		if all.IsTender() {
			out = append(out, strings.ToLower(all.Unit().String()))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// currencyNames are the names of currencies that many business people meet. x/text has none.
var currencyNames = map[string]string{
	"aed": "UAE dirham", "ars": "Argentine peso", "aud": "Australian dollar", "bgn": "Bulgarian lev",
	"bhd": "Bahraini dinar", "brl": "Brazilian real", "cad": "Canadian dollar", "chf": "Swiss franc",
	"clp": "Chilean peso", "cny": "Chinese yuan", "cop": "Colombian peso", "czk": "Czech koruna",
	"dkk": "Danish krone", "egp": "Egyptian pound", "eur": "Euro", "gbp": "British pound",
	"hkd": "Hong Kong dollar", "huf": "Hungarian forint", "idr": "Indonesian rupiah", "ils": "Israeli shekel",
	"inr": "Indian rupee", "isk": "Icelandic króna", "jod": "Jordanian dinar", "jpy": "Japanese yen",
	"kes": "Kenyan shilling", "krw": "South Korean won", "kwd": "Kuwaiti dinar", "mad": "Moroccan dirham",
	"mxn": "Mexican peso", "myr": "Malaysian ringgit", "ngn": "Nigerian naira", "nok": "Norwegian krone",
	"nzd": "New Zealand dollar", "omr": "Omani rial", "pen": "Peruvian sol", "php": "Philippine peso",
	"pkr": "Pakistani rupee", "pln": "Polish złoty", "qar": "Qatari riyal", "ron": "Romanian leu",
	"rsd": "Serbian dinar", "sar": "Saudi riyal", "sek": "Swedish krona", "sgd": "Singapore dollar",
	"thb": "Thai baht", "tnd": "Tunisian dinar", "try": "Turkish lira", "twd": "Taiwan dollar",
	"uah": "Ukrainian hryvnia", "ugx": "Ugandan shilling", "usd": "US dollar", "vnd": "Vietnamese dong",
	"xaf": "Central African franc", "xof": "West African franc", "zar": "South African rand",
}

// CurrencyName is the English name of a currency, or nothing where it is not known.
func CurrencyName(code string) string { return currencyNames[strings.ToLower(code)] }

package mailhost

import (
	"strings"

	"golang.org/x/net/idna"
)

// DomainOf is the domain of an address as DNS knows it: in ASCII and lower case.
func DomainOf(address string) string {
	address = ToASCII(address)
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}

// ToASCII is an address with its domain in ASCII. One without a valid domain stays as it is.
func ToASCII(address string) string {
	at := strings.LastIndexByte(address, '@')
	ascii, err := idna.Lookup.ToASCII(address[at+1:])
	if at < 0 || err != nil {
		return address
	}
	return address[:at+1] + ascii
}

package config

import (
	"fmt"
	"net"
	"net/netip"
)

// carrierNAT is the network that customers of an internet provider share (RFC 6598): not private by name, but nobody
// can reach an address in it from outside.
var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

// validateAddresses refuses entries of --public-addresses that are no IP addresses.
func (s *Settings) validateAddresses() error {
	for _, text := range s.PublicAddresses {
		if _, err := netip.ParseAddr(text); err != nil {
			return fmt.Errorf("--public-addresses: %q is not an IP address", text)
		}
	}
	return nil
}

// Addresses are the IP addresses by which others reach this server: those of --public-addresses or, without any, the
// public ones of its network interfaces.
func (s *Settings) Addresses() (out []netip.Addr) {
	for _, text := range s.PublicAddresses {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, a.Unmap())
		}
	}
	if len(out) > 0 {
		return out
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, one := range all {
		p, err := netip.ParsePrefix(one.String())
		if a := p.Addr().Unmap(); err == nil && a.IsGlobalUnicast() && !a.IsPrivate() && !carrierNAT.Contains(a) {
			out = append(out, a)
		}
	}
	return out
}

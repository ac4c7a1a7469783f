// Package peer finds the address that a request comes from, for limits and logs: that of the connection or, behind a
// proxy that the operator trusts, the one that the proxy names in X-Forwarded-For. Proxies.Address is the heart of it.
// It never believes a header that somebody else may have written. loopback.go recognizes this machine.
package peer

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses and networks of proxies whose X-Forwarded-For is trusted.
type Proxies []netip.Prefix

// ParseProxies reads addresses and networks: "10.0.0.0/8", "192.0.2.7".
func ParseProxies(list []string) (Proxies, error) {
	var out Proxies
	for _, s := range list {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a network like 10.0.0.0/8", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// isTrusted reports whether an address is that of a trusted proxy.
func (p Proxies) isTrusted(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// Address returns the address of the client. Each proxy appends the address it saw to X-Forwarded-For, so the header is
// read from its end: an entry counts if a trusted proxy wrote it, that is, if the address found so far is one. What is
// further left the client itself may have written. It is the zero Addr where the connection has none.
func (p Proxies) Address(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // a Unix socket, or a test
	}
	addr := at.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.isTrusted(addr); i-- {
		next, err := parseHop(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = next.Unmap().WithZone("")
	}
	return addr
}

// parseHop reads an address as proxies write it: some add the client's port.
func parseHop(hop string) (netip.Addr, error) {
	if at, err := netip.ParseAddrPort(hop); err == nil {
		return at.Addr(), nil
	}
	return netip.ParseAddr(hop)
}

// Key is what limits per address count by: an IPv4 address, or the /64 network of an IPv6 address, because one person
// has countless IPv6 addresses.
func (p Proxies) Key(r *http.Request) netip.Prefix { return NetworkOf(p.Address(r)) }

// NetworkOf is Key for a given address.
func NetworkOf(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	key, _ := a.Prefix(bits)
	return key
}

package peer

import (
	"net"
	"net/netip"
	"strings"
)

// IsLoopback reports whether a host, with or without a port, is this machine. It does not look names up: localhost is
// the only name that counts.
func IsLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil { // it has no port
		name = strings.Trim(host, "[]")
	}
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

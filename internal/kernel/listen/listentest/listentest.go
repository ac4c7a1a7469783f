// Package listentest finds addresses for servers that a test starts.
package listentest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"testing"
)

// FreeAddress returns a loopback address that nobody listens on, neither with TCP nor with UDP. Its port is below those
// that the system gives to outgoing connections, so that none of them takes it before the server does. No other test
// gets it before this one ends, in whatever process it runs.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(20_000)
		if !reservePort(t, port) {
			continue
		}
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		tcp, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		udp, err := net.ListenPacket("udp", addr) //nolint:noctx // it is closed at once
		tcp.Close()
		if err == nil {
			udp.Close() //nolint:errcheck // nothing was sent
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// reservePort marks a port as taken for other tests, by listening on it at another loopback address, which no server
// uses, until the test ends. A system without that address reserves nothing, and the port counts as free.
func reservePort(t testing.TB, port int) bool {
	mark, err := net.Listen("tcp", fmt.Sprintf("127.77.77.77:%d", port))
	if err != nil {
		return !errors.Is(err, syscall.EADDRINUSE)
	}
	t.Cleanup(func() { mark.Close() })
	return true
}

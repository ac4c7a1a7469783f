// Package listentest finds addresses for servers that a test starts.
package listentest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns a loopback address that nobody listens on, for TCP and
// UDP. Its port is below those that the system gives to outgoing connections,
// so none of them can take it before the server does.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
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

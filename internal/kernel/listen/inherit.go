package listen

import (
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// Open listens on a TCP address. Where systemd holds the socket (sd_listen_fds(3)), it
// is the one that was handed over: connections that come while one process stops and
// the next one starts then wait for it, and none is refused.
func Open(address string) (net.Listener, error) {
	wanted, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if l := takeInherited(wanted); l != nil {
		return l, nil
	}
	return net.Listen("tcp", address)
}

var inherited = struct {
	sync.Mutex
	once      sync.Once
	listeners []net.Listener
}{}

// takeInherited is the listener that was handed over for an address, once.
func takeInherited(wanted *net.TCPAddr) net.Listener {
	inherited.Lock()
	defer inherited.Unlock()
	inherited.once.Do(func() { inherited.listeners = handedOver() })
	for i, l := range inherited.listeners {
		at, ok := l.Addr().(*net.TCPAddr)
		if ok && at.Port == wanted.Port && sameIP(at.IP, wanted.IP) {
			inherited.listeners = append(inherited.listeners[:i], inherited.listeners[i+1:]...)
			return l
		}
	}
	return nil
}

// sameIP compares addresses; all ways to write "every address" are one.
func sameIP(a, b net.IP) bool {
	every := func(ip net.IP) bool { return len(ip) == 0 || ip.IsUnspecified() }
	return every(a) && every(b) || a.Equal(b)
}

// firstHandedOver is where systemd's descriptors begin.
const firstHandedOver = 3

// handedOver are the sockets that systemd hands to this process, and to no child of it.
func handedOver() (out []net.Listener) {
	pid, err := strconv.Atoi(os.Getenv("LISTEN_PID"))
	if err != nil || pid != os.Getpid() {
		return nil
	}
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil {
		return nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name) //nolint:errcheck // it is there
	}
	for fd := firstHandedOver; fd < firstHandedOver+n; fd++ {
		syscall.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "from systemd")
		l, err := net.FileListener(f) // with a descriptor of its own
		f.Close()                     //nolint:errcheck // as above
		if err == nil {
			out = append(out, l)
		}
	}
	return out
}

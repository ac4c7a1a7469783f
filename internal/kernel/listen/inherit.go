package listen

import (
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// OpenTCP listens on a TCP address. If systemd holds a socket for the address and has passed it to this process
// (sd_listen_fds(3)), that one is used: connections that come between the end of one process and the start of the next
// wait in it, and none is refused.
func OpenTCP(address string) (net.Listener, error) {
	wanted, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if l := takeInherited(wanted); l != nil {
		return l, nil
	}
	return net.Listen("tcp", address)
}

// inherited are the sockets from systemd that nobody has taken yet.
var inherited = struct {
	sync.Mutex
	once      sync.Once
	listeners []net.Listener
}{}

// takeInherited returns the socket from systemd for an address, or nil. Each is returned once.
func takeInherited(wanted *net.TCPAddr) net.Listener {
	inherited.Lock()
	defer inherited.Unlock()
	inherited.once.Do(func() { inherited.listeners = systemdListeners() })
	for i, l := range inherited.listeners {
		at, ok := l.Addr().(*net.TCPAddr)
		if ok && at.Port == wanted.Port && isSameIP(at.IP, wanted.IP) {
			inherited.listeners = append(inherited.listeners[:i], inherited.listeners[i+1:]...)
			return l
		}
	}
	return nil
}

// isSameIP compares addresses. All forms of "every address" (none, 0.0.0.0, ::) are equal.
func isSameIP(a, b net.IP) bool {
	every := func(ip net.IP) bool { return len(ip) == 0 || ip.IsUnspecified() }
	return every(a) && every(b) || a.Equal(b)
}

// firstSystemdFD is the first file descriptor that systemd passes on, SD_LISTEN_FDS_START.
const firstSystemdFD = 3

// systemdListeners are the sockets that systemd passed to this process. It removes the variables that name them, and
// keeps the descriptors from processes that this one starts.
func systemdListeners() (out []net.Listener) {
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
	for fd := firstSystemdFD; fd < firstSystemdFD+n; fd++ {
		syscall.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "from systemd")
		l, err := net.FileListener(f) // it duplicates the descriptor, so f is closed
		f.Close()                     //nolint:errcheck // as above
		if err == nil {
			out = append(out, l)
		}
	}
	return out
}

package db

import (
	"context"
	"net"
	"runtime"
	"syscall"
	"time"
)

// A network that swallows packets must not hold up a request. An idle connection
// is probed, one that waits for an acknowledgement is given up, and a statement
// whose caller set no deadline gets one. With what a commit (endWait) and the
// question for its outcome (outcomeWait) may take, a request ends within 15 seconds.
const (
	statementTimeout = 7 * time.Second  // for one statement
	ackTimeout       = 10 * time.Second // for sent bytes that are not acknowledged
	tcpUserTimeout   = 18               // TCP_USER_TIMEOUT, which package syscall does not name
)

// keepAliveProbes finds a dead peer of an idle connection after 5 + 3 × 2 seconds.
var keepAliveProbes = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// dialWithTimeouts opens a connection that notices a network which swallows packets. The limit
// for unacknowledged bytes exists on Linux only.
func dialWithTimeouts(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAliveProbes, Control: func(network, _ string, c syscall.RawConn) (err error) {
		if network == "unix" || runtime.GOOS != "linux" {
			return nil
		}
		failed := c.Control(func(fd uintptr) {
			ms := int(ackTimeout.Milliseconds())
			err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, ms)
		})
		if failed != nil {
			return failed
		}
		return err
	}}
	return d.DialContext(ctx, network, address)
}

// withDeadline gives a statement a deadline, unless its caller did. The first of a
// transaction shares its time with the wait for a connection.
func (s *postgresSession) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	if !s.begun {
		return context.WithDeadline(ctx, s.requestedAt.Add(statementTimeout))
	}
	return context.WithTimeout(ctx, statementTimeout)
}

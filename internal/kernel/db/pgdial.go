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
	statementTime  = 7 * time.Second  // for one statement
	unacknowledged = 10 * time.Second // for sent bytes that are not acknowledged
	tcpUserTimeout = 18               // TCP_USER_TIMEOUT, which package syscall does not name
)

// probing finds a dead peer of an idle connection after 5 + 3 × 2 seconds.
var probing = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// dial opens a connection that notices a network which swallows packets. The limit
// for unacknowledged bytes exists on Linux only.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: probing, Control: func(network, _ string, c syscall.RawConn) (err error) {
		if network == "unix" || runtime.GOOS != "linux" {
			return nil
		}
		failed := c.Control(func(fd uintptr) {
			ms := int(unacknowledged.Milliseconds())
			err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, ms)
		})
		if failed != nil {
			return failed
		}
		return err
	}}
	return d.DialContext(ctx, network, address)
}

// bounded gives a statement a deadline, unless its caller did. The first of a
// transaction shares its time with the wait for a connection.
func (s *pgSession) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	if !s.begun {
		return context.WithDeadline(ctx, s.asked.Add(statementTime))
	}
	return context.WithTimeout(ctx, statementTime)
}

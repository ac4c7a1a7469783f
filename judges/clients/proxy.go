package main

import (
	"math/rand/v2"
	"net"
	"net/url"
	"sync/atomic"
)

// proxy stands between a client and the server, and fails as it is told.
type proxy struct {
	url, target string
	listener    net.Listener
	cuts        atomic.Int64
	mode        string      // cut (the first answer), stall (everything), random
	cut         atomic.Bool // the first answer was
}

func newProxy(target, mode string) (*proxy, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{url: "http://" + l.Addr().String(), target: u.Host, listener: l, mode: mode}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c.(*net.TCPConn))
		}
	}()
	return p, nil
}

// exchange is about how many bytes a create and its answer have.
const exchange = 1500

func (p *proxy) serve(client *net.TCPConn) {
	defer client.Close()
	if p.mode == "stall" {
		client.Read(make([]byte, 1<<16)) //nolint:errcheck // whatever comes
		client.Read(make([]byte, 1))     //nolint:errcheck // until the client gives up
		return
	}
	upstream, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	server := upstream.(*net.TCPConn)
	defer server.Close()
	budget := &atomic.Int64{}
	budget.Store(1 << 60)
	if p.mode == "random" {
		budget.Store(rand.Int64N(2 * exchange))
	}
	done := make(chan bool, 2)
	go p.pass(client, server, budget, false, done)
	go p.pass(server, client, budget, true, done)
	if <-done { // cut: half of the time as a machine that is gone would
		p.cuts.Add(1)
		if rand.IntN(2) == 0 {
			client.SetLinger(0) //nolint:errcheck // then it is an ordinary end
		}
	}
}

// pass copies one direction until the budget of the connection is used up.
func (p *proxy) pass(from, to *net.TCPConn, budget *atomic.Int64, answer bool, done chan<- bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if answer && p.mode == "cut" && !p.cut.Swap(true) {
				done <- true
				return
			}
			left := budget.Add(-int64(n))
			if left < 0 {
				to.Write(buffer[:max(0, int64(n)+left)]) //nolint:errcheck // it is cut anyway
				done <- true
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				done <- false
				return
			}
		}
		if err != nil {
			done <- false
			return
		}
	}
}

package app

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// A stop lets a connection that was just made send its request, and does not wait for
// one on which nobody says anything.
func TestShutdown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	stop := shutdownFunc(l, server)
	accepted := make(chan struct{}, 100)
	noted := server.ConnState
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if noted(c, state); state == http.StateNew {
			accepted <- struct{}{}
		}
	}
	go server.Serve(l) //nolint:errcheck // it ends with the test
	var dialer net.Dialer
	dial := func() net.Conn {
		t.Helper()
		c, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		<-accepted
		return c
	}
	silent, late := dial(), dial()
	done := make(chan error)
	began := time.Now()
	go func() { done <- stop(context.Background()) }()
	for range 100 { // until the server stops
		c, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			break
		}
		c.Close() //nolint:errcheck // it was only tried
	}
	if _, err := late.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(late), nil)
	if err != nil || res.StatusCode != http.StatusNotFound {
		t.Fatalf("a connection that was just made: %v", err)
	}
	res.Body.Close() //nolint:errcheck // only the status counts
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("something came on the silent connection")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second { // Shutdown by itself waits for five
		t.Errorf("it took %v", took)
	}
}

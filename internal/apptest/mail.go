package apptest

import (
	"context"
	"net"
	"os"
	"testing"
	"time"
)

// TakeMail has the service's mail server listen until the test ends, and
// returns its address.
func (a *App) TakeMail(t testing.TB) string {
	t.Helper()
	if err := os.MkdirAll(a.Settings.SpoolPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", a.Settings.MailServer.Listen)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- a.MailServer.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := a.MailServer.Shutdown(ctx); err != nil {
			t.Errorf("the mail server: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("the mail server: %v", err)
		}
	})
	return l.Addr().String()
}

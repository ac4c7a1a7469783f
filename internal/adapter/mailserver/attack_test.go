package mailserver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/kernel/cputest"
)

// script is a connection on which everything was said beforehand. It measures
// the CPU time of whoever reads it, from the first read to the end.
type script struct {
	net.Conn
	t    testing.TB
	in   *bytes.Reader
	once sync.Once
	from time.Duration
	took time.Duration
	done chan struct{}
}

func (s *script) Read(p []byte) (int, error) {
	if s.from == 0 {
		runtime.LockOSThread()
		s.from = cputest.ThreadCPUTime(s.t)
	}
	return s.in.Read(p)
}

func (s *script) Close() error {
	s.once.Do(func() {
		s.took = cputest.ThreadCPUTime(s.t) - s.from
		runtime.UnlockOSThread()
		close(s.done)
	})
	return nil
}

func (s *script) Write(p []byte) (int, error)      { return len(p), nil }
func (s *script) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }
func (s *script) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 25} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// said is a listener that hands out scripts.
type said chan net.Conn

func (l said) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l said) Close() error   { return nil }
func (l said) Addr() net.Addr { return &net.TCPAddr{} }

// empty takes mail and keeps none of it.
type empty struct{ shelf }

// listening is a server without a network, which tells how long a conversation took.
func listening(t testing.TB) func(t testing.TB, text []byte) time.Duration {
	inbox := &empty{}
	s := New(inbox, slog.New(slog.DiscardHandler),
		Config{Domain: "mail.example", MaxBytes: 4 << 20, PerMinute: 1 << 30, Connections: 100, Spool: t.TempDir()})
	l := make(said)
	go s.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { close(l) })
	return func(t testing.TB, text []byte) time.Duration {
		c := &script{t: t, in: bytes.NewReader(text), done: make(chan struct{})}
		l <- c
		<-c.done
		inbox.mu.Lock()
		inbox.mails = nil
		inbox.mu.Unlock()
		return c.took
	}
}

const begun = "EHLO client.example\r\nMAIL FROM:<ada@example.com>\r\nRCPT TO:<desk@mail.example>\r\n"

// Shapes of conversations that make readers slow.
var conversations = []cputest.Shape{
	{Name: "noops", Before: "EHLO a\r\n", Open: "NOOP\r\n"},
	{Name: "line ends", Open: "\r\n"},
	{Name: "feeds", Open: "\n"},
	{Name: "returns", Open: "\r"},
	{Name: "a long command", Open: "x"},
	{Name: "unknown commands", Open: "X\r\n"},
	{Name: "greetings", Open: "EHLO a\r\n"},
	{Name: "resets", Before: "EHLO a\r\n", Open: "MAIL FROM:<a@b.c>\r\nRSET\r\n"},
	{Name: "recipients", Before: begun, Open: "RCPT TO:<desk@mail.example>\r\n"},
	{Name: "refused recipients", Before: begun, Open: "RCPT TO:<a@b.c>\r\n"},
	{Name: "parameters", Before: "EHLO a\r\nMAIL FROM:<a@b.c>", Open: " A=B", After: "\r\n"},
	{Name: "a long path", Before: "EHLO a\r\nMAIL FROM:<", Open: "@a,", After: ":a@b.c>\r\n"},
	{Name: "quotes in an address", Before: "EHLO a\r\nMAIL FROM:<", Open: `"\`, After: ">\r\n"},
	{Name: "angles", Before: "EHLO a\r\nMAIL FROM:", Open: "<", After: "\r\n"},
	{Name: "dots", Before: begun + "DATA\r\n", Open: "..\r\n", After: ".\r\n"},
	{Name: "empty lines", Before: begun + "DATA\r\n", Open: "\r\n", After: ".\r\n"},
	{Name: "a long line", Before: begun + "DATA\r\n", Open: "x", After: "\r\n.\r\n"},
	{Name: "lines", Before: begun + "DATA\r\n", Open: "word word word word\r\n", After: ".\r\n"},
	{Name: "bare returns", Before: begun + "DATA\r\n", Open: "\r.\r", After: "\r\n.\r\n"},
	{Name: "mails", Open: begun + "DATA\r\nx\r\n.\r\n"},
	{Name: "chunks", Before: begun, Open: "BDAT 1\r\nx"},
	{Name: "empty chunks", Before: begun, Open: "BDAT 0\r\n"},
	{Name: "zeros", Open: "\x00"},
	{Name: "xtext", Before: "EHLO a\r\nMAIL FROM:<a@b.c> ENVID=", Open: "+41", After: "\r\n"},
	{Name: "letters", Before: "EHLO a\r\nMAIL FROM:<", Open: "é", After: "@b.c> SMTPUTF8\r\n"},
}

func TestAttackConversations(t *testing.T) {
	talk := listening(t)
	for _, s := range conversations {
		t.Run(s.Name, func(t *testing.T) {
			for _, n := range cputest.Sizes {
				text := []byte(s.Text(n))
				took := min(talk(t, text), talk(t, text))
				if took > cputest.MaxCPUTime(n) {
					t.Errorf("%d bytes took %s of CPU", n, took)
				}
			}
		})
	}
}

func FuzzConversation(f *testing.F) {
	for _, s := range conversations {
		f.Add([]byte(s.Text(200)))
	}
	talk := listening(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if took := talk(t, text); took > cputest.MaxCPUTime(len(text)) {
			if took = min(took, talk(t, text)); took > cputest.MaxCPUTime(len(text)) {
				t.Errorf("%d bytes took %s of CPU", len(text), took)
			}
		}
	})
}

// Whoever is in the middle of a mail for ever does not hold up a stop.
func TestAttackShutdown(t *testing.T) {
	s := &shelf{slow: make(chan struct{}), began: make(chan struct{})}
	server, addr := start(t, s, nil)
	busy := dial(t, addr)
	busy.begin()
	busy.ask("DATA", "354")
	busy.say("x\r\n.")
	<-s.began
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- server.Shutdown(ctx) }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("it does not say whose mail is left: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server does not stop")
	}
	close(s.slow)
	busy.ended()
}

// Connections that say nothing make room for those who want to send, whatever
// addresses they come from.
func TestAttackConnections(t *testing.T) {
	_, addr := start(t, &shelf{}, func(c *Config) { c.Connections = 8 })
	from := func(ip string) *talk {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
		c, err := d.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(2 * time.Minute)) //nolint:errcheck // reads tell
		return &talk{t, c, bufio.NewReader(c)}
	}
	began := time.Now()
	for i := range 8 {
		from(fmt.Sprintf("127.0.1.%d", 1+i/2)).hear("220")
	}
	if time.Since(began) < silentTimeout-time.Second { // none has been silent for long, unless the machine stood still
		from("127.0.0.2").hear("421 4.3.2")
	}
	time.Sleep(silentTimeout + 200*time.Millisecond)
	from("127.0.0.2").hear("220")
}

// One address sends so many bytes in a minute, in many mails or in one that
// does not say how large it is.
func TestAttackBytes(t *testing.T) {
	s := &shelf{}
	_, addr := start(t, s, func(c *Config) { c.BytesPerMinute = 2 << 20 })
	mail := strings.Repeat(strings.Repeat("x", 998)+"\r\n", 900)
	k := dial(t, addr)
	k.hear("220")
	k.ask("EHLO client.example", "250")
	for range 2 {
		k.ask("MAIL FROM:<ada@example.com>", "250")
		k.ask("RCPT TO:<desk@mail.example>", "250")
		k.ask("DATA", "354")
		k.say("%s.", mail)
		k.hear("250")
	}
	k.ask("MAIL FROM:<ada@example.com>", "250")
	k.ask("RCPT TO:<desk@mail.example>", "250")
	k.ask("DATA", "354")
	go fmt.Fprintf(k, "%s.\r\n", mail) // the server hangs up in the middle
	k.hear("452 4.7.1")
	k.hear("421")
	k.ended()
	k = dial(t, addr)
	k.hear("220")
	k.ask("EHLO client.example", "250")
	k.ask("MAIL FROM:<ada@example.com> SIZE=900000", "452 4.7.1")
	if n := len(s.all()); n != 2 {
		t.Errorf("stored %d", n)
	}
}

// Mail from outside does not fill the last of the disk.
func TestAttackDisk(t *testing.T) {
	var full atomic.Bool
	s := &shelf{}
	server, addr := start(t, s, func(c *Config) { c.Full = func(int64) bool { return full.Load() } })
	var log bytes.Buffer
	server.log = slog.New(slog.NewTextHandler(&log, nil))
	k := dial(t, addr)
	k.begin()
	full.Store(true)
	k.ask("DATA", "354")
	k.say("x\r\n.")
	k.hear("452 4.3.1")
	k.ask("MAIL FROM:<ada@example.com>", "452 4.3.1")
	full.Store(false)
	k.ask("MAIL FROM:<ada@example.com>", "250")
	if n := len(s.all()); n != 0 {
		t.Errorf("stored %d", n)
	}
	if n := strings.Count(log.String(), "mail is refused"); n != 1 {
		t.Errorf("the operator was told %d times:\n%s", n, log.String())
	}
}

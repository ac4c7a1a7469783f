package mailserver

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/smtp"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message"
)

// shelf is an inbox that keeps mail in memory.
type shelf struct {
	mu    sync.Mutex
	mails []string
	fail  error         // of Receive
	slow  chan struct{} // Receive waits for it
	began chan struct{} // closed when it does
}

func (s *shelf) FindMailbox(_ context.Context, address string) (message.Mailbox, error) {
	switch {
	case strings.HasPrefix(address, "closed@"):
		return message.Mailbox{}, message.ErrDisabled
	case !strings.HasSuffix(address, "@mail.example"):
		return message.Mailbox{}, mailhost.ErrNotHosted
	case strings.HasPrefix(address, "nobody"):
		return message.Mailbox{}, mailhost.ErrNobody
	}
	return message.Mailbox{Address: address}, nil
}

func (s *shelf) Receive(_ context.Context, m message.ReceivedMail) error {
	if s.slow != nil {
		close(s.began)
		<-s.slow
	}
	b, err := io.ReadAll(m.Content)
	if err != nil {
		return err
	}
	if int64(len(b)) != m.Size {
		return fmt.Errorf("%d bytes, and it says %d", len(b), m.Size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	if string(b) == "panic\r\n" {
		panic("as asked")
	}
	var to []string
	for _, box := range m.Recipients {
		to = append(to, box.Address)
	}
	s.mails = append(s.mails, m.Sender+"|"+strings.Join(to, ",")+"|"+string(b))
	return nil
}

func (s *shelf) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.mails...)
}

// start runs a server and returns its address.
func start(t *testing.T, inbox Inbox, change func(*Config)) (*Server, string) {
	t.Helper()
	c := Config{Domain: "mail.example", MaxBytes: 1 << 20, PerMinute: 1000, Connections: 40, Spool: t.TempDir()}
	if change != nil {
		change(&c)
	}
	s := New(inbox, slog.New(slog.DiscardHandler), c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s.Shutdown(ctx) //nolint:errcheck // a test may have done so
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if left, _ := os.ReadDir(c.Spool); len(left) > 0 {
			t.Errorf("%d mails are left in the spool", len(left))
		}
	})
	return s, l.Addr().String()
}

// talk is a conversation by hand.
type talk struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, addr string) *talk {
	t.Helper()
	c, err := net.Dial("tcp", addr) //nolint:noctx // bounded by the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(2 * time.Minute)) //nolint:errcheck // a test that hangs
	return &talk{t, c, bufio.NewReader(c)}
}

// hear reads one answer and wants it to begin so.
func (k *talk) hear(want string) string {
	k.t.Helper()
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			k.t.Fatalf("after %q: %v, want %q", line, err, want)
		}
		if len(line) > 3 && line[3] == '-' {
			continue
		}
		if !strings.HasPrefix(line, want) {
			k.t.Fatalf("heard %q, want %q", line, want)
		}
		return line
	}
}

func (k *talk) say(format string, args ...any) {
	k.t.Helper()
	if _, err := fmt.Fprintf(k, format+"\r\n", args...); err != nil {
		k.t.Fatal(err)
	}
}

// ask says something and wants an answer.
func (k *talk) ask(say, want string) string {
	k.t.Helper()
	k.say("%s", say)
	return k.hear(want)
}

// begin goes as far as DATA.
func (k *talk) begin() {
	k.t.Helper()
	k.hear("220 mail.example")
	k.ask("EHLO client.example", "250")
	k.ask("MAIL FROM:<ada@example.com>", "250")
	k.ask("RCPT TO:<desk@mail.example>", "250")
}

func (k *talk) ended() {
	k.t.Helper()
	if b, err := io.ReadAll(k.in); err != nil && !errors.Is(err, net.ErrClosed) &&
		!strings.Contains(err.Error(), "reset") {
		k.t.Errorf("it goes on: %q, %v", b, err)
	}
}

func TestConversation(t *testing.T) {
	s := &shelf{}
	_, addr := start(t, s, nil)
	if err := smtp.SendMail(addr, nil, "ada@example.com", []string{"desk@mail.example", "sales@mail.example"},
		[]byte("Subject: x\r\n\r\nhello\r\n.dots\r\n")); err != nil {
		t.Fatal(err)
	}
	if got := s.all(); len(got) != 1 ||
		got[0] != "ada@example.com|desk@mail.example,sales@mail.example|Subject: x\r\n\r\nhello\r\n.dots\r\n" {
		t.Errorf("stored %q", got)
	}
	k := dial(t, addr)
	k.begin()
	k.ask("RCPT TO:<bob@elsewhere.example>", "550 5.7.1")
	k.ask("RCPT TO:<nobody@mail.example>", "550 5.1.1")
	k.ask("RCPT TO:<closed@mail.example>", "450 4.2.1")
	k.ask("RCPT TO:<desk@mail.example@elsewhere.example>", "550 5.7.1")
	k.ask("RCPT TO:<@mail.example:bob@elsewhere.example>", "5") // a source route is a relay
	k.ask("AUTH PLAIN AGEAYg==", "5")
	k.ask("VRFY desk", "252")
	k.ask("STARTTLS", "502")
}

// In chunks, with what looks like the end of a mail inside of one.
func TestChunks(t *testing.T) {
	s := &shelf{}
	_, addr := start(t, s, nil)
	k := dial(t, addr)
	k.begin()
	for _, chunk := range []string{"BDAT 7\r\na\r\n.\r\nb", "BDAT 4 LAST\r\nc\r\nd"} {
		if _, err := io.WriteString(k, chunk); err != nil {
			t.Fatal(err)
		}
		k.hear("250")
	}
	if got := s.all(); len(got) != 1 || !strings.HasSuffix(got[0], "|a\r\n.\r\nbc\r\nd") {
		t.Errorf("stored %q", got)
	}
	// One that is not finished is nobody's.
	k.ask("MAIL FROM:<ada@example.com>", "250")
	k.ask("RCPT TO:<desk@mail.example>", "250")
	k.ask("BDAT 2\r\n", "250") // the line end is the chunk
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = dial(t, addr)
	k.begin()
	k.ask("BDAT 2\r\n", "250") // the line end is the chunk
	k.ask("RSET", "250")
	if n := len(s.all()); n != 1 {
		t.Errorf("stored %d", n)
	}
}

func TestSize(t *testing.T) {
	s := &shelf{}
	_, addr := start(t, s, func(c *Config) { c.MaxBytes = 10_000 })
	k := dial(t, addr)
	k.hear("220")
	k.say("EHLO client.example")
	size := false
	for {
		line, err := k.in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		size = size || strings.TrimSpace(line[4:]) == "SIZE 10000"
		if strings.Contains(line, "AUTH") || strings.Contains(line, "STARTTLS") {
			t.Errorf("it offers %q", line)
		}
		if line[3] == ' ' {
			break
		}
	}
	if !size {
		t.Error("it does not say how much it takes")
	}
	k.ask("MAIL FROM:<ada@example.com> SIZE=10001", "552 5.3.4")
	k.ask("MAIL FROM:<ada@example.com>", "250")
	k.ask("RCPT TO:<desk@mail.example>", "250")
	k.ask("DATA", "354")
	for range 300 {
		k.say("%s", strings.Repeat("x", 70))
	}
	k.ask(".", "552 5.3.4")
	k.ask("MAIL FROM:<ada@example.com>", "250") // and goes on
	k.ask("RCPT TO:<desk@mail.example>", "250")
	k.ask("BDAT 20000 LAST\r\n"+strings.Repeat("x", 19998), "552 5.3.4")
	if got := s.all(); len(got) != 0 {
		t.Errorf("stored %d", len(got))
	}
}

func TestRecipients(t *testing.T) {
	_, addr := start(t, &shelf{}, nil)
	k := dial(t, addr)
	k.begin()
	for i := range maxRecipients - 1 {
		k.ask(fmt.Sprintf("RCPT TO:<r%d@mail.example>", i), "250")
	}
	k.ask("RCPT TO:<more@mail.example>", "452 4.5.3")
	// Whoever guesses is cut off.
	k = dial(t, addr)
	k.begin()
	for range maxRefused + 1 {
		k.ask("RCPT TO:<nobody@mail.example>", "550 5.1.1")
	}
	k.say("NOOP")
	k.hear("421")
	k.ended()
}

// Bytes that are no text, and more of them than an address has, are taken from
// nobody: no database stores them.
func TestMalformedAddresses(t *testing.T) {
	_, addr := start(t, &shelf{}, nil)
	k := dial(t, addr)
	k.hear("220")
	k.ask("EHLO x", "250")
	for _, local := range []string{"\xff\xfe", "\"\x00\"", "\"\x01\"", strings.Repeat("a", 5000)} {
		k.ask("MAIL FROM:<"+local+"@example.com>", "553 5.1.7")
		k.ask("MAIL FROM:<a@example.com>", "250")
		k.ask("RCPT TO:<"+local+"@mail.example>", "550 5.1.1")
		k.ask("RSET", "250")
	}
}

func TestRate(t *testing.T) {
	_, addr := start(t, &shelf{}, func(c *Config) { c.PerMinute = 3 })
	k := dial(t, addr)
	k.hear("220")
	k.ask("EHLO client.example", "250")
	for range 3 {
		k.ask("MAIL FROM:<ada@example.com>", "250")
		k.ask("RSET", "250")
	}
	line := k.ask("MAIL FROM:<ada@example.com>", "451 4.7.1")
	_, said, _ := strings.Cut(line, "retry in ")
	var seconds int
	if _, err := fmt.Sscanf(said, "%d seconds", &seconds); err != nil || seconds < 1 || seconds > 20 {
		t.Errorf("it says %q", line)
	}
}

func TestConnections(t *testing.T) {
	s, addr := start(t, &shelf{}, func(c *Config) { c.Connections = 8 })
	a, b := dial(t, addr), dial(t, addr)
	a.hear("220")
	b.hear("220")
	c := dial(t, addr) // a peer has a quarter of the places
	c.hear("421 4.3.2")
	c.ended()
	a.ask("QUIT", "221")
	a.ended()
	deadline := time.Now().Add(time.Minute)
	for {
		s.mu.Lock()
		n := len(s.conns)
		s.mu.Unlock()
		if n == 1 || time.Now().After(deadline) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	dial(t, addr).hear("220")
}

// Many commands at once are one after the other; what a client says before it
// is asked counts as much.
func TestPipelining(t *testing.T) {
	s := &shelf{}
	_, addr := start(t, s, nil)
	k := dial(t, addr)
	var b strings.Builder
	b.WriteString("EHLO client.example\r\nMAIL FROM:<ada@example.com>\r\n")
	for range 500 {
		b.WriteString("RCPT TO:<desk@mail.example>\r\n")
	}
	b.WriteString("DATA\r\nSubject: one\r\n\r\nx\r\n.\r\nMAIL FROM:<bob@example.com>\r\nRCPT " +
		"TO:<desk@mail.example>\r\nDATA\r\nSubject: two\r\n\r\ny\r\n.\r\nQUIT\r\n")
	go io.WriteString(k, b.String()) //nolint:errcheck // the answers tell
	k.hear("220")
	k.hear("250")
	k.hear("250")
	for range maxRecipients {
		k.hear("250")
	}
	for range 500 - maxRecipients {
		k.hear("452")
	}
	for _, want := range []string{"354", "250", "250", "250", "354", "250", "221"} {
		k.hear(want)
	}
	if got := s.all(); len(got) != 2 {
		t.Errorf("stored %d", len(got))
	}
	// Nonsense is not listened to for long.
	k = dial(t, addr)
	k.hear("220")
	go io.WriteString(k, strings.Repeat("GET / HTTP/1.1\r\n", 100)) //nolint:errcheck // the answers tell
	for range 4 {
		k.hear("50")
	}
	k.hear("500 5.5.1 Too many errors")
	k.ended()
}

// A bare line feed ends nothing (CVE-2023-51764): what follows is content.
func TestSmuggling(t *testing.T) {
	s := &shelf{}
	_, addr := start(t, s, nil)
	for _, end := range []string{"\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r"} {
		k := dial(t, addr)
		k.begin()
		k.ask("DATA", "354")
		k.say("Subject: x\r\n\r\nx%sMAIL FROM:<evil@example.com>\r\nRCPT TO:<desk@mail.example>\r\nDATA\r\nSubject: "+
			"smuggled\r\n\r\ny\r\n.", end)
		k.hear("250")
		k.ask("QUIT", "221")
	}
	for _, m := range s.all() {
		if strings.HasPrefix(m, "evil") {
			t.Errorf("smuggled: %q", m)
		}
	}
	if n := len(s.all()); n != 4 {
		t.Errorf("stored %d", n)
	}
}

func TestLongLines(t *testing.T) {
	s := &shelf{}
	_, addr := start(t, s, nil)
	k := dial(t, addr)
	k.begin()
	k.ask("DATA", "354")
	k.say("Subject: x\r\n\r\n%s\r\n.", strings.Repeat("x", 50_000))
	k.hear("250")
	k.ask("MAIL FROM:<ada@example.com>", "250")
	k.ask("RCPT TO:<desk@mail.example>", "250")
	k.ask("DATA", "354")
	go fmt.Fprintf(k, "%s\r\n.\r\n", strings.Repeat("x", 2*maxLineBytes)) // the server may hang up in the middle
	k.hear("554 5.6.0")
	k.hear("500")
	k.ended()
	k = dial(t, addr)
	k.hear("220")
	go io.WriteString(k, strings.Repeat("x", 2*maxLineBytes)) //nolint:errcheck // it is cut off
	k.hear("500")
	if n := len(s.all()); n != 1 {
		t.Errorf("stored %d", n)
	}
}

// 250 means stored, and nothing else does.
func TestFailure(t *testing.T) {
	s := &shelf{fail: errors.New("the disk is full")}
	_, addr := start(t, s, nil)
	send := func(text, want string) {
		t.Helper()
		k := dial(t, addr)
		k.begin()
		k.ask("DATA", "354")
		if line := k.ask(text+"\r\n.", want); strings.Contains(line, "disk") {
			t.Errorf("it tells %q", line)
		}
	}
	send("x", "451 4.3.0")
	s.mu.Lock()
	s.fail = mailhost.ErrNobody
	s.mu.Unlock()
	send("x", "550 5.1.1")
	s.mu.Lock()
	s.fail = nil
	s.mu.Unlock()
	send("panic", "421")
	send("x", "250")
}

// What was begun is finished; whoever waits is sent away.
func TestShutdown(t *testing.T) {
	s := &shelf{slow: make(chan struct{}), began: make(chan struct{})}
	server, addr := start(t, s, nil)
	idle, busy := dial(t, addr), dial(t, addr)
	idle.hear("220")
	busy.begin()
	busy.ask("DATA", "354")
	busy.say("x\r\n.")
	<-s.began
	done := make(chan error, 1)
	go func() { done <- server.Shutdown(t.Context()) }()
	idle.hear("421")
	idle.ended()
	close(s.slow)
	busy.hear("250")
	busy.hear("421")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := len(s.all()); n != 1 {
		t.Errorf("stored %d", n)
	}
}

func selfSigned(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"mail.example"},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion: tls.VersionTLS12}
}

func TestTLS(t *testing.T) {
	s := &shelf{}
	config := selfSigned(t)
	_, addr := start(t, s, func(c *Config) { c.TLS = config })
	pool := x509.NewCertPool()
	leaf, _ := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	pool.AddCert(leaf)
	client := &tls.Config{RootCAs: pool, ServerName: "mail.example", MinVersion: tls.VersionTLS12}
	c, err := smtp.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.StartTLS(client); err != nil {
		t.Fatal(err)
	}
	if ok, _ := c.Extension("STARTTLS"); ok {
		t.Error("it offers TLS inside of TLS")
	}
	for _, err := range []error{c.Mail("ada@example.com"), c.Rcpt("desk@mail.example")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "Subject: x\r\n\r\nsecret\r\n") //nolint:errcheck // Close tells
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// What is said in the clear behind STARTTLS is not said inside of it (CVE-2011-0411).
	k := dial(t, addr)
	k.hear("220")
	k.ask("EHLO client.example", "250")
	k.say("STARTTLS\r\nMAIL FROM:<evil@example.com>")
	k.hear("220")
	inner := tls.Client(k.Conn, client)
	if err := inner.HandshakeContext(t.Context()); err == nil {
		inside := &talk{t, inner, bufio.NewReader(inner)}
		inside.ask("EHLO client.example", "250")
		inside.ask("RCPT TO:<desk@mail.example>", "502")
	}
	if n := len(s.all()); n != 1 {
		t.Errorf("stored %d", n)
	}
}

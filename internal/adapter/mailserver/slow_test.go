package mailserver

import (
	"io"
	"testing"
	"time"
)

// Whoever is slow is not listened to for ever, in whatever way.
func TestSlow(t *testing.T) {
	const idle, transfer, session = 5 * time.Second, 7 * time.Second, 9 * time.Second
	s := &shelf{}
	t.Run("", func(t *testing.T) {
		for name, slowly := range map[string]func(t *testing.T, addr string){
			"says nothing": func(t *testing.T, addr string) {
				k := dial(t, addr)
				k.hear("220")
				k.hear("421 4.4.2")
				k.ended()
			},
			"stops in the middle": func(t *testing.T, addr string) {
				k := dial(t, addr)
				k.begin()
				k.ask("DATA", "354")
				k.say("Subject: x")
				k.hear("451 4.4.2")
				k.hear("421")
				k.ended()
			},
			"a letter at a time, never idle": func(t *testing.T, addr string) {
				k := dial(t, addr)
				k.begin()
				k.ask("DATA", "354")
				k.repeat("x", 20*time.Millisecond)
			},
			"does nothing, diligently": func(t *testing.T, addr string) {
				k := dial(t, addr)
				k.hear("220")
				k.repeat("NOOP\r\n", 50*time.Millisecond)
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				_, addr := start(t, s, func(c *Config) { c.Idle, c.Transfer, c.Session = idle, transfer, session })
				slowly(t, addr)
			})
		}
	})
	if got := s.all(); len(got) != 0 {
		t.Errorf("stored %q", got)
	}
}

// repeat says something again and again until nobody listens any more.
func (k *talk) repeat(text string, every time.Duration) {
	k.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(every) {
		if _, err := io.WriteString(k, text); err != nil {
			return
		}
		if time.Now().After(end) {
			k.t.Fatal("it is listened to for a minute")
		}
	}
}

package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/smtp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
)

// Killed between the content of a mail and its 250, the server has it once
// after the sender's next try; what it said 250 to is there.
func TestReceivingSIGKILL(t *testing.T) {
	if testing.Short() {
		t.Skip("crashes are not for the race detector")
	}
	dbtest.EachEngineParallel(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		s.settings.MailServer.Listen = listentest.FreeAddress(t)
		s.start()
		to := []string{string(v.Business) + "@" + s.settings.Mail.Domain}
		var next, tries, taken atomic.Int64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					n := next.Add(1)
					text := fmt.Sprintf("From: ada@example.com\r\nSubject: n%06d\r\nMessage-ID: "+
						"<n%d@example.com>\r\nContent-Type: "+
						"multipart/mixed; boundary=b\r\n\r\n"+
						"--b\r\n\r\nhello\r\n--b\r\nContent-Type: image/png; name=n%d.png\r\n\r\n%s\r\n--b--\r\n", n, n,
						n,
						strings.Repeat("x", int(n%5)*10_000))
					for { // as a mail server does, until it hears 250
						tries.Add(1)
						if sendMail(s.settings.MailServer.Listen, to, text) == nil {
							taken.Add(1)
							break
						}
						time.Sleep(20 * time.Millisecond)
					}
				}
			})
		}
		kills := crashes(t)
		for range kills {
			grows(t, "mails", 5, taken.Load)
			time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
			s.kill()
			s.start()
		}
		grows(t, "mails", 5, taken.Load)
		close(stop)
		wg.Wait()
		s.kill()
		verifyMail(t, s, v, int(taken.Load()))
		t.Logf("%d kills, %d mails taken in %d tries", kills, taken.Load(), tries.Load())
		if taken.Load() < 20 || tries.Load() == taken.Load() {
			t.Error("nothing was interrupted")
		}
	})
}

// sendMail is smtp.SendMail with an end.
func sendMail(addr string, to []string, text string) error {
	conn, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	c, err := smtp.NewClient(conn, "localhost")
	if err != nil {
		return err
	}
	if err := c.Mail("ada@example.com"); err != nil {
		return err
	}
	for _, a := range to {
		if err := c.Rcpt(a); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	return w.Close()
}

// verifyMail looks for every mail that was sent: once, with its attachment
// and its event.
func verifyMail(t *testing.T, s *server, v apptest.Tenant, want int) {
	t.Helper()
	a, err := app.Open(t.Context(), s.settings, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	type row struct {
		Subject string `db:"subject"`
		Files   int    `db:"files"`
		Events  int    `db:"events"`
	}
	var rows []row
	err = a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = db.QueryAll[row](ctx, tx, `
			SELECT m.subject,
				(SELECT count(*) FROM message_attachments x JOIN files f ON f.organization_id = x.organization_id
				AND f.id = x.file_id WHERE x.organization_id = m.organization_id AND x.message_id = m.id) AS files,
				(SELECT count(*) FROM events e WHERE e.organization_id = m.organization_id AND e.resource_id = m.id
				AND e.type = 'message.received') AS events
			FROM messages m WHERE m.organization_id = $1`, v.Org)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Subject] || r.Files != 1 || r.Events != 1 {
			t.Errorf("%s: twice %t, %d files, %d events", r.Subject, seen[r.Subject], r.Files, r.Events)
		}
		seen[r.Subject] = true
	}
	if len(rows) != want {
		t.Errorf("%d messages of %d mails", len(rows), want)
	}
}

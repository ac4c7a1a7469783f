package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
)

// What came in is known when it comes again, for long enough and no longer.
func TestRepetitionExpires(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		now := a.Clock.Now()
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			// More than a window of each.
			for _, age := range []time.Duration{message.RepetitionTime + time.Hour,
				message.RepetitionTime - time.Hour} {
				_, err := db.Exec(ctx, tx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
					WHERE i < 1500)
					INSERT INTO received_mails (organization_id, created_at, digest, message_id) SELECT $1, $2,
						CAST($3 AS text) || i, $4
					FROM n`, a.Org, now.Add(-age), age.String(), id.New())
				if err != nil {
					return err
				}
			}
			_, err := a.Jobs.Enqueue(ctx, tx, "received_mails.expire", struct{}{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Jobs.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Jobs.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		old, young := -1, 0
		for end := time.Now().Add(time.Minute); old != 0 &&
			time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				const count = "SELECT count(*) FROM received_mails WHERE organization_id = $1 AND created_at "
				if old, err = db.QueryOne[int](ctx, tx, count+"<= $2", a.Org,
					now.Add(-message.RepetitionTime)); err != nil {
					return err
				}
				young, err = db.QueryOne[int](ctx, tx, count+"> $2", a.Org, now.Add(-message.RepetitionTime))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if old != 0 || young != 1500 {
			t.Errorf("%d old ones are left and %d young", old, young)
		}
	})
}

// The doctor tells what is wrong with taking mail.
func TestDoctorMailServer(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	says := func(check string) string {
		for _, f := range app.RunDoctor(t.Context(), s) {
			if f.Check == check {
				return f.Status + " " + f.Text
			}
		}
		return ""
	}
	if got := says("mail certificate"); !strings.HasPrefix(got, "ok None is needed") {
		t.Errorf("on this machine: %q", got)
	}
	s.MailServer.Listen = "0.0.0.0:0"
	if got := says("mail certificate"); !strings.HasPrefix(got, "warn There is none") {
		t.Errorf("on the network: %q", got)
	}
	s.MailServer.TLSCert, s.MailServer.TLSKey = "/nowhere/cert", "/nowhere/key"
	if got := says("mail certificate"); !strings.HasPrefix(got, "fail ") {
		t.Errorf("with one that is not there: %q", got)
	}
	if got := says("mail port"); !strings.HasPrefix(got, "ok ") {
		t.Errorf("the port: %q", got)
	}
	s.MailServer.Listen = ""
	if got := says("mail port") + says("mail certificate"); got != "" {
		t.Errorf("without a server: %q", got)
	}
}

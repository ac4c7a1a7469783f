package app_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"

	"github.com/jackc/pgx/v5"
)

// finding is what the doctor says about one thing.
func finding(t *testing.T, s config.Settings, check string) app.Finding {
	t.Helper()
	all := app.RunDoctor(t.Context(), s)
	i := slices.IndexFunc(all, func(f app.Finding) bool { return f.Check == check })
	if i < 0 {
		t.Fatalf("it does not look at %s", check)
	}
	return all[i]
}

// A folder that is writable and lacks what the database names is not fine.
func TestDoctorMissesBytes(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		s := a.Settings
		see := func(status, text string) {
			t.Helper()
			if f := finding(t, s, "files"); f.Status != status || !strings.Contains(f.Text, text) {
				t.Errorf("%+v, want %s: %s", f, status, text)
			}
		}
		see("ok", "can be stored")
		file := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "a.txt", Text: "bytes"}).OK(t, 201).Text("id")
		see("ok", "can be stored")
		if err := os.Rename(s.FilesPath(), s.FilesPath()+".away"); err != nil {
			t.Fatal(err)
		}
		see("fail", "the database has files")
		if err := os.Mkdir(s.FilesPath(), 0o700); err != nil {
			t.Fatal(err)
		}
		see("fail", file)
		a.SendREST(t, a.Key, http.MethodDelete, "/v1/files/"+file, "").OK(t, 204)
		see("ok", "can be stored")
	})
}

// On an empty database there is nothing to back up, and a user who may not make
// the schema is told so before the first start.
func TestDoctorEmptyPostgres(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	s.DatabaseURL = dbtest.DirectURL(t, dbtest.CreateOptions(t, db.Postgres).URL)
	if f := finding(t, s, "schema"); f.Status != "ok" || f.Remedy != "" {
		t.Errorf("%+v", f)
	}
	if f := finding(t, s, "database"); f.Status != "ok" {
		t.Errorf("%+v", f)
	}
	owner, err := pgx.Connect(t.Context(), s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	user := fmt.Sprintf("stranger_%d", os.Getpid())
	if _, err := owner.Exec(t.Context(), "CREATE ROLE "+user+" LOGIN"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		owner.Exec(context.Background(), "DROP ROLE "+user) //nolint:errcheck // the server ends with the tests
		owner.Close(context.Background())                   //nolint:errcheck // the server ends with the tests
	})
	u, err := url.Parse(s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(user)
	s.DatabaseURL = u.String()
	if f := finding(t, s, "database"); f.Status != "fail" || !strings.Contains(f.Remedy, "owner") {
		t.Errorf("%+v", f)
	}
}

// DNS is answered on both transports, so the port must be free for both.
func TestDoctorDNSPort(t *testing.T) {
	l, err := net.Listen("tcp", listentest.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	s := apptest.Settings(t, db.SQLite)
	s.DNS.Listen = l.Addr().String()
	if f := finding(t, s, "DNS port"); f.Status != "fail" || !strings.Contains(f.Text, "Another program") {
		t.Errorf("taken: %+v", f)
	}
	l.Close()
	if f := finding(t, s, "DNS port"); f.Status != "ok" {
		t.Errorf("free: %+v", f)
	}
}

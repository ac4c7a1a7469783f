package app_test

import (
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
)

// The doctor names who has nearly no room left, and says when mail is refused
// for want of disk.
func TestDoctorStorage(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.StorageLimit.Free = 1000
		a := apptest.StartWith(t, s)
		v := a.NewTenant(t, "free")
		finding := func(check string) app.Finding {
			t.Helper()
			for _, f := range app.RunDoctor(t.Context(), s) {
				if f.Check == check {
					return f
				}
			}
			t.Fatalf("no finding about %s", check)
			return app.Finding{}
		}
		if f := finding("storage"); f.Status != "ok" {
			t.Errorf("%+v", f)
		}
		a.UploadForm(t, v.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "x", Text: strings.Repeat("x", 950)}).OK(t, 201)
		if f := finding("storage"); f.Status != "warn" || !strings.Contains(f.Text, string(v.Org)) ||
			strings.Contains(f.Text, string(a.Org)) {
			t.Errorf("%+v", f)
		}
		s.StorageReserve = 90
		if f := finding("disk space"); f.Status == "ok" {
			t.Logf("the disk is nearly empty: %+v", f)
		} else if !strings.Contains(f.Text, "refused") && f.Status != "fail" {
			t.Errorf("%+v", f)
		}
	})
}

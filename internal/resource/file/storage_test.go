package file_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/db/life"
	store "frontdesk/internal/resource/file"
)

// eachSmall runs fn on a service whose free plan allows 100,000 bytes.
func eachSmall(t *testing.T, fn func(t *testing.T, a *apptest.App, v apptest.Tenant)) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s := apptest.Settings(t, e)
		s.StorageLimit.Free, s.RateLimit.Free = 100_000, 60_000_000
		a := apptest.StartWith(t, s)
		fn(t, a, a.NewTenant(t, "free"))
	})
}

// An organization can store as much as its plan allows, and no more.
func TestAttackStorage(t *testing.T) {
	eachSmall(t, func(t *testing.T, a *apptest.App, v apptest.Tenant) {
		send := func(n int) apptest.Result {
			return a.UploadForm(t, v.Key, "/v1/files", file("x.txt", strings.Repeat("x", n)))
		}
		first := send(60_000).OK(t, 201).Text("id")
		send(60_000).Refused(t, 413, "STORAGE_LIMIT_REACHED")
		send(40_000).OK(t, 201)
		send(1).Refused(t, 413, "STORAGE_LIMIT_REACHED")
		message := `{"to": "ada@example.com", "subject": "x", "text": "` + strings.Repeat("x", 1000) +
			`", "draft": true}`
		a.SendREST(t, v.Key, "POST", "/v1/messages", message).Refused(t, 413, "STORAGE_LIMIT_REACHED")
		if n := count(t, a, "stray_blobs"); n != 0 {
			t.Errorf("%d refused uploads left bytes", n)
		}
		upload(t, a, file("x.txt", "others have room")).OK(t, 201)

		// A deleted file counts until it is purged.
		a.SendREST(t, v.Key, "DELETE", "/v1/files/"+first, "").OK(t, 204)
		store.MeasureAlways(t)
		send(1).Refused(t, 413, "STORAGE_LIMIT_REACHED")
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := life.NewPurge(a.DB).RemoveBatch(ctx, tx, a.Clock.Now(), 10)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		send(50_000).OK(t, 201)
		a.SendREST(t, v.Key, "POST", "/v1/messages", message).OK(t, 201)

		// A larger plan has room at once.
		send(50_000).Refused(t, 413, "STORAGE_LIMIT_REACHED")
		a.AsOperator(t, "organizations.update", "organization", v.Org, `{"plan": "starter"}`)
		send(50_000).OK(t, 201)
	})
}

// Many concurrent uploads get no more room than sequential ones.
func TestAttackStorageAtOnce(t *testing.T) {
	eachSmall(t, func(t *testing.T, a *apptest.App, v apptest.Tenant) {
		var stored atomic.Int64
		apptest.RunAtOnce(12, func(int) {
			r := a.UploadForm(t, v.Key, "/v1/files", file("x.txt", strings.Repeat("x", 30_000)))
			switch {
			case r.Status == 201:
				stored.Add(30_000)
			case r.Code() != "STORAGE_LIMIT_REACHED":
				t.Errorf("%d %s", r.Status, r.Body)
			}
		})
		if n := stored.Load(); n > 100_000 || n < 30_000 {
			t.Errorf("%d bytes are stored", n)
		}
	})
}

// Failed uploads take up no room.
func TestStorageAfterFailures(t *testing.T) {
	eachSmall(t, func(t *testing.T, a *apptest.App, v apptest.Tenant) {
		for range 5 {
			a.UploadForm(t, v.Key, "/v1/files", file("x.txt", strings.Repeat("x", 60_000)),
				part{Name: "folderId", Text: string(v.Org)}).Issues(t, "folderId")
		}
		a.UploadForm(t, v.Key, "/v1/files", file("x.txt", strings.Repeat("x", 60_000))).OK(t, 201)
	})
}

// Writes refused for another reason before the first measurement free no room,
// however many there are.
func TestAttackStorageBeforeMeasuring(t *testing.T) {
	eachSmall(t, func(t *testing.T, a *apptest.App, v apptest.Tenant) {
		unwanted := `{"to": "ada@example.com", "subject": "x", "purpose": "marketing", "text": "` +
			strings.Repeat("x", 90_000) + `"}`
		for range 3 {
			a.SendREST(t, v.Key, "POST", "/v1/messages", unwanted).Refused(t, 422, "EMAIL_OPT_IN_REQUIRED")
		}
		send := func() apptest.Result {
			return a.UploadForm(t, v.Key, "/v1/files", file("x.txt", strings.Repeat("x", 90_000)))
		}
		send().OK(t, 201)
		send().Refused(t, 413, "STORAGE_LIMIT_REACHED")
	})
}

// An organization that only writes messages has room again once there is some.
func TestAttackStorageOfMessagesAlone(t *testing.T) {
	eachSmall(t, func(t *testing.T, a *apptest.App, v apptest.Tenant) {
		store.MeasureAlways(t)
		message := `{"to": "ada@example.com", "subject": "x", "draft": true, "text": "` +
			strings.Repeat("x", 90_000) + `"}`
		send := func() apptest.Result { return a.SendREST(t, v.Key, "POST", "/v1/messages", message) }
		until := func(status int) {
			for range 3000 {
				if send().Status == status {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Fatalf("no message was answered with %d", status)
		}
		until(201)
		until(413)
		a.AsOperator(t, "organizations.update", "organization", v.Org, `{"plan": "starter"}`)
		until(201)
	})
}

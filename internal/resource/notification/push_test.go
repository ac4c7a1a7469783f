package notification_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/notification"
)

// receiver is a fake of a browser's push service, and of the browser behind it, which decrypts what comes.
type receiver struct {
	*httptest.Server
	key    *ecdh.PrivateKey
	auth   []byte
	mu     sync.Mutex
	got    []map[string]string
	status atomic.Int32
}

func newReceiver(t *testing.T) *receiver {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{key: key, auth: []byte("sixteen bytes ok")}
	r.status.Store(201)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		text, err := notification.Decrypt(body, r.key, r.auth)
		told := map[string]string{}
		if err != nil || json.Unmarshal(text, &told) != nil || q.Header.Get("Content-Encoding") != "aes128gcm" ||
			q.Header.Get("TTL") == "" || !strings.HasPrefix(q.Header.Get("Authorization"), "vapid t=") {
			t.Errorf("a push that no browser understands: %v %v %q", err, q.Header, text)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, told)
		w.WriteHeader(int(r.status.Load()))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) subscription() string {
	encode := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"endpoint": %q, "key": %q, "auth": %q, "label": "Firefox"}`, r.URL+"/secret",
		encode(r.key.PublicKey().Bytes()), encode(r.auth))
}

// pushes waits for so many messages.
func (r *receiver) pushes(t *testing.T, n int) []map[string]string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r.mu.Lock()
		got := r.got
		r.mu.Unlock()
		if len(got) >= n || time.Now().After(end) {
			if len(got) != n {
				t.Fatalf("%d pushes, want %d: %v", len(got), n, got)
			}
			return got
		}
	}
}

func TestPush(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		work(t, a)
		r := newReceiver(t)
		graceID := newMember(t, a, "Grace Hopper")
		grace, owner := as(a, graceID), as(a, a.OwnerID)
		owner(t, "notifications.subscribe", r.subscription()).OK(t, 200)
		owner(t, "notifications.subscribe", r.subscription()).OK(t, 200) // the same browser again
		ada := newContact(t, a, "Ada")
		note(t, grace, ada, "@owner ring")
		got := r.pushes(t, 1)[0]
		if got["title"] != "Grace Hopper named you in Ada" || got["body"] != "@owner ring" ||
			!strings.HasPrefix(got["url"], a.Settings.BaseURL+"/notifications/") || len(got["tag"]) != 36 {
			t.Errorf("%v", got)
		}
		// What is stored does not have the address in clear.
		err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			sealed, err := db.QueryAll[[]byte](ctx, tx, "SELECT sealed FROM push_subscriptions")
			if len(sealed) != 1 || strings.Contains(string(sealed[0]), "secret") {
				t.Errorf("%q", sealed)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		// Somebody else signs in at the same browser: the owner gets nothing there any more.
		grace(t, "notifications.subscribe", r.subscription()).OK(t, 200)
		note(t, grace, ada, "@owner elsewhere")
		note(t, owner, ada, "@grace ring")
		if got := r.pushes(t, 2)[1]; got["body"] != "@grace ring" {
			t.Errorf("%v", got)
		}
		// A browser that is gone is forgotten.
		r.status.Store(410)
		note(t, owner, ada, "@grace gone")
		r.pushes(t, 3)
		for end := time.Now().Add(10 * time.Second); grace(t, "notifications.choices", `{}`).OK(t, 200).
			At("subscriptions").Len() > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the subscription stays")
			}
		}
		for field, bad := range map[string]string{
			"endpoint": `{"endpoint": "https://10.0.0.1/x", "key": "BA", "auth": "c2l4dGVlbiBieXRlcyBvaw",
				"label": "x"}`,
			"key": `{"endpoint": "https://push.example/x", "key": "BA", "auth": "c2l4dGVlbiBieXRlcyBvaw",
				"label": "x"}`,
			"auth": strings.Replace(r.subscription(), base64.RawURLEncoding.EncodeToString(r.auth),
				"c2hvcnQ", 1),
		} {
			owner(t, "notifications.subscribe", bad).Issues(t, field)
		}
	})
}

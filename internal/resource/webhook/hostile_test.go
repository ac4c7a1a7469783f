package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/resource/webhook"
)

// What a hostile endpoint may try does no harm.
func TestHostileEndpoints(t *testing.T) {
	webhook.Shorten(t, 5*time.Second, 5*time.Second)
	each(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		private := newEndpoint(t, nil)
		var sent atomic.Int64
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/away":
				http.Redirect(w, r, private.server.URL, http.StatusTemporaryRedirect)
			case "/huge": // a gigabyte, for as long as somebody reads
				block := []byte(strings.Repeat("x", 64<<10))
				for range 16 << 10 {
					n, err := w.Write(block)
					sent.Add(int64(n))
					if err != nil {
						return
					}
				}
			case "/bomb":
				for i := range 200 {
					w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1<<10))
				}
			case "/drip":
				for range 100 {
					w.Write([]byte("x")) //nolint:errcheck // the client leaves
					w.(http.Flusher).Flush()
					select {
					case <-r.Context().Done():
						return
					case <-time.After(100 * time.Millisecond):
					}
				}
			case "/break":
				panic(http.ErrAbortHandler)
			}
		})
		for _, c := range []struct{ path, status, why string }{
			{"/away", "failed", "The endpoint answered 307. Redirects are not followed."},
			{"/huge", "succeeded", ""},
			{"/bomb", "failed", "The endpoint answered with headers that are too large."},
			{"/drip", "failed", "The endpoint did not answer within 5 seconds."},
			{"/break", "failed", "The connection broke before the answer was complete."},
		} {
			hook, _ := subscribe(t, call, e.server.URL+c.path, "contact.created")
			v := call(t, "webhooks.test", fmt.Sprintf(`{"id": %q}`, hook)).OK(t, 200)
			v.Same("status", c.status)
			if v.Text("errorMessage") != c.why || len(v.Text("responseBody")) > 2048 {
				t.Errorf("%s: %s", c.path, v)
			}
		}
		hook, _ := subscribe(t, call, strings.Replace(e.server.URL, "http:", "https:", 1), "contact.created")
		call(t, "webhooks.test", fmt.Sprintf(`{"id": %q}`, hook)).OK(t, 200).Same("errorMessage",
			"The endpoint's certificate is not valid, or it does not speak TLS.")
		hook, _ = subscribe(t, call, "https://nowhere.invalid/", "contact.created")
		call(t, "webhooks.test", fmt.Sprintf(`{"id": %q}`, hook)).OK(t, 200).Same("errorMessage",
			"The name of the endpoint could not be found.")
		hook, _ = subscribe(t, call, refusing(t), "contact.created")
		call(t, "webhooks.test", fmt.Sprintf(`{"id": %q}`, hook)).OK(t, 200).Same("errorMessage",
			"The endpoint refused the connection.")

		if n := len(private.all()); n != 0 {
			t.Errorf("%d requests followed a redirect", n)
		}
		if n := sent.Load(); n > 64<<20 {
			t.Errorf("%d bytes of the huge answer were taken", n)
		}
	})
}

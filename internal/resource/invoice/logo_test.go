package invoice_test

import (
	"fmt"
	"image"
	"io"
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"frontdesk/internal/apptest"
)

// The pictures of a test's own format take a while to read, and count how many are
// read at the same time.
var reading, readMost atomic.Int32

func init() {
	image.RegisterFormat("slow", "slow picture", func(io.Reader) (image.Image, error) {
		n := reading.Add(1)
		defer reading.Add(-1)
		for most := readMost.Load(); n > most && !readMost.CompareAndSwap(most, n); most = readMost.Load() {
		}
		time.Sleep(30 * time.Millisecond)
		return image.NewGray(image.Rect(0, 0, 1, 1)), nil
	}, func(io.Reader) (image.Config, error) { return image.Config{Width: 1, Height: 1}, nil })
}

// A logo of a few kilobytes may take many megabytes to read. However many documents
// are asked for at once, only those that have a slot read theirs.
func TestAttackLogosAtOnce(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		file := a.UploadForm(t, a.Key, "/v1/files",
			apptest.Part{Name: "file", FileName: "logo.png", Text: "slow picture"}).OK(t, 201).Text("id")
		call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "logoFileId": %q}`, a.Business, file)).OK(t, 200)
		call(t, "email_templates.create", `{"name": "Invoice", "templateKey": "invoice", "subject": "Invoice",
			"body": "[See it]({{ invoice.url }})"}`).OK(t, 201)
		v := newInvoice(t, call, newCustomer(t, call), 1000)
		call(t, "invoices.issue", ref(v)).OK(t, 200)
		call(t, "invoices.send", ref(v)).OK(t, 200)
		token := regexp.MustCompile(`/invoice/([\w-]+)`).FindStringSubmatch(
			call(t, "messages.list", `{}`).OK(t, 200).Text("0.html"))[1]
		note := credit(t, call, v).OK(t, 201).Text("id")
		get := func(key, path string) func() apptest.Result {
			return func() apptest.Result { return a.SendREST(t, key, http.MethodGet, path, "") }
		}
		for name, c := range map[string]struct {
			most int32
			ask  func() apptest.Result
		}{
			"by the link":      {1, get("", "/invoice-pdf/"+token)},
			"of invoices":      {2, get(a.Key, "/v1/invoices/"+v+"/pdf")},
			"of a credit note": {2, get(a.Key, "/v1/invoices/"+v+"/credit-notes/"+note+"/pdf")},
			"sent":             {2, func() apptest.Result { return call(t, "invoices.send", ref(v)) }},
		} {
			readMost.Store(0)
			apptest.RunAtOnce(8, func(int) {
				if r := c.ask(); r.Status != 200 {
					t.Errorf("%s: %d %.200s", name, r.Status, r.Body)
				}
			})
			if n := readMost.Load(); n < 1 || n > c.most {
				t.Errorf("%s: %d logos were read at once, want at most %d", name, n, c.most)
			}
		}
	})
}

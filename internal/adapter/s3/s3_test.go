package s3_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"frontdesk/internal/adapter/s3"
	"frontdesk/internal/adapter/s3/s3test"
	"frontdesk/internal/resource/file/filetest"
)

func TestBlobs(t *testing.T) {
	c := s3test.Bucket(t)
	store, err := s3.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	filetest.Exercise(t, store, func(t *testing.T, key string) int { return s3test.Parts(t, c, key) })
}

// A bucket that is not there, and keys that are wrong, are errors and not
// missing blobs.
func TestRefused(t *testing.T) {
	c := s3test.Bucket(t)
	wrong, none := c, c
	wrong.SecretKey, none.Bucket = "another", "no-such-bucket"
	for name, c := range map[string]s3.Config{"wrong key": wrong, "no bucket": none} {
		store, err := s3.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Check(context.Background()); err == nil {
			t.Errorf("%s: it can be used", name)
		}
	}
}

// Keys that may do everything but list what was begun in parts cannot delete,
// and the check says so.
func TestCheckListsParts(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		var blobs sync.Map
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch _, parts := r.URL.Query()["uploads"]; {
			case parts && allowed:
				io.WriteString(w, `<ListMultipartUploadsResult><Bucket>b</Bucket></ListMultipartUploadsResult>`) //nolint:errcheck // a test's answer
			case parts:
				w.WriteHeader(http.StatusForbidden)
				io.WriteString(w, `<Error><Code>AccessDenied</Code></Error>`) //nolint:errcheck // a test's answer
			case r.Method == http.MethodPut:
				text, _ := io.ReadAll(r.Body)
				blobs.Store(r.URL.Path, text)
			case r.Method == http.MethodDelete:
				blobs.Delete(r.URL.Path)
				w.WriteHeader(http.StatusNoContent)
			default:
				text, _ := blobs.Load(r.URL.Path)
				b, _ := text.([]byte)
				w.Write(b) //nolint:errcheck // a test's answer
			}
		}))
		defer server.Close()
		store, err := s3.Open(t.Context(), s3.Config{Bucket: "b", Endpoint: server.URL, Region: "us-east-1", AccessKey: "test", SecretKey: "testsecret"})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Check(t.Context()); (err == nil) != allowed {
			t.Errorf("parts may be listed: %t, and the check says %v", allowed, err)
		}
	}
}

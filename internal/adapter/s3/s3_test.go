package s3_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/adapter/s3"
	"frontdesk/internal/adapter/s3/s3test"
	"frontdesk/internal/resource/file/filetest"
)

func TestBlobs(t *testing.T) {
	c := s3test.NewBucket(t)
	store, err := s3.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	filetest.ExerciseBlobs(t, store, func(t *testing.T, key string) int {
		return s3test.CountUnfinishedUploads(t, c, key)
	})
}

// A bucket that is not there, and keys that are wrong, are errors and not
// missing blobs.
func TestRefused(t *testing.T) {
	c := s3test.NewBucket(t)
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
				io.WriteString(w, `<ListMultipartUploadsResult/>`) //nolint:errcheck // a test's answer
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
		store, err := s3.Open(t.Context(), s3.Config{
			Bucket: "b", Endpoint: server.URL, Region: "us-east-1", AccessKey: "test", SecretKey: "testsecret",
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Check(t.Context()); (err == nil) != allowed {
			t.Errorf("parts may be listed: %t, and the check says %v", allowed, err)
		}
	}
}

// A store that is busy for a moment, or hangs up, is asked again with the same
// bytes; one that refuses is not.
func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		broken int // attempts that fail
		how    func(http.ResponseWriter)
		ok     bool
		asked  int
	}{
		"busy twice":    {2, func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, true, 3},
		"hangs up once": {1, func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, true, 2},
		"always busy":   {9, func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, false, 3},
		"refused":       {9, func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked, stored := 0, ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPut { // of what a failed Put cleans up
					io.WriteString(w, `<ListMultipartUploadsResult/>`) //nolint:errcheck // a test's answer
					return
				}
				if asked++; asked <= c.broken {
					c.how(w)
					return
				}
				text, _ := io.ReadAll(r.Body)
				stored = string(text)
			}))
			defer server.Close()
			store, err := s3.Open(t.Context(), s3.Config{
				Bucket: "b", Endpoint: server.URL, Region: "us-east-1", AccessKey: "test", SecretKey: "testsecret",
			})
			if err != nil {
				t.Fatal(err)
			}
			err = store.Put(t.Context(), "ab/cdef", strings.NewReader("bytes"))
			if (err == nil) != c.ok || asked != c.asked || (stored == "bytes") != c.ok {
				t.Errorf("asked %d times, stored %q: %v", asked, stored, err)
			}
		})
	}
}

// openFake opens a store whose server answers as handler does.
func openFake(t *testing.T, handler http.HandlerFunc) *s3.Store {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	store, err := s3.Open(t.Context(), s3.Config{
		Bucket: "b", Endpoint: server.URL, Region: "us-east-1", AccessKey: "test", SecretKey: "testsecret",
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Deleting a blob ends all uploads of its key, on every page of the list, and none of a longer key.
func TestDeleteEndsUploadsOfItsKey(t *testing.T) {
	var ended []string
	store := openFake(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		page := `<IsTruncated>true</IsTruncated><NextKeyMarker>ab</NextKeyMarker>` +
			`<NextUploadIdMarker>1</NextUploadIdMarker><Upload><Key>ab</Key><UploadId>1</UploadId></Upload>`
		if q.Get("key-marker") == "ab" && q.Get("upload-id-marker") == "1" {
			page = `<Upload><Key>ab</Key><UploadId>2</UploadId></Upload>` +
				`<Upload><Key>abc</Key><UploadId>3</UploadId></Upload>`
		}
		switch {
		case r.Method == http.MethodGet:
			fmt.Fprintf(w, "<ListMultipartUploadsResult>%s</ListMultipartUploadsResult>", page)
		case q.Has("uploadId"):
			ended = append(ended, r.URL.Path+" "+q.Get("uploadId"))
		}
	})
	if err := store.Delete(t.Context(), "ab"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/b/ab 1", "/b/ab 2"}; !slices.Equal(ended, want) {
		t.Errorf("ended %v, want %v", ended, want)
	}
}

// A list that does not end is an error: a part of it would pass for the whole.
func TestListThatDoesNotEnd(t *testing.T) {
	store := openFake(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<ListBucketResult><IsTruncated>true</IsTruncated>"+
			"<NextContinuationToken>x</NextContinuationToken></ListBucketResult>")
	})
	if keys, err := store.List(t.Context(), ""); err == nil {
		t.Errorf("a list without an end has %d keys", len(keys))
	}
}

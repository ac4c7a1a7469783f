package s3_test

import (
	"context"
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

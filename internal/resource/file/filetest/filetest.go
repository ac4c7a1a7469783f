// Package filetest is the conformance suite of file.Blobs: Exercise tests what
// every adapter that stores bytes must do. Only tests import it.
package filetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/file"
)

// largeBytes exceeds what any store takes in one part.
const largeBytes = 24 << 20

// ExerciseBlobs runs the suite on a store. left counts what the store holds under a
// key besides the blob itself: the remains of an interrupted Put.
func ExerciseBlobs(t *testing.T, blobs file.Blobs, left func(t *testing.T, key string) int) {
	ctx := t.Context()
	key := func() string {
		s := strings.ReplaceAll(string(id.New()+id.New()), "-", "")
		return s[:2] + "/" + s[2:]
	}
	missing := func(t *testing.T, key string) {
		t.Helper()
		r, err := blobs.Open(ctx, key, 0)
		if err == nil {
			t.Fatal("it is there", r.Close())
		}
		if !errors.Is(err, file.ErrNoBlob) {
			t.Fatalf("a missing blob: %v", err)
		}
	}
	read := func(t *testing.T, key string, offset int64) []byte {
		t.Helper()
		r, err := blobs.Open(ctx, key, offset)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}

	t.Run("round trip", func(t *testing.T) {
		for _, content := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("0123456789abcdef"), largeBytes/16)} {
			k := key()
			missing(t, k)
			if err := blobs.Put(ctx, k, bytes.NewReader(content)); err != nil {
				t.Fatal(err)
			}
			if got := read(t, k, 0); !bytes.Equal(got, content) {
				t.Fatalf("%d bytes came back of %d", len(got), len(content))
			}
			if len(content) > 0 {
				at := int64(len(content)) / 3
				if got := read(t, k, at); !bytes.Equal(got, content[at:]) {
					t.Errorf("from %d: %d bytes", at, len(got))
				}
			}
			for range 2 { // the second finds nothing, which is fine
				if err := blobs.Delete(ctx, k); err != nil {
					t.Fatal(err)
				}
			}
			missing(t, k)
			if n := left(t, k); n != 0 {
				t.Errorf("%d things are left", n)
			}
		}
	})
	t.Run("check", func(t *testing.T) {
		if err := blobs.Check(ctx); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a reader that fails", func(t *testing.T) {
		for _, size := range []int{10, largeBytes} { // before and after the first part was sent
			k, broken := key(), errors.New("broken off")
			err := blobs.Put(ctx, k, io.MultiReader(bytes.NewReader(make([]byte, size)), &failingReader{broken}))
			if err == nil {
				t.Fatal("it was stored")
			}
			missing(t, k)
			if n := left(t, k); n != 0 {
				t.Fatalf("%d bytes: %d things are left", size, n)
			}
		}
	})
	t.Run("a caller that goes away", func(t *testing.T) {
		k := key()
		ctx, cancel := context.WithCancel(ctx)
		err := blobs.Put(ctx, k,
			io.MultiReader(bytes.NewReader(make([]byte, 100)), &callingReader{cancel},
				bytes.NewReader(make([]byte, 100))))
		if err == nil {
			t.Fatal("it was stored")
		}
		missing(t, k)
		if n := left(t, k); n != 0 {
			t.Errorf("%d things are left", n)
		}
	})
	t.Run("not seen before its end", func(t *testing.T) {
		k := key()
		in, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- blobs.Put(ctx, k, in) }()
		for range largeBytes >> 20 {
			if _, err := out.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		missing(t, k)
		if err := errors.Join(out.Close(), <-done); err != nil {
			t.Fatal(err)
		}
		if n := len(read(t, k, 0)); n != largeBytes {
			t.Errorf("%d bytes", n)
		}
		if err := blobs.Delete(ctx, k); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a writer that died", func(t *testing.T) {
		// To a Delete, a Put that never ends looks like one that died.
		k := key()
		in, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- blobs.Put(ctx, k, in) }()
		for range largeBytes >> 20 {
			if _, err := out.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		for tries := 0; left(t, k) == 0; tries++ {
			if tries == 3000 {
				t.Fatal("a Put under way leaves no trace to test")
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := blobs.Delete(ctx, k); err != nil {
			t.Fatal(err)
		}
		if n := left(t, k); n != 0 {
			t.Errorf("%d things are left", n)
		}
		out.CloseWithError(io.ErrUnexpectedEOF)
		<-done
		missing(t, k)
	})
}

type failingReader struct{ err error }

func (f *failingReader) Read([]byte) (int, error) { return 0, f.err }

// callingReader calls a function in the middle of a stream.
type callingReader struct{ fn func() }

func (c *callingReader) Read([]byte) (int, error) { c.fn(); return 0, io.EOF }

// Package bucket is file.Blobs over a bucket of gocloud.dev, which knows the
// ways of many stores. The adapters open the bucket, and add what their store
// needs.
package bucket

import (
	"context"
	"errors"
	"io"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/file"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Bucket keeps blobs in an opened bucket.
type Bucket struct{ *blob.Bucket }

// partSize bounds what an upload has in memory: a store that takes parts gets
// one of this size at a time, after a first one of 16 MiB. S3 takes none that
// is smaller, and 10,000 of them.
const partSize = 5 << 20

// Put writes a blob. An upload that is not to be is cancelled before it is
// closed, which is how a store knows that it must not become visible.
func (b Bucket) Put(ctx context.Context, key string, r io.Reader) error {
	refuseInside(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/octet-stream", BufferSize: partSize, MaxConcurrency: 1, DisableContentTypeDetection: true})
	if err != nil {
		return err
	}
	// The reader may be a request, whose WriteTo would be another way round.
	if _, err := io.Copy(w, struct{ io.Reader }{r}); err != nil {
		cancel()
		w.Close() //nolint:errcheck // it says that it was cancelled
		return err
	}
	return w.Close()
}

// Open reads a blob from an offset.
func (b Bucket) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	refuseInside(ctx)
	r, err := b.NewRangeReader(ctx, key, offset, -1, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, errors.Join(file.ErrNoBlob, err)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Delete removes a blob if it is there.
func (b Bucket) Delete(ctx context.Context, key string) error {
	refuseInside(ctx)
	err := b.Bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}

// Check writes a small blob, reads it and deletes it.
func (b Bucket) Check(ctx context.Context) error {
	key := "check/" + string(id.New())
	if err := b.Put(ctx, key, strings.NewReader(key)); err != nil {
		return err
	}
	r, err := b.Open(ctx, key, 0)
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil && string(text) != key {
			err = errors.New("other bytes came back than were written")
		}
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, b.Delete(ctx, key))
}

// refuseInside finds a mistake at once: a store is never asked while a
// transaction waits.
func refuseInside(ctx context.Context) {
	if db.Inside(ctx) {
		panic("file: a store is asked inside a transaction")
	}
}

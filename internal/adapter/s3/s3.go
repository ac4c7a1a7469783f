// Package s3 keeps the bytes of files in a bucket of Amazon S3, or of another
// compatible store. It is a blob store (file.Blobs), like adapter/disk. api.go makes
// the few requests that this needs, signed by the signer of Amazon's SDK;
// credentials.go finds the keys.
//
// A small blob is one request. A larger one is a multipart upload, of which one part
// is in memory at a time; the parts of an upload that failed are removed, because
// the store charges for them. Nothing here runs inside a database transaction
// (db.RequireNoTransaction). Start reading at Store.Put.
package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/file"
)

// Config says which bucket.
type Config struct {
	Bucket   string
	Endpoint string // empty for Amazon's own
	Region   string
	// AccessKey and SecretKey may both be empty: then findCredentials looks for the
	// machine's own.
	AccessKey, SecretKey string
}

// Store is a bucket.
type Store struct{ api *client }

var _ file.Blobs = (*Store)(nil)

// Open prepares the bucket without contacting it.
func Open(_ context.Context, c Config) (*Store, error) {
	api, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return &Store{api}, nil
}

const (
	// partSize is how much of a blob is in memory. A larger blob is uploaded in parts of
	// this size: S3 takes no smaller ones, and at most 10,000 of them.
	partSize = 5 << 20
	// abortTimeout bounds the removal of what a failed Put left.
	abortTimeout = 10 * time.Second
)

// Put writes a blob. If it fails, it removes the blob and the parts it wrote, in a
// context of its own, because the caller's may have ended.
func (s *Store) Put(ctx context.Context, key string, r io.Reader) error {
	db.RequireNoTransaction(ctx)
	err := s.uploadBlob(ctx, key, r)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	return errors.Join(err, s.Delete(ctx, key))
}

func (s *Store) uploadBlob(ctx context.Context, key string, r io.Reader) error {
	var part bytes.Buffer
	last, err := fillPart(&part, r)
	if err != nil {
		return err
	}
	if last {
		return s.api.putObject(ctx, key, part.Bytes())
	}
	upload, err := s.api.createUpload(ctx, key)
	if err != nil {
		return err
	}
	var etags []string
	for {
		etag, err := s.api.putPart(ctx, key, upload, strconv.Itoa(len(etags)+1), part.Bytes())
		if err != nil {
			return err
		}
		etags = append(etags, etag)
		if last {
			return s.api.completeUpload(ctx, key, upload, etags)
		}
		if last, err = fillPart(&part, r); err != nil {
			return err
		}
	}
}

// fillPart reads the next part and reports whether it is the last one.
func fillPart(part *bytes.Buffer, r io.Reader) (last bool, err error) {
	part.Reset()
	_, err = io.CopyN(part, r, partSize)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// Open reads a blob from an offset.
func (s *Store) Open(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	db.RequireNoTransaction(ctx)
	r, err := s.api.getObject(ctx, key, offset)
	if hasErrorCode(err, "NoSuchKey") {
		return nil, errors.Join(file.ErrNoBlob, err)
	}
	return r, err
}

// Delete removes a blob, and the parts of an upload that a dead process left: the store
// charges for them, and no row names them.
func (s *Store) Delete(ctx context.Context, key string) error {
	db.RequireNoTransaction(ctx)
	if err := s.api.deleteObject(ctx, key); err != nil && !hasErrorCode(err, "NoSuchKey") {
		return err
	}
	uploads, err := s.api.listUploads(ctx, key)
	if err != nil {
		return err
	}
	for _, u := range uploads {
		if err := s.api.abortUpload(ctx, u.Key, u.UploadID); err != nil && !hasErrorCode(err, "NoSuchUpload") {
			return err
		}
	}
	return nil
}

// List finds the keys of blobs that begin with a prefix.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	db.RequireNoTransaction(ctx)
	return s.api.listKeys(ctx, prefix)
}

// Check tries what Put and Delete need, among it the right to list uploads. Keys may
// have every other right and lack this one, and then every deletion fails.
func (s *Store) Check(ctx context.Context) error { return file.CheckBlobs(ctx, s) }

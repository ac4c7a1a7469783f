// Package s3 keeps the bytes of files in a bucket of Amazon S3, or of another
// store that speaks its language.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/file/bucket"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob/s3blob"
)

// Config says which bucket.
type Config struct {
	Bucket   string
	Endpoint string // empty for Amazon's own
	Region   string
	// AccessKey and SecretKey may both be empty: then the machine's own are
	// used, from its environment or its role.
	AccessKey, SecretKey string
}

// Store is a bucket.
type Store struct {
	bucket.Bucket
	client *s3.Client
	name   string
}

var _ file.Blobs = (*Store)(nil)

// Open prepares the bucket. It is not asked for before it is used.
func Open(ctx context.Context, c Config) (*Store, error) {
	options := []func(*awsconfig.LoadOptions) error{awsconfig.WithRegion(c.Region),
		// Other stores than Amazon's refuse the checksums that are newest there.
		awsconfig.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		awsconfig.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired)}
	if c.AccessKey != "" {
		options = append(options, awsconfig.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, "")))
	}
	settings, err := awsconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	client := s3.NewFromConfig(settings, func(o *s3.Options) {
		if c.Endpoint != "" {
			o.BaseEndpoint = &c.Endpoint
			o.UsePathStyle = true // its name may have no bucket's name before it
		}
	})
	b, err := s3blob.OpenBucket(ctx, client, c.Bucket, &s3blob.Options{RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired})
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	return &Store{bucket.Bucket{Bucket: b}, client, c.Bucket}, nil
}

// abortTime bounds the removal of what a failed Put left.
const abortTime = 10 * time.Second

// Put writes a blob. One that fails takes its parts back, which it cannot do
// in a context that has ended.
func (s *Store) Put(ctx context.Context, key string, r io.Reader) error {
	err := s.Bucket.Put(ctx, key, r)
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	return errors.Join(err, s.Delete(ctx, key))
}

// Check tries what a Put and a Delete need, also the right to list parts: keys
// may have all others and lack it, and then no deletion ever ends.
func (s *Store) Check(ctx context.Context) error {
	if err := s.Bucket.Check(ctx); err != nil {
		return err
	}
	return s.Delete(ctx, "check/parts")
}

// Delete removes a blob, and the parts that a process that died while writing
// it left: they are paid for, and nobody else would know of them.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := s.Bucket.Delete(ctx, key); err != nil {
		return err
	}
	open, err := s.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &s.name, Prefix: &key})
	if err != nil {
		return fmt.Errorf("s3: %w", err)
	}
	for _, u := range open.Uploads {
		_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.name, Key: u.Key, UploadId: u.UploadId})
		var gone *types.NoSuchUpload
		if err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("s3: %w", err)
		}
	}
	return nil
}

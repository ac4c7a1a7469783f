// Package s3test gives a test a bucket of a real S3 server.
//
// The server is the one that FRONTDESK_TEST_S3 names; `make check` starts one
// for the run (scripts/with-s3). Without it the test is skipped and says so.
package s3test

import (
	"os"
	"testing"

	"frontdesk/internal/adapter/s3"
	"frontdesk/internal/kernel/id"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
)

// NewBucket makes a bucket for a test.
func NewBucket(t testing.TB) s3.Config {
	t.Helper()
	endpoint := os.Getenv("FRONTDESK_TEST_S3")
	if endpoint == "" {
		t.Skip("not tested on S3: FRONTDESK_TEST_S3 is not set (`make check` sets it)")
	}
	c := s3.Config{Bucket: "test-" + string(id.New()), Endpoint: endpoint, Region: "us-east-1", AccessKey: "test",
		SecretKey: "testsecret"}
	if _, err := newClient(c).CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: &c.Bucket}); err != nil {
		t.Fatal(err)
	}
	return c
}

func newClient(c s3.Config) *sdk.Client {
	return sdk.New(sdk.Options{Region: c.Region, BaseEndpoint: &c.Endpoint, UsePathStyle: true,
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, ""))})
}

// CountUnfinishedUploads counts the multipart uploads of a key that have begun and not ended.
func CountUnfinishedUploads(t testing.TB, c s3.Config, key string) int {
	t.Helper()
	out, err := newClient(c).ListMultipartUploads(t.Context(),
		&sdk.ListMultipartUploadsInput{Bucket: &c.Bucket, Prefix: &key})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Uploads)
}

// CountBlobs counts the objects in a bucket, up to a page of them.
func CountBlobs(t testing.TB, c s3.Config) int {
	t.Helper()
	out, err := newClient(c).ListObjectsV2(t.Context(), &sdk.ListObjectsV2Input{Bucket: &c.Bucket})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Contents)
}

package app

import (
	"context"

	"frontdesk/internal/adapter/disk"
	"frontdesk/internal/adapter/s3"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/resource/file"
)

// openBlobs opens the store for the bytes of files that the settings name.
func openBlobs(ctx context.Context, s *config.Settings) (file.Blobs, error) {
	if c := s.Files.S3; c.Bucket != "" {
		return s3.Open(ctx, s3.Config{Bucket: c.Bucket, Endpoint: c.Endpoint, Region: c.Region, AccessKey: c.AccessKey,
			SecretKey: c.SecretKey})
	}
	return disk.Open(s.FilesPath())
}

// describeBlobStore names the store of the bytes, for an operator to read.
func describeBlobStore(s *config.Settings) string {
	c := s.Files.S3
	switch {
	case c.Bucket == "":
		return "the folder " + s.FilesPath()
	case c.Endpoint == "":
		return "the bucket " + c.Bucket
	}
	return "the bucket " + c.Bucket + " at " + c.Endpoint
}

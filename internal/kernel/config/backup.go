package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Backup is where encrypted backups are sent, and when.
type Backup struct {
	To        string        `help:"Folder or s3://BUCKET/FOLDER that the server sends backups to; empty for none."`
	Every     time.Duration `help:"How often." default:"24h"`
	Keep      int           `help:"How many of them stay." default:"14"`
	Recipient string        `help:"Public key to encrypt them for, of frontdesk backup key." placeholder:"age1…"`
	Endpoint  string        `help:"S3-compatible store of the bucket; else Amazon S3." placeholder:"URL"`
	Region    string        `help:"Region of the bucket." default:"us-east-1"`
	AccessKey string        `help:"Access key of the store; else the machine's own."`
	SecretKey string        `help:"Secret key; better set in the environment or file."`
}

// BucketAndPrefix is the bucket that backups go to and the prefix of their names in it, which is empty or ends in a
// slash. ok is false when they go to a folder.
func (b Backup) BucketAndPrefix() (bucket, prefix string, ok bool) {
	rest, ok := strings.CutPrefix(b.To, "s3://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return bucket, prefix, ok
}

// validate refuses invalid settings of the backups.
func (b *Backup) validate() error {
	bucket, _, isBucket := b.BucketAndPrefix()
	switch {
	case b.To == "":
		if b.Recipient != "" {
			return errors.New("--backup-to: say where backups go, or leave out --backup-recipient")
		}
		return nil
	case isBucket && bucket == "":
		return errors.New("--backup-to: s3:// needs the name of a bucket")
	case !isBucket && !filepath.IsAbs(b.To):
		return fmt.Errorf("--backup-to: %q is neither the whole path of a folder nor s3://BUCKET", b.To)
	case b.Recipient == "":
		return errors.New("--backup-recipient: backups leave this machine only encrypted; frontdesk backup key FILE " +
			"makes a key and prints the recipient")
	case b.Every < time.Hour || b.Every > 31*24*time.Hour:
		return errors.New("--backup-every: must be between 1h and 744h")
	case b.Keep < 1 || b.Keep > 1000:
		return errors.New("--backup-keep: must be between 1 and 1000")
	}
	return checkS3Store("backup", b.Endpoint, b.AccessKey, b.SecretKey)
}

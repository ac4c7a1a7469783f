// Package archive keeps backups away from the machine: one encrypted file for each,
// on a shelf, which is a folder or a bucket.
//
// An archive is a tar file in the format of age (age-encryption.org). It holds what
// a backup is made of: the file of rows, and the bytes of files. The server knows
// only the recipient, a public key, so whoever takes over the server can read no
// archive. Without this program, `age --decrypt -i KEY FILE | tar x` opens one.
//
// WriteEncrypted and Extract, in this file, make an archive and open one; shelf.go puts
// archives on a shelf, lists them and removes old ones. The package makes no backup
// itself, and knows neither the database nor the files: see internal/app/backups.go.
package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
)

// The names inside an archive.
const (
	rowsName    = "rows"
	filesFolder = "rows.files" // where a restore looks for the bytes
)

// ParseRecipient reads a public key, which backups are encrypted for.
func ParseRecipient(text string) (age.Recipient, error) {
	r, err := age.ParseX25519Recipient(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("not a recipient that `frontdesk backup key` prints (age1…)")
	}
	return r, nil
}

// NewIdentity makes the text of a private key file, as age-keygen writes it, and its
// public key.
func NewIdentity(now time.Time) (text, recipient string, err error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", err
	}
	recipient = key.Recipient().String()
	text = fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", now.UTC().Format(time.RFC3339), recipient, key)
	return text, recipient, nil
}

// ReadIdentities reads a private key file. It may have several keys.
func ReadIdentities(path string) ([]age.Identity, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out, err := age.ParseIdentities(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%s is no key that `frontdesk backup key` made: %w", path, err)
	}
	return out, nil
}

// WriteEncrypted encrypts a backup: the file of rows, and the folder of files if there is
// one. It streams, so that nothing of it is on disk unencrypted a second time.
func WriteEncrypted(w io.Writer, to age.Recipient, rows, files string) error {
	sealed, err := age.Encrypt(w, to)
	if err != nil {
		return err
	}
	packed := tar.NewWriter(sealed)
	if err := addFile(packed, rows, rowsName); err != nil {
		return err
	}
	err = filepath.WalkDir(files, func(at string, d fs.DirEntry, err error) error {
		if at == files && errors.Is(err, fs.ErrNotExist) {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(files, at)
		if err != nil {
			return err
		}
		return addFile(packed, at, path.Join(filesFolder, filepath.ToSlash(name)))
	})
	if err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return sealed.Close()
}

// addFile puts one file into the tar.
func addFile(w *tar.Writer, from, name string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()})
	if err == nil {
		_, err = io.Copy(w, f)
	}
	return err
}

// ErrDamaged says that an archive is not what was written.
var ErrDamaged = errors.New("the archive is damaged or cut off")

// Extract decrypts an archive into an empty folder, and returns the path of its
// rows, as a restore takes it. An archive comes from outside, so a name in it that
// leads out of the folder is refused. Until Extract returns, the end of the archive
// was not checked.
func Extract(r io.Reader, with []age.Identity, into string) (rows string, err error) {
	plain, err := age.Decrypt(r, with...)
	var other *age.NoIdentityMatchError
	switch {
	case errors.As(err, &other):
		return "", errors.New("the archive is for another key")
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	packed := tar.NewReader(plain)
	for {
		h, err := packed.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		name := filepath.FromSlash(h.Name)
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			return "", fmt.Errorf("%w: it holds %q", ErrDamaged, h.Name)
		}
		if err := extractFile(packed, filepath.Join(into, name)); err != nil {
			return "", err
		}
		if h.Name == rowsName {
			rows = filepath.Join(into, name)
		}
	}
	// What follows the tar must be decrypted too, or a cut at its end goes unnoticed.
	if _, err := io.Copy(io.Discard, plain); err != nil {
		return "", fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if rows == "" {
		return "", fmt.Errorf("%w: it has no rows", ErrDamaged)
	}
	return rows, nil
}

// extractFile writes one file of the tar.
func extractFile(r io.Reader, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyContent(out, r), out.Close())
}

// copyContent copies a file of the tar. An error is damage if reading failed, and not if writing did.
func copyContent(to io.Writer, r io.Reader) error {
	from := &errorKeepingReader{Reader: r}
	_, err := io.Copy(to, from)
	if from.err != nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// errorKeepingReader keeps the error that its reader returned.
type errorKeepingReader struct {
	io.Reader
	err error
}

func (r *errorKeepingReader) Read(p []byte) (n int, err error) {
	if n, err = r.Reader.Read(p); err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

package certificate

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A renewed certificate is taken up by itself; half of one is not.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write := func(at time.Time) []byte {
		t.Helper()
		chain, secret := pair(t, "mail.example")
		for name, text := range map[string][]byte{key: secret, cert: chain} {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(name, at, at); err != nil {
				t.Fatal(err)
			}
		}
		block, _ := pem.Decode(chain)
		return block.Bytes
	}
	if _, err := FilesTLSConfig(cert, key); err == nil {
		t.Error("a certificate that is not there")
	}
	first := write(time.Now().Add(-time.Hour))
	config, err := FilesTLSConfig(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	shows := func(want []byte) {
		t.Helper()
		got, err := config.GetCertificate(nil)
		if err != nil || !bytes.Equal(got.Certificate[0], want) {
			t.Errorf("it shows another one, %v", err)
		}
	}
	shows(first)
	second := write(time.Now())
	shows(second)
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	shows(second)
	if _, err := FilesValidUntil(cert, key); err == nil {
		t.Error("half a certificate has an end")
	}
	write(time.Now())
	if end, err := FilesValidUntil(cert, key); err != nil || time.Until(end) > 91*24*time.Hour ||
		time.Until(end) < time.Minute {
		t.Errorf("it ends %s, %v", end, err)
	}
}

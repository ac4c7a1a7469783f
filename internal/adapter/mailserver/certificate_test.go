package mailserver

import (
	"bytes"
	"crypto/x509"
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
		made := selfSigned(t).Certificates[0]
		secret, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		for name, block := range map[string]*pem.Block{key: {Type: "PRIVATE KEY", Bytes: secret},
			cert: {Type: "CERTIFICATE", Bytes: made.Certificate[0]}} {
			if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(name, at, at); err != nil {
				t.Fatal(err)
			}
		}
		return made.Certificate[0]
	}
	if _, err := Certificate(cert, key); err == nil {
		t.Error("a certificate that is not there")
	}
	first := write(time.Now().Add(-time.Hour))
	config, err := Certificate(cert, key)
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
	if _, err := CertificateEnd(cert, key); err == nil {
		t.Error("half a certificate has an end")
	}
	write(time.Now())
	if end, err := CertificateEnd(cert, key); err != nil || time.Until(end) > time.Hour ||
		time.Until(end) < time.Minute {
		t.Errorf("it ends %s, %v", end, err)
	}
}

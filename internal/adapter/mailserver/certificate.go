package mailserver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// Certificate is for STARTTLS. The files are read again when they change, so
// that a renewed certificate needs no restart.
func Certificate(certFile, keyFile string) (*tls.Config, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if _, err := c.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}, nil
}

// CertificateEnd tells until when a certificate is good.
func CertificateEnd(certFile, keyFile string) (time.Time, error) {
	pair, err := load(certFile, keyFile)
	if err != nil {
		return time.Time{}, err
	}
	return pair.Leaf.NotAfter, nil
}

func load(certFile, keyFile string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err == nil && pair.Leaf == nil {
		pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0])
	}
	if err != nil {
		return nil, fmt.Errorf("mailserver: the certificate: %w", err)
	}
	return &pair, nil
}

type certificate struct {
	certFile, keyFile string

	mu   sync.Mutex
	at   time.Time // when the file was changed
	pair *tls.Certificate
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.certFile)
	if err == nil && c.pair != nil && info.ModTime().Equal(c.at) {
		return c.pair, nil
	}
	pair, err := load(c.certFile, c.keyFile)
	if err != nil {
		if c.pair != nil {
			return c.pair, nil // half of it may be written yet
		}
		return nil, err
	}
	if info != nil {
		c.at = info.ModTime()
	}
	c.pair = pair
	return pair, nil
}

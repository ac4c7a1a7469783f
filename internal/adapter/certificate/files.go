package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// FilesTLSConfig serves a certificate from the operator's files. They are read again when the
// certificate's file changes, so that a renewed certificate needs no restart.
func FilesTLSConfig(certFile, keyFile string) (*tls.Config, error) {
	f := &fileCertificate{certFile: certFile, keyFile: keyFile}
	if _, err := f.getCertificate(nil); err != nil {
		return nil, err
	}
	return &tls.Config{GetCertificate: f.getCertificate, MinVersion: tls.VersionTLS12}, nil
}

// FilesValidUntil returns until when a certificate from files is valid.
func FilesValidUntil(certFile, keyFile string) (time.Time, error) {
	pair, err := loadKeyPair(certFile, keyFile)
	if err != nil {
		return time.Time{}, err
	}
	return pair.Leaf.NotAfter, nil
}

func loadKeyPair(certFile, keyFile string) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err == nil && pair.Leaf == nil {
		pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0])
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate: %w", err)
	}
	return &pair, nil
}

type fileCertificate struct {
	certFile, keyFile string

	mu   sync.Mutex
	at   time.Time // the modification time of the certificate that was read
	pair *tls.Certificate
}

func (f *fileCertificate) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.certFile)
	if err == nil && f.pair != nil && info.ModTime().Equal(f.at) {
		return f.pair, nil
	}
	pair, err := loadKeyPair(f.certFile, f.keyFile)
	if err != nil {
		if f.pair != nil {
			return f.pair, nil // only one of the files may be replaced yet; the old pair still works
		}
		return nil, err
	}
	if info != nil {
		f.at = info.ModTime()
	}
	f.pair = pair
	return pair, nil
}

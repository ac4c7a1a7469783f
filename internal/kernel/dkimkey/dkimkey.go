// Package dkimkey makes the keys that sign a domain's mail (DKIM, RFC 6376), and writes their public keys as DNS
// publishes them. A domain has two keys, because not every receiver can verify the modern kind. GeneratePair makes
// both; ParsePrivate reads one back to sign with. The package stores nothing: whoever calls it seals the private keys.
package dkimkey

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
)

// The selectors of a domain's two keys, the names by which DNS tells them apart. Mail is signed with both, because not
// every receiver can verify Ed25519 yet (RFC 8463 §5).
const (
	RSA     = "fd-rsa"
	Ed25519 = "fd-ed25519"
)

// RecordName is the name of the DNS record with a selector's key, without the domain.
func RecordName(selector string) string { return selector + "._domainkey" }

// Key is a new key.
type Key struct {
	Selector string
	Private  []byte // the private key as PKCS #8, to be stored sealed
	Record   string // the text of the DNS record
}

// GeneratePair makes a new key for each selector.
func GeneratePair() ([]Key, error) {
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	_, short, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	keys := []Key{{Selector: Ed25519}, {Selector: RSA}}
	for i, k := range []crypto.Signer{short, long} {
		if keys[i].Private, err = x509.MarshalPKCS8PrivateKey(k); err != nil {
			return nil, err
		}
		if keys[i].Record, err = formatRecord(k.Public()); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// formatRecord is a public key as DNS publishes it (RFC 6376 §3.6.1, RFC 8463 §4.2). An Ed25519 key is its bare 32
// bytes, an RSA key is DER.
func formatRecord(k crypto.PublicKey) (string, error) {
	switch public := k.(type) {
	case ed25519.PublicKey:
		return "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public), nil
	case *rsa.PublicKey:
		der, err := x509.MarshalPKIXPublicKey(public)
		return "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(der), err
	}
	return "", errors.New("dkimkey: unsupported kind of key")
}

// ParsePrivate reads a private key, the PKCS #8 in Key.Private.
func ParsePrivate(private []byte) (crypto.Signer, error) {
	k, err := x509.ParsePKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	signer, ok := k.(crypto.Signer)
	if !ok {
		return nil, errors.New("dkimkey: the key cannot sign")
	}
	return signer, nil
}

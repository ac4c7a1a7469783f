// Package dkimkey creates the keys that sign a domain's mail (RFC 6376), and
// writes their public halves in the form that DNS publishes.
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

// The selectors of a domain's two keys: not everybody can verify the shorter
// one yet (RFC 8463 §5).
const (
	RSA     = "fd-rsa"
	Ed25519 = "fd-ed25519"
)

// Label is the name of a selector's record, below its domain.
func Label(selector string) string { return selector + "._domainkey" }

// Key is a new key: its private half, to be sealed, and its record.
type Key struct {
	Selector string
	Private  []byte // PKCS #8
	Record   string
}

// Pair makes a key for each selector.
func Pair() ([]Key, error) {
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
		if keys[i].Record, err = record(k.Public()); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// record is a key as DNS publishes it (RFC 6376 §3.6.1, RFC 8463 §4.2).
func record(k crypto.PublicKey) (string, error) {
	switch public := k.(type) {
	case ed25519.PublicKey:
		return "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public), nil
	case *rsa.PublicKey:
		der, err := x509.MarshalPKIXPublicKey(public)
		return "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(der), err
	}
	return "", errors.New("dkimkey: unsupported kind of key")
}

// Parse reads a private half.
func Parse(private []byte) (crypto.Signer, error) {
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

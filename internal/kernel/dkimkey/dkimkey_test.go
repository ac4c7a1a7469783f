package dkimkey_test

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"frontdesk/internal/kernel/dkimkey"

	"github.com/emersion/go-msgauth/dkim"
)

// Both keys sign, and their records verify what they signed.
func TestPair(t *testing.T) {
	keys, err := dkimkey.GeneratePair()
	if err != nil || len(keys) != 2 {
		t.Fatalf("%d keys: %v", len(keys), err)
	}
	for _, k := range keys {
		signer, err := dkimkey.ParsePrivate(k.Private)
		if err != nil {
			t.Fatal(err)
		}
		var signed bytes.Buffer
		mail := "From: a@example.com\r\nSubject: Hello\r\n\r\nHello\r\n"
		if err := dkim.Sign(&signed, strings.NewReader(mail),
			&dkim.SignOptions{Domain: "example.com", Selector: k.Selector, Signer: signer}); err != nil {
			t.Fatal(err)
		}
		found,
			err := dkim.VerifyWithOptions(&signed, &dkim.VerifyOptions{LookupTXT: func(name string) ([]string, error) {
			if name != dkimkey.RecordName(k.Selector)+".example.com" {
				return nil, &net.DNSError{Name: name, IsNotFound: true}
			}
			return []string{k.Record}, nil
		}})
		if err != nil || len(found) != 1 || found[0].Err != nil {
			t.Errorf("%s: %v, %v", k.Selector, found, err)
		}
	}
	if _, err := dkimkey.ParsePrivate([]byte("no key")); err == nil {
		t.Error("anything is a key")
	}
}

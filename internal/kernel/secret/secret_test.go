package secret_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/kernel/secret"
)

func TestTokens(t *testing.T) {
	form := regexp.MustCompile(`^fd_[0-9A-Za-z]{40}$`)
	seen := map[string]bool{}
	for range 1000 {
		k := secret.NewToken("fd_")
		if !form.MatchString(k) || !secret.IsWellFormed("fd_", k) || seen[k] {
			t.Fatalf("token %q", k)
		}
		seen[k] = true
		for _, i := range []int{3, 20, 42} { // one typo is always noticed
			b := []byte(k)
			if b[i] == 'x' {
				b[i] = 'y'
			} else {
				b[i] = 'x'
			}
			if secret.IsWellFormed("fd_", string(b)) {
				t.Fatalf("%s passes for a token", b)
			}
		}
	}
	for _, bad := range []string{"", "fd_", "xx_" + secret.NewToken("")} {
		if secret.IsWellFormed("fd_", bad) {
			t.Errorf("%q passes for a token", bad)
		}
	}
}

func TestBox(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sealing.key")
	box, err := secret.OpenOrCreateBox(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v %v", info, err)
	}
	sealed, err := box.Seal([]byte("hush"), "here")
	if err != nil {
		t.Fatal(err)
	}
	again, err := secret.OpenOrCreateBox(path)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := again.Open(sealed, "here"); err != nil || string(plain) != "hush" {
		t.Errorf("%q %v", plain, err)
	}
	if _, err := again.Open(sealed, "there"); err == nil {
		t.Error("it opens in another place")
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := again.Open(sealed, "here"); err == nil {
		t.Error("it opens though it was changed")
	}
	other, err := secret.OpenOrCreateBox(filepath.Join(t.TempDir(), "other.key"))
	if err != nil {
		t.Fatal(err)
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := other.Open(sealed, "here"); err == nil {
		t.Error("it opens with another key")
	}
	if err := os.WriteFile(path, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.OpenOrCreateBox(path); err == nil {
		t.Error("a broken key file opens")
	}
}

func TestPasswords(t *testing.T) {
	h, err := secret.HashPassword(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"correct horse": true, "correct horsf": false, "": false} {
		if ok, err := secret.CheckPassword(t.Context(), h, password); err != nil || ok != want {
			t.Errorf("%q: %v %v", password, ok, err)
		}
	}
	if !strings.HasPrefix(h, "$argon2id$v=19$m=65536,t=3,p=4$") {
		t.Errorf("the cost of %s", h)
	}
	if ok, err := secret.CheckPassword(t.Context(), secret.UnmatchableHash(), ""); ok || err != nil {
		t.Errorf("nobody's password: %v %v", ok, err)
	}
	usual := secret.PasswordCost
	defer func() { secret.PasswordCost = usual }()
	secret.PasswordCost = secret.HashCost{Memory: 64, Passes: 1, Lanes: 1}
	if ok, err := secret.CheckPassword(t.Context(), h, "correct horse"); !ok || err != nil {
		t.Errorf("a hash of another cost: %v %v", ok, err)
	}
	if _, err := secret.CheckPassword(t.Context(), "plain", "plain"); err == nil {
		t.Error("a hash of another kind passes")
	}
}

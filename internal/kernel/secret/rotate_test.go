package secret_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"frontdesk/internal/kernel/secret"
)

// Keys that come at once all stay; one that goes takes what it sealed with it
// and nothing else.
func TestKeysComeAndGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sealing.key")
	first, err := secret.OpenOrCreateBox(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := first.Seal([]byte("hush"), "here")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	sealed := make([][]byte, 8)
	for i := range sealed {
		wg.Go(func() {
			b, err := secret.AddKey(path)
			if err != nil {
				t.Error(err)
				return
			}
			if sealed[i], err = b.Seal([]byte("hush"), "here"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	box, err := secret.ReadBox(path)
	if err != nil || len(box.KeyNumbers()) != 9 || box.NewestKey() != 9 || !box.DescendsFrom(first) {
		t.Fatalf("%v %v", box.KeyNumbers(), err)
	}
	for _, s := range append(sealed, old) {
		if plain, err := box.Open(s, "here"); err != nil || string(plain) != "hush" {
			t.Errorf("%q, %v", plain, err)
		}
	}
	if _, err := secret.RemoveKey(path, 9); err == nil {
		t.Error("the key that seals was removed")
	}
	if box, err = secret.RemoveKey(path, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := box.Open(old, "here"); err == nil {
		t.Error("opened with a key that is gone")
	}
	if _, err := box.Open(sealed[0], "here"); err != nil {
		t.Error(err)
	}
	other, err := secret.OpenOrCreateBox(filepath.Join(t.TempDir(), "sealing.key"))
	if err != nil || other.DescendsFrom(first) {
		t.Errorf("another file follows: %v", err)
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 2 {
		t.Errorf("left behind: %v", files)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

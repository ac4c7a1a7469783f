package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The settings of the store of files: by flag, variable and file, and what
// does not go together.
func TestFileSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		t.Helper()
		name := filepath.Join(t.TempDir(), "frontdesk.toml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct {
		name, env, want string
		args            []string
	}{
		{"a folder", "", "There is no folder " + dir + "/files yet", nil},
		{"nothing at the bucket's address", "", "Nothing can be stored in the bucket b at http://127.0.0.1:1",
			[]string{"--files-s3-bucket", "b", "--files-s3-endpoint", "http://127.0.0.1:1", "--files-s3-access-key",
				"k",
				"--files-s3-secret-key", "hidden"}},
		{"from a file", "", "Nothing can be stored in the bucket b at http://127.0.0.1:1",
			[]string{"--config",
				write("[files]\nmax_bytes = 1000\n[files.s3]\nbucket = \"b\"\nendpoint = " +
					"\"http://127.0.0.1:1\"\naccess_key = \"k\"\nsecret_key = \"hidden\"\n")}},
		{"keys without a bucket", "hidden", "--files-s3-bucket: name the bucket", nil},
		{"half of the keys", "hidden", "give both or neither", []string{"--files-s3-bucket", "b"}},
		{"no address", "", "is not an http or https address",
			[]string{"--files-s3-bucket", "b", "--files-s3-endpoint", "there"}},
		{"no size", "", "--files-max-bytes: must be between", []string{"--files-max-bytes", "0"}},
		{"no public requests", "", "--rate-limit-public: must be between", []string{"--rate-limit-public", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv("FRONTDESK_FILES_S3_SECRET_KEY", c.env)
			}
			var out bytes.Buffer
			runCommand(append([]string{"doctor", "--data", dir, "--listen", "127.0.0.1:0", "--mcp-listen", "",
				"--smtp-listen", ""}, c.args...), strings.NewReader(""), &out, &out)
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("doctor says %s, want %q", &out, c.want)
			}
			if strings.Contains(out.String(), "hidden") {
				t.Errorf("the secret key is printed: %s", &out)
			}
		})
	}
}

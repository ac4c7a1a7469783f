package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
	"frontdesk/migrations"
)

// settings are the flags of a database of its own.
func settings(t *testing.T, e db.Engine) (data string, base []string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	base = []string{"--data", data}
	if e == db.Postgres {
		base = append(base, "--database-url", dbtest.CreateOptions(t, e).URL)
	}
	return data, base
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func postJSON(t *testing.T, url, key, body string) map[string]any {
	t.Helper()
	req, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(body)) //nolint:noctx // local
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %d %s %v", url, res.StatusCode, text, err)
	}
	var out struct{ Data map[string]any }
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out.Data
}

// An operator's day: backup, export, erase and rotate, beside a server and
// without one; then the backup moves to the other engine.
func TestOperator(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		data, base := settings(t, e)
		c := cli{t, base}
		says := func(want string, args ...string) {
			t.Helper()
			code, out, errs := c.run("", args...)
			if code != 0 || !strings.Contains(out+errs, want) {
				t.Errorf("%v: exit %d, %q %q, want %q", args, code, out, errs, want)
			}
		}
		refused := func(want string, args ...string) {
			t.Helper()
			code, out, errs := c.run("", args...)
			if code == 0 || !strings.Contains(errs, want) {
				t.Errorf("%v: exit %d, %q %q, want %q", args, code, out, errs, want)
			}
		}
		dir := t.TempDir()
		if e == db.SQLite {
			refused("no database", "backup", filepath.Join(dir, "nothing"))
		}
		org := c.ok("", "admin", "org", "create", "--name", "Analytical Engines", "--plan", "enterprise")
		orgID, business := org["organizationId"].(string), org["businessId"].(string)
		c.ok("a long password", "admin", "user", "create", "--org", orgID, "--email", "ada@example.com", "--name",
			"Ada",
			"--role", "owner", "--password-stdin")
		c.ok("", "admin", "agreement", "accept", "--business", business, "--kind", "business", "--by",
			"ada@example.com")
		key := c.ok("", "admin", "key", "create", "--business", business, "--name", "k", "--permissions",
			"*")["key"].(string)
		backup := filepath.Join(dir, "backup")
		t.Run("beside a server", func(t *testing.T) {
			c.t = t
			url := startServer(t, base)
			contact := postJSON(t, url+"/v1/contacts", key, `{"firstName": "Xantippe"}`)["id"].(string)
			postJSON(t, url+"/v1/customers", key, `{"type": "individual", "name": "Kept", "contactId": "`+contact+`"}`)
			stays := postJSON(t, url+"/v1/contacts", key, `{"firstName": "Diotima"}`)["id"].(string)
			// From another folder than the server's, with a path of one's own.
			t.Chdir(dir)
			if got := c.ok("", "backup", "backup"); got["file"] != backup || got["rows"].(float64) < 10 {
				t.Errorf("backup: %v", got)
			}
			refused("already exists", "backup", backup)
			says("The sealing key is not in the backup", "backup", "second")
			if got := c.ok("", "admin", "org", "export", orgID, "--out",
				"export"); got["folder"] != filepath.Join(dir, "export") {
				t.Errorf("export: %v", got)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "export", "contacts.jsonl")); err != nil ||
				bytes.Count(b, []byte("\n")) != 2 {
				t.Errorf("export: %v %s", err, b)
			}
			refused("not empty", "admin", "org", "export", orgID, "--out", "export")
			refused("no such organization", "admin", "org", "export", stays, "--out", "export2")
			code, out, errs := c.run("", "admin", "contact", "erase", contact)
			if code != 0 || !strings.Contains(out, "customers        1") ||
				!strings.Contains(errs, "separate records") {
				t.Errorf("erase: %d %s %s", code, out, errs)
			}
			refused("no such contact", "admin", "contact", "erase", contact)
			if got := c.ok("", "admin", "secrets", "rotate"); got["key"] != 2.0 {
				t.Errorf("rotate: %v", got)
			}
			if e == db.Postgres {
				c.ok("", "admin", "secrets", "rotate", "--retire")
			}
			if code, _, errs := c.run("", "admin", "secrets", "rotate", "--retire"); code != 0 ||
				!strings.Contains(errs, "is unchanged") || strings.Contains(errs, "out of date") {
				t.Errorf("nothing to retire: %d %s", code, errs)
			}
			if b, err := os.ReadFile(filepath.Join(data, "sealing.key")); err != nil ||
				!bytes.HasPrefix(b, []byte("2:")) ||
				bytes.Count(b, []byte("\n")) != 1 {
				t.Errorf("the key file: %v", err)
			}
			says("answers and is ready", "doctor", "--listen", strings.TrimPrefix(url, "http://"), "--mcp-listen",
				"127.0.0.1:0",
				"--dns-listen", "127.0.0.1:0", "--smtp-listen", "127.0.0.1:0")
			refused("a server runs on this database", "restore", backup)
		})
		c.t = t
		says(" rows, ", "backup", filepath.Join(dir, "alone"))
		refused("already has organizations", "restore", backup)

		// The key of when the backup was made has been rotated out since; the
		// newer backup goes with the newer key.
		dbtest.EachEngine(t, func(t *testing.T, to db.Engine) {
			elsewhere, base := settings(t, to)
			c := cli{t, base}
			code, out, errs := c.run("", "restore", filepath.Join(dir, "alone"))
			if code != 0 || !strings.Contains(out, " rows, ") || !strings.Contains(errs, "copy sealing.key") {
				t.Fatalf("restore: %d %s %s", code, out, errs)
			}
			if code, out, _ := c.run("", "doctor"); code != 1 || !strings.Contains(out, "fail  sealing key") {
				t.Errorf("doctor: %d %s", code, out)
			}
			if code, _, errs := c.run("", "serve", "--listen", "127.0.0.1:0", "--mcp-listen", "127.0.0.1:0",
				"--dns-listen",
				"127.0.0.1:0", "--smtp-listen", "127.0.0.1:0"); code == 0 ||
				!strings.Contains(errs, "does not belong to this database") {
				t.Errorf("serve: %d %s", code, errs)
			}
			copyFile(t, filepath.Join(data, "sealing.key"), filepath.Join(elsewhere, "sealing.key"))
			url := startServer(t, base)
			if contact := postJSON(t, url+"/v1/contacts", key, `{"firstName": "New"}`); contact["firstName"] != "New" {
				t.Errorf("%v", contact)
			}
		})
	})
}

// Doctor says what is wrong and what to do about it.
func TestDoctor(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		data := filepath.Join(t.TempDir(), "data")
		base := []string{"--data", data, "--listen", listentest.FreeAddress(t), "--mcp-listen", "127.0.0.1:0",
			"--dns-listen", "127.0.0.1:0", "--smtp-listen", "127.0.0.1:0"}
		if o := dbtest.CreateOptions(t, e, migrations.FS); o.URL != "" {
			base = append(base, "--database-url", o.URL)
		}
		c := cli{t, base}
		check := func(code int, want ...string) {
			t.Helper()
			got, out, errs := c.run("", "doctor")
			for _, w := range want {
				if !strings.Contains(out, w) {
					t.Errorf("no %q in\n%s%s", w, out, errs)
				}
			}
			if got != code {
				t.Errorf("exit %d, want %d:\n%s", got, code, out)
			}
		}
		check(0, "ok    data folder", "ok    database", "ok    port", "ok    sealing key", "ok    clock", "disk space")
		if _, err := os.Stat(data); err == nil {
			t.Error("doctor made the folder")
		}
		c.ok("", "admin", "org", "create", "--name", "x")
		check(0, "ok    schema", "up to date", "fits")

		var findings []map[string]string
		if _, out, _ := c.run("", "doctor", "--json"); json.Unmarshal([]byte(out), &findings) != nil ||
			len(findings) < 7 ||
			findings[0]["status"] != "ok" {
			t.Errorf("%s", out)
		}
		if code, out, errs := c.run("", "doctor", "--rate-limit-free", "0"); code != 1 ||
			!strings.Contains(out, "fail  configuration") {
			t.Errorf("a wrong setting: %d %s %s", code, out, errs)
		}
		keyFile := filepath.Join(data, "sealing.key")
		if err := os.Rename(keyFile, keyFile+".away"); err != nil {
			t.Fatal(err)
		}
		check(1, "fail  sealing key", "Copy sealing.key")
		if err := os.Rename(keyFile+".away", keyFile); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(keyFile, 0o644); err != nil {
			t.Fatal(err)
		}
		check(1, "fail  data folder", "chmod 600")
		if err := os.Chmod(keyFile, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", base[3])
		if err != nil {
			t.Fatal(err)
		}
		check(1, "fail  port", "Another program")
		l.Close()
		if e == db.SQLite {
			f, err := os.OpenFile(filepath.Join(data, "frontdesk.db"), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(bytes.Repeat([]byte("broken"), 2000), 20_000); err != nil {
				t.Fatal(err)
			}
			f.Close() //nolint:errcheck // it is read below
			check(1, "fail  database")
		} else {
			c.base = append(c.base[:len(c.base)-1:len(c.base)-1], "postgres://nobody@127.0.0.1:1/none")
			check(1, "fail  database", "cannot be opened")
		}
	})
}

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/listen/listentest"
	"frontdesk/migrations"
)

// asCommand makes the test binary the command itself.
const asCommand = "FRONTDESK_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(runCommand(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Setenv("FRONTDESK_STORAGE_RESERVE", "0") //nolint:errcheck // a full disk is not what these tests are about
	os.Exit(m.Run())
}

// cli runs the command in this process.
type cli struct {
	t    *testing.T
	base []string
}

func (c cli) run(stdin string, args ...string) (code int, out, errs string) {
	c.t.Helper()
	var o, e bytes.Buffer
	code = runCommand(append(append([]string(nil), args...), c.base...), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// ok runs an admin command with --json and returns its fields.
func (c cli) ok(stdin string, args ...string) map[string]any {
	c.t.Helper()
	code, out, errs := c.run(stdin, append(args, "--json")...)
	if code != 0 {
		c.t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(out), &fields); err != nil {
		c.t.Fatalf("%v: %v in %s", args, err, out)
	}
	return fields
}

// The whole of section 7's admin commands, first with no server and then
// beside one, on both engines.
func TestAdmin(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		data := t.TempDir()
		base := []string{"--data", data}
		if o := dbtest.CreateOptions(t, e, migrations.FS); o.URL != "" {
			base = append(base, "--database-url", o.URL)
		}
		for _, beside := range []bool{false, true} {
			name := "alone"
			if beside {
				name = "beside a server"
			}
			t.Run(name, func(t *testing.T) {
				url := ""
				if beside {
					url = startServer(t, base)
				}
				adminStory(t, cli{t, base}, url, strings.ReplaceAll(name, " ", "-"))
			})
		}
	})
}

func startServer(t *testing.T, base []string) string {
	t.Helper()
	listen := listentest.FreeAddress(t)
	cmd := exec.Command(os.Args[0], //nolint:noctx // ended by the clean-up
		append([]string{"serve", "--listen", listen, "--mcp-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0",
			"--smtp-listen", "127.0.0.1:0", "--drain", "100ms"}, base...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may be gone
		if err := cmd.Wait(); err != nil {
			t.Errorf("serve ended with %v: %s", err, out.String())
		}
	})
	for range 6000 {
		if res, err := http.Get("http://" + listen + "/readyz"); err == nil { //nolint:noctx // bounded by the loop
			if drain(res); res.StatusCode == http.StatusOK {
				return "http://" + listen
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not ready: %s", out.String())
	return ""
}

func adminStory(t *testing.T, c cli, url, tag string) {
	org := c.ok("", "admin", "org", "create", "--name", "Analytical Engines", "--plan", "starter")
	orgID, business := org["organizationId"].(string), org["businessId"].(string)
	if org["plan"] != "starter" || org["status"] != "active" {
		t.Errorf("org: %v", org)
	}
	ada := "ada-" + tag + "@example.com"
	user := c.ok("a long password\n", "admin", "user", "create", "--org", orgID, "--email", ada, "--name", "Ada",
		"--role",
		"owner", "--password-stdin")
	if user["role"] != "owner" || user["id"] == nil {
		t.Errorf("user: %v", user)
	}
	c.ok("another password", "admin", "user", "create", "--org", orgID, "--email", "m-"+tag+"@example.com", "--name",
		"M",
		"--role", "member", "--password-stdin")
	key := c.ok("", "admin", "key", "create", "--business", business, "--name", "k", "--permissions",
		"contacts:read,contacts:write")
	me := func(want int) {
		t.Helper()
		if url == "" {
			return
		}
		req, _ := http.NewRequest(http.MethodGet, url+"/v1/me", nil) //nolint:noctx // local
		req.Header.Set("Authorization", "Bearer "+key["key"].(string))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		drain(res)
		if res.StatusCode != want {
			t.Errorf("/v1/me: %d, want %d", res.StatusCode, want)
		}
	}
	me(403) // no agreement yet
	refused := func(want string, args ...string) {
		t.Helper()
		code, out, errs := c.run("", args...)
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %q %q, want %q", args, code, out, errs, want)
		}
	}
	refused("Only an active owner or admin", "admin", "agreement", "accept", "--business", business, "--kind",
		"business",
		"--by", "m-"+tag+"@example.com")
	refused("no user with this email", "admin", "agreement", "accept", "--business", business, "--kind", "business",
		"--by", "x@example.com")
	c.ok("", "admin", "agreement", "accept", "--business", business, "--kind", "business", "--by", strings.ToUpper(ada))
	c.ok("", "admin", "agreement", "accept", "--business", business, "--kind", "domain", "--by", ada)
	me(200)
	c.ok("", "admin", "org", "update", orgID, "--plan", "professional", "--status", "disabled")
	me(403)
	if got := c.ok("", "admin", "org", "update", "--status", "active", orgID); got["plan"] != "professional" ||
		got["status"] != "active" {
		t.Errorf("flags before the argument: %v", got)
	}
	me(200)
	c.ok("", "admin", "user", "disable", ada)
	c.ok("", "admin", "user", "enable", ada)
	if link := c.ok("", "admin", "user", "password-link", ada); !strings.Contains(link["url"].(string),
		"/password/fdp_") {
		t.Errorf("password-link: %v", link)
	}
	if link := c.ok("", "admin", "user", "sign-in-link", ada); !strings.Contains(link["url"].(string),
		"/sign-in/link/fdl_") {
		t.Errorf("sign-in-link: %v", link)
	}
	if user := c.ok("", "admin", "user", "reset-factors", ada); user["email"] != ada {
		t.Errorf("reset-factors: %v", user)
	}
	if card := c.ok("", "admin", "card", "add", "--org", orgID, "--test", "visa"); card["last4"] != "4242" ||
		card["isDefault"] != true {
		t.Errorf("card: %v", card)
	}
	c.ok("", "admin", "card", "add", "--org", orgID, "--test", "declined")

	agent := c.ok("", "admin", "agent", "create", "--business", business, "--name", "Helper", "--permissions", "read")
	id := agent["id"].(string)
	cells := agent["permissions"].(map[string]any)
	if len(cells) != 56 || cells["contacts.read"] != "allow" || cells["contacts.create"] != "deny" {
		t.Errorf("permissions: %v", cells)
	}
	set := c.ok("", "admin", "agent", "set", id, "contacts.create=allow", "invoices.update=ask")
	if cells := set["permissions"].(map[string]any); cells["contacts.create"] != "allow" ||
		cells["invoices.update"] != "ask" || cells["contacts.read"] != "allow" {
		t.Errorf("permissions: %v", cells)
	}
	asked := c.ok("", "admin", "agent", "set", id, "askMode=propose", "guard=off", "spendCents=5000", "messages=100",
		"contacts.delete=ask")
	if limits, _ := asked["limits"].(map[string]any); asked["askMode"] != "propose" || asked["guard"] != "off" ||
		limits["spendCents"] != 5000.0 || limits["messages"] != 100.0 {
		t.Errorf("agent: %v", asked)
	}
	cleared := c.ok("", "admin", "agent", "set", id, "messages=", "guard=")
	if limits, _ := cleared["limits"].(map[string]any); limits["messages"] != nil || limits["spendCents"] != 5000.0 {
		t.Errorf("agent: %v", cleared)
	}
	refused("whole number", "admin", "agent", "set", id, "messages=many")
	if got := c.ok("", "admin", "agents", "pause", "--org", orgID); got["pausedAt"] == nil {
		t.Errorf("pause: %v", got)
	}
	c.ok("", "admin", "agents", "resume", "--org", orgID)
	refused("permissions", "admin", "agent", "set", id, "contacts.fly=allow")
	refused("allow, ask, deny", "admin", "agent", "set", id, "contacts.read=maybe")
	if got := c.ok("", "admin", "agent", "deactivate", id); got["status"] != "inactive" {
		t.Errorf("agent: %v", got)
	}
	c.ok("", "admin", "agent", "activate", id)
	other := c.ok("", "admin", "org", "create", "--name", "Other")
	if got := c.ok("", "admin", "agent", "move", id, "--business",
		other["businessId"].(string)); got["organizationId"] != other["organizationId"] {
		t.Errorf("moved: %v", got)
	}
	if got := c.ok("", "admin", "agent", "delete", id); got["id"] != id {
		t.Errorf("deleted: %v", got)
	}
	refused("no such agent", "admin", "agent", "delete", id)
	if got := c.ok("", "admin", "key", "revoke", key["id"].(string)); got["revokedAt"] == nil || got["key"] != nil {
		t.Errorf("revoked: %v", got)
	}
	me(401)

	refused("not the id of", "admin", "key", "revoke", "x")
	refused("no such business", "admin", "key", "create", "--business", "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88",
		"--name",
		"k", "--permissions", "*")
	refused("not a permission", "admin", "key", "create", "--business", business, "--name", "k", "--permissions",
		"contacts:fly")
	refused("--plan", "admin", "org", "create", "--name", "x", "--plan", "gold")
	refused("nothing to change", "admin", "org", "update", orgID, "--name", "")
	code, out, _ := c.run("", "admin", "key", "list", "--org", orgID)
	if code != 0 || !strings.Contains(out, "contacts:read") || strings.Contains(out, key["key"].(string)) {
		t.Errorf("list: %s", out)
	}
}

// The settings file is below the environment, which is below the flags.
func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "frontdesk.toml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := cli{t, []string{"--config", file}}
	write("data = \"" + filepath.Join(dir, "from-file") + "\"\n[rate_limit]\nfree = 7\n")
	exists := func(folder string, want bool) {
		t.Helper()
		_, err := os.Stat(filepath.Join(dir, folder, "frontdesk.db"))
		if (err == nil) != want {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if code, _, errs := c.run("", "migrate"); code != 0 {
		t.Fatal(errs)
	}
	exists("from-file", true)
	t.Setenv("FRONTDESK_DATA", filepath.Join(dir, "from-env"))
	if code, _, errs := c.run("", "migrate"); code != 0 {
		t.Fatal(errs)
	}
	exists("from-env", true)
	if code, _, errs := c.run("", "migrate", "--data", filepath.Join(dir, "from-flag")); code != 0 {
		t.Fatal(errs)
	}
	exists("from-flag", true)
	write("ratelimit = 1\n")
	if code, _, errs := c.run("", "migrate"); code == 0 || !strings.Contains(errs, "unknown setting ratelimit") {
		t.Errorf("a typo passes: %d %s", code, errs)
	}
	write("listen = \"nonsense\"\n")
	if code, _, errs := c.run("", "migrate"); code == 0 || !strings.Contains(errs, "--listen") {
		t.Errorf("nonsense passes: %d %s", code, errs)
	}
}

// The demonstration prints a curl line that works as it is pasted, a new key
// at each start, and refuses what is not a demonstration.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	var last string
	for range 2 {
		listen := listentest.FreeAddress(t)
		cmd := exec.Command(os.Args[0], "serve", "--demo", "--listen", listen, //nolint:noctx // ended below
			"--mcp-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0", "--smtp-listen", "127.0.0.1:0")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), asCommand+"=1")
		var out syncBuffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := ""
		for range 6000 {
			for text := range strings.Lines(out.String()) {
				if strings.HasPrefix(text, "  curl ") && strings.HasSuffix(text, "\n") {
					line = strings.TrimSpace(text)
				}
			}
			if line != "" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if line == "" {
			t.Fatalf("no curl line: %s", out.String())
		}
		answer, err := exec.Command("sh", "-c", line).Output() //nolint:noctx // local
		if err != nil || !strings.Contains(string(answer), "Blanch") {
			t.Errorf("%s: %v %s", line, err, answer)
		}
		if last != "" {
			again := strings.ReplaceAll(last, lastListen, listen)
			old, _ := exec.Command("sh", "-c", again).Output() //nolint:noctx // local
			if !strings.Contains(string(old), "UNAUTHORIZED") || last == line {
				t.Errorf("the last key still works: %s", old)
			}
		}
		last, lastListen = line, listen
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it runs
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, out.String())
		}
	}
	c := cli{t, []string{"--data", filepath.Join(dir, "real")}}
	c.ok("", "admin", "org", "create", "--name", "Real")
	if code, _, errs := c.run("", "serve", "--demo"); code == 0 || !strings.Contains(errs, "not a demo") {
		t.Errorf("a demo on real data: %d %s", code, errs)
	}
}

var lastListen string

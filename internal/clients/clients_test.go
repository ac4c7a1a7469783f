package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/clients"
	"frontdesk/internal/kernel/op"
)

const root = "../.."

// What is generated is what the declarations say now.
func TestUpToDate(t *testing.T) {
	files, err := clients.Generate(clients.Describe(app.Describe()))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 6 {
		t.Errorf("%d files are generated, want code and a reference for three languages", len(files))
	}
	for name, text := range files {
		old, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(old) != string(text) {
			t.Errorf("%s is out of date; run make generate", name)
		}
	}
}

// Every operation of the document is in every client, under a name of the
// language.
func TestEveryOperation(t *testing.T) {
	api := clients.Describe(app.Describe())
	n := 0
	for _, o := range app.Describe().All() {
		if o.Path != "" && o.Doors&op.RESTDoor != 0 {
			n++
		}
	}
	all := api.All()
	if len(all) != n || n < 250 {
		t.Errorf("%d operations are described, and there are %d", len(all), n)
	}
	for name, calls := range map[string][]string{
		"clients/typescript/reference.md": {"client.contacts.phoneNumbers.create(", "client.domains.dnsRecords.update(",
			"client.domains.registration.transfer(", "client.domains.registration.cancelTransfer("},
		"clients/python/reference.md": {"client.contacts.phone_numbers.create(", "client.domains.dns_records.update(",
			"client.domains.registration.cancel_transfer("},
		"clients/go/reference.md": {"client.Contacts.PhoneNumbers.Create(ctx, ",
			"client.Domains.DNSRecords.Update(ctx, ", "client.Domains.Registration.CancelTransfer(ctx, "},
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			if !strings.Contains(string(text), call) {
				t.Errorf("%s does not have %s…", name, call)
			}
		}
	}
}

// The clients have one version.
func TestOneVersion(t *testing.T) {
	first := ""
	for name, pattern := range map[string]string{
		"clients/typescript/package.json":    `"version": "([^"]+)"`,
		"clients/typescript/src/client.ts":   `VERSION = '([^']+)'`,
		"clients/python/pyproject.toml":      `(?m)^version = "([^"]+)"`,
		"clients/python/frontdesk/client.py": `VERSION = "([^"]+)"`,
		"clients/go/client.go":               `Version = "([^"]+)"`,
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("%s has no version", name)
		}
		if first == "" {
			first = m[1]
		}
		if m[1] != first {
			t.Errorf("%s has the version %s, another file %s", name, m[1], first)
		}
	}
}

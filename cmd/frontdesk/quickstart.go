package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"frontdesk/internal/app"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
)

// quickstartCommand writes the settings of a server with a name of its own, then
// shows the DNS records that it needs until they are published.
type quickstartCommand struct {
	Name  string        `arg:"" help:"Name of the server, like desk.example.com."`
	File  string        `help:"Settings file; default: /etc/frontdesk/frontdesk.toml for root, else ./frontdesk.toml."`
	Email string        `help:"Your mail address, for the certificate authority."`
	Relay string        `help:"Relay for outgoing mail, or none." placeholder:"smtp://user:password@host:587"`
	Yes   bool          `help:"Ask nothing; take what the flags say." short:"y"`
	Wait  time.Duration `help:"How long to look again until all records are there." default:"30m"`
	Every time.Duration `help:"How long to wait between two looks." default:"15s"`
}

// Run asks and writes the settings the first time, and checks the records each time.
// With the file written it starts itself again with --config, and then finds the
// domain in its settings.
func (c *quickstartCommand) Run(s *config.Settings, out *streams) error {
	root := os.Geteuid() == 0
	if c.File == "" {
		c.File = "frontdesk.toml"
		if root {
			c.File = "/etc/frontdesk/frontdesk.toml"
		}
	}
	if s.Domain != "" { // it was read from the settings file
		if err := s.FillAndValidate(false); err != nil {
			return err
		}
		if want := strings.TrimSuffix(strings.ToLower(c.Name), "."); s.Domain != want {
			return fmt.Errorf("%s is for %s, not for %s; give another --file", c.File, s.Domain, want)
		}
		return c.waitForRecords(s, out)
	}
	_, err := os.Stat(c.File)
	switch {
	case err == nil:
		fmt.Fprintf(out.out, "Using the settings in %s.\n", c.File)
	case !errors.Is(err, os.ErrNotExist):
		return err
	default:
		if err := c.writeSettings(s, out, root); err != nil {
			return err
		}
	}
	// From here on with the settings as serve reads them.
	code := runCommand([]string{"quickstart", c.Name, "--config", c.File, "--file", c.File, "--wait", c.Wait.String(),
		"--every", c.Every.String()}, out.in, out.out, out.err)
	if code != 0 {
		return exitStatus(code)
	}
	return nil
}

// writeSettings asks what is not known, and writes the settings file.
func (c *quickstartCommand) writeSettings(s *config.Settings, out *streams, root bool) error {
	probe := *s
	probe.Domain = c.Name
	if err := probe.FillAndValidate(false); err != nil {
		return err
	}
	text, err := c.settingsText(s, probe.Domain, out, root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.File), 0o755); err != nil {
		return err
	}
	// Only for the owner, as the relay's password is in it; and never over another file.
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(out.out, "\nWrote %s.\n", c.File)
	return nil
}

// settingsText asks the questions, and returns the text of the settings file. What is the
// default is left out.
func (c *quickstartCommand) settingsText(s *config.Settings, domain string, out *streams, root bool) (string, error) {
	q := questions{in: bufio.NewReader(out.in), out: out.out, ask: !c.Yes}
	email, err := q.askUntilValid("Your mail address, where the certificate authority can reach you (may be empty)",
		c.Email, checkEmail)
	if err != nil {
		return "", err
	}
	var known []string
	for _, a := range s.Addresses() {
		known = append(known, a.String())
	}
	addresses, err := q.askUntilValid("Public addresses of this server, with commas between them",
		strings.Join(known, ","), checkAddresses)
	if err != nil {
		return "", err
	}
	relay, err := q.askUntilValid("Relay for outgoing mail, like smtp://user:password@host:587 (empty: mail stays "+
		"here)",
		c.Relay, checkRelay)
	if err != nil {
		return "", err
	}
	b := &strings.Builder{}
	set := func(key, value string) {
		if value != "" {
			fmt.Fprintf(b, "%s = %s\n", key, quoteTOML(value))
		}
	}
	fmt.Fprint(b, "# Written by frontdesk quickstart. frontdesk --help lists all settings.\n")
	set("domain", domain)
	data := s.Data
	if data == "" && root {
		data = "/var/lib/frontdesk"
	}
	set("data", data)
	set("database_url", s.DatabaseURL)
	set("public_addresses", addresses)
	set("dns_resolver", s.DNSResolver)
	set("acme_email", email)
	if s.ACME.Directory != config.LetsEncryptDirectory {
		set("acme_directory", s.ACME.Directory)
	}
	set("acme_root", s.ACME.Root)
	if s.ACME.Check != config.ACMECheckEvery {
		set("acme_check", s.ACME.Check.String())
	}
	set("smtp_listen", ":25")
	if relay != "" {
		u, _ := url.Parse(relay) // cannot fail: checkRelay has parsed it
		set("mail_provider", "smtp")
		set("smtp_host", u.Hostname())
		set("smtp_port", u.Port())
		set("smtp_username", u.User.Username())
		password, _ := u.User.Password()
		set("smtp_password", password)
		if u.Scheme == "smtps" {
			set("smtp_tls", "tls")
		}
	}
	return b.String(), nil
}

// quoteTOML writes a text as a basic string of TOML, whose escapes are those of JSON.
func quoteTOML(s string) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string always can
	return string(b)
}

// questions asks a person, or takes what is known where nobody is there.
type questions struct {
	in  *bufio.Reader
	out io.Writer
	ask bool // somebody is there to answer
}

// maxTries is how many wrong answers to a question end the command.
const maxTries = 3

// askUntilValid asks one question until the answer passes check. An empty line takes what is
// known.
func (q *questions) askUntilValid(text, known string, check func(string) error) (string, error) {
	for try := 1; ; try++ {
		value := known
		if q.ask {
			shown := known
			if strings.Contains(shown, "@") && strings.Contains(shown, "://") {
				shown = "as given" // a password is in it
			}
			fmt.Fprintf(q.out, "%s [%s]: ", text, shown)
			line, err := q.in.ReadString('\n')
			if line = strings.TrimSpace(line); line != "" {
				value = line
			}
			if errors.Is(err, io.EOF) {
				q.ask = false // the input has ended, so nobody is there
				fmt.Fprintln(q.out)
			} else if err != nil {
				return "", err
			}
		}
		err := check(value)
		if err == nil || !q.ask || try == maxTries {
			return value, err
		}
		fmt.Fprintf(q.out, "%v.\n", err)
	}
}

// checkEmail accepts nothing, or a plain address without a name.
func checkEmail(s string) error {
	if s == "" {
		return nil
	}
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		return fmt.Errorf("%q is not a mail address; give --email, or leave it empty", s)
	}
	return nil
}

// checkAddresses accepts IP addresses with commas between them.
func checkAddresses(s string) error {
	if s == "" {
		return errors.New("this machine has no public address of its own; give --public-addresses")
	}
	for one := range strings.SplitSeq(s, ",") {
		if _, err := netip.ParseAddr(one); err != nil {
			return fmt.Errorf("%q is not an IP address; give --public-addresses", one)
		}
	}
	return nil
}

// checkRelay accepts nothing, or the URL of an SMTP server with a port.
func checkRelay(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" {
		// Not the text itself: a password may be in it.
		return errors.New("the relay is not in the form smtp://user:password@host:587 or smtps://…:465")
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil {
		return errors.New("the relay needs a port, like smtp://host:587")
	}
	return nil
}

const (
	published = `
Everything that is needed is published. Start the server, if it does not run yet:

  frontdesk serve --config %s

or, as a service: systemctl enable --now frontdesk
`
	unpublished = `
Publish what is missing. Looking again every %s; Ctrl-C ends it, and this begins it anew:

  %s
`
)

// waitForRecords shows the records, and looks again until the needed ones are published or the
// time is up. It prints the table only when something has changed.
func (c *quickstartCommand) waitForRecords(s *config.Settings, out *streams) error {
	var answer struct {
		Records []app.ServerRecord `json:"records"`
	}
	// Makes the database, the sealing key and the keys that sign mail, if they are missing.
	err := withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) error {
		data, err := doer.RunTask(ctx, "mail.dns", struct{}{}, out.printProgress)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &answer)
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	again := fmt.Sprintf("frontdesk quickstart %s --file %s", s.Domain, c.File)
	before := ""
	for deadline := time.Now().Add(c.Wait); ; {
		table, left := formatRecords(answer.Records)
		if table != before {
			fmt.Fprintf(out.out, "\n%s", table)
		}
		switch {
		case left == 0:
			fmt.Fprintf(out.out, published, c.File)
			return nil
		case time.Until(deadline) < c.Every:
			return fmt.Errorf("%d records are not there yet; run this again later: %s", left, again)
		case before == "":
			fmt.Fprintf(out.out, unpublished, c.Every, again)
		}
		before = table
		select {
		case <-ctx.Done():
			fmt.Fprintf(out.out, "\n%d records are not there yet.\n", left)
			return exitStatus(1)
		case <-time.After(c.Every):
		}
		app.CheckRecords(ctx, s, answer.Records)
	}
}

// formatRecords is a table of the records, and how many of the needed ones are missing.
func formatRecords(records []app.ServerRecord) (table string, left int) {
	b := &strings.Builder{}
	for i := range records {
		r := &records[i]
		state := string(r.State)
		switch {
		case r.State == "found":
			state = "ok"
		case r.Optional:
			state = "optional"
		default:
			left++
		}
		fmt.Fprintf(b, "%-9s %-4s  %s  %s\n", state, r.Type, r.Name, r.Value)
		if r.State == "found" {
			continue
		}
		seen := "nothing"
		if len(r.Seen) > 0 {
			seen = strings.Join(r.Seen, ", ")
		}
		fmt.Fprintf(b, "%-15s  today: %s. %s\n", "", seen, r.Problem)
	}
	return b.String(), left
}

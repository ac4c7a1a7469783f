package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/peer"
	"frontdesk/internal/kernel/secret"
	"frontdesk/migrations"
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warn or fail
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// doctor collects findings. Each check adds one or more, and none ends the examination.
type doctor struct {
	settings config.Settings
	options  db.Options
	findings []Finding
	database *db.Condition // nil when it could not be examined
}

// note adds a finding. The remedy says what the operator should do, if anything.
func (d *doctor) note(check, status, remedy, format string, args ...any) {
	d.findings = append(d.findings, Finding{check, status, fmt.Sprintf(format, args...), remedy})
}

const (
	fine = "ok"
	warn = "warn"
	fail = "fail"
)

// DatabaseOptions say where the settings put the database.
func DatabaseOptions(s config.Settings) db.Options {
	return db.Options{Path: s.DatabasePath(), URL: s.DatabaseURL, Migrations: []fs.FS{migrations.FS}}
}

// Doctor checks everything that the service needs to run, and changes nothing. The
// settings are settled. The order matters a little: later checks use what checkDatabase found
// out about the database.
func Doctor(ctx context.Context, s config.Settings) []Finding {
	d := &doctor{settings: s, options: DatabaseOptions(s)}
	d.configuration()
	d.folder()
	d.data(ctx)
	d.files(ctx)
	d.listener(ctx)
	if !d.settings.SharesListener() {
		d.port("agent port", "--mcp-listen", d.settings.MCPListen)
	}
	if d.settings.Domain != "" {
		d.port("http port", "--tls-redirect", d.settings.TLS.Redirect)
	}
	d.dns(ctx)
	d.mail(ctx)
	d.port("mail port", "--smtp-listen", d.settings.MailServer.Listen)
	d.certificate()
	d.webCertificate(ctx)
	d.records(ctx)
	d.key(ctx)
	d.providers(ctx)
	d.time(ctx)
	d.space()
	d.storage(ctx)
	d.backups(ctx)
	return d.findings
}

// configuration checks where the API is reached. Plain HTTP is for this machine only.
func (d *doctor) configuration() {
	s := &d.settings
	local := peer.IsLoopback(s.Listen)
	base, err := url.Parse(s.BaseURL)
	switch {
	case err != nil:
		d.note("configuration", fail, "Set --base-url to where callers reach the API.", "%q is no address.", s.BaseURL)
	case !local && base.Scheme == "http":
		d.note("configuration", warn, "Put a proxy with TLS before it, and set --base-url to its https address.",
			"It listens on %s for other machines, in plain HTTP.", s.Listen)
	default:
		d.note("configuration", fine, "", "The API is %s, listening on %s.", s.BaseURL, s.Listen)
	}
}

// folder checks that the data folder can be written, and that no other user can read
// what is in it.
func (d *doctor) folder() {
	dir := d.settings.Data
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.note("data folder", fine, "", "%s does not exist yet; serve creates it.", dir)
		return
	case err != nil:
		d.note("data folder", fail, "Give a --data that this user can reach.", "%v.", err)
		return
	case !info.IsDir():
		d.note("data folder", fail, "Give another --data.", "%s is not a folder.", dir)
		return
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.note("data folder", fail, "Make it writable for the user who runs the server.",
			"%s cannot be written to: %v.", dir,
			err)
		return
	}
	probe.Close()           //nolint:errcheck // nothing was written
	os.Remove(probe.Name()) //nolint:errcheck // it is empty
	var open []string
	for _, name := range []string{d.settings.KeyPath(), d.settings.DatabasePath()} {
		if f, err := os.Stat(name); err == nil && f.Mode().Perm()&0o077 != 0 {
			open = append(open, filepath.Base(name))
		}
	}
	switch {
	case len(open) > 0:
		d.note("data folder", fail, "chmod 600 "+strings.Join(open, " ")+" in "+dir, "Other users can read %s.",
			strings.Join(open, " and "))
	case info.Mode().Perm()&0o077 != 0:
		d.note("data folder", warn, "chmod 700 "+dir, "Other users can look into %s.", dir)
	default:
		d.note("data folder", fine, "", "%s is writable, and only for this user.", dir)
	}
}

// data examines the database and its schema.
func (d *doctor) data(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // a large file takes long to read through
	defer cancel()
	c, err := db.Examine(ctx, d.options)
	if err != nil {
		d.note("database", fail, "Check --database-url, or the file's permissions.", "It cannot be opened: %v.", err)
		return
	}
	d.database = c
	name := map[db.Engine]string{db.SQLite: "SQLite", db.Postgres: "PostgreSQL"}[c.Engine] + " " + c.Version
	switch {
	case c.Missing:
		d.note("database", fine, "", "There is none yet; serve creates it.")
	case len(c.Problems) > 0:
		d.note("database", fail, "Stop the server and restore the last backup into an empty folder or database.",
			"%s: %s.",
			name, strings.Join(c.Problems, "; "))
	case len(c.Lacks) > 0:
		d.note("database", fail, "Install PostgreSQL's contrib package on its server.", "%s lacks the extensions %s.",
			name,
			strings.Join(c.Lacks, ", "))
	case c.Denied:
		d.note("database", fail, "Make the user the owner of the database.",
			"%s: its user may create neither tables nor extensions in it.", name)
	case c.Owned:
		d.note("database", fine, "", "%s, %s; a server has it open, so it was not read through.", name, size(c.Bytes))
	case c.Engine == db.SQLite:
		d.note("database", fine, "", "%s, %s, read through and sound.", name, size(c.Bytes))
	default:
		d.note("database", fine, "", "%s, %s, %d connections of servers.", name, size(c.Bytes), c.Clients)
	}
	switch {
	case c.Missing:
	case c.Schema == 0:
		d.note("schema", fine, "", "There is none yet; serve creates it.")
	case c.Schema > c.Wanted:
		d.note("schema", fail, "Use the version that migrated it, or a newer one.",
			"The schema is %d, but this version only knows %d.", c.Schema, c.Wanted)
	case c.Schema < c.Wanted:
		d.note("schema", warn, "Make a backup; then frontdesk migrate, or the next start, brings it up to date.",
			"The schema is %d, and this version has %d.", c.Schema, c.Wanted)
	default:
		d.note("schema", fine, "", "%d, up to date.", c.Schema)
	}
}

// files checks that bytes can be stored, by storing some, and that the bytes of the
// newest file are there: they are not if doctor was given another folder or bucket
// than the server.
func (d *doctor) files(ctx context.Context) {
	s, where := &d.settings, blobsAt(&d.settings)
	const lost = "Give doctor the server's --data or bucket, or bring the bytes back from a backup."
	newest, err := d.newestFile(ctx)
	if err != nil {
		d.note("files", warn, "", "The files' rows cannot be read: %v.", err)
		return
	}
	if _, err := os.Stat(s.FilesPath()); s.Files.S3.Bucket == "" && errors.Is(err, os.ErrNotExist) {
		if newest != nil {
			d.note("files", fail, lost, "There is no %s, and the database has files.",
				strings.TrimPrefix(where, "the "))
			return
		}
		d.note("files", fine, "", "There is no %s yet; serve creates it.", strings.TrimPrefix(where, "the "))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	blobs, err := openBlobs(ctx, s)
	if err == nil {
		err = blobs.Check(ctx)
	}
	if err != nil {
		d.note("files", fail, "Check --files-s3-bucket, its endpoint, region and keys, or the folder's permissions.",
			"Nothing can be stored in %s: %v.", where, err)
		return
	}
	if newest != nil {
		r, err := blobs.Open(ctx, newest.key, 0)
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			d.note("files", fail, lost,
				"Bytes can be stored in %s, but those of the newest file, %s, cannot be read: %v.",
				where, newest.id, err)
			return
		}
	}
	d.note("files", fine, "", "Bytes can be stored in %s.", where)
}

// newestFile is the file that was stored last and is not deleted, or nil.
func (d *doctor) newestFile(ctx context.Context) (newest *backedUp, err error) {
	c := d.database
	if c == nil || c.Missing || c.Schema == 0 || c.Schema > c.Wanted {
		return nil, nil
	}
	err = db.View(ctx, d.options, func(s *db.Snapshot) error {
		files := s.Table("files")
		if files == nil {
			return nil // the schema is from before there were any
		}
		return s.Last(ctx, files, "deleted_at IS NULL", func(c []db.Cell) error {
			newest = &backedUp{id: string(c[files.Index("id")].Text), key: string(c[files.Index("blob_key")].Text)}
			return nil
		})
	})
	return newest, err
}

// size is a number of bytes for people to read.
func size(n int64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// listener checks that the API's address is free, or that our own server has it.
func (d *doctor) listener(ctx context.Context) {
	addr, flag := d.settings.Listen, "--listen"
	if d.settings.Domain != "" {
		flag = "--tls-listen"
	}
	l, err := net.Listen("tcp", addr)
	if err == nil {
		l.Close()
		if d.database != nil && d.database.Owned {
			d.note("port", warn, "Give doctor the same "+flag+" as the server.", "%s is free, but a server runs on %s.",
				addr,
				d.settings.Data)
			return
		}
		d.note("port", fine, "", "%s is free.", addr)
		return
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		d.note("port", fail, "Give a "+flag+" that this machine has and this user may use.", "%s: %v.", addr, err)
		return
	}
	ours, ready := answers(ctx, addr, d.settings.Domain)
	switch {
	case ours && ready && d.running():
		d.note("port", fine, "", "The server on %s answers and is ready.", addr)
	case ours && d.running():
		d.note("port", fail, "Read its log.", "The server on %s answers, but is not ready.", addr)
	case ours:
		d.note("port", fail, "Stop it, or give another "+flag+".", "A frontdesk server on another database has %s.",
			addr)
	default:
		d.note("port", fail, "Stop it, or give another "+flag+".", "Another program has %s.", addr)
	}
}

// port checks that another listener's address is free, or that a server of ours runs,
// which is then taken to have it.
func (d *doctor) port(check, flag, addr string) {
	if addr == "" {
		return
	}
	d.noteAddress(check, flag, addr, tryTCP(addr))
}

// tryTCP takes an address for a moment.
func tryTCP(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		err = l.Close()
	}
	return err
}

// noteAddress adds what came of taking an address.
func (d *doctor) noteAddress(check, flag, addr string, err error) {
	switch {
	case err == nil:
		d.note(check, fine, "", "%s is free.", addr)
	case errors.Is(err, syscall.EADDRINUSE) && d.running():
		d.note(check, fine, "", "%s is in use, and a server runs on this database.", addr)
	case errors.Is(err, syscall.EADDRINUSE):
		d.note(check, fail, "Stop it, or give another "+flag+".", "Another program has %s.", addr)
	default:
		d.note(check, fail, "Give a "+flag+" that this machine has and this user may use.", "%s: %v.", addr, err)
	}
}

// dns checks that the embedded server's address is free, or that the provider
// in its place answers.
func (d *doctor) dns(ctx context.Context) {
	if other := externalDNS(&d.settings); other != nil {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		who, err := other.Ping(ctx)
		if err != nil {
			d.note("DNS provider", fail, "Check its address and its key or token.",
				"%s does not answer as it should: %v.",
				d.settings.DNS.Provider, err)
			return
		}
		d.note("DNS provider", fine, "", "%s answers.", who)
		return
	}
	addr := d.settings.DNS.Listen
	if addr == "" {
		d.note("DNS port", warn, "Give --dns-listen, and send queries for port 53 there.",
			"Nobody answers for the zones of domains.")
		return
	}
	udp, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", addr)
	if err == nil {
		err = udp.Close()
	}
	if err == nil { // it answers on both
		err = tryTCP(addr)
	}
	d.noteAddress("DNS port", "--dns-listen", addr, err)
}

// running reports whether a server has the database open.
func (d *doctor) running() bool {
	return d.database != nil && (d.database.Owned || d.database.Clients > 0)
}

// here is an address of this machine at which a listener is reached.
func here(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return addr
	case host == "" || host == "0.0.0.0":
		return net.JoinHostPort("127.0.0.1", port) // a bare machine does not know localhost
	case net.ParseIP(host).IsUnspecified():
		return net.JoinHostPort("::1", port)
	}
	return addr
}

// answers asks who serves an address, by https if it has a domain: whether it is a
// frontdesk server, and whether that is ready. checkWebCertificate looks at the
// certificate.
func answers(ctx context.Context, addr, domain string) (ours, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	scheme, client := "http", &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{ServerName: domain, InsecureSkipVerify: true}}}
	if domain != "" {
		scheme = "https"
	}
	get := func(path, want string) bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+here(addr)+path, nil)
		if err != nil {
			return false
		}
		res, err := client.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, 100))
		return res.StatusCode == http.StatusOK && string(body) == want+"\n"
	}
	return get("/healthz", "ok"), get("/readyz", "ready")
}

// key checks that the key file is the one that the database was sealed with.
func (d *doctor) key(ctx context.Context) {
	path := d.settings.KeyPath()
	var needed []proof
	if d.database == nil {
		d.note("sealing key", warn, "", "Not checked: the database cannot be opened.")
		return
	}
	if !d.database.Missing && d.database.Schema > 0 {
		err := db.View(ctx, d.options, func(s *db.Snapshot) error {
			keys := s.Table("sealing_keys")
			return s.Rows(ctx, keys, "", nil, func(c []db.Cell) error {
				needed = append(needed,
					proof{int(c[keys.Index("number")].Int), bytes.Clone(c[keys.Index("proof")].Text)})
				return nil
			})
		})
		if err != nil {
			d.note("sealing key", fail, "", "Cannot read which key the database needs: %v.", err)
			return
		}
	}
	const remedy = "Copy sealing.key from the server that made the database, or from where you keep it."
	box, err := secret.ReadBox(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && len(needed) == 0:
		d.note("sealing key", fine, "", "There is none yet; serve creates it.")
	case errors.Is(err, os.ErrNotExist):
		d.note("sealing key", fail, remedy, "%s is missing, and the database is sealed.", path)
	case err != nil:
		d.note("sealing key", fail, remedy, "%v.", err)
	case !keysFit(box, needed):
		d.note("sealing key", fail, remedy, "%s does not belong to this database.", path)
	case len(box.Numbers()) > 1:
		d.note("sealing key", warn, "Once every server has the file: frontdesk admin secrets rotate --retire",
			"%s fits; it holds %d keys, of which key %d seals.", path, len(box.Numbers()), box.Newest())
	default:
		d.note("sealing key", fine, "", "%s fits. Keep a copy of it elsewhere; no backup has it.", path)
	}
}

// time checks that the clock is plausible: not before the newest event, and close to
// PostgreSQL's.
func (d *doctor) time(ctx context.Context) {
	now := time.Now()
	if d.settings.ClockOffset != 0 {
		d.note("clock", warn, "Leave --clock-offset out, except on a copy.", "The service's clock is shifted by %s.",
			d.settings.ClockOffset)
		return
	}
	c := d.database
	newest := clock.Time(0)
	if c != nil && !c.Missing && c.Schema > 0 {
		err := db.View(ctx, d.options, func(s *db.Snapshot) error {
			events := s.Table("events")
			return s.Last(ctx, events, "TRUE", func(cells []db.Cell) error {
				newest = clock.Time(cells[events.Index("created_at")].Int)
				return nil
			})
		})
		if err != nil {
			d.note("clock", warn, "", "The newest event cannot be read: %v.", err)
			return
		}
	}
	const remedy = "Set the machine's clock, and let NTP keep it."
	switch {
	case now.Year() < 2025:
		d.note("clock", fail, remedy, "The machine believes that it is %s.", now.UTC().Format(time.RFC3339))
	case newest.Std().After(now.Add(time.Minute)):
		d.note("clock", fail, remedy, "It is %s, which is before the newest event, of %s.",
			now.UTC().Format(time.RFC3339),
			newest)
	case c != nil && c.Engine == db.Postgres && c.Ahead.Abs() > time.Minute:
		d.note("clock", fail, remedy, "PostgreSQL's clock differs by %s.", c.Ahead.Round(time.Second))
	case c != nil && c.Engine == db.Postgres && c.Ahead.Abs() > 2*time.Second:
		d.note("clock", warn, remedy, "PostgreSQL's clock differs by %s.", c.Ahead.Round(time.Millisecond))
	default:
		d.note("clock", fine, "", "It is %s.", now.UTC().Format(time.RFC3339))
	}
}

const (
	fewBytes = 100 << 20 // below this writes may fail at any moment
	lowBytes = 1 << 30   // below this the operator is warned
)

// space checks how much of the disk of the data folder is free.
func (d *doctor) space() {
	dir := d.settings.Data
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir) // where it will be made
	}
	free, total, err := diskSpace(dir)
	if err != nil {
		d.note("disk space", warn, "", "It cannot be determined: %v.", err)
		return
	}
	low := int64(lowBytes)
	if c := d.database; c != nil && c.Engine == db.SQLite {
		low = max(low, c.Bytes) // a restore, or a large log, needs as much again
	}
	switch {
	case free < fewBytes:
		d.note("disk space", fail, "Make room.", "%s are free in %s.", size(free), dir)
	case free < reserved(&d.settings, total):
		d.note("disk space", fail, "Make room, or lower --storage-reserve.",
			"Mail from outside is refused: only %s of %s are free in %s, and %d %% are kept.", size(free), size(total),
			dir, d.settings.StorageReserve)
	case free < low:
		d.note("disk space", warn, "Make room.", "Only %s are free in %s.", size(free), dir)
	default:
		d.note("disk space", fine, "", "%s are free in %s.", size(free), dir)
	}
}

// storage names the organizations that have almost used up their storage.
func (d *doctor) storage(ctx context.Context) {
	c := d.database
	if c == nil || c.Missing || c.Schema != c.Wanted {
		return
	}
	const nearly = 0.9
	var names []string
	err := db.View(ctx, d.options, func(s *db.Snapshot) error {
		organizations := s.Table("organizations")
		var args []any
		limit := "CASE plan"
		for plan, bytes := range d.settings.StorageLimit.ByPlan() {
			args = append(args, int64(nearly*float64(bytes)))
			limit += fmt.Sprintf(" WHEN '%s' THEN CAST($%d AS bigint)", plan, len(args))
		}
		used := db.StoredBytes("organizations.id")
		return s.Rows(ctx, organizations, "deleted_at IS NULL AND "+used+" >= "+limit+" END", args,
			func(cells []db.Cell) error {
				names = append(names, string(cells[organizations.Index("id")].Text))
				return nil
			})
	})
	switch {
	case err != nil:
		d.note("storage", warn, "", "What organizations store cannot be read: %v.", err)
	case len(names) > 0:
		d.note("storage", warn, "Give them a larger plan, or raise --storage-limit-….",
			"%d organizations have used 90 %% of their storage or more: %s.", len(names),
			strings.Join(names[:min(len(names), 10)], ", "))
	default:
		d.note("storage", fine, "", "No organization has used 90 %% of its storage.")
	}
}

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

// addFinding adds a finding. The remedy says what the operator should do, if anything.
func (d *doctor) addFinding(check, status, remedy, format string, args ...any) {
	d.findings = append(d.findings, Finding{check, status, fmt.Sprintf(format, args...), remedy})
}

const (
	statusOK   = "ok"
	statusWarn = "warn"
	statusFail = "fail"
)

// DatabaseOptions say where the settings put the database.
func DatabaseOptions(s config.Settings) db.Options {
	return db.Options{Path: s.DatabasePath(), URL: s.DatabaseURL, Migrations: []fs.FS{migrations.FS}}
}

// RunDoctor checks everything that the service needs to run, and changes nothing. The
// settings are settled. The order matters a little: later checks use what checkDatabase found
// out about the database.
func RunDoctor(ctx context.Context, s config.Settings) []Finding {
	d := &doctor{settings: s, options: DatabaseOptions(s)}
	d.checkConfiguration()
	d.checkDataFolder()
	d.checkDatabase(ctx)
	d.checkFiles(ctx)
	d.checkListener(ctx)
	if !d.settings.SharesListener() {
		d.checkPort("agent port", "--mcp-listen", d.settings.MCPListen)
	}
	if d.settings.Domain != "" {
		d.checkPort("http port", "--tls-redirect", d.settings.TLS.Redirect)
	}
	d.checkDNS(ctx)
	d.checkMail(ctx)
	d.checkPort("mail port", "--smtp-listen", d.settings.MailServer.Listen)
	d.checkMailCertificate()
	d.checkWebCertificate(ctx)
	d.checkServerRecords(ctx)
	d.checkSealingKey(ctx)
	d.checkProviders(ctx)
	d.checkClock(ctx)
	d.checkDiskSpace()
	d.checkStorage(ctx)
	d.checkBackups(ctx)
	return d.findings
}

// checkConfiguration checks where the API is reached. Plain HTTP is for this machine only.
func (d *doctor) checkConfiguration() {
	s := &d.settings
	local := peer.IsLoopback(s.Listen)
	base, err := url.Parse(s.BaseURL)
	switch {
	case err != nil:
		d.addFinding("configuration", statusFail, "Set --base-url to where callers reach the API.",
			"%q is no address.", s.BaseURL)
	case !local && base.Scheme == "http":
		d.addFinding("configuration", statusWarn,
			"Put a proxy with TLS before it, and set --base-url to its https address.",
			"It listens on %s for other machines, in plain HTTP.", s.Listen)
	default:
		d.addFinding("configuration", statusOK, "", "The API is %s, listening on %s.", s.BaseURL, s.Listen)
	}
}

// checkDataFolder checks that the data folder can be written, and that no other user can read
// what is in it.
func (d *doctor) checkDataFolder() {
	dir := d.settings.Data
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.addFinding("data folder", statusOK, "", "%s does not exist yet; serve creates it.", dir)
		return
	case err != nil:
		d.addFinding("data folder", statusFail, "Give a --data that this user can reach.", "%v.", err)
		return
	case !info.IsDir():
		d.addFinding("data folder", statusFail, "Give another --data.", "%s is not a folder.", dir)
		return
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.addFinding("data folder", statusFail, "Make it writable for the user who runs the server.",
			"%s cannot be written to: %v.", dir,
			err)
		return
	}
	probe.Close()           //nolint:errcheck // nothing was written
	os.Remove(probe.Name()) //nolint:errcheck // it is empty
	var open []string
	for _, name := range []string{d.settings.SealingKeyPath(), d.settings.DatabasePath()} {
		if f, err := os.Stat(name); err == nil && f.Mode().Perm()&0o077 != 0 {
			open = append(open, filepath.Base(name))
		}
	}
	switch {
	case len(open) > 0:
		d.addFinding("data folder", statusFail, "chmod 600 "+strings.Join(open, " ")+" in "+dir,
			"Other users can read %s.", strings.Join(open, " and "))
	case info.Mode().Perm()&0o077 != 0:
		d.addFinding("data folder", statusWarn, "chmod 700 "+dir, "Other users can look into %s.", dir)
	default:
		d.addFinding("data folder", statusOK, "", "%s is writable, and only for this user.", dir)
	}
}

// checkDatabase examines the database and its schema.
func (d *doctor) checkDatabase(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // a large file takes long to read through
	defer cancel()
	c, err := db.Examine(ctx, d.options)
	if err != nil {
		d.addFinding("database", statusFail, "Check --database-url, or the file's permissions.",
			"It cannot be opened: %v.", err)
		return
	}
	d.database = c
	name := map[db.Engine]string{db.SQLite: "SQLite", db.Postgres: "PostgreSQL"}[c.Engine] + " " + c.Version
	switch {
	case c.Missing:
		d.addFinding("database", statusOK, "", "There is none yet; serve creates it.")
	case len(c.Problems) > 0:
		d.addFinding("database", statusFail,
			"Stop the server and restore the last backup into an empty folder or database.", "%s: %s.",
			name, strings.Join(c.Problems, "; "))
	case len(c.LackedExtensions) > 0:
		d.addFinding("database", statusFail, "Install PostgreSQL's contrib package on its server.",
			"%s lacks the extensions %s.", name, strings.Join(c.LackedExtensions, ", "))
	case c.MayNotMigrate:
		d.addFinding("database", statusFail, "Make the user the owner of the database.",
			"%s: its user may create neither tables nor extensions in it.", name)
	case c.Owned:
		d.addFinding("database", statusOK, "", "%s, %s; a server has it open, so it was not read through.", name,
			formatMegabytes(c.Bytes))
	case c.Engine == db.SQLite:
		d.addFinding("database", statusOK, "", "%s, %s, read through and sound.", name, formatMegabytes(c.Bytes))
	default:
		d.addFinding("database", statusOK, "", "%s, %s, %d connections of servers.", name, formatMegabytes(c.Bytes),
			c.ServerConnections)
	}
	switch {
	case c.Missing:
	case c.Schema == 0:
		d.addFinding("schema", statusOK, "", "There is none yet; serve creates it.")
	case c.Schema > c.KnownSchema:
		d.addFinding("schema", statusFail, "Use the version that migrated it, or a newer one.",
			"The schema is %d, but this version only knows %d.", c.Schema, c.KnownSchema)
	case c.Schema < c.KnownSchema:
		d.addFinding("schema", statusWarn,
			"Make a backup; then frontdesk migrate, or the next start, brings it up to date.",
			"The schema is %d, and this version has %d.", c.Schema, c.KnownSchema)
	default:
		d.addFinding("schema", statusOK, "", "%d, up to date.", c.Schema)
	}
}

// checkFiles checks that bytes can be stored, by storing some, and that the bytes of the
// newest file are there: they are not if doctor was given another folder or bucket
// than the server.
func (d *doctor) checkFiles(ctx context.Context) {
	s, where := &d.settings, describeBlobStore(&d.settings)
	const lost = "Give doctor the server's --data or bucket, or bring the bytes back from a backup."
	newest, err := d.newestFile(ctx)
	if err != nil {
		d.addFinding("files", statusWarn, "", "The files' rows cannot be read: %v.", err)
		return
	}
	if _, err := os.Stat(s.FilesPath()); s.Files.S3.Bucket == "" && errors.Is(err, os.ErrNotExist) {
		if newest != nil {
			d.addFinding("files", statusFail, lost, "There is no %s, and the database has files.",
				strings.TrimPrefix(where, "the "))
			return
		}
		d.addFinding("files", statusOK, "", "There is no %s yet; serve creates it.", strings.TrimPrefix(where, "the "))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	blobs, err := openBlobs(ctx, s)
	if err == nil {
		err = blobs.Check(ctx)
	}
	if err != nil {
		d.addFinding("files", statusFail,
			"Check --files-s3-bucket, its endpoint, region and keys, or the folder's permissions.",
			"Nothing can be stored in %s: %v.", where, err)
		return
	}
	if newest != nil {
		r, err := blobs.Open(ctx, newest.key, 0)
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			d.addFinding("files", statusFail, lost,
				"Bytes can be stored in %s, but those of the newest file, %s, cannot be read: %v.",
				where, newest.id, err)
			return
		}
	}
	d.addFinding("files", statusOK, "", "Bytes can be stored in %s.", where)
}

// newestFile is the file that was stored last and is not deleted, or nil.
func (d *doctor) newestFile(ctx context.Context) (newest *backupFile, err error) {
	c := d.database
	if c == nil || c.Missing || c.Schema == 0 || c.Schema > c.KnownSchema {
		return nil, nil
	}
	err = db.ViewSnapshot(ctx, d.options, func(s *db.Snapshot) error {
		files := s.FindTable("files")
		if files == nil {
			return nil // the schema is from before there were any
		}
		return s.LastRow(ctx, files, "deleted_at IS NULL", func(c []db.Cell) error {
			newest = &backupFile{id: string(c[files.ColumnIndex("id")].Text),
				key: string(c[files.ColumnIndex("blob_key")].Text)}
			return nil
		})
	})
	return newest, err
}

// formatMegabytes is a number of bytes for people to read.
func formatMegabytes(n int64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// checkListener checks that the API's address is free, or that our own server has it.
func (d *doctor) checkListener(ctx context.Context) {
	addr, flag := d.settings.Listen, "--listen"
	if d.settings.Domain != "" {
		flag = "--tls-listen"
	}
	l, err := net.Listen("tcp", addr)
	if err == nil {
		l.Close()
		if d.database != nil && d.database.Owned {
			d.addFinding("port", statusWarn, "Give doctor the same "+flag+" as the server.",
				"%s is free, but a server runs on %s.", addr, d.settings.Data)
			return
		}
		d.addFinding("port", statusOK, "", "%s is free.", addr)
		return
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		d.addFinding("port", statusFail, "Give a "+flag+" that this machine has and this user may use.", "%s: %v.",
			addr, err)
		return
	}
	ours, ready := probeServer(ctx, addr, d.settings.Domain)
	switch {
	case ours && ready && d.serverIsRunning():
		d.addFinding("port", statusOK, "", "The server on %s answers and is ready.", addr)
	case ours && d.serverIsRunning():
		d.addFinding("port", statusFail, "Read its log.", "The server on %s answers, but is not ready.", addr)
	case ours:
		d.addFinding("port", statusFail, "Stop it, or give another "+flag+".",
			"A frontdesk server on another database has %s.", addr)
	default:
		d.addFinding("port", statusFail, "Stop it, or give another "+flag+".", "Another program has %s.", addr)
	}
}

// checkPort checks that another listener's address is free, or that a server of ours runs,
// which is then taken to have it.
func (d *doctor) checkPort(check, flag, addr string) {
	if addr == "" {
		return
	}
	d.addAddressFinding(check, flag, addr, tryListenTCP(addr))
}

// tryListenTCP takes an address for a moment.
func tryListenTCP(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		err = l.Close()
	}
	return err
}

// addAddressFinding adds what came of taking an address.
func (d *doctor) addAddressFinding(check, flag, addr string, err error) {
	switch {
	case err == nil:
		d.addFinding(check, statusOK, "", "%s is free.", addr)
	case errors.Is(err, syscall.EADDRINUSE) && d.serverIsRunning():
		d.addFinding(check, statusOK, "", "%s is in use, and a server runs on this database.", addr)
	case errors.Is(err, syscall.EADDRINUSE):
		d.addFinding(check, statusFail, "Stop it, or give another "+flag+".", "Another program has %s.", addr)
	default:
		d.addFinding(check, statusFail, "Give a "+flag+" that this machine has and this user may use.", "%s: %v.",
			addr, err)
	}
}

// checkDNS checks that the embedded server's address is free, or that the provider
// in its place answers.
func (d *doctor) checkDNS(ctx context.Context) {
	if other := externalDNS(&d.settings); other != nil {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		who, err := other.Ping(ctx)
		if err != nil {
			d.addFinding("DNS provider", statusFail, "Check its address and its key or token.",
				"%s does not answer as it should: %v.",
				d.settings.DNS.Provider, err)
			return
		}
		d.addFinding("DNS provider", statusOK, "", "%s answers.", who)
		return
	}
	addr := d.settings.DNS.Listen
	if addr == "" {
		d.addFinding("DNS port", statusWarn, "Give --dns-listen, and send queries for port 53 there.",
			"Nobody answers for the zones of domains.")
		return
	}
	udp, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", addr)
	if err == nil {
		err = udp.Close()
	}
	if err == nil { // it answers on both
		err = tryListenTCP(addr)
	}
	d.addAddressFinding("DNS port", "--dns-listen", addr, err)
}

// serverIsRunning reports whether a server has the database open.
func (d *doctor) serverIsRunning() bool {
	return d.database != nil && (d.database.Owned || d.database.ServerConnections > 0)
}

// localAddress is an address of this machine at which a listener is reached.
func localAddress(addr string) string {
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

// probeServer asks who serves an address, by https if it has a domain: whether it is a
// frontdesk server, and whether that is ready. checkWebCertificate looks at the
// certificate.
func probeServer(ctx context.Context, addr, domain string) (ours, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	scheme, client := "http", &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{ServerName: domain, InsecureSkipVerify: true}}}
	if domain != "" {
		scheme = "https"
	}
	get := func(path, want string) bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+localAddress(addr)+path, nil)
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

// checkSealingKey checks that the key file is the one that the database was sealed with.
func (d *doctor) checkSealingKey(ctx context.Context) {
	path := d.settings.SealingKeyPath()
	var needed []proof
	if d.database == nil {
		d.addFinding("sealing key", statusWarn, "", "Not checked: the database cannot be opened.")
		return
	}
	if !d.database.Missing && d.database.Schema > 0 {
		err := db.ViewSnapshot(ctx, d.options, func(s *db.Snapshot) error {
			keys := s.FindTable("sealing_keys")
			return s.EachRow(ctx, keys, "", nil, func(c []db.Cell) error {
				needed = append(needed,
					proof{int(c[keys.ColumnIndex("number")].Int), bytes.Clone(c[keys.ColumnIndex("proof")].Text)})
				return nil
			})
		})
		if err != nil {
			d.addFinding("sealing key", statusFail, "", "Cannot read which key the database needs: %v.", err)
			return
		}
	}
	const remedy = "Copy sealing.key from the server that made the database, or from where you keep it."
	box, err := secret.ReadBox(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && len(needed) == 0:
		d.addFinding("sealing key", statusOK, "", "There is none yet; serve creates it.")
	case errors.Is(err, os.ErrNotExist):
		d.addFinding("sealing key", statusFail, remedy, "%s is missing, and the database is sealed.", path)
	case err != nil:
		d.addFinding("sealing key", statusFail, remedy, "%v.", err)
	case !boxHasKeys(box, needed):
		d.addFinding("sealing key", statusFail, remedy, "%s does not belong to this database.", path)
	case len(box.KeyNumbers()) > 1:
		d.addFinding("sealing key", statusWarn,
			"Once every server has the file: frontdesk admin secrets rotate --retire",
			"%s fits; it holds %d keys, of which key %d seals.", path, len(box.KeyNumbers()), box.NewestKey())
	default:
		d.addFinding("sealing key", statusOK, "", "%s fits. Keep a copy of it elsewhere; no backup has it.", path)
	}
}

// checkClock checks that the clock is plausible: not before the newest event, and close to
// PostgreSQL's.
func (d *doctor) checkClock(ctx context.Context) {
	now := time.Now()
	if d.settings.ClockOffset != 0 {
		d.addFinding("clock", statusWarn, "Leave --clock-offset out, except on a copy.",
			"The service's clock is shifted by %s.", d.settings.ClockOffset)
		return
	}
	c := d.database
	newest := clock.Time(0)
	if c != nil && !c.Missing && c.Schema > 0 {
		err := db.ViewSnapshot(ctx, d.options, func(s *db.Snapshot) error {
			events := s.FindTable("events")
			return s.LastRow(ctx, events, "TRUE", func(cells []db.Cell) error {
				newest = clock.Time(cells[events.ColumnIndex("created_at")].Int)
				return nil
			})
		})
		if err != nil {
			d.addFinding("clock", statusWarn, "", "The newest event cannot be read: %v.", err)
			return
		}
	}
	const remedy = "Set the machine's clock, and let NTP keep it."
	switch {
	case now.Year() < 2025:
		d.addFinding("clock", statusFail, remedy, "The machine believes that it is %s.", now.UTC().Format(time.RFC3339))
	case newest.Std().After(now.Add(time.Minute)):
		d.addFinding("clock", statusFail, remedy, "It is %s, which is before the newest event, of %s.",
			now.UTC().Format(time.RFC3339),
			newest)
	case c != nil && c.Engine == db.Postgres && c.ClockAhead.Abs() > time.Minute:
		d.addFinding("clock", statusFail, remedy, "PostgreSQL's clock differs by %s.", c.ClockAhead.Round(time.Second))
	case c != nil && c.Engine == db.Postgres && c.ClockAhead.Abs() > 2*time.Second:
		d.addFinding("clock", statusWarn, remedy, "PostgreSQL's clock differs by %s.",
			c.ClockAhead.Round(time.Millisecond))
	default:
		d.addFinding("clock", statusOK, "", "It is %s.", now.UTC().Format(time.RFC3339))
	}
}

const (
	failBelowBytes = 100 << 20 // below this writes may fail at any moment
	warnBelowBytes = 1 << 30   // below this the operator is warned
)

// checkDiskSpace checks how much of the disk of the data folder is free.
func (d *doctor) checkDiskSpace() {
	dir := d.settings.Data
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir) // where it will be made
	}
	free, total, err := diskSpace(dir)
	if err != nil {
		d.addFinding("disk space", statusWarn, "", "It cannot be determined: %v.", err)
		return
	}
	low := int64(warnBelowBytes)
	if c := d.database; c != nil && c.Engine == db.SQLite {
		low = max(low, c.Bytes) // a restore, or a large log, needs as much again
	}
	switch {
	case free < failBelowBytes:
		d.addFinding("disk space", statusFail, "Make room.", "%s are free in %s.", formatMegabytes(free), dir)
	case free < reservedBytes(&d.settings, total):
		d.addFinding("disk space", statusFail, "Make room, or lower --storage-reserve.",
			"Mail from outside is refused: only %s of %s are free in %s, and %d %% are kept.", formatMegabytes(free),
			formatMegabytes(total),
			dir, d.settings.StorageReserve)
	case free < low:
		d.addFinding("disk space", statusWarn, "Make room.", "Only %s are free in %s.", formatMegabytes(free), dir)
	default:
		d.addFinding("disk space", statusOK, "", "%s are free in %s.", formatMegabytes(free), dir)
	}
}

// checkStorage names the organizations that have almost used up their storage.
func (d *doctor) checkStorage(ctx context.Context) {
	c := d.database
	if c == nil || c.Missing || c.Schema != c.KnownSchema {
		return
	}
	const nearly = 0.9
	var names []string
	err := db.ViewSnapshot(ctx, d.options, func(s *db.Snapshot) error {
		organizations := s.FindTable("organizations")
		var args []any
		limit := "CASE plan"
		for plan, bytes := range d.settings.StorageLimit.LimitsByPlan() {
			args = append(args, int64(nearly*float64(bytes)))
			limit += fmt.Sprintf(" WHEN '%s' THEN CAST($%d AS bigint)", plan, len(args))
		}
		used := db.StoredBytes("organizations.id")
		return s.EachRow(ctx, organizations, "deleted_at IS NULL AND "+used+" >= "+limit+" END", args,
			func(cells []db.Cell) error {
				names = append(names, string(cells[organizations.ColumnIndex("id")].Text))
				return nil
			})
	})
	switch {
	case err != nil:
		d.addFinding("storage", statusWarn, "", "What organizations store cannot be read: %v.", err)
	case len(names) > 0:
		d.addFinding("storage", statusWarn, "Give them a larger plan, or raise --storage-limit-….",
			"%d organizations have used 90 %% of their storage or more: %s.", len(names),
			strings.Join(names[:min(len(names), 10)], ", "))
	default:
		d.addFinding("storage", statusOK, "", "No organization has used 90 %% of its storage.")
	}
}

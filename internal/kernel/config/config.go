// Package config has every setting of the service in one struct, Settings. A setting is a flag, an environment variable
// and a key of one TOML file, in that order of precedence: --rate-limit-free, FRONTDESK_RATE_LIMIT_FREE, and free under
// [rate_limit].
//
// The command line is read with kong, which makes flags from the struct's fields and tags: renaming a field renames a
// setting. file.go adds the values of the TOML file. Then Settings.FillAndValidate fills in what follows from other
// settings and refuses what is wrong, with the name of the flag; the other files hold a part of that each. Retention is
// also what tables go by to end their rows.
//
// Settings are read once at start and passed on as values. There are no global settings.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"frontdesk/internal/kernel/peer"
)

// Settings is everything that an operator can set. The tags define the command line. A field with the tag embed is a
// group of settings, whose flags begin with its prefix.
type Settings struct {
	Data          string `help:"Data folder. Default: ./data (./data/demo for --demo)." type:"path" placeholder:"DIR"`
	DatabaseURL   string `help:"PostgreSQL to use instead of SQLite." placeholder:"postgres://…" name:"database-url"`
	Domain        string `help:"Name of the server, for https with a certificate by itself." placeholder:"NAME"`
	Listen        string `help:"Address of the API and the console, without --domain." default:"127.0.0.1:8080"`
	BaseURL       string `help:"Public URL of the API; default: http://LISTEN." name:"base-url" placeholder:"URL"`
	MCPListen     string `help:"Agents; empty for none; may share --listen." default:"127.0.0.1:8081" name:"mcp-listen"`
	MetricsListen string `help:"Figures for Prometheus; empty for none." default:"127.0.0.1:9090" name:"metrics-listen"`
	MCPURL        string `help:"Its public URL; default: http://MCP-LISTEN." name:"mcp-url" placeholder:"URL"`

	TLS  TLS  `embed:"" prefix:"tls-"`
	ACME ACME `embed:"" prefix:"acme-"`

	PublicAddresses []string `help:"Addresses of this server; default: its public ones." placeholder:"IP,…"`

	TrustedProxies []string `help:"Proxies with a trusted X-Forwarded-For." name:"trusted-proxies" placeholder:"NET,…"`

	Database        Database        `embed:"" prefix:"database-"`
	Files           Files           `embed:"" prefix:"files-"`
	Backup          Backup          `embed:"" prefix:"backup-"`
	Mail            Mail            `embed:"" prefix:"mail-"`
	SMTP            SMTP            `embed:"" prefix:"smtp-"`
	MailServer      MailServer      `embed:"" prefix:"smtp-"`
	RateLimit       RateLimit       `embed:"" prefix:"rate-limit-"`
	AgentLimit      AgentLimit      `embed:"" prefix:"agent-limit-"`
	AutomationLimit AutomationLimit `embed:"" prefix:"automation-limit-"`
	StorageLimit    StorageLimit    `embed:"" prefix:"storage-limit-"`
	StorageReserve  int             `help:"Percent of the disk that incoming mail must leave free." default:"5"`
	OAuth           OAuth           `embed:"" prefix:"oauth-"`
	OIDC            OIDC            `embed:"" prefix:"oidc-"`
	Agreement       Agreement       `embed:"" prefix:"agreement-"`
	Retention       Retention       `embed:"" prefix:"retention-"`
	Log             Log             `embed:"" prefix:"log-"`
	DNS             DNS             `embed:"" prefix:"dns-"`
	PowerDNS        PowerDNS        `embed:"" prefix:"powerdns-"`
	Providers       `embed:""`

	ClockOffset time.Duration `help:"Shift the clock, to rehearse expiries on a copy." default:"0" name:"clock-offset"`
	Workers     int           `help:"Background jobs that run at once." default:"8"`
	Drain       time.Duration `help:"With PostgreSQL: how long /readyz says 503 before a stop." default:"10s"`

	AllowInsecureClientMetadata bool `help:"Development: fetch client metadata over http and from this machine too."`
	AllowInsecureWebhooks       bool `help:"Development: send webhooks to this machine too, over http."`
}

// Database is how a process uses PostgreSQL.
type Database struct {
	Connections int           `help:"Connections to PostgreSQL; default: pool_max_conns of the URL, or 16." default:"0"`
	Wait        time.Duration `help:"How long a request waits for one of them; then it gets 503." default:"1s"`
}

// RateLimit is the number of API requests per minute by plan.
type RateLimit struct {
	Free         int `help:"API requests per minute on the free plan." default:"60"`
	Starter      int `help:"… on starter." default:"300"`
	Professional int `help:"… on professional." default:"1000"`
	Enterprise   int `help:"… on enterprise." default:"6000"`
	Public       int `help:"Requests per minute and address that need no key, like access links." default:"120"`
}

// LimitsByPlan is the limits by the name of the plan.
func (r RateLimit) LimitsByPlan() map[string]int {
	return limitsByPlan(r.Free, r.Starter, r.Professional, r.Enterprise)
}

// limitsByPlan names the plans, in one place for all limits.
func limitsByPlan[N int | int64](free, starter, professional, enterprise N) map[string]N {
	return map[string]N{"free": free, "starter": starter, "professional": professional, "enterprise": enterprise}
}

// Files is how large files may be and where their bytes are stored: in a folder of --data, or in a bucket of S3 or a
// compatible store.
type Files struct {
	MaxBytes int64 `help:"Largest file, in bytes." default:"104857600"`
	S3       S3    `embed:"" prefix:"s3-"`
}

// S3 is the bucket for files. Without keys, those of the machine's environment or role are used. The names of the
// environment variables are spelled out, because kong would make S_3 from S3.
type S3 struct {
	Bucket    string `help:"Bucket for files, instead of the folder in --data." env:"FRONTDESK_FILES_S3_BUCKET"`
	Endpoint  string `help:"S3-compatible store; else Amazon S3." env:"FRONTDESK_FILES_S3_ENDPOINT" placeholder:"URL"`
	Region    string `help:"Region of the bucket." env:"FRONTDESK_FILES_S3_REGION" default:"us-east-1"`
	AccessKey string `help:"Access key of the store." env:"FRONTDESK_FILES_S3_ACCESS_KEY"`
	SecretKey string `help:"Secret key; better set in the environment or file." env:"FRONTDESK_FILES_S3_SECRET_KEY"`
}

// Mail is how mail is sent.
type Mail struct {
	Domain   string `help:"The service's own domain; default sender: no-reply@DOMAIN." default:"frontdesk.example"`
	SPF      string `help:"SPF of hosted domains, like include:relay.example; default: a:MAIL-DOMAIN."`
	Provider string `help:"mailbox (kept in the console) or smtp (relayed)." default:"mailbox" enum:"mailbox,smtp"`
}

// SMTP is the relay for outgoing mail, with --mail-provider=smtp.
type SMTP struct {
	Host     string `help:"Relay for outgoing mail, with --mail-provider=smtp."`
	Port     int    `help:"Port of the relay." default:"587"`
	Username string `help:"User at the relay; empty if it asks for none."`
	Password string `help:"Password at the relay; better set in the environment or the file."`
	// TLS is how to encrypt: starttls insists on STARTTLS, opportunistic uses it if the relay offers it, and tls
	// encrypts from the first byte.
	TLS string `help:"Encryption to the relay: ${enum}." default:"starttls" enum:"starttls,opportunistic,tls,none"`
}

// MailServer is how mail is received.
type MailServer struct {
	Listen      string `help:"Address of the mail server; empty for none." default:"127.0.0.1:8025"`
	TLSCert     string `help:"File with the certificate chain for STARTTLS." placeholder:"FILE"`
	TLSKey      string `help:"File with the certificate's key." placeholder:"FILE"`
	MaxBytes    int64  `help:"Largest mail, in bytes; at most --files-max-bytes." default:"26214400"`
	Limit       int    `help:"Mails per minute and address." default:"120"`
	LimitBytes  int64  `help:"Bytes of mail per minute and address; at least --smtp-max-bytes." default:"268435456"`
	Connections int    `help:"Connections at once; at most a quarter of them from one address." default:"200"`
}

// AgentLimit is the number of agents' tool calls per minute by plan.
type AgentLimit struct {
	Free         int `help:"Agents' tool calls per minute on the free plan." default:"10"`
	Starter      int `help:"… on starter." default:"30"`
	Professional int `help:"… on professional." default:"100"`
	Enterprise   int `help:"… on enterprise." default:"300"`
	Transport    int `help:"Requests to the agent connection per minute, for each user and client." default:"600"`
}

// LimitsByPlan is the limits by the name of the plan.
func (l AgentLimit) LimitsByPlan() map[string]int {
	return limitsByPlan(l.Free, l.Starter, l.Professional, l.Enterprise)
}

// AutomationLimit is the number of automation executions per minute by plan.
type AutomationLimit struct {
	Free         int `help:"Automation executions per minute on the free plan; more wait." default:"30"`
	Starter      int `help:"… on starter." default:"120"`
	Professional int `help:"… on professional." default:"600"`
	Enterprise   int `help:"… on enterprise." default:"3000"`
}

// LimitsByPlan is the limits by the name of the plan.
func (l AutomationLimit) LimitsByPlan() map[string]int {
	return limitsByPlan(l.Free, l.Starter, l.Professional, l.Enterprise)
}

// StorageLimit is the bytes of files and mail per organization, by plan.
type StorageLimit struct {
	Free         int64 `help:"Bytes of files and mail per organization on the free plan." default:"1073741824"`
	Starter      int64 `help:"… on starter." default:"10737418240"`
	Professional int64 `help:"… on professional." default:"107374182400"`
	Enterprise   int64 `help:"… on enterprise." default:"1073741824000"`
}

// LimitsByPlan is the limits by the name of the plan.
func (l StorageLimit) LimitsByPlan() map[string]int64 {
	return limitsByPlan(l.Free, l.Starter, l.Professional, l.Enterprise)
}

// OAuth is the authorization server of the agent connection.
type OAuth struct {
	RegisterLimit int `help:"Client registrations per minute and address." default:"10"`
	TokenLimit    int `help:"Requests to the token endpoint per minute and address." default:"10"`

	RefreshRequiresResource bool `help:"Refuse a refresh that does not name the resource." default:"true" negatable:""`
}

// Agreement is the current version of each agreement. After a change, businesses must accept it again.
type Agreement struct {
	Business string `help:"Current version of the business agreement." default:"1"`
	Domain   string `help:"Current version of the domain agreements." default:"1"`
}

// Retention is how long things are kept.
type Retention struct {
	Idempotency time.Duration `help:"How long answers are kept for repeated requests; at least 24h." default:"24h"`
	Jobs        time.Duration `help:"How long finished jobs are kept; at least 1h." default:"168h"`
	Deliveries  time.Duration `help:"How long webhook deliveries are kept; at least 96h." default:"720h"`
	Deleted     time.Duration `help:"How long deleted rows are kept; at least 1h." default:"2160h"`
	Events      time.Duration `help:"How long events are kept; at least 96h." default:"9600h"`
	Executions  time.Duration `help:"How long automation executions are kept; at least 1h." default:"2160h"`
}

// validate refuses times so short that rows would be deleted while something still uses them.
func (r Retention) validate() error {
	for _, v := range []struct {
		name         string
		given, least time.Duration
		because      string
	}{
		{"idempotency", r.Idempotency, 24 * time.Hour, "which is what callers are promised"},
		{"jobs", r.Jobs, time.Hour, "so that failures can be seen"},
		{"deliveries", r.Deliveries, 96 * time.Hour, "because a delivery is tried for three days"},
		{"deleted", r.Deleted, time.Hour, "so that work in progress can finish"},
		{"events", r.Events, 96 * time.Hour, "because webhooks deliver them for three days"},
		{"executions", r.Executions, time.Hour, "so that failures can be seen"},
	} {
		if v.given < v.least {
			return fmt.Errorf("--retention-%s: must be at least %dh, %s", v.name, int(v.least.Hours()), v.because)
		}
	}
	return nil
}

// Log is how the service logs.
type Log struct {
	Level  string `help:"debug, info, warn or error." default:"info" enum:"debug,info,warn,error"`
	Format string `help:"text or json." default:"text" enum:"text,json"`
}

// FillAndValidate fills in the settings that follow from others and refuses invalid ones. demo is serve --demo, which
// has a data folder of its own and may not use real providers. The order matters: --domain sets the addresses that the
// rest uses.
func (s *Settings) FillAndValidate(demo bool) error {
	if s.Data == "" {
		s.Data = "data"
		if demo {
			s.Data = filepath.Join("data", "demo")
		}
	}
	err := s.fillFromDomain()
	if err != nil {
		return err
	}
	if s.BaseURL, err = publicURL("listen", s.Listen, "base-url", s.BaseURL); err != nil {
		return err
	}
	if u, err := url.Parse(s.BaseURL); err != nil || u.Path != "" {
		return fmt.Errorf("--base-url: %q has a path, but pages are at the root; give the service its own host name",
			s.BaseURL)
	}
	if s.SharesListener() && s.MCPURL == "" {
		s.MCPURL = s.BaseURL
	}
	if s.MCPListen != "" {
		if s.MCPURL, err = publicURL("mcp-listen", s.MCPListen, "mcp-url", s.MCPURL); err != nil {
			return err
		}
	}
	if err := s.validateAddresses(); err != nil {
		return err
	}
	if _, err := peer.ParseProxies(s.TrustedProxies); err != nil {
		return fmt.Errorf("--trusted-proxies: %w", err)
	}
	for name, n := range map[string]int{"agent-limit-free": s.AgentLimit.Free,
		"agent-limit-starter":      s.AgentLimit.Starter,
		"agent-limit-professional": s.AgentLimit.Professional,
		"agent-limit-enterprise":   s.AgentLimit.Enterprise, "agent-limit-transport": s.AgentLimit.Transport,
		"oauth-register-limit": s.OAuth.RegisterLimit, "oauth-token-limit": s.OAuth.TokenLimit} {
		if n < 1 || n > 60_000_000 {
			return fmt.Errorf("--%s: must be between 1 and 60000000", name)
		}
	}
	for plan, n := range s.AutomationLimit.LimitsByPlan() {
		if n < 1 || n > 60_000_000 {
			return fmt.Errorf("--automation-limit-%s: must be between 1 and 60000000", plan)
		}
	}
	for plan, n := range s.RateLimit.LimitsByPlan() {
		if n < 1 || n > 60_000_000 {
			return fmt.Errorf("--rate-limit-%s: must be between 1 and 60000000", plan)
		}
	}
	for plan, n := range s.StorageLimit.LimitsByPlan() {
		if n < 1 || n > maxStorageBytes {
			return fmt.Errorf("--storage-limit-%s: must be between 1 and %d bytes", plan, int64(maxStorageBytes))
		}
	}
	if s.StorageReserve < 0 || s.StorageReserve > 90 {
		return errors.New("--storage-reserve: must be between 0 and 90 percent")
	}
	if n := s.RateLimit.Public; n < 1 || n > 60_000_000 {
		return errors.New("--rate-limit-public: must be between 1 and 60000000")
	}
	if err := s.Retention.validate(); err != nil {
		return err
	}
	if s.Workers < 1 || s.Workers > 1000 {
		return errors.New("--workers: must be between 1 and 1000")
	}
	if err := errors.Join(s.Files.validate(), s.Backup.validate()); err != nil {
		return err
	}
	if err := s.Providers.fillAndValidate(demo, s.ClockOffset); err != nil {
		return err
	}
	if err := s.fillAndValidateDNS(); err != nil {
		return err
	}
	if err := s.fillAndValidateMail(); err != nil {
		return err
	}
	if err := s.MailServer.validate(); err != nil {
		return err
	}
	if err := s.OIDC.validate(); err != nil {
		return err
	}
	if s.Agreement.Business == "" || s.Agreement.Domain == "" {
		return errors.New("--agreement-business and --agreement-domain must not be empty")
	}
	return nil
}

// fillAndValidateMail fills in the SPF mechanism and refuses invalid settings of outgoing mail.
func (s *Settings) fillAndValidateMail() error {
	s.Mail.Domain = strings.ToLower(s.Mail.Domain)
	if d := s.Mail.Domain; !hostNamePattern.MatchString(d) || len(d) > 200 {
		return fmt.Errorf("--mail-domain: %q is not a domain like mail.example.com", d)
	}
	if s.Mail.SPF == "" {
		s.Mail.SPF = "a:" + s.Mail.Domain
	}
	if !spfMechanisms.MatchString(s.Mail.SPF) || len(s.Mail.SPF) > 200 {
		return fmt.Errorf("--mail-spf: %q is not a list of mechanisms like include:relay.example ip4:192.0.2.1",
			s.Mail.SPF)
	}
	if s.Mail.Provider == "smtp" {
		switch {
		case s.SMTP.Host == "":
			return errors.New("--smtp-host: name the relay, or use --mail-provider=mailbox")
		case s.SMTP.Port < 1 || s.SMTP.Port > 65535:
			return errors.New("--smtp-port: must be between 1 and 65535")
		case (s.SMTP.Username == "") != (s.SMTP.Password == ""):
			return errors.New("--smtp-username and --smtp-password: give both or neither")
		}
	} else if s.SMTP.Host != "" {
		return errors.New("--smtp-host: only used with --mail-provider=smtp")
	}
	return nil
}

// validate refuses invalid settings of the mail server; without an address there is none.
func (m *MailServer) validate() error {
	if m.Listen == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(m.Listen); err != nil {
		return fmt.Errorf("--smtp-listen: %q is not host:port", m.Listen)
	}
	switch {
	case (m.TLSCert == "") != (m.TLSKey == ""):
		return errors.New("--smtp-tls-cert and --smtp-tls-key: give both or neither")
	case m.MaxBytes < 64<<10 || m.MaxBytes > 1<<30:
		return fmt.Errorf("--smtp-max-bytes: must be between %d and %d", 64<<10, 1<<30)
	case m.Limit < 1 || m.Limit > 60_000_000:
		return errors.New("--smtp-limit: must be between 1 and 60000000")
	case m.LimitBytes < m.MaxBytes || m.LimitBytes > maxStorageBytes:
		return fmt.Errorf("--smtp-limit-bytes: must be between --smtp-max-bytes and %d", int64(maxStorageBytes))
	case m.Connections < 1 || m.Connections > 100_000:
		return errors.New("--smtp-connections: must be between 1 and 100000")
	}
	return nil
}

// spfMechanisms matches a list of mechanisms that permit senders (RFC 7208 §5). The record ends in ~all, which makes
// every other sender doubtful.
var spfMechanisms = regexp.MustCompile(`^(a|mx|((a|mx|include|exists):|ip4:|ip6:)[!-~]+)( ` +
	`(a|mx|((a|mx|include|exists):|ip4:|ip6:)[!-~]+))*$`)

// hostNamePattern matches an ASCII domain with a dot in it.
var hostNamePattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

const (
	maxFileBytes    = 32 << 30 // bytes; S3 takes at most 10,000 parts, which have 5 MiB here
	maxStorageBytes = 1 << 50  // bytes
)

// validate refuses invalid settings of the files.
func (f *Files) validate() error {
	if f.MaxBytes < 1 || f.MaxBytes > maxFileBytes {
		return fmt.Errorf("--files-max-bytes: must be between 1 and %d", int64(maxFileBytes))
	}
	if f.S3.Bucket == "" {
		if f.S3.Endpoint != "" || f.S3.AccessKey != "" || f.S3.SecretKey != "" {
			return errors.New("--files-s3-bucket: name the bucket, or leave out the other S3 settings")
		}
		return nil
	}
	return checkS3Store("files-s3", f.S3.Endpoint, f.S3.AccessKey, f.S3.SecretKey)
}

// checkS3Store refuses invalid settings of an S3-compatible store. flag is the beginning of their names.
func checkS3Store(flag, endpoint, accessKey, secretKey string) error {
	if (accessKey == "") != (secretKey == "") {
		return fmt.Errorf("--%[1]s-access-key and --%[1]s-secret-key: give both or neither", flag)
	}
	if endpoint == "" {
		return nil
	}
	return checkURL(flag+"-endpoint", endpoint)
}

// publicURL returns the URL at which callers reach a listener: the given one or, without it, one made from the address
// it listens on. The names of both flags are for errors.
func publicURL(listenFlag, listen, urlFlag, given string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("--%s: %q is not host:port", listenFlag, listen)
	}
	if given == "" {
		if host == "" || host == "0.0.0.0" || host == "::" {
			host = "localhost"
		}
		given = "http://" + net.JoinHostPort(host, port)
	}
	given = strings.TrimSuffix(given, "/")
	if u, err := url.Parse(given); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" ||
		u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("--%s: %q is not an http or https address", urlFlag, given)
	}
	return given, nil
}

// DatabasePath is the embedded database's file.
func (s *Settings) DatabasePath() string { return filepath.Join(s.Data, "frontdesk.db") }

// FilesPath is the folder of the files' bytes, used without a bucket.
func (s *Settings) FilesPath() string { return filepath.Join(s.Data, "files") }

// SpoolPath is the folder for mail while it is received. The files in it have no names, and vanish with the process.
func (s *Settings) SpoolPath() string { return filepath.Join(s.Data, "spool") }

// SealingKeyPath is the file of the keys that seal secrets, outside the database.
func (s *Settings) SealingKeyPath() string { return filepath.Join(s.Data, "sealing.key") }

// SocketPath is the Unix socket by which the admin command reaches a running server.
func (s *Settings) SocketPath() string { return filepath.Join(s.Data, "admin.sock") }

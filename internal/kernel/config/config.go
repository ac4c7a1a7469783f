// Package config is every setting of the service in one documented struct.
// A setting is a flag, an environment variable and a key of one TOML file, in
// that order of precedence: --rate-limit-free, FRONTDESK_RATE_LIMIT_FREE,
// and free under [rate_limit].
package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"frontdesk/internal/kernel/peer"
)

// Settings is what an operator can say. The tags are the command line's.
type Settings struct {
	Data        string `help:"Folder of the database, files and keys. Default: ./data, and ./data/demo with --demo." type:"path" placeholder:"DIR"`
	DatabaseURL string `help:"PostgreSQL to use in place of the embedded database." placeholder:"postgres://…" name:"database-url"`
	Listen      string `help:"Address of the API and the console." default:"127.0.0.1:8080"`
	BaseURL     string `help:"Where callers reach the API; by default http:// and --listen." name:"base-url" placeholder:"URL"`
	MCPListen   string `help:"Address of the agent connection; empty to do without." default:"127.0.0.1:8081" name:"mcp-listen"`
	MCPURL      string `help:"Where agents' clients reach it; by default http:// and --mcp-listen." name:"mcp-url" placeholder:"URL"`

	TrustedProxies []string `help:"Addresses and networks of proxies whose X-Forwarded-For is believed." name:"trusted-proxies" placeholder:"NET,…"`

	Files      Files      `embed:"" prefix:"files-"`
	RateLimit  RateLimit  `embed:"" prefix:"rate-limit-"`
	AgentLimit AgentLimit `embed:"" prefix:"agent-limit-"`

	AutomationLimit AutomationLimit `embed:"" prefix:"automation-limit-"`

	OAuth     OAuth     `embed:"" prefix:"oauth-"`
	Agreement Agreement `embed:"" prefix:"agreement-"`
	Retention Retention `embed:"" prefix:"retention-"`
	Log       Log       `embed:"" prefix:"log-"`
	DNS       DNS       `embed:"" prefix:"dns-"`
	PowerDNS  PowerDNS  `embed:"" prefix:"powerdns-"`
	Providers `embed:""`

	ClockOffset time.Duration `help:"Shift the service's clock, to rehearse expiries on a copy." default:"0" name:"clock-offset"`
	Workers     int           `help:"Background jobs at a time." default:"8"`

	AllowInsecureClientMetadata bool `help:"Fetch client metadata documents also over http and from this machine, for development and tests."`
	AllowInsecureWebhooks       bool `help:"Send webhooks also to this machine, and there over http, for development and tests."`
}

// RateLimit is API requests per minute by plan.
type RateLimit struct {
	Free         int `help:"API requests per minute on the plan free." default:"60"`
	Starter      int `help:"… on starter." default:"300"`
	Professional int `help:"… on professional." default:"1000"`
	Enterprise   int `help:"… on enterprise." default:"6000"`
	Public       int `help:"Requests per minute and address to what needs no key, like access links." default:"120"`
}

// ByPlan is the limits by the plan's name.
func (r RateLimit) ByPlan() map[string]int {
	return map[string]int{"free": r.Free, "starter": r.Starter, "professional": r.Professional, "enterprise": r.Enterprise}
}

// Files is how large files may be, and where their bytes are: in a folder of
// --data, or in a bucket of S3 or a store that speaks its language.
type Files struct {
	MaxBytes int64 `help:"Largest file, in bytes." default:"104857600"`
	S3       S3    `embed:"" prefix:"s3-"`
}

// S3 says which bucket. Without keys, those of the machine's environment or
// role are used. The variables are named, because S3 would be read as S_3.
type S3 struct {
	Bucket    string `help:"Bucket for the bytes of files, in place of the folder files of --data." env:"FRONTDESK_FILES_S3_BUCKET"`
	Endpoint  string `help:"Address of an S3-compatible store; empty for Amazon S3." env:"FRONTDESK_FILES_S3_ENDPOINT" placeholder:"URL"`
	Region    string `help:"Region of the bucket." env:"FRONTDESK_FILES_S3_REGION" default:"us-east-1"`
	AccessKey string `help:"Access key of the store." env:"FRONTDESK_FILES_S3_ACCESS_KEY"`
	SecretKey string `help:"Secret key of the store; better given by the environment or the file." env:"FRONTDESK_FILES_S3_SECRET_KEY"`
}

// AgentLimit is tool calls of agents per minute by plan.
type AgentLimit struct {
	Free         int `help:"Tool calls of agents per minute on the plan free." default:"10"`
	Starter      int `help:"… on starter." default:"30"`
	Professional int `help:"… on professional." default:"100"`
	Enterprise   int `help:"… on enterprise." default:"300"`
	Transport    int `help:"Requests to the agent connection per minute, for each user and client." default:"600"`
}

// ByPlan is the limits by the plan's name.
func (l AgentLimit) ByPlan() map[string]int {
	return map[string]int{"free": l.Free, "starter": l.Starter, "professional": l.Professional, "enterprise": l.Enterprise}
}

// AutomationLimit is executions of automations per minute by plan.
type AutomationLimit struct {
	Free         int `help:"Executions of automations per minute on the plan free; more wait." default:"30"`
	Starter      int `help:"… on starter." default:"120"`
	Professional int `help:"… on professional." default:"600"`
	Enterprise   int `help:"… on enterprise." default:"3000"`
}

// ByPlan is the limits by the plan's name.
func (l AutomationLimit) ByPlan() map[string]int {
	return map[string]int{"free": l.Free, "starter": l.Starter, "professional": l.Professional, "enterprise": l.Enterprise}
}

// OAuth is the authorization server of the agent connection.
type OAuth struct {
	RegisterLimit int `help:"Client registrations per minute and address." default:"10"`
	TokenLimit    int `help:"Requests to the token endpoint per minute and address." default:"10"`

	RefreshRequiresResource bool `help:"Refuse a refresh that does not name the resource." default:"true" negatable:""`
}

// Agreement is the current version of each agreement. A new one needs
// acceptance again.
type Agreement struct {
	Business string `help:"Current version of the business agreement." default:"1"`
	Domain   string `help:"Current version of the domain agreements." default:"1"`
}

// Retention is how long things are kept.
type Retention struct {
	Jobs       time.Duration `help:"How long finished jobs are kept." default:"168h"`
	Deliveries time.Duration `help:"How long deliveries of webhooks are kept." default:"720h"`
	Deleted    time.Duration `help:"How long deleted rows are kept." default:"2160h"`
	Events     time.Duration `help:"How long events are kept." default:"9600h"`
	Executions time.Duration `help:"How long executions of automations are kept." default:"2160h"`
}

// Log is how the service tells what it does.
type Log struct {
	Level  string `help:"debug, info, warn or error." default:"info" enum:"debug,info,warn,error"`
	Format string `help:"text or json." default:"text" enum:"text,json"`
}

// Settle fills in what depends on other settings and refuses what cannot be.
func (s *Settings) Settle(demo bool) error {
	if s.Data == "" {
		s.Data = "data"
		if demo {
			s.Data = filepath.Join("data", "demo")
		}
	}
	var err error
	if s.BaseURL, err = address("listen", s.Listen, "base-url", s.BaseURL); err != nil {
		return err
	}
	if s.MCPListen != "" {
		if s.MCPURL, err = address("mcp-listen", s.MCPListen, "mcp-url", s.MCPURL); err != nil {
			return err
		}
	}
	if _, err := peer.Parse(s.TrustedProxies); err != nil {
		return fmt.Errorf("--trusted-proxies: %w", err)
	}
	for name, n := range map[string]int{"agent-limit-free": s.AgentLimit.Free, "agent-limit-starter": s.AgentLimit.Starter, "agent-limit-professional": s.AgentLimit.Professional,
		"agent-limit-enterprise": s.AgentLimit.Enterprise, "agent-limit-transport": s.AgentLimit.Transport, "oauth-register-limit": s.OAuth.RegisterLimit, "oauth-token-limit": s.OAuth.TokenLimit} {
		if n < 1 || n > 60_000_000 {
			return fmt.Errorf("--%s: must be between 1 and 60000000", name)
		}
	}
	for plan, n := range s.AutomationLimit.ByPlan() {
		if n < 1 || n > 60_000_000 {
			return fmt.Errorf("--automation-limit-%s: must be between 1 and 60000000", plan)
		}
	}
	for plan, n := range s.RateLimit.ByPlan() {
		if n < 1 || n > 60_000_000 {
			return fmt.Errorf("--rate-limit-%s: must be between 1 and 60000000", plan)
		}
	}
	if n := s.RateLimit.Public; n < 1 || n > 60_000_000 {
		return errors.New("--rate-limit-public: must be between 1 and 60000000")
	}
	if err := s.Files.settle(); err != nil {
		return err
	}
	if err := s.Providers.settle(s.ClockOffset); err != nil {
		return err
	}
	if err := s.settleDNS(); err != nil {
		return err
	}
	if s.Agreement.Business == "" || s.Agreement.Domain == "" {
		return errors.New("--agreement-business and --agreement-domain must not be empty")
	}
	return nil
}

const maxFile = 32 << 30 // S3 takes 10,000 parts, which have 5 MiB

func (f *Files) settle() error {
	if f.MaxBytes < 1 || f.MaxBytes > maxFile {
		return fmt.Errorf("--files-max-bytes: must be between 1 and %d", int64(maxFile))
	}
	if f.S3.Bucket == "" {
		if f.S3.Endpoint != "" || f.S3.AccessKey != "" || f.S3.SecretKey != "" {
			return errors.New("--files-s3-bucket: name the bucket, or leave the other settings of S3 out")
		}
		return nil
	}
	if (f.S3.AccessKey == "") != (f.S3.SecretKey == "") {
		return errors.New("--files-s3-access-key and --files-s3-secret-key: give both or neither")
	}
	if e := f.S3.Endpoint; e != "" {
		if u, err := url.Parse(e); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("--files-s3-endpoint: %q is not an http or https address", e)
		}
	}
	return nil
}

// address is where callers reach a listener: as the operator says, or by the
// address it listens on.
func address(listenFlag, listen, urlFlag, given string) (string, error) {
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
	if u, err := url.Parse(given); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("--%s: %q is not an http or https address", urlFlag, given)
	}
	return given, nil
}

// DatabasePath is the embedded database's file.
func (s *Settings) DatabasePath() string { return filepath.Join(s.Data, "frontdesk.db") }

// FilesPath is the folder of the files' bytes, when no bucket is named.
func (s *Settings) FilesPath() string { return filepath.Join(s.Data, "files") }

// KeyPath is the file of the keys that seal secrets, outside the database.
func (s *Settings) KeyPath() string { return filepath.Join(s.Data, "sealing.key") }

// SocketPath is where the admin command finds a running server.
func (s *Settings) SocketPath() string { return filepath.Join(s.Data, "admin.sock") }

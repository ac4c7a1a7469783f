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
)

// Settings is what an operator can say. The tags are the command line's.
type Settings struct {
	Data        string `help:"Folder of the database, files and keys. Default: ./data, and ./data/demo with --demo." type:"path" placeholder:"DIR"`
	DatabaseURL string `help:"PostgreSQL to use in place of the embedded database." placeholder:"postgres://…" name:"database-url"`
	Listen      string `help:"Address of the API and the console." default:"127.0.0.1:8080"`
	BaseURL     string `help:"Where callers reach the API; by default http:// and --listen." name:"base-url" placeholder:"URL"`

	RateLimit RateLimit `embed:"" prefix:"rate-limit-"`
	Agreement Agreement `embed:"" prefix:"agreement-"`
	Retention Retention `embed:"" prefix:"retention-"`
	Log       Log       `embed:"" prefix:"log-"`

	ClockOffset time.Duration `help:"Shift the service's clock, to rehearse expiries on a copy." default:"0" name:"clock-offset"`
	Workers     int           `help:"Background jobs at a time." default:"8"`
}

// RateLimit is API requests per minute by plan.
type RateLimit struct {
	Free         int `help:"API requests per minute on the plan free." default:"60"`
	Starter      int `help:"… on starter." default:"300"`
	Professional int `help:"… on professional." default:"1000"`
	Enterprise   int `help:"… on enterprise." default:"6000"`
}

// ByPlan is the limits by the plan's name.
func (r RateLimit) ByPlan() map[string]int {
	return map[string]int{"free": r.Free, "starter": r.Starter, "professional": r.Professional, "enterprise": r.Enterprise}
}

// Agreement is the current version of each agreement. A new one needs
// acceptance again.
type Agreement struct {
	Business string `help:"Current version of the business agreement." default:"1"`
	Domain   string `help:"Current version of the domain agreements." default:"1"`
}

// Retention is how long things are kept.
type Retention struct {
	Jobs    time.Duration `help:"How long finished jobs are kept." default:"168h"`
	Deleted time.Duration `help:"How long deleted rows are kept." default:"2160h"`
	Events  time.Duration `help:"How long events are kept." default:"9600h"`
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
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %q is not host:port", s.Listen)
	}
	if s.BaseURL == "" {
		if host == "" || host == "0.0.0.0" || host == "::" {
			host = "localhost"
		}
		s.BaseURL = "http://" + net.JoinHostPort(host, port)
	}
	s.BaseURL = strings.TrimSuffix(s.BaseURL, "/")
	if u, err := url.Parse(s.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--base-url: %q is not an http or https address", s.BaseURL)
	}
	for plan, n := range s.RateLimit.ByPlan() {
		if n < 1 || n > 60_000_000 {
			return fmt.Errorf("--rate-limit-%s: must be between 1 and 60000000", plan)
		}
	}
	if s.Agreement.Business == "" || s.Agreement.Domain == "" {
		return errors.New("--agreement-business and --agreement-domain must not be empty")
	}
	return nil
}

// DatabasePath is the embedded database's file.
func (s *Settings) DatabasePath() string { return filepath.Join(s.Data, "frontdesk.db") }

// KeyPath is the file of the keys that seal secrets, outside the database.
func (s *Settings) KeyPath() string { return filepath.Join(s.Data, "sealing.key") }

// SocketPath is where the admin command finds a running server.
func (s *Settings) SocketPath() string { return filepath.Join(s.Data, "admin.sock") }

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"frontdesk/internal/app"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
)

type serveCommand struct {
	Demo bool `help:"Run a demo with sample data, in its own folder."`
}

// Run serves until SIGINT or SIGTERM.
func (cmd *serveCommand) Run(s *config.Settings, io *streams) error {
	if err := s.FillAndValidate(cmd.Demo); err != nil {
		return err
	}
	tuneGarbageCollection()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	log := newLogger(s, io.err)
	if cmd.Demo {
		if err := app.SeedDemo(ctx, *s, log); err != nil && !errors.Is(err, db.ErrOwned) { // Open names that error
			return err
		}
	}
	a, err := app.Open(ctx, *s, log)
	if errors.Is(err, db.ErrOwned) {
		return fmt.Errorf("another frontdesk server runs on %s; stop it, or give this one its own --data", s.Data)
	}
	if err != nil {
		return err
	}
	defer a.Close()
	var demo *app.Demo
	var setup string
	if cmd.Demo {
		demo, err = a.OpenDemo(ctx)
	} else {
		setup, err = a.Accounts.CreateSetupLink(ctx)
	}
	if err != nil {
		return err
	}
	return a.Serve(ctx, func(addr string) {
		if s.Log.Format == "text" {
			printGreeting(io.out, s, addr, demo, setup)
		} else if setup != "" {
			// Only here, never in the log: whoever has the link owns the server.
			fmt.Fprintln(io.out, setup)
		}
		log.Info("serving", "listen", addr, "base_url", s.BaseURL, "mcp_url", s.MCPURL, "smtp_listen",
			s.MailServer.Listen,
			"database", a.DB.Engine(), "data", s.Data)
		if err := tellSystemd(ctx, "READY=1"); err != nil {
			log.WarnContext(ctx, "systemd was not told that the server is ready", "err", err)
		}
	})
}

// tellSystemd sends systemd a message about this service, if it runs as one: see
// sd_notify(3).
func tellSystemd(ctx context.Context, message string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unixgram", name)
	if err != nil {
		return err
	}
	_, err = c.Write([]byte(message))
	return errors.Join(err, c.Close())
}

// printGreeting tells a person where everything is, and what to do next.
func printGreeting(w io.Writer, s *config.Settings, addr string, demo *app.Demo, setup string) {
	fmt.Fprintf(w,
		"\nFrontdesk is running.\n\n  console  %s\n  API      %s/v1\n  docs     %s/docs\n  health   %s/readyz\n",
		s.BaseURL, s.BaseURL, s.BaseURL, s.BaseURL)
	if s.MetricsListen != "" {
		fmt.Fprintf(w, "  metrics  http://%s/metrics\n", s.MetricsListen)
	}
	if s.MCPListen != "" {
		fmt.Fprintf(w, "  agents   %s/mcp\n", s.MCPURL)
	}
	if s.ServesDNS() {
		fmt.Fprintf(w, "  DNS      %s\n", s.DNS.Listen)
	}
	if s.MailServer.Listen != "" {
		fmt.Fprintf(w, "  mail in  %s, for @%s\n", s.MailServer.Listen, s.Mail.Domain)
	}
	switch {
	case demo != nil:
		fmt.Fprintf(w, `
This is a demonstration: %s, with sample data in %s.

  sign-in  %s, at %s
  API key  %s   (new at each start)

Try it:

  curl -s '%s/v1/contacts?limit=3' -H "Authorization: Bearer %s"
`, demo.Organization, s.Data, demo.SignIn, s.BaseURL, demo.Key, s.BaseURL, demo.Key)
		if s.MCPListen != "" {
			fmt.Fprintf(w, `
Connect an agent, for example Claude Code:

  claude mcp add --transport http frontdesk %s/mcp
`, s.MCPURL)
		}
		fmt.Fprint(w, "\nStop with Ctrl-C.\n\n")
	case setup != "":
		fmt.Fprintf(w, `
The database is empty. Open this link to create your organization and its owner. It works once:

  %s

Or do it in another terminal:

  frontdesk admin org create --name "My company" --plan starter
  frontdesk admin user create --org ORGANIZATION --email you@example.com --name "You" --role owner --password-stdin
  frontdesk admin agreement accept --business BUSINESS --kind business --by you@example.com
  frontdesk admin key create --business BUSINESS --name "First key" --permissions "*"

The first command prints ORGANIZATION and BUSINESS. With another data folder than ./data, add --data.

`, setup)
	default:
		fmt.Fprintln(w)
	}
}

// migrateCommand is for those who migrate before they start the new version.
type migrateCommand struct{}

// Run opens the database, which migrates it.
func (migrateCommand) Run(s *config.Settings, io *streams) error {
	if err := s.FillAndValidate(false); err != nil {
		return err
	}
	a, err := app.Open(context.Background(), *s, newLogger(s, io.err))
	if errors.Is(err, db.ErrOwned) {
		return fmt.Errorf("a server runs on %s and migrated it when it started; stop it to migrate by hand", s.Data)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(io.out, "The schema is up to date.")
	return a.Close()
}

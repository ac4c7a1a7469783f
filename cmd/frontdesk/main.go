// Command frontdesk is the whole service in one binary: the server, and the
// operator's commands.
//
// main.go declares the commands as a struct, from which kong makes the parser and the
// help: the names of its fields are words of the command line. Each command is a type
// with a method Run, in the file of its group: serve.go, admin.go, backup.go,
// doctor.go, quickstart.go and so on.
//
// An admin command opens the database itself or, where a server has it open, sends the
// same request to that server's socket (withAdmin in admin.go). The commands decide
// nothing: they parse, call package app or an operation, and print the answer.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/fault"

	"github.com/alecthomas/kong"

	// Bare machines and containers have no time zones and no certificate authorities
	// of their own. The machine's come first.
	_ "time/tzdata"

	_ "golang.org/x/crypto/x509roots/fallback"
)

// commands is the command line. The settings are flags of every command.
type commands struct {
	config.Settings
	Config  configFile       `help:"TOML settings; flags and variables win." placeholder:"FILE" type:"existingfile"`
	Version kong.VersionFlag `help:"Print the version and exit." env:"-"`

	Quickstart quickstartCommand `cmd:"" help:"Set up a server with a name of its own, and check its DNS."`

	Serve   serveCommand   `cmd:"" help:"Run the service."`
	Migrate migrateCommand `cmd:"" help:"Update the database's schema while no server runs on it."`
	Backup  backupCommand  `cmd:"" help:"Back up the database and the files, even while a server runs."`
	Restore restoreCommand `cmd:"" help:"Fill an empty database and file store from a backup."`
	Doctor  doctorCommand  `cmd:"" help:"Check everything that the service needs to run."`
	OpenAPI openapiCommand `cmd:"" name:"openapi" help:"Print the OpenAPI description of the REST API."`
	Events  eventsCommand  `cmd:"" help:"Print the list of events that webhooks and automations can listen to."`
	Tools   toolsCommand   `cmd:"" help:"Print the tools that an agent is told of."`
	Admin   adminCommand   `cmd:"" help:"Manage organizations, users, keys and more, even while a server runs."`
	Print   versionCommand `cmd:"" name:"version" help:"Print the version, its commit and its time."`
	API     apiCommand     `cmd:"" name:"api" passthrough:"" help:"Call any operation of a server, with a key."`
}

// configFile is the flag --config, whose file gives values to the other flags.
type configFile string

// BeforeResolve reads the file before kong looks for values, so that flags and
// environment variables still win.
func (f configFile) BeforeResolve(k *kong.Kong, ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(configFile))
	if path == "" {
		return nil
	}
	r, err := config.FromFile(path)
	if err != nil {
		return err
	}
	ctx.AddResolver(r)
	return nil
}

func main() {
	os.Exit(runCommand(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// streams is where a command reads and writes, so that a test can see it.
type streams struct {
	in       io.Reader
	out, err io.Writer
	json     bool // print answers as JSON
}

// runCommand is main without the process: it returns the exit status. 2 means that the
// command line is wrong.
func runCommand(args []string, in io.Reader, out, errOut io.Writer) int {
	var c commands
	exit := -1
	std := &streams{in: in, out: out, err: errOut}
	parser, err := kong.New(&c, kong.Name("frontdesk"),
		kong.Description("Frontdesk: a self-hosted backend for business communication."),
		kong.DefaultEnvars("FRONTDESK"), kong.UsageOnError(), kong.Writers(out, errOut), kong.Bind(std),
		kong.Exit(func(code int) { exit = code }),
		kong.Vars{"version": versionLine()}, kong.ConfigureHelp(kong.HelpOptions{Compact: true,
			NoExpandSubcommands: true}))
	if err != nil {
		fmt.Fprintln(errOut, "frontdesk:", err)
		return 1
	}
	ctx, err := parser.Parse(args)
	if exit >= 0 { // --help and --version have answered
		return exit
	}
	if err != nil {
		fmt.Fprintln(errOut, "frontdesk:", err)
		return 2
	}
	if err := ctx.Run(&c.Settings); err != nil {
		var status exitStatus
		if errors.As(err, &status) {
			return int(status)
		}
		fmt.Fprintln(errOut, "frontdesk:", errorSentence(err))
		return 1
	}
	return 0
}

// errorSentence returns an error in the form that the operator reads: with the code that
// the API has for it.
func errorSentence(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) && f.Kind != fault.Internal {
		return fmt.Sprintf("%s (%s)", f.Sentence(), f.Code)
	}
	return err.Error()
}

// newLogger returns the service's logger, which writes to w. A level that is not known is
// info.
func newLogger(s *config.Settings, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.Log.Level)); err != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	if s.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

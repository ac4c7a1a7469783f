// Package shell is frontdesk api: every operation of a server from the command
// line, with help, flags and completion from the operation's own declaration.
//
// Shell.Run parses what was typed into a command (parse.go): the nouns, the
// operation or one of a few builtin commands, its arguments and flags. call.go
// makes the call, login.go finds the server and the key, print.go writes the
// answer as a table, JSON or CSV, and help.go and complete.go describe what can be
// typed.
//
// It knows no resource. Calls are made by the Go client, so retries, pages and
// errors are the same as in a program. Text from the server is printed to a
// terminal only after control characters are taken out (stripControls), and a key
// is sent to no other server than the one it was stored for.
//
// Start reading at Shell.Run.
package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"frontdesk/internal/clients"

	frontdesk "frontdesk.example/go"
)

// Shell runs commands against a server.
type Shell struct {
	API      *clients.API
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	// Credentials is the file with the keys of login.
	Credentials string
}

// usageError is a command that cannot be understood; its exit status is 2.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usageErrorf(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// Run carries out one command and returns its exit status.
func (s *Shell) Run(ctx context.Context, args []string) int {
	c := &command{Shell: s, values: map[string][]string{}}
	err := c.runCommand(ctx, args)
	var wrong *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintln(s.Err, "frontdesk api:", err)
		return 2
	}
	s.printError(err, c.flagValue("output"))
	return 1
}

// command is what a person typed, as far as it was parsed.
type command struct {
	*Shell
	nouns     []*clients.Noun // from the top down, as typed
	operation *clients.Operation
	builtin   string // a command that is not an operation: login, logout, completion, verify, wait
	arguments []string
	values    map[string][]string // what each flag was given, by its name
}

func (c *command) runCommand(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == completeCommand {
		for _, word := range c.completeWord(args[1:]) {
			fmt.Fprintln(c.Out, word)
		}
		return nil
	}
	if err := c.parseCommand(args); err != nil {
		return err
	}
	switch {
	case c.hasFlag("help") || c.operation == nil && c.builtin == "":
		return c.printHelp()
	case c.builtin == "login":
		return c.runLogin(ctx)
	case c.builtin == "logout":
		return c.runLogout()
	case c.builtin == "completion":
		return c.printCompletion()
	case c.builtin == "verify":
		return c.verifyWebhook()
	case c.builtin == "wait":
		return c.waitForProposal(ctx)
	}
	return c.callOperation(ctx)
}

// hasFlag reports whether a flag was given.
func (c *command) hasFlag(flag string) bool { return len(c.values[flag]) > 0 }

// flagValue is the last value of a flag; empty if it was not given.
func (c *command) flagValue(flag string) string {
	if v := c.values[flag]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// printError says what was refused, and why. With --output json it writes JSON, for scripts.
func (s *Shell) printError(err error, output string) {
	var e *frontdesk.Error
	if !errors.As(err, &e) {
		e = &frontdesk.Error{Code: localErrorCode(err), Message: strings.TrimPrefix(err.Error(), "frontdesk: ")}
	}
	if output == "json" {
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"status": e.Status, "code": e.Code,
			"message": e.Message, "details": e.Details, "requestId": e.RequestID,
			"retryAfter": e.RetryAfter.Seconds()}})
		fmt.Fprintln(s.Err, string(text))
		return
	}
	about := ""
	if e.RequestID != "" {
		about = fmt.Sprintf(" (%s, request %s)", e.Code, e.RequestID)
	}
	fmt.Fprintf(s.Err, "frontdesk api: %s%s\n", stripControls(e.Message), about)
	fields := e.Fields()
	for _, name := range sortedKeys(fields) {
		for _, issue := range fields[name] {
			fmt.Fprintf(s.Err, "  %s: %s\n", stripControls(name), stripControls(issue))
		}
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(s.Err, "  Try again in %s.\n", e.RetryAfter)
	}
}

// localErrorCode is the code of an error that did not come from the server.
func localErrorCode(err error) frontdesk.Code {
	var lost *frontdesk.ConnectionError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "TIMED_OUT"
	case errors.As(err, &lost):
		return "CONNECTION_FAILED"
	case errors.Is(err, frontdesk.ErrWebhook):
		return "WEBHOOK_NOT_GENUINE"
	}
	return "FAILED"
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

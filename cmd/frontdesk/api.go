package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"

	"frontdesk/internal/app"
	"frontdesk/internal/clients"
	"frontdesk/internal/clients/shell"
)

// apiCommand passes everything after it on to the client's shell: the operations have
// flags of their own, and none of the server's settings.
type apiCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// exitStatus ends the process with a status. What was wrong is printed already.
type exitStatus int

func (exitStatus) Error() string { return "" }

// Run calls an operation of a server.
func (a apiCommand) Run(out *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder, err := os.UserConfigDir()
	if err != nil {
		folder = "."
	}
	s := &shell.Shell{API: clients.Describe(app.Describe()), In: out.in, Out: out.out, Err: out.err, Getenv: os.Getenv,
		Credentials: filepath.Join(folder, "frontdesk", "api.json")}
	if status := s.Run(ctx, a.Words); status != 0 {
		return exitStatus(status)
	}
	return nil
}

package main

import (
	"os"
	"path/filepath"

	"frontdesk/internal/app"
	"frontdesk/internal/clients"
)

type clientsCommand struct {
	Into string `arg:"" help:"The folder of the repository." type:"existingdir"`
}

// Run writes the generated part of the client libraries.
func (c clientsCommand) Run() error {
	files, err := clients.Generate(clients.Describe(app.Describe()))
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(c.Into, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

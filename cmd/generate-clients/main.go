// Command generate-clients writes the generated part of the libraries in
// clients/. It is not part of frontdesk, whose command api is built with one of
// them: a library that does not compile can be written anew.
package main

import (
	"fmt"
	"os"

	"frontdesk/internal/app"
	"frontdesk/internal/clients"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "generate-clients:", err)
		os.Exit(1)
	}
}

// write expects to be run in the root of the repository.
func write() error {
	files, err := clients.Generate(clients.Describe(app.Describe()))
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

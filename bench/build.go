package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// binaries are the paths of the built servers.
type binaries struct{ bare, frontdesk, pocketbase string }

// build compiles the servers as a release would be: without cgo.
func build(ctx context.Context, out string, o options) (binaries, error) {
	if text, err := os.ReadFile("go.mod"); err != nil || !strings.HasPrefix(string(text), "module frontdesk/bench\n") {
		return binaries{}, errors.New("bench: run it in the folder bench")
	}
	b := binaries{filepath.Join(out, "bare"), filepath.Join(out, "frontdesk"), filepath.Join(out, "pocketbase")}
	for _, step := range []struct{ name, dir, pkg, to string }{
		{"bare", ".", "./bare", b.bare},
		{"frontdesk", "..", "./cmd/frontdesk", b.frontdesk},
		{"pocketbase", "pocketbase", ".", b.pocketbase}, // a module of its own: it wants an older SQLite
	} {
		if step.name != "frontdesk" && !slices.Contains(o.servers, step.name) {
			continue
		}
		say("building %s", step.name)
		cmd := exec.CommandContext(ctx, "go", "build", "-o", step.to, step.pkg)
		cmd.Dir = step.dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return b, fmt.Errorf("bench: building %s: %w\n%s", step.name, err, text)
		}
	}
	return b, nil
}

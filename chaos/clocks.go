package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// clockVariable says how far the clock of a process is off.
const clockVariable = "CHAOS_CLOCK"

// Go's time.Now as it is, and what makes it wrong.
const (
	honest = "\tsec, nsec, mono := runtimeNow()\n"
	off    = honest + "\tsec += wrong\n"
	wrong  = `package time

import "syscall"

var wrong = func() int64 {
	text, _ := syscall.Getenv("` + clockVariable + `")
	d, _ := ParseDuration(text)
	return int64(d / Second)
}()
`
)

// buildSkewed builds the service with a time.Now that can be off. A machine's clock
// cannot be wrong for one process only, and a Go program asks no library that could
// be replaced.
func buildSkewed(ctx context.Context, dir string) (string, error) {
	say("building the service with a clock that can be off; the first time this takes minutes")
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(folder, "time.go"))
	if err != nil {
		return "", err
	}
	if bytes.Count(text, []byte(honest)) != 1 {
		return "", errors.New("this version of Go has another time.Now; use -skew 0")
	}
	text = bytes.Replace(text, []byte(honest), []byte(off), 1)
	replaced := map[string]string{}
	for name, text := range map[string][]byte{"time.go": text, "wrong.go": []byte(wrong)} {
		replaced[filepath.Join(folder, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	return build(ctx, "..", filepath.Join(dir, "frontdesk"), "-overlay", list)
}

// checkSkew makes sure that clocks were off: a process says so.
func (w *world) checkSkew(r *report) error {
	for _, p := range w.fleet {
		if p.skew == 0 {
			continue
		}
		text, err := os.ReadFile(p.log())
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte("clock differs from the database's")) {
			r.wrong("the clock of %s is off by %s, and it did not notice", p.address, p.skew)
		}
		r.count("processes whose clock was off")
	}
	return nil
}

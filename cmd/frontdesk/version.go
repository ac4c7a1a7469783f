package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// A release sets these by -ldflags, by their names; other builds have what Go noted in
// them.
var (
	releaseVersion string
	releaseCommit  string
	releaseTime    string // of the commit, so that a build can be repeated
)

// buildInfo is what this binary was made from.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // by changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// readBuildInfo reads what Go noted in the binary, unless a release says otherwise.
func readBuildInfo() buildInfo {
	b := buildInfo{Version: "(development)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			b.Version = v
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if releaseVersion != "" {
		b.Version, b.Commit, b.Time, b.Modified = releaseVersion, releaseCommit, releaseTime, false
	}
	return b
}

// versionLine is what --version prints.
func versionLine() string { return "frontdesk " + readBuildInfo().Version }

type versionCommand struct {
	JSON bool `help:"Print JSON." name:"json"`
}

// Run prints what this binary was made from.
func (c *versionCommand) Run(out *streams) error {
	b := readBuildInfo()
	if c.JSON {
		data, err := json.Marshal(b)
		if err != nil {
			return err
		}
		out.json = true
		return printAnswer(out, data)
	}
	fmt.Fprintln(out.out, versionLine())
	if b.Commit != "" {
		changed := ""
		if b.Modified {
			changed = ", with changes"
		}
		fmt.Fprintf(out.out, "commit %s%s\ntime   %s\n", b.Commit, changed, b.Time)
	}
	fmt.Fprintf(out.out, "built  with %s for %s\n", b.Go, b.Platform)
	return nil
}

package config

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
)

// FromFile reads a TOML file, for kong to take the values of flags from. A key is the flag's name with _ for -, and its
// beginning may be a table: rate_limit_free, or free in [rate_limit]. A flag or an environment variable wins over the
// file.
func FromFile(path string) (kong.Resolver, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the settings file: %w", err)
	}
	tree := map[string]any{}
	if err := toml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &settingsFile{path: path, values: map[string]any{}}
	flattenTables("", tree, f.values)
	return f, nil
}

// flattenTables joins the names of tables and keys with _, so that all keys are on one level.
func flattenTables(prefix string, tree, into map[string]any) {
	for k, v := range tree {
		if t, ok := v.(map[string]any); ok {
			flattenTables(prefix+k+"_", t, into)
			continue
		}
		into[prefix+k] = v
	}
}

// settingsFile is a settings file as a kong.Resolver.
type settingsFile struct {
	path   string
	values map[string]any
}

// fileKey is the name of a flag as the file has it.
func fileKey(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// Validate refuses keys that no flag has, because a typo would otherwise be ignored. kong calls it.
func (f *settingsFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	for _, flags := range app.AllFlags(false) {
		for _, fl := range flags {
			known[fileKey(fl.Name)] = true
		}
	}
	for _, sub := range app.Leaves(false) {
		for _, flags := range sub.AllFlags(false) {
			for _, fl := range flags {
				known[fileKey(fl.Name)] = true
			}
		}
	}
	var unknown []string
	for k := range f.values {
		if !known[k] {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return fmt.Errorf("%s: unknown setting %s", f.path, strings.Join(unknown, ", "))
	}
	return nil
}

// Resolve gives a flag its value from the file, unless the environment has one. kong calls it for flags that are not on
// the command line.
func (f *settingsFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, ok := os.LookupEnv(env); ok {
			return nil, nil
		}
	}
	v, ok := f.values[fileKey(flag.Name)]
	if !ok {
		return nil, nil
	}
	if list, ok := v.([]any); ok { // as a flag would write it
		texts := make([]string, len(list))
		for i, x := range list {
			texts[i] = fmt.Sprint(x)
		}
		return strings.Join(texts, ","), nil
	}
	return fmt.Sprint(v), nil
}

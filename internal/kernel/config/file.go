package config

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"
)

// FromFile resolves flags from a TOML file. A key is the flag's name with _
// for -, and a prefix may be a table: rate_limit_free, or free in [rate_limit].
// A flag or an environment variable wins over the file.
func FromFile(path string) (kong.Resolver, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the settings file: %w", err)
	}
	tree := map[string]any{}
	if err := toml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &file{path: path, values: map[string]any{}}
	flatten("", tree, f.values)
	return f, nil
}

func flatten(prefix string, tree, into map[string]any) {
	for k, v := range tree {
		if t, ok := v.(map[string]any); ok {
			flatten(prefix+k+"_", t, into)
			continue
		}
		into[prefix+k] = v
	}
}

type file struct {
	path   string
	values map[string]any
}

func key(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// Validate refuses a key that no flag has: a typo must not pass for a setting.
func (f *file) Validate(app *kong.Application) error {
	known := map[string]bool{}
	for _, flags := range app.AllFlags(false) {
		for _, fl := range flags {
			known[key(fl.Name)] = true
		}
	}
	for _, sub := range app.Leaves(false) {
		for _, flags := range sub.AllFlags(false) {
			for _, fl := range flags {
				known[key(fl.Name)] = true
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

// Resolve gives a flag its value from the file, unless the environment has one.
func (f *file) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, ok := os.LookupEnv(env); ok {
			return nil, nil
		}
	}
	v, ok := f.values[key(flag.Name)]
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

package shell

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	frontdesk "frontdesk.example/go"
)

// credentials is the file that login writes. Keys are kept by server, so that a
// key is never sent to another one.
type credentials struct {
	BaseURL string            `json:"baseUrl"` // where calls go unless they say otherwise
	Keys    map[string]string `json:"keys"`    // by base URL
}

// loadCredentials reads the credentials. A file that does not exist is empty.
func (s *Shell) loadCredentials() (*credentials, error) {
	out := &credentials{}
	text, err := os.ReadFile(s.Credentials)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the file %s cannot be read; log in anew: %w", s.Credentials, err)
	}
	if out.Keys == nil {
		out.Keys = map[string]string{}
	}
	return out, nil
}

// storeCredentials writes the credentials so that only this user can read them.
func (s *Shell) storeCredentials(c *credentials) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.Credentials), 0o700); err != nil {
		return err
	}
	// A new file is renamed, so that the credentials are never half written. It is removed first: an old
	// one might be readable by others, and WriteFile would keep its mode.
	beside := s.Credentials + ".new"
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(beside, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(beside, s.Credentials)
}

// resolveServer finds out where a call goes, and with which key: flags come before the environment,
// and that before the credentials.
func (c *command) resolveServer() (baseURL, key string, err error) {
	stored, err := c.loadCredentials()
	if err != nil {
		return "", "", err
	}
	baseURL = tidyURL(cmp.Or(c.flagValue("base-url"), c.Getenv("FRONTDESK_URL"), stored.BaseURL))
	key = cmp.Or(c.flagValue("api-key"), c.Getenv("FRONTDESK_API_KEY"), stored.Keys[baseURL])
	switch err := checkURL(baseURL); {
	case baseURL == "":
		return "", "", usageErrorf("which server? Say frontdesk api login, give --base-url, or set FRONTDESK_URL")
	case err != nil:
		return "", "", err
	case key == "":
		return "", "", usageErrorf("there is no key for %s: say frontdesk api login, or set FRONTDESK_API_KEY", baseURL)
	}
	return baseURL, key, nil
}

// tidyURL is a URL without spaces around it and slashes at its end.
func tidyURL(url string) string { return strings.TrimRight(strings.TrimSpace(url), "/") }

// checkURL refuses a server's URL without http:// or https://.
func checkURL(url string) error {
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return nil
	}
	return usageErrorf("%q is not the address of a server: it begins with https:// or http://", url)
}

// runLogin asks for a server and a key, tries the key, and stores it.
func (c *command) runLogin(ctx context.Context) error {
	stored, err := c.loadCredentials()
	if err != nil {
		return err
	}
	in := bufio.NewReader(c.In)
	baseURL := tidyURL(cmp.Or(c.flagValue("base-url"), c.Getenv("FRONTDESK_URL")))
	if baseURL == "" {
		if baseURL, err = promptLine(c, in, "Server, like https://frontdesk.example: "); err != nil {
			return err
		}
		baseURL = tidyURL(baseURL)
	}
	if err := checkURL(baseURL); err != nil {
		return err
	}
	key := cmp.Or(c.flagValue("api-key"), c.Getenv("FRONTDESK_API_KEY"))
	if key == "" {
		visible := hideTyping(c)
		key, err = promptLine(c, in, "API key, like fd_…: ")
		visible()
		if err != nil {
			return err
		}
	}
	me, err := frontdesk.New(baseURL, key).Me.Get(ctx)
	if err != nil {
		return err
	}
	stored.BaseURL, stored.Keys[baseURL] = baseURL, key
	if err := c.storeCredentials(stored); err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "The key works for %s. It is kept in %s.\n", stripControls(me.Organization.Name), c.Credentials)
	return nil
}

// runLogout removes the key of a server from the credentials. It does not revoke the key.
func (c *command) runLogout() error {
	stored, err := c.loadCredentials()
	if err != nil {
		return err
	}
	baseURL := tidyURL(cmp.Or(c.flagValue("base-url"), c.Getenv("FRONTDESK_URL"), stored.BaseURL))
	if _, ok := stored.Keys[baseURL]; !ok {
		return usageErrorf("there is no key for %q", baseURL)
	}
	delete(stored.Keys, baseURL)
	if stored.BaseURL == baseURL {
		stored.BaseURL = ""
	}
	fmt.Fprintf(c.Err, "The key for %s is forgotten. It still works until it is revoked.\n", baseURL)
	return c.storeCredentials(stored)
}

// promptLine prints a question and reads the line that is typed.
func promptLine(c *command, in *bufio.Reader, question string) (string, error) {
	fmt.Fprint(c.Err, question)
	line, _ := in.ReadString('\n') // the last line may have no end
	if line = strings.TrimSpace(line); line == "" {
		return "", usageErrorf("nothing was typed")
	}
	return line, nil
}

// hideTyping turns off the echo of the terminal, and returns what turns it on again. Where
// input is no terminal, neither does anything.
func hideTyping(c *command) (restore func()) {
	terminal, ok := c.In.(*os.File)
	if !ok {
		return func() {}
	}
	stty := func(mode string) error {
		set := exec.Command("stty", mode) //nolint:noctx // it ends at once
		set.Stdin = terminal
		return set.Run()
	}
	if stty("-echo") != nil {
		return func() {} // not a terminal
	}
	return func() {
		_ = stty("echo")
		fmt.Fprintln(c.Err)
	}
}

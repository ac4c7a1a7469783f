package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// object is a step for a driver, or its answer: {"data": …} or {"error": …}.
//
// A driver knows these words in "do": call (an operation, with path, input or
// query, options), etag, page, all (pages), upload, stream, download, verify,
// wait, hammer (n creates) and bench. "via" are settings of the client.
type object = map[string]any

// driver does what a step says, with one of the clients.
type driver interface {
	do(step object) (object, error)
}

// process is a client in a process of its own, which reads steps and writes
// answers, a line each.
type process struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func start(env []string, name string, args ...string) (*process, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{in, bufio.NewReaderSize(out, 1<<20), cmd}, cmd.Start()
}

func (p *process) do(step object) (object, error) {
	text, err := json.Marshal(step)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return nil, err
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var answer object
	return answer, json.Unmarshal(line, &answer)
}

func (p *process) close() {
	p.in.Close()
	p.cmd.Wait() //nolint:errcheck // what it did was seen in its answers
}

// command is frontdesk api, a process for each step.
type command struct {
	binary, scratch string
	env             []string
	raw             *raw // for what the command does not print
}

func (c *command) do(step object) (object, error) {
	switch step["do"] {
	case "etag":
		_, header, err := c.raw.get(c.raw.path(step))
		return object{"data": header.Get("ETag")}, err
	case "page":
		return c.page(step)
	case "download":
		return c.download(step)
	case "verify":
		h := step["headers"].(object)
		return c.run(step["body"].(string), "webhooks", "verify", "--secret", step["secret"].(string), "--id",
			h["webhook-id"].(string), "--timestamp", h["webhook-timestamp"].(string), "--signature",
			h["webhook-signature"].(string), "--file", "-")
	case "wait":
		return c.run("", append([]string{"proposals", "wait", step["path"].([]any)[0].(string)},
			settings(step["via"])...)...)
	case "upload":
		return c.run("", "files", "upload", "--file", step["file"].(string))
	case "stream":
		return c.run(strings.ReplaceAll(step["text"].(string), " ", ""),
			append([]string{"files", "upload", "--file", "-",
				"--name", step["name"].(string)}, settings(step["via"])...)...)
	case "hammer":
		for i := range step["n"].(int) {
			answer, err := c.run("", append([]string{"contacts", "create", "--first-name",
				fmt.Sprintf("H-%d", step["from"].(int)+i)}, settings(step["via"])...)...)
			if err != nil || answer["error"] != nil {
				return answer, err
			}
		}
		return object{"data": step["n"]}, nil
	}
	return c.call(step)
}

// words are the command for an operation.
func words(step object) (out []string) {
	for _, w := range strings.Split(step["call"].(string), ".") {
		out = append(out, strings.ReplaceAll(w, "_", "-"))
	}
	if path, ok := step["path"].([]any); ok {
		for _, p := range path {
			out = append(out, p.(string))
		}
	}
	return out
}

func (c *command) call(step object) (object, error) {
	args := append(words(step), settings(step["options"])...)
	args = append(args, settings(step["via"])...)
	if step["do"] == "all" {
		args = append(args, "--all")
	}
	if query, ok := step["query"].(object); ok {
		for name, v := range query {
			if list, ok := v.([]any); ok {
				for _, e := range list {
					args = append(args, "--"+kebab(name), fmt.Sprint(e))
				}
				continue
			}
			args = append(args, "--"+kebab(name), fmt.Sprint(v))
		}
	}
	stdin := ""
	if input, ok := step["input"]; ok {
		text, err := json.Marshal(input)
		if err != nil {
			return nil, err
		}
		stdin, args = string(text), append(args, "--file", "-")
	}
	return c.run(stdin, args...)
}

// page asks for the place of a page, which the command does not print.
func (c *command) page(step object) (object, error) {
	answer, err := c.call(step)
	if err != nil || answer["error"] != nil {
		return answer, err
	}
	body, _, err := c.raw.get(c.raw.path(step))
	if err != nil {
		return nil, err
	}
	out := body["meta"].(object)["pagination"].(object)
	out["data"] = answer["data"]
	return object{"data": out}, nil
}

func (c *command) download(step object) (object, error) {
	path := filepath.Join(c.scratch, "download")
	answer, err := c.run("", append(words(step), "--save", path)...)
	if err != nil || answer["error"] != nil {
		return answer, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name, kind, err := c.raw.named(c.raw.path(step) + "/content")
	return object{"data": object{"name": name, "type": kind, "text": string(content[:5]),
		"size": len(content) > 0}}, err
}

// settings are options as flags.
func settings(options any) (out []string) {
	o, _ := options.(object)
	for name, v := range o {
		switch name {
		case "retryDelay": // not for people
		case "timeout":
			out = append(out, "--timeout", fmt.Sprintf("%vms", v))
		default:
			out = append(out, "--"+kebab(name), fmt.Sprint(v))
		}
	}
	return out
}

func kebab(name string) (out string) {
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			out += "-"
		}
		out += strings.ToLower(string(r))
	}
	return out
}

func (c *command) run(stdin string, args ...string) (object, error) {
	cmd := exec.CommandContext(context.Background(), c.binary, append(append([]string{"api"}, args...), "--output",
		"json")...)
	cmd.Env, cmd.Stdin = append(os.Environ(), c.env...), strings.NewReader(stdin)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		return describe(failed.Bytes(), err)
	}
	var data any
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &data); err != nil {
			return nil, fmt.Errorf("%v: %w", args, err)
		}
	}
	return object{"data": data}, nil
}

// describe turns what the command says into the words of the others.
func describe(text []byte, err error) (object, error) {
	var body struct {
		Error struct {
			Status     int
			Code       string
			Details    any
			RequestID  string
			RetryAfter float64
		}
	}
	if json.Unmarshal(text, &body) != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	e := body.Error
	if kind := map[string]string{"CONNECTION_FAILED": "connection", "TIMED_OUT": "timeout",
		"WEBHOOK_NOT_GENUINE": "webhook"}[e.Code]; kind != "" {
		return object{"error": object{"kind": kind}}, nil
	}
	fields := object{}
	flatten(e.Details, "", fields)
	return object{"error": object{"kind": "api", "status": float64(e.Status), "code": e.Code, "fields": fields,
		"requestId": e.RequestID != "", "retryAfter": e.RetryAfter > 0}}, nil
}

// flatten writes a tree of issues as the clients do.
func flatten(node any, at string, out object) {
	tree, _ := node.(object)
	if list, ok := tree["errors"].([]any); ok && len(list) > 0 {
		out[at] = list
	}
	properties, _ := tree["properties"].(object)
	for name, below := range properties {
		if at != "" {
			name = at + "." + name
		}
		flatten(below, name, out)
	}
	items, _ := tree["items"].([]any)
	for i, below := range items {
		flatten(below, fmt.Sprintf("%s[%d]", at, i), out)
	}
}

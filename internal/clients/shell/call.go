package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/clients"

	frontdesk "frontdesk.example/go"
)

// newClient is a Go client for the server and key that the flags, the environment or a login
// name.
func (c *command) newClient() (*frontdesk.Client, error) {
	baseURL, key, err := c.resolveServer()
	if err != nil {
		return nil, err
	}
	var options []frontdesk.Option
	if text := c.flagValue("max-retries"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, usageErrorf("--max-retries is a number, not %q", text)
		}
		options = append(options, frontdesk.WithMaxRetries(n))
	}
	if text := c.flagValue("timeout"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return nil, usageErrorf("--timeout is a time like 30s, not %q", text)
		}
		options = append(options, frontdesk.WithTimeout(d))
	}
	return frontdesk.New(baseURL, key, append(options, frontdesk.WithHeader("User-Agent",
		"frontdesk-api/"+frontdesk.Version))...), nil
}

// callOperation makes the operation's call and prints the answer.
func (c *command) callOperation(ctx context.Context) error {
	o := c.operation
	if len(c.arguments) != len(o.PathFields) {
		return usageErrorf("%s takes %s; --help shows how", c.commandLine(), expectedArguments(o))
	}
	path := o.Path
	for i, f := range o.PathFields {
		path = strings.Replace(path, "{"+f.Wire+"}", url.PathEscape(c.arguments[i]), 1)
	}
	input, err := c.buildInput()
	if err != nil {
		return err
	}
	client, err := c.newClient()
	if err != nil {
		return err
	}
	if c.hasFlag("dry-run") && o.MayPropose && !hasInputField(o, "dryRun") {
		return c.printDryRun(ctx, client, input)
	}
	var options []frontdesk.Option
	if key := c.flagValue("idempotency-key"); key != "" {
		options = append(options, frontdesk.WithIdempotencyKey(key))
	}
	if tag := c.flagValue("if-match"); tag != "" {
		options = append(options, frontdesk.WithIfMatch(tag))
	}
	r := frontdesk.Request{Method: o.Method, Path: path}
	switch {
	case o.Form:
		parts, closeFile, err := c.buildForm(input)
		if err != nil {
			return err
		}
		defer closeFile()
		r.Form = parts
	case o.InBody:
		r.Body = input
	default:
		r.Query = queryValues(input)
	}
	switch {
	case o.List:
		return c.printList(ctx, client, r, options)
	case o.Bytes:
		return c.downloadFile(ctx, client, r, options)
	}
	var data json.RawMessage
	if err := client.Call(ctx, r, &data, options...); err != nil || data == nil {
		return err
	}
	return c.printAnswer(o.Output, data)
}

// expectedArguments names the arguments that an operation takes, for a usage error.
func expectedArguments(o *clients.Operation) string {
	if len(o.PathFields) == 0 {
		return "no arguments"
	}
	var names []string
	for _, f := range o.PathFields {
		names = append(names, argumentName(f))
	}
	return strings.Join(names, " and ")
}

func hasInputField(o *clients.Operation, name string) bool {
	if o.Input != nil {
		for _, f := range o.Input.Fields {
			if f.Name == name {
				return true
			}
		}
	}
	return false
}

func queryValues(input map[string]any) url.Values {
	out := url.Values{}
	for name, v := range input {
		out.Set(name, fmt.Sprint(v))
	}
	return out
}

// printList prints one page, or with --all all of them.
func (c *command) printList(ctx context.Context, client *frontdesk.Client, r frontdesk.Request,
	options []frontdesk.Option) error {
	rows := c.newRowPrinter(c.operation.Output)
	everything := c.hasFlag("all")
	if !everything && !r.Query.Has("limit") {
		r.Query.Set("limit", "10") // the server's default; without it the client asks for larger pages
	}
	for page, err := range client.Pages(ctx, r.Path, r.Query, c.operation.Cursor && everything, options...) {
		if err != nil {
			return err
		}
		for _, row := range page.Data {
			if err := rows.writeRow(row); err != nil {
				return err
			}
		}
		if !everything {
			if page.HasMore && rows.output == "table" {
				fmt.Fprintf(c.Err, "There may be more: --all, or --offset %d.\n", page.Offset+len(page.Data))
			}
			break
		}
	}
	return rows.finishRows()
}

// downloadFile writes a file to standard output, or with --save to a path.
func (c *command) downloadFile(ctx context.Context, client *frontdesk.Client, r frontdesk.Request,
	options []frontdesk.Option) error {
	file, err := client.Download(ctx, r, options...)
	if err != nil {
		return err
	}
	defer file.Close()
	path := c.flagValue("save")
	if path == "" {
		_, err := io.Copy(c.Out, file)
		return err
	}
	return saveFile(path, file)
}

// saveFile writes a file completely or not at all, by renaming a temporary one.
func saveFile(path string, from io.Reader) (err error) {
	to, err := os.CreateTemp(filepath.Dir(path), ".frontdesk-*")
	if err != nil {
		return err
	}
	defer os.Remove(to.Name())
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), path)
}

// buildForm builds the parts of a form, and opens the file to upload. closeFile must be called in
// any case.
func (c *command) buildForm(input map[string]any) (parts []frontdesk.Part, closeFile func(), err error) {
	closeFile = func() {}
	for _, f := range c.operation.Input.Fields {
		if f.Kind != clients.Bytes {
			if v, ok := input[f.Name]; ok {
				parts = append(parts, frontdesk.Part{Field: f.Name, Text: fmt.Sprint(v)})
			}
			continue
		}
		path := c.flagValue(clients.KebabCase(f.Name))
		if path == "-" {
			parts = append(parts, frontdesk.Part{Field: f.Name, File: &frontdesk.Upload{Name: "stdin", Reader: c.In}})
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, closeFile, err
		}
		closeFile = func() { file.Close() } //nolint:errcheck // it was only read
		parts = append(parts, frontdesk.Part{Field: f.Name,
			File: &frontdesk.Upload{Name: filepath.Base(path), Reader: file}})
	}
	return parts, closeFile, nil
}

// printDryRun shows what a call would do. It creates a proposal, which the server rehearses, and
// withdraws it again.
func (c *command) printDryRun(ctx context.Context, client *frontdesk.Client, input map[string]any) error {
	for i, f := range c.operation.PathFields {
		input[f.Wire] = c.arguments[i]
	}
	proposal, err := client.Proposals.Create(ctx, frontdesk.ProposalCreateInput{
		Title: "Dry run of " + c.operation.Name,
		Steps: []frontdesk.StepInput{{Operation: c.operation.Name, Input: input}},
	})
	if err != nil {
		return err
	}
	if _, err := client.Proposals.Cancel(ctx, proposal.ID); err != nil {
		return err
	}
	if output := c.flagValue("output"); output == "json" || output == "csv" {
		effects, err := json.Marshal(proposal.Effects)
		if err != nil {
			return err
		}
		return c.printAnswer(&clients.Shape{Kind: clients.Array, Elem: &clients.Shape{Kind: clients.Object}}, effects)
	}
	fmt.Fprintln(c.Err, "Nothing was done. This is what would happen:")
	for _, e := range proposal.Effects {
		fmt.Fprintln(c.Out, stripControls(e.Summary))
	}
	return nil
}

// waitForProposal waits until a proposal is decided and carried out, and prints it.
func (c *command) waitForProposal(ctx context.Context) error {
	if len(c.arguments) != 1 {
		return usageErrorf("%s takes ID", c.commandLine())
	}
	client, err := c.newClient()
	if err != nil {
		return err
	}
	v, err := client.Proposals.Wait(ctx, c.arguments[0])
	if err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.printAnswer(&clients.Shape{Kind: clients.Object}, text)
}

// verifyFlags are the flags of webhooks verify. All are required.
var verifyFlags = []flag{
	{name: "secret", doc: "the webhook's secret, whsec_…"},
	{name: "id", doc: "the header webhook-id"},
	{name: "timestamp", doc: "the header webhook-timestamp"},
	{name: "signature", doc: "the header webhook-signature"},
	{name: "file", doc: "the body as it arrived, or - for standard input"},
}

// verifyWebhook checks the signature of a webhook request, and prints its body if it is genuine.
func (c *command) verifyWebhook() error {
	for _, f := range verifyFlags {
		if !c.hasFlag(f.name) {
			return usageErrorf("--%s is required: %s", f.name, f.doc)
		}
	}
	body, err := c.readInput(c.flagValue("file"))
	if err != nil {
		return err
	}
	h := http.Header{}
	for _, name := range []string{"id", "timestamp", "signature"} {
		h.Set("webhook-"+name, c.flagValue(name))
	}
	if _, err := frontdesk.VerifyWebhook(body, h, c.flagValue("secret")); err != nil {
		return err
	}
	_, err = c.Out.Write(append(body, '\n'))
	return err
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"frontdesk/internal/app"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
)

// adminCommand is `frontdesk admin`. Most of its commands are an operation of the
// catalog, called through the admin door.
type adminCommand struct {
	JSON bool `help:"Print JSON." name:"json"`

	SetupLink setupLink `cmd:"" help:"Print a new link to create the first organization."`

	Org struct {
		Create orgCreate `cmd:"" help:"Create an organization with its first business."`
		Update orgUpdate `cmd:"" help:"Change an organization's name, plan or status."`
		Export orgExport `cmd:"" help:"Write all data of an organization to a new folder, as JSON Lines."`
	} `cmd:"" help:"Organizations."`
	User struct {
		Create  userCreate  `cmd:"" help:"Add a user to an organization, or print a link for an existing one."`
		List    userList    `cmd:"" help:"List an organization's users."`
		Disable userDisable `cmd:"" help:"Disable a user."`
		Enable  userEnable  `cmd:"" help:"Enable a disabled user."`

		PasswordLink userPasswordLink `cmd:"" help:"Print a link to set a new password; pass it only to the person."`
		ResetFactors userResetFactors `cmd:"" help:"Remove the second factors of a user who lost them."`
		SignInLink   userSignInLink   `cmd:"" help:"Print a link that signs in once; pass it only to the person."`
		Unlink       userUnlink       `cmd:"" help:"Forget who a user is at the identity provider."`
	} `cmd:"" help:"Users."`
	Agreement struct {
		Accept agreementAccept `cmd:"" help:"Accept an agreement on behalf of an owner or admin."`
	} `cmd:"" help:"Agreements."`
	Key struct {
		Create keyCreate `cmd:"" help:"Create an API key."`
		List   keyList   `cmd:"" help:"List an organization's API keys."`
		Revoke keyRevoke `cmd:"" help:"Revoke an API key."`
	} `cmd:"" help:"API keys."`
	Card struct {
		Add cardAdd `cmd:"" help:"Save a sandbox card, or one the payment provider knows, and make it the default."`
	} `cmd:"" help:"Payment cards."`
	Agent struct {
		Create     agentCreate     `cmd:"" help:"Create an agent."`
		List       agentList       `cmd:"" help:"List an organization's agents."`
		Set        agentSet        `cmd:"" help:"Set what an agent may do."`
		Activate   agentActivate   `cmd:"" help:"Activate an agent."`
		Deactivate agentDeactivate `cmd:"" help:"Deactivate an agent."`
		Delete     agentDelete     `cmd:"" help:"Delete an agent."`
		Move       agentMove       `cmd:"" help:"Move an agent to another business."`
	} `cmd:"" help:"Agents."`
	Agents struct {
		Pause  agentsPause  `cmd:"" help:"Pause all agents of an organization."`
		Resume agentsResume `cmd:"" help:"Let the agents of an organization act again."`
	} `cmd:"" help:"All agents of an organization."`
	Contact struct {
		Erase contactErase `cmd:"" help:"Erase a person for good from rows, events, stored answers, jobs and search."`
	} `cmd:"" help:"Contacts."`
	Domain struct {
		Zone domainZone `cmd:"" help:"Print the zone of a domain as a zone file."`
	} `cmd:"" help:"Domains."`
	Mail struct {
		List mailList `cmd:"" help:"List an organization's mail in the embedded mailbox."`
		Show mailShow `cmd:"" help:"Show a mail of the embedded mailbox."`
		DNS  mailDNS  `cmd:"" name:"dns" help:"Show the DNS records that verify the service's own mail."`
	} `cmd:"" help:"Mail."`
	Secrets struct {
		Rotate secretsRotate `cmd:"" help:"Use a new sealing key, and seal the stored secrets with it."`
	} `cmd:"" help:"The sealing key."`
}

// AfterApply tells the commands below how to print. kong calls it.
func (c *adminCommand) AfterApply(out *streams) error {
	out.json = c.JSON
	return nil
}

// runAndPrint sends one operation to the running server, or runs it on the database, and
// prints the answer.
func runAndPrint(s *config.Settings, out *streams, q admin.Request, input map[string]any) error {
	data, err := runRequest(s, out, q, input)
	if err != nil {
		return err
	}
	return printAnswer(out, data)
}

// runRequest sends one operation and returns its answer. Empty values of the input are left
// out, as flags that were not given. An operation without an answer gives the id of
// the row that it was about.
func runRequest(s *config.Settings, out *streams, q admin.Request, input map[string]any) (data json.RawMessage,
	err error) {
	for k, v := range input {
		if v == nil || v == "" {
			delete(input, k)
		}
	}
	if q.Input, err = json.Marshal(input); err != nil {
		return nil, err
	}
	err = withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) (err error) {
		data, err = doer.Do(ctx, q)
		return err
	})
	if err == nil && bytes.Equal(data, []byte("{}")) && q.Noun != "" {
		return json.Marshal(map[string]string{"id": q.Ref})
	}
	return data, err
}

// withAdmin runs fn against the running server or, without one, the database itself. It
// tries the database first: whether that is owned tells if a server runs.
func withAdmin(s *config.Settings, out *streams, fn func(context.Context, admin.CommandRunner) error) error {
	if err := s.FillAndValidate(false); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	a, err := app.Open(ctx, *s, newLogger(s, out.err))
	switch {
	case errors.Is(err, db.ErrOwned):
		return fn(ctx, admin.Dial(s.SocketPath()))
	case err != nil:
		return err
	}
	return errors.Join(fn(ctx, a.Admin), a.Close())
}

// printAnswer writes an answer as JSON, or as a line per field, with an empty line
// between rows.
func printAnswer(out *streams, data json.RawMessage) error {
	if out.json {
		var buf bytes.Buffer
		if err := json.Indent(&buf, data, "", "  "); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out.out, buf.String())
		return err
	}
	if bytes.HasPrefix(data, []byte("[")) {
		var rows []json.RawMessage
		if err := json.Unmarshal(data, &rows); err != nil {
			return err
		}
		if len(rows) == 0 {
			fmt.Fprintln(out.out, "There are none.")
		}
		for i, row := range rows {
			if i > 0 {
				fmt.Fprintln(out.out)
			}
			if err := printFields(out.out, row); err != nil {
				return err
			}
		}
		return nil
	}
	return printFields(out.out, data)
}

// printFields writes a line per field, in their order. Objects inside are flattened,
// and null is left out.
func printFields(w io.Writer, data json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		text := string(value)
		if text == "null" {
			continue
		}
		if strings.HasPrefix(text, "{") {
			if err := printFields(w, value); err != nil {
				return err
			}
			continue
		}
		var s string
		if json.Unmarshal(value, &s) == nil {
			text = s
		}
		if _, err := fmt.Fprintf(w, "%-16s %s\n", name, text); err != nil {
			return err
		}
	}
	return nil
}

type setupLink struct{}

// Help is what --help says about the command.
func (setupLink) Help() string { return "It works as long as there is no organization." }

func (setupLink) Run(s *config.Settings, out *streams) error {
	var data json.RawMessage
	err := withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) (err error) {
		data, err = doer.RunTask(ctx, "setup.link", struct{}{}, out.printProgress)
		return err
	})
	if err != nil {
		return err
	}
	return printAnswer(out, data)
}

type orgCreate struct {
	Name string `required:"" help:"Its name."`
	Plan string `default:"free" enum:"free,starter,professional,enterprise" help:"One of ${enum}."`
}

func (c *orgCreate) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "organizations.create"},
		map[string]any{"name": c.Name, "plan": c.Plan})
}

type orgUpdate struct {
	ID     string `arg:"" help:"The organization."`
	Name   string `help:"A new name."`
	Plan   string `enum:"free,starter,professional,enterprise," default:"" help:"The new plan."`
	Status string `enum:"active,disabled," default:"" help:"active or disabled."`
}

func (c *orgUpdate) Run(s *config.Settings, out *streams) error {
	if c.Name == "" && c.Plan == "" && c.Status == "" {
		return errors.New("nothing to change; give --name, --plan or --status")
	}
	return runAndPrint(s, out, admin.Request{Operation: "organizations.update", Noun: "organization", Ref: c.ID},
		map[string]any{"name": c.Name, "plan": c.Plan, "status": c.Status})
}

type userCreate struct {
	Org           string `required:"" help:"The organization."`
	Email         string `required:"" help:"The email to sign in with."`
	Name          string `required:"" help:"The person's name."`
	Role          string `default:"member" enum:"owner,admin,member" help:"owner, admin or member."`
	PasswordStdin bool   `help:"Read the password of a new user from the first line of standard input."`
}

func (c *userCreate) Run(s *config.Settings, out *streams) error {
	password := ""
	if c.PasswordStdin {
		line, err := bufio.NewReader(out.in).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if password = strings.TrimRight(line, "\r\n"); password == "" {
			return errors.New("no password on standard input")
		}
	}
	return runAndPrint(s, out, admin.Request{Operation: "users.create", Noun: "organization", Ref: c.Org},
		map[string]any{"email": c.Email, "name": c.Name, "role": c.Role, "password": password})
}

// ofOrg is a command about one organization, or one that lists something in it.
type ofOrg struct {
	Org string `required:"" help:"The organization."`
}

// listAllPages reads page after page and prints all rows.
func (c *ofOrg) listAllPages(s *config.Settings, out *streams, operation string) error {
	const page = 100
	all := []json.RawMessage{}
	err := withAdmin(s, out, func(ctx context.Context, doer admin.CommandRunner) error {
		for {
			data, err := doer.Do(ctx,
				admin.Request{Operation: operation, Noun: "organization", Ref: c.Org,
					Input: fmt.Appendf(nil, `{"limit": %d, "offset": %d}`, page, len(all))})
			if err != nil {
				return err
			}
			var rows []json.RawMessage
			if err := json.Unmarshal(data, &rows); err != nil {
				return err
			}
			if all = append(all, rows...); len(rows) < page {
				return nil
			}
		}
	})
	if err != nil {
		return err
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return printAnswer(out, data)
}

type userList struct{ ofOrg }

func (c *userList) Run(s *config.Settings, out *streams) error {
	return c.listAllPages(s, out, "users.list")
}

type keyList struct{ ofOrg }

func (c *keyList) Run(s *config.Settings, out *streams) error {
	return c.listAllPages(s, out, "api_keys.list")
}

type agentList struct{ ofOrg }

func (c *agentList) Run(s *config.Settings, out *streams) error {
	return c.listAllPages(s, out, "agents.list")
}

type userDisable struct {
	Email string `arg:"" help:"The user's email."`
}

func (c *userDisable) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "users.disable"}, map[string]any{"email": c.Email})
}

type userEnable struct {
	Email string `arg:"" help:"The user's email."`
}

func (c *userEnable) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "users.enable"}, map[string]any{"email": c.Email})
}

type userPasswordLink struct {
	Email string `arg:"" help:"The user's email."`
}

// Help is what --help says about the command.
func (*userPasswordLink) Help() string {
	return "The link works once, within 30 minutes. It ends all sessions of the user and proves the address."
}

func (c *userPasswordLink) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "users.link_password"}, map[string]any{"email": c.Email})
}

type userResetFactors struct {
	Email string `arg:"" help:"The user's email."`
}

// Help is what --help says about the command.
func (*userResetFactors) Help() string {
	return "Passkeys, one-time codes, recovery codes and all sessions of the user end, and the user is told by mail. " +
		"Make sure that you know who asks: from then on the password alone signs in."
}

func (c *userResetFactors) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "users.reset_factors"}, map[string]any{"email": c.Email})
}

type userSignInLink struct {
	Email string `arg:"" help:"The user's email."`
}

// Help is what --help says about the command.
func (*userSignInLink) Help() string {
	return "For when the identity provider does not work and passwords are switched off. The link works once, within " +
		"30 minutes, and still asks for a second factor if the user has one."
}

func (c *userSignInLink) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "users.link_sign_in"}, map[string]any{"email": c.Email})
}

type userUnlink struct {
	Email string `arg:"" help:"The user's email."`
}

// Help is what --help says about the command.
func (*userUnlink) Help() string {
	return "For a person who has a new account at the provider. All sessions of the user end, and whoever next signs " +
		"in there with the verified address is linked."
}

func (c *userUnlink) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "users.unlink"}, map[string]any{"email": c.Email})
}

type agreementAccept struct {
	Business string `required:"" help:"The business."`
	Kind     string `required:"" enum:"business,domain" help:"business or domain."`
	By       string `required:"" help:"The email of the owner or admin who accepts."`
}

func (c *agreementAccept) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "agreements.accept", Noun: "business", Ref: c.Business},
		map[string]any{"businessId": c.Business, "kind": c.Kind, "by": c.By})
}

type keyCreate struct {
	Business    string   `required:"" help:"The business."`
	Name        string   `required:"" help:"What the key is for."`
	Permissions []string `required:"" help:"Like contacts:read,contacts:write, or * for everything."`
	ExpiresAt   string   `help:"When it expires, like 2027-01-31T00:00:00Z."`
	By          string   `help:"Its owner: an owner or admin. Default: the oldest owner." placeholder:"EMAIL"`
}

func (c *keyCreate) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "api_keys.create", Noun: "business", Ref: c.Business},
		map[string]any{"businessId": c.Business, "name": c.Name, "permissions": c.Permissions, "expiresAt": c.ExpiresAt,
			"by": c.By})
}

type keyRevoke struct {
	ID string `arg:"" help:"The key's id."`
}

func (c *keyRevoke) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "api_keys.revoke", Noun: "API key", Ref: c.ID},
		map[string]any{"id": c.ID})
}

type cardAdd struct {
	Org  string `required:"" help:"The organization."`
	Test string `help:"Which sandbox card: visa, declined, insufficient or slow." xor:"card" required:""`
	Card string `help:"The payment provider's id of a card." xor:"card" required:"" placeholder:"pm_…"`

	Customer string `help:"The provider's id of the card's owner." placeholder:"cus_…"`
}

func (c *cardAdd) Run(s *config.Settings, out *streams) error {
	if c.Card != "" {
		return runAndPrint(s, out, admin.Request{Operation: "payment_methods.create", Noun: "organization", Ref: c.Org},
			map[string]any{"customer": c.Customer, "card": c.Card})
	}
	return runAndPrint(s, out, admin.Request{Operation: "payment_methods.create_test", Noun: "organization",
		Ref: c.Org}, map[string]any{"test": c.Test})
}

type agentCreate struct {
	Business    string `required:"" help:"The business."`
	Name        string `required:"" help:"The agent's name."`
	Permissions string `default:"none" enum:"all,read,none" help:"Initial permissions: all, read or none."`
}

func (c *agentCreate) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "agents.create", Noun: "business", Ref: c.Business},
		map[string]any{"businessId": c.Business, "name": c.Name, "preset": c.Permissions})
}

type agentSet struct {
	ID       string   `arg:"" help:"The agent."`
	Settings []string `arg:"" help:"Like contacts.create=ask askMode=propose spendCents=5000." placeholder:"NAME=VALUE"`
}

// limitNames are the limits of an agent; an empty value clears one.
var limitNames = []string{"spendCents", "messages", "newRecipients", "deletions", "dnsChanges"}

// Run sorts the settings into permissions, limits and the rest. An empty value clears
// the guard or a limit.
func (c *agentSet) Run(s *config.Settings, out *streams) error {
	cells, limits, input := map[string]string{}, map[string]any{}, map[string]any{"id": c.ID}
	for _, setting := range c.Settings {
		name, value, ok := strings.Cut(setting, "=")
		switch {
		case !ok:
			return fmt.Errorf("%q is not RESOURCE.ACTION=allow|ask|deny, askMode=, guard=, toolList= or a limit",
				setting)
		case name == "askMode", name == "toolList":
			input[name] = value
		case name == "guard" && value == "":
			input[name] = nil
		case name == "guard":
			input[name] = value
		case slices.Contains(limitNames, name) && value == "":
			limits[name] = nil
		case slices.Contains(limitNames, name):
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("%s: %q is not a whole number", name, value)
			}
			limits[name] = n
		default:
			cells[name] = value
		}
	}
	input["permissions"] = cells
	if len(limits) > 0 {
		input["limits"] = limits
	}
	return runAndPrint(s, out, admin.Request{Operation: "agents.configure", Noun: "agent", Ref: c.ID}, input)
}

type agentsPause struct {
	Org string `required:"" help:"The organization."`
}

func (c *agentsPause) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "agents.pause_all", Noun: "organization", Ref: c.Org},
		map[string]any{})
}

type agentsResume struct {
	Org string `required:"" help:"The organization."`
}

func (c *agentsResume) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "agents.resume_all", Noun: "organization", Ref: c.Org},
		map[string]any{})
}

// oneAgent is a command about one agent.
type oneAgent struct {
	ID string `arg:"" help:"The agent."`
}

// runOnAgent runs an operation on the agent and prints the answer.
func (c *oneAgent) runOnAgent(s *config.Settings, out *streams, operation string) error {
	return runAndPrint(s, out, admin.Request{Operation: operation, Noun: "agent", Ref: c.ID},
		map[string]any{"id": c.ID})
}

type agentActivate struct{ oneAgent }

func (c *agentActivate) Run(s *config.Settings, out *streams) error {
	return c.runOnAgent(s, out, "agents.activate")
}

type agentDeactivate struct{ oneAgent }

func (c *agentDeactivate) Run(s *config.Settings, out *streams) error {
	return c.runOnAgent(s, out, "agents.deactivate")
}

type agentDelete struct{ oneAgent }

func (c *agentDelete) Run(s *config.Settings, out *streams) error {
	return c.runOnAgent(s, out, "agents.delete")
}

type agentMove struct {
	oneAgent
	Business string `required:"" help:"The business to move to."`
}

func (c *agentMove) Run(s *config.Settings, out *streams) error {
	return runAndPrint(s, out, admin.Request{Operation: "agents.move", Noun: "agent", Ref: c.ID},
		map[string]any{"id": c.ID, "businessId": c.Business})
}

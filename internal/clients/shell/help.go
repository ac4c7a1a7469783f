package shell

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"frontdesk/internal/clients"
)

// about is the beginning of the help for frontdesk api alone.
const about = `Every operation of a Frontdesk server, from the command line.

  frontdesk api login                                    keep a server and a key
  frontdesk api contacts list --query ada                what a person reads
  frontdesk api contacts list --all --output csv         everything, for a spreadsheet
  frontdesk api contacts create --first-name Ada         fields are flags
  frontdesk api tasks create --file task.json            or a file with JSON
  frontdesk api contacts delete ID --dry-run             what would happen
  frontdesk api completion bash                          completion for bash, zsh or fish

`

// line is the command as far as it was understood.
func (c *command) line() string {
	words := []string{"frontdesk", "api"}
	for _, n := range c.nouns {
		words = append(words, clients.Kebab(n.Name))
	}
	if c.operation != nil {
		words = append(words, clients.Kebab(c.operation.Verb))
	}
	if c.own != "" {
		words = append(words, c.own)
	}
	return strings.Join(words, " ")
}

// help prints what there is, or what an operation takes.
func (c *command) help() error {
	w := tabwriter.NewWriter(c.Out, 0, 4, 2, ' ', 0)
	switch {
	case c.operation != nil:
		c.operationHelp(w)
	case c.own != "":
		fmt.Fprintf(w, "%s%s\n\n", c.line(), ownUsage[c.own])
		printFlags(w, c.flags())
	default:
		if len(c.nouns) == 0 {
			fmt.Fprint(c.Out, about)
		}
		c.nounHelp(w)
	}
	return w.Flush()
}

// ownUsage describes the commands that are not operations. The texts follow the command line.
var ownUsage = map[string]string{
	"login":      ": asks for a key, tries it, and keeps it for this user alone",
	"logout":     ": forgets the key of a server",
	"completion": " bash|zsh|fish: prints a script that completes commands; source it",
	"verify":     ": says whether a webhook request is genuine, and prints its body",
	"wait":       " ID: waits until it is decided and carried out",
}

// nounHelp lists the operations and nouns below what was typed.
func (c *command) nounHelp(w *tabwriter.Writer) {
	nouns := c.API.Nouns
	if n := c.last(); n != nil {
		nouns = n.Nouns
		for _, o := range n.Operations {
			fmt.Fprintf(w, "%s %s%s\t%s\n", c.line(), clients.Kebab(o.Verb), arguments(o), o.Summary)
		}
	}
	for _, n := range nouns {
		var verbs []string
		for _, o := range n.Operations {
			verbs = append(verbs, clients.Kebab(o.Verb))
		}
		for _, below := range n.Nouns {
			verbs = append(verbs, clients.Kebab(below.Name)+" …")
		}
		fmt.Fprintf(w, "%s %s\t%s\n", c.line(), clients.Kebab(n.Name), strings.Join(verbs, ", "))
	}
	for _, own := range c.ownCommands() {
		fmt.Fprintf(w, "%s %s\t%s\n", c.line(), own, strings.TrimLeft(ownUsage[own], ": "))
	}
}

func arguments(o *clients.Operation) (out string) {
	for _, f := range o.PathFields {
		out += " " + argument(f)
	}
	return out
}

// argument is how help writes an argument: CONTACT-ID.
func argument(f *clients.Field) string { return strings.ToUpper(clients.Kebab(f.Name)) }

func (c *command) operationHelp(w *tabwriter.Writer) {
	o := c.operation
	fmt.Fprintf(w, "%s%s [flags]\n\n%s", c.line(), arguments(o), o.Summary)
	if o.Description != "" {
		fmt.Fprintf(w, " %s", o.Description)
	}
	fmt.Fprint(w, "\n\n")
	printFlags(w, flagsOf(o))
	if example := clients.ShellExample(o); example != "" {
		fmt.Fprintf(w, "\nExample:\n  %s\n", example)
	}
	fmt.Fprintf(w, "\nREST: %s %s. Operation: %s.\n", o.Method, o.Path, o.Name)
}

func printFlags(w *tabwriter.Writer, flags []flag) {
	for _, f := range flags {
		value := ""
		if !f.switchOn {
			value = " " + valueWord(f)
		}
		doc := f.doc
		if f.values != nil {
			doc = strings.TrimPrefix(doc+"; "+strings.Join(f.values, ", "), "; ")
		}
		if f.field != nil && f.field.Required {
			doc = strings.TrimSuffix("required; "+doc, "; ")
		}
		if f.field != nil && f.field.Default != "" {
			doc = strings.TrimPrefix(doc+" ("+strings.Trim(f.field.Default, `"`)+")", " ")
		}
		fmt.Fprintf(w, "  --%s%s\t%s\n", f.name, value, doc)
	}
}

// valueWord is how help writes the value of a flag.
func valueWord(f flag) string {
	if f.field == nil {
		return "VALUE"
	}
	switch f.field.Kind {
	case clients.Integer, clients.Number:
		return "N"
	case clients.Time:
		return "TIME"
	case clients.Date:
		return "DATE"
	case clients.Bytes:
		return "FILE"
	case clients.Map, clients.Object:
		return "JSON"
	case clients.Array:
		if scalar(f.field.Elem) {
			return "TEXT…"
		}
		return "JSON"
	case clients.Union, clients.Any:
		return "TEXT|JSON"
	}
	return "TEXT"
}

package shell

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"frontdesk/internal/clients"
)

// helpIntro is the beginning of the help for frontdesk api alone.
const helpIntro = `Every operation of a Frontdesk server, from the command line.

  frontdesk api login                                    keep a server and a key
  frontdesk api contacts list --query ada                what a person reads
  frontdesk api contacts list --all --output csv         everything, for a spreadsheet
  frontdesk api contacts create --first-name Ada         fields are flags
  frontdesk api tasks create --file task.json            or a file with JSON
  frontdesk api contacts delete ID --dry-run             what would happen
  frontdesk api completion bash                          completion for bash, zsh or fish

`

// commandLine is the command as far as it was understood.
func (c *command) commandLine() string {
	words := []string{"frontdesk", "api"}
	for _, n := range c.nouns {
		words = append(words, clients.KebabCase(n.Name))
	}
	if c.operation != nil {
		words = append(words, clients.KebabCase(c.operation.Verb))
	}
	if c.builtin != "" {
		words = append(words, c.builtin)
	}
	return strings.Join(words, " ")
}

// printHelp prints what there is, or what an operation takes.
func (c *command) printHelp() error {
	w := tabwriter.NewWriter(c.Out, 0, 4, 2, ' ', 0)
	switch {
	case c.operation != nil:
		c.printOperationHelp(w)
	case c.builtin != "":
		fmt.Fprintf(w, "%s%s\n\n", c.commandLine(), builtinUsage[c.builtin])
		printFlags(w, c.knownFlags())
	default:
		if len(c.nouns) == 0 {
			fmt.Fprint(c.Out, helpIntro)
		}
		c.printNounHelp(w)
	}
	return w.Flush()
}

// builtinUsage describes the commands that are not operations. The texts follow the command line.
var builtinUsage = map[string]string{
	"login":      ": asks for a key, tries it, and keeps it for this user alone",
	"logout":     ": forgets the key of a server",
	"completion": " bash|zsh|fish: prints a script that completes commands; source it",
	"verify":     ": says whether a webhook request is genuine, and prints its body",
	"wait":       " ID: waits until it is decided and carried out",
}

// printNounHelp lists the operations and nouns below what was typed.
func (c *command) printNounHelp(w *tabwriter.Writer) {
	nouns := c.API.Nouns
	if n := c.lastNoun(); n != nil {
		nouns = n.Nouns
		for _, o := range n.Operations {
			fmt.Fprintf(w, "%s %s%s\t%s\n", c.commandLine(), clients.KebabCase(o.Verb), argumentNames(o), o.Summary)
		}
	}
	for _, n := range nouns {
		var verbs []string
		for _, o := range n.Operations {
			verbs = append(verbs, clients.KebabCase(o.Verb))
		}
		for _, below := range n.Nouns {
			verbs = append(verbs, clients.KebabCase(below.Name)+" …")
		}
		fmt.Fprintf(w, "%s %s\t%s\n", c.commandLine(), clients.KebabCase(n.Name), strings.Join(verbs, ", "))
	}
	for _, own := range c.builtinCommands() {
		fmt.Fprintf(w, "%s %s\t%s\n", c.commandLine(), own, strings.TrimLeft(builtinUsage[own], ": "))
	}
}

func argumentNames(o *clients.Operation) (out string) {
	for _, f := range o.PathFields {
		out += " " + argumentName(f)
	}
	return out
}

// argumentName is how help writes an argument: CONTACT-ID.
func argumentName(f *clients.Field) string { return strings.ToUpper(clients.KebabCase(f.Name)) }

func (c *command) printOperationHelp(w *tabwriter.Writer) {
	o := c.operation
	fmt.Fprintf(w, "%s%s [flags]\n\n%s", c.commandLine(), argumentNames(o), o.Summary)
	if o.Description != "" {
		fmt.Fprintf(w, " %s", o.Description)
	}
	fmt.Fprint(w, "\n\n")
	printFlags(w, operationFlags(o))
	if example := clients.ShellExample(o); example != "" {
		fmt.Fprintf(w, "\nExample:\n  %s\n", example)
	}
	fmt.Fprintf(w, "\nREST: %s %s. Operation: %s.\n", o.Method, o.Path, o.Name)
}

func printFlags(w *tabwriter.Writer, flags []flag) {
	for _, f := range flags {
		value := ""
		if !f.isSwitch {
			value = " " + valuePlaceholder(f)
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

// valuePlaceholder is how help writes the value of a flag.
func valuePlaceholder(f flag) string {
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
		if isTextShape(f.field.Elem) {
			return "TEXT…"
		}
		return "JSON"
	case clients.Union, clients.Any:
		return "TEXT|JSON"
	}
	return "TEXT"
}

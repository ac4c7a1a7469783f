package shell

import (
	"embed"
	"slices"
	"strings"
)

// completeCommand is what the completion scripts call. The words typed so far
// follow; the last one is not finished.
const completeCommand = "__complete"

// completionScripts are the completion scripts, one per shell.
//
//go:embed completion.*
var completionScripts embed.FS

// printCompletion prints the completion script of a shell.
func (c *command) printCompletion() error {
	if len(c.arguments) != 1 || !slices.Contains([]string{"bash", "zsh", "fish"}, c.arguments[0]) {
		return usageErrorf("for which shell? Say frontdesk api completion bash, zsh or fish")
	}
	text, err := completionScripts.ReadFile("completion." + c.arguments[0])
	if err != nil {
		return err
	}
	_, err = c.Out.Write(text)
	return err
}

// completeWord lists what the last word may become.
func (c *command) completeWord(words []string) (out []string) {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	before := words[:len(words)-1]
	if c.parseCommand(slices.DeleteFunc(slices.Clone(before), func(w string) bool { return w == "" })) != nil {
		// The command before the last word does not parse if it ends with a flag whose value is being
		// typed. That is no error.
		if len(before) == 0 || !strings.HasPrefix(before[len(before)-1], "--") {
			return nil
		}
	}
	for _, candidate := range c.candidates(before, last) {
		if strings.HasPrefix(candidate, last) {
			out = append(out, candidate)
		}
	}
	slices.Sort(out)
	return out
}

// candidates lists everything that may stand in the place of the last word: the values of a
// flag, flags, or words.
func (c *command) candidates(before []string, last string) (out []string) {
	flags := c.knownFlags()
	if len(before) > 0 {
		name, isFlag := strings.CutPrefix(before[len(before)-1], "--")
		i := slices.IndexFunc(flags, func(f flag) bool { return f.name == name })
		if isFlag && i >= 0 && !flags[i].isSwitch {
			return flags[i].values
		}
	}
	switch {
	case strings.HasPrefix(last, "-"):
		for _, f := range flags {
			out = append(out, "--"+f.name)
		}
	case c.builtin == "completion":
		out = []string{"bash", "zsh", "fish"}
	case c.operation == nil && c.builtin == "":
		out = c.nextWords()
	}
	return out
}

// Command tokens counts what an agent pays for being told of the tools: tokens
// (o200k) and bytes of every list that a client can ask for, beside what has been
// published of others.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/tiktoken-go/tokenizer"
)

// others is what policylayer.com/token-cost counted with the same tokenizer in 2026.
// Nobody has published a figure for Notion's own server.
const others = `
Others, as published        tools   tokens   a tool
  GitHub                       86    14406      168
  Linear                       66     7149      108`

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run() error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	fmt.Println("Lists of tools              tools   tokens   a tool    bytes")
	for _, query := range []string{"", "readonly=1", "toolsets=mail", "toolsets=mail,invoices", "toolsets=tasks,contacts",
		"tools=compact"} {
		cmd := exec.Command("go", "run", "./cmd/frontdesk", "tools", query) //nolint:noctx // ends by itself
		cmd.Dir, cmd.Stderr = "..", os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return err
		}
		var tools []json.RawMessage
		if err := json.Unmarshal(text, &tools); err != nil {
			return err
		}
		tokens := 0
		for _, t := range tools {
			n, err := codec.Count(string(t))
			if err != nil {
				return err
			}
			tokens += n
		}
		fmt.Printf("  /mcp?%-21s %5d %8d %8.0f %8d\n", query, len(tools), tokens, float64(tokens)/float64(len(tools)),
			len(text))
	}
	fmt.Println(others)
	return nil
}

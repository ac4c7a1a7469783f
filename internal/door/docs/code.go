package docs

import (
	"fmt"
	"strings"
)

// Sample is a call in one language.
type Sample struct{ Language, Text string }

// exampleCall is an example of a call.
type exampleCall struct {
	Method, URL, Body string
	Form              [][2]string // pairs of name and text; a text that begins with @ names a file
	Open              bool        // it is public and needs no API key
	Key               bool        // it needs an idempotency key
	Bytes             bool        // it answers with a file
}

// curlCommand is the call as a command for a shell.
func (c *exampleCall) curlCommand() string {
	method := "-X " + c.Method + " "
	if c.Method == "GET" {
		method = ""
	}
	text := fmt.Sprintf("curl %s'%s'", method, c.URL)
	if !c.Open {
		text += " \\\n  -H \"Authorization: Bearer $KEY\""
	}
	if c.Key {
		text += " \\\n  -H 'Idempotency-Key: one-of-your-own'"
	}
	for _, part := range c.Form {
		text += fmt.Sprintf(" \\\n  -F '%s=%s'", part[0], part[1])
	}
	if c.Body != "" {
		text += " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(c.Body, "'", `'\''`) + "'"
	}
	if c.Bytes {
		text += " \\\n  -o file"
	}
	return text
}

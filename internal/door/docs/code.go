package docs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// sample is a call in one language.
type sample struct{ Language, Text string }

// call is an example of a call.
type call struct {
	Method, URL, Body string
	Form              [][2]string // of name and text; @ names a file
	Open              bool        // it needs no API key
	Key               bool        // it needs an idempotency key
	Bytes             bool        // it answers with a file
}

func (c *call) samples() []sample {
	return []sample{{"curl", c.curl()}, {"TypeScript", c.typeScript()}, {"Python", c.python()}, {"Go", c.golang()}}
}

const exampleKey = "one-of-your-own"

func (c *call) curl() string {
	method := "-X " + c.Method + " "
	if c.Method == "GET" {
		method = ""
	}
	text := fmt.Sprintf("curl %s'%s'", method, c.URL)
	if !c.Open {
		text += " \\\n  -H \"Authorization: Bearer $KEY\""
	}
	if c.Key {
		text += " \\\n  -H 'Idempotency-Key: " + exampleKey + "'"
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

// headers are the headers of the call as one line each: name, and the value as the
// language has it.
func (c *call) headers(bearer string, quote func(string) string) (out [][2]string) {
	if !c.Open {
		out = append(out, [2]string{"Authorization", bearer})
	}
	if c.Key {
		out = append(out, [2]string{"Idempotency-Key", quote(exampleKey)})
	}
	return out
}

func (c *call) typeScript() string {
	var b strings.Builder
	for i, part := range c.Form {
		if i == 0 {
			b.WriteString("const form = new FormData();\n")
		}
		if name, ok := strings.CutPrefix(part[1], "@"); ok {
			fmt.Fprintf(&b, "form.set(%q, await openAsBlob(%q), %q); // from \"node:fs\"\n", part[0], name, name)
		} else {
			fmt.Fprintf(&b, "form.set(%q, %q);\n", part[0], part[1])
		}
	}
	fmt.Fprintf(&b, "const res = await fetch(%q, {\n", c.URL)
	if c.Method != "GET" {
		fmt.Fprintf(&b, "  method: %q,\n", c.Method)
	}
	headers := c.headers("`Bearer ${process.env.KEY}`", strconv.Quote)
	if c.Body != "" {
		headers = append(headers, [2]string{"Content-Type", `"application/json"`})
	}
	if len(headers) > 0 {
		b.WriteString("  headers: {\n")
		for _, h := range headers {
			name := h[0]
			if strings.Contains(name, "-") {
				name = strconv.Quote(name)
			}
			fmt.Fprintf(&b, "    %s: %s,\n", name, h[1])
		}
		b.WriteString("  },\n")
	}
	switch {
	case c.Form != nil:
		b.WriteString("  body: form,\n")
	case c.Body != "":
		b.WriteString("  body: JSON.stringify(" + strings.ReplaceAll(c.Body, "\n", "\n  ") + "),\n")
	}
	b.WriteString("});\n")
	if c.Bytes {
		return b.String() + "const bytes = await res.arrayBuffer();"
	}
	return b.String() + "const { data, error } = await res.json();"
}

func (c *call) python() string {
	var b strings.Builder
	b.WriteString("import os, requests\n\n")
	fmt.Fprintf(&b, "res = requests.%s(\n    %q,\n", strings.ToLower(c.Method), c.URL)
	headers := c.headers(`f"Bearer {os.environ['KEY']}"`, strconv.Quote)
	if len(headers) > 0 {
		b.WriteString("    headers={")
		for i, h := range headers {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q: %s", h[0], h[1])
		}
		b.WriteString("},\n")
	}
	for _, part := range c.Form {
		if name, ok := strings.CutPrefix(part[1], "@"); ok {
			fmt.Fprintf(&b, "    files={%q: open(%q, \"rb\")},\n", part[0], name)
		}
	}
	var fields []string
	for _, part := range c.Form {
		if !strings.HasPrefix(part[1], "@") {
			fields = append(fields, fmt.Sprintf("%q: %q", part[0], part[1]))
		}
	}
	if fields != nil {
		b.WriteString("    data={" + strings.Join(fields, ", ") + "},\n")
	}
	if c.Body != "" {
		b.WriteString("    json=" + strings.ReplaceAll(pythonLiteral(c.Body), "\n", "\n    ") + ",\n")
	}
	b.WriteString(")\n")
	if c.Bytes {
		return b.String() + "content = res.content"
	}
	return b.String() + `data = res.json().get("data")`
}

// pythonLiteral is JSON as Python has it: True, False and None.
func pythonLiteral(text string) string {
	words := strings.NewReplacer("true", "True", "false", "False", "null", "None")
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '"' { // up to the next text
			end := strings.IndexByte(text[i:], '"')
			if end < 0 {
				end = len(text) - i
			}
			words.WriteString(&b, text[i:i+end]) //nolint:errcheck // into memory
			i += end
			continue
		}
		n, err := jsontext.NewDecoder(strings.NewReader(text[i:])).ReadValue()
		if err != nil {
			return text
		}
		b.Write(n)
		i += len(n)
	}
	return b.String()
}

func (c *call) golang() string {
	var b strings.Builder
	body := "nil"
	switch {
	case c.Form != nil:
		body = "&body"
		b.WriteString("var body bytes.Buffer\nform := multipart.NewWriter(&body)\n")
		for _, part := range c.Form {
			if name, ok := strings.CutPrefix(part[1], "@"); ok {
				fmt.Fprintf(&b, "part, err := form.CreateFormFile(%q, %q)\n// … copy the file into part\n",
					part[0], name)
			} else {
				fmt.Fprintf(&b, "form.WriteField(%q, %q)\n", part[0], part[1])
			}
		}
		b.WriteString("form.Close()\n")
	case c.Body != "":
		body = "body"
		quoted := "`" + c.Body + "`"
		if strings.Contains(c.Body, "`") {
			quoted = strconv.Quote(c.Body)
		}
		b.WriteString("body := strings.NewReader(" + quoted + ")\n")
	}
	fmt.Fprintf(&b, "req, err := http.NewRequestWithContext(ctx, %q, %q, %s)\nif err != nil {\n\treturn err\n}\n",
		c.Method, c.URL, body)
	headers := c.headers(`"Bearer " + os.Getenv("KEY")`, strconv.Quote)
	if c.Body != "" {
		headers = append(headers, [2]string{"Content-Type", `"application/json"`})
	}
	if c.Form != nil {
		headers = append(headers, [2]string{"Content-Type", "form.FormDataContentType()"})
	}
	for _, h := range headers {
		fmt.Fprintf(&b, "req.Header.Set(%q, %s)\n", h[0], h[1])
	}
	return b.String() + "res, err := http.DefaultClient.Do(req)"
}

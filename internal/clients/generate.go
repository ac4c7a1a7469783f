package clients

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"strings"
	"text/template"
)

//go:embed templates/*.tmpl
var templates embed.FS

// language is what one library needs: its template, and the functions that the template calls.
type language struct {
	template string
	file     string // below clients/
	funcs    template.FuncMap
	finish   func([]byte) ([]byte, error) // changes the finished text; nil for nothing
	example  func(*Operation) string
	title    string // of the language, for people
	fence    string // of code in Markdown
}

// Generate writes the generated file and the reference page of every library. The keys are
// paths below the repository.
func Generate(api *API) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, l := range []language{typescriptLanguage(), pythonLanguage(), goLanguage()} {
		t := template.New("").Funcs(l.funcs).Funcs(sharedFuncs)
		if _, err := t.ParseFS(templates, "templates/"+l.template); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, l.template, api); err != nil {
			return nil, err
		}
		text := b.Bytes()
		if l.finish != nil {
			var err error
			if text, err = l.finish(text); err != nil {
				return nil, fmt.Errorf("%s: %w", l.file, err)
			}
		}
		out["clients/"+l.file] = text
		out["clients/"+strings.SplitN(l.file, "/", 2)[0]+"/reference.md"] = referencePage(api, l)
	}
	return out, nil
}

// sharedFuncs are the functions that all templates call.
var sharedFuncs = template.FuncMap{
	"sentence": toSentence,
	"prose":    operationProse,
	"wrap":     wrapText,
	"each": func(api *API) (out []*Noun) {
		api.eachNoun(func(n *Noun) { out = append(out, n) })
		return out
	},
}

// operationProse is what the comment of an operation's method says.
func operationProse(o *Operation) string {
	if o.Description == "" {
		return o.Summary
	}
	return o.Summary + " " + o.Description
}

// referencePage is a Markdown page with an example of every call.
func referencePage(api *API, l language) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Every call from %s\n\nWritten by `make generate` from the operations of the API. ", l.title)
	b.WriteString("The ids are examples.\n")
	var section func(n *Noun)
	section = func(n *Noun) {
		if len(n.Operations) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n```%s\n", strings.ReplaceAll(n.Full, "_", " "), l.fence)
			for i, o := range n.Operations {
				if i > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(l.example(o))
			}
			b.WriteString("```\n")
		}
		for _, below := range n.Nouns {
			section(below)
		}
	}
	for _, n := range api.Nouns {
		section(n)
	}
	return b.Bytes()
}

func formatGoSource(text []byte) ([]byte, error) {
	out, err := format.Source(text)
	if err != nil {
		return text, err
	}
	return out, nil
}

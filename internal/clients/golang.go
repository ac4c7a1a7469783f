package clients

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
	"text/template"
)

// golang is the library for Go.
func golang() language {
	return language{
		template: "go.tmpl",
		file:     "go/generated.go",
		title:    "Go",
		fence:    "go",
		example:  goExample,
		finish:   formatGo,
		funcs: template.FuncMap{
			"go": goName, "class": goClass, "code": goCode, "type": goType, "field": goField, "args": goArgs,
			"answer": goAnswer, "path": goPath, "request": goRequest, "quote": strconv.Quote, "comment": goComment,
			"formFields": goFormFields,
		},
	}
}

// goClass is the Go type that has the operations of a noun.
func goClass(full string) string { return goName(full) + "Resource" }

// goCode is the constant of an error code: CodeNotFound.
func goCode(code string) string { return "Code" + goName(strings.ToLower(code)) }

// goType is the type of a value; goStructField adds whether it is optional.
func goType(s *Shape, input bool) string {
	switch s.Kind {
	case String, Date:
		return "string"
	case Time:
		return "time.Time"
	case Integer:
		return "int64"
	case Number:
		return "float64"
	case Boolean:
		return "bool"
	case Bytes:
		return "Upload"
	case Array:
		return "[]" + goType(s.Elem, input)
	case Map:
		return "map[string]" + goType(s.Elem, input)
	case Object:
		if s.Row != nil {
			return s.Name + "[" + goType(s.Row, false) + "]"
		}
		return s.Name
	}
	if input {
		return "any"
	}
	return "json.RawMessage"
}

// goField is a member of a struct. An optional one is Opt in an input, so that null and absent
// differ, and a pointer in an answer. In a query, what is zero is left out, so only a boolean
// needs Opt.
func goField(t *Type, f *Field) string {
	kind := goType(&f.Shape, t.Input)
	tag := f.Name
	plain := f.Kind == Any || f.Kind == Union || (f.Kind == Array || f.Kind == Map) && (!f.Null || !t.Input)
	switch {
	case t.Batch && f.Name == "data":
		kind, tag = "*T", tag+",omitempty"
	case strings.HasSuffix(t.Name, "Params"):
		if f.Kind == Boolean && !f.Required {
			kind = "Opt[bool]"
		}
	case t.Input && !f.Required && !plain:
		kind = "Opt[" + kind + "]"
	case !t.Input && !plain && (f.Null || !f.Required):
		kind = "*" + kind
	}
	if t.Input && !f.Required {
		tag += ",omitzero"
	}
	out := fmt.Sprintf("%s %s `json:\"%s\"`", goName(f.Name), kind, tag)
	doc := f.Doc
	if f.Enum != nil {
		doc = strings.TrimPrefix(doc+"; "+strings.Join(f.Enum, ", "), "; ")
	}
	if doc != "" {
		out += " // " + doc
	}
	return out
}

func goComment(o *Operation) string {
	return "// " + strings.Join(wrap(goName(o.Verb)+": "+prose(o), 110), "\n// ")
}

// goArgs are the parameters of a method.
func goArgs(o *Operation) string {
	out := []string{"ctx context.Context"}
	for _, f := range o.PathFields {
		out = append(out, goLocal(f.Name)+" string")
	}
	if o.Input != nil {
		out = append(out, o.inputWord()+" "+o.Input.Name)
	}
	return strings.Join(append(out, "options ...Option"), ", ")
}

// goAnswer is the result of a method.
func goAnswer(o *Operation) string {
	switch {
	case o.List:
		return "(*Page[" + goType(o.Output, false) + "], error)"
	case o.Bytes:
		return "(*Download, error)"
	case o.Output == nil:
		return "error"
	case o.Output.Kind == Array:
		return "(" + goType(o.Output, false) + ", error)"
	}
	return "(*" + goType(o.Output, false) + ", error)"
}

// goPath is the expression for the path of a call: the literal with its parameters escaped.
func goPath(o *Operation) string {
	out := strconv.Quote(o.Path)
	for _, f := range o.PathFields {
		out = strings.Replace(out, "{"+f.Wire+"}", `"+url.PathEscape(`+goLocal(f.Name)+`)+"`, 1)
	}
	return strings.TrimSuffix(out, `+""`)
}

func goRequest(o *Operation) string {
	out := fmt.Sprintf("Request{Method: %q, Path: %s", o.Method, goPath(o))
	switch {
	case o.Form:
		out += ", Form: form"
	case o.InBody:
		out += ", Body: input"
	case o.Input != nil:
		out += ", Query: queryOf(params)"
	}
	return out + "}"
}

// goFormFields are the statements that fill a form, one field after the other.
func goFormFields(o *Operation) (out []string) {
	for _, f := range o.Input.Fields {
		name := goName(f.Name)
		switch {
		case f.Kind == Bytes:
			out = append(out, fmt.Sprintf("form := []Part{{Field: %q, File: &input.%s}}", f.Name, name))
		case f.Required:
			out = append(out, fmt.Sprintf("form = append(form, Part{Field: %q, Text: fmt.Sprint(input.%s)})", f.Name,
				name))
		default:
			out = append(out, fmt.Sprintf("if v, ok := input.%s.Get(); ok {\nform = append(form, Part{Field: %q, "+
				"Text: fmt.Sprint(v)})\n}", name, f.Name))
		}
	}
	return out
}

// goExample is a call with the operation's example.
func goExample(o *Operation) string {
	example := exampleOf(o)
	args := []string{"ctx"}
	for _, f := range o.PathFields {
		args = append(args, strconv.Quote(example.text(f.Wire)))
	}
	if o.Input != nil {
		rest := example.rest(o, func(name string, f *Field, v any) string {
			return goName(name) + ": " + goValue(o.Input, f, v)
		})
		args = append(args, "frontdesk."+o.Input.Name+"{"+strings.Join(rest, ", ")+"}")
	}
	path := "client"
	for _, n := range strings.Split(o.Noun.Full, ".") {
		path += "." + goName(n)
	}
	verb := goName(o.Verb)
	out := "// " + o.Summary + "\n"
	switch {
	case o.List:
		return out + "for item, err := range " + path + "." + verb + "All(" + strings.Join(args, ", ") +
			") {\n\tfmt.Println(item, err)\n}\n"
	case o.Output == nil && !o.Bytes:
		return out + "err = " + path + "." + verb + "(" + strings.Join(args, ", ") + ")\n"
	}
	word := answerWord(o)
	return out + word + ", err := " + path + "." + verb + "(" + strings.Join(args, ", ") + ")\n"
}

// answerWord is a variable for what a call answers. It must not be a keyword of Go.
func answerWord(o *Operation) string {
	switch {
	case o.Bytes:
		return "file"
	case o.Output.Kind == Array:
		return "results"
	}
	if word := goLocal(o.Output.Name); !token.IsKeyword(word) {
		return word
	}
	return "result"
}

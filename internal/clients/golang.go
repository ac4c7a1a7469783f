package clients

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
	"text/template"
)

// goLanguage is the library for Go.
func goLanguage() language {
	return language{
		template: "go.tmpl",
		file:     "go/generated.go",
		title:    "Go",
		fence:    "go",
		example:  goExampleCall,
		finish:   formatGoSource,
		funcs: template.FuncMap{
			"go": goExportedName, "class": goResourceType, "code": goCodeConstant, "type": goTypeName,
			"field": goStructField, "args": goParameters,
			"answer": goResultTypes, "path": goPathExpression, "request": goRequestLiteral, "quote": strconv.Quote,
			"comment":    goMethodComment,
			"formFields": goFormStatements,
		},
	}
}

// goResourceType is the Go type that has the operations of a noun.
func goResourceType(full string) string { return goExportedName(full) + "Resource" }

// goCodeConstant is the constant of an error code: CodeNotFound.
func goCodeConstant(code string) string { return "Code" + goExportedName(strings.ToLower(code)) }

// goTypeName is the type of a value; goStructField adds whether it is optional.
func goTypeName(s *Shape, input bool) string {
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
		return "[]" + goTypeName(s.Elem, input)
	case Map:
		return "map[string]" + goTypeName(s.Elem, input)
	case Object:
		if s.Row != nil {
			return s.Name + "[" + goTypeName(s.Row, false) + "]"
		}
		return s.Name
	}
	if input {
		return "any"
	}
	return "json.RawMessage"
}

// goStructField is a member of a struct. An optional one is Opt in an input, so that null and absent
// differ, and a pointer in an answer. In a query, what is zero is left out, so only a boolean
// needs Opt.
func goStructField(t *Type, f *Field) string {
	kind := goTypeName(&f.Shape, t.Input)
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
	out := fmt.Sprintf("%s %s `json:\"%s\"`", goExportedName(f.Name), kind, tag)
	doc := f.Doc
	if f.Enum != nil {
		doc = strings.TrimPrefix(doc+"; "+strings.Join(f.Enum, ", "), "; ")
	}
	if doc != "" {
		out += " // " + doc
	}
	return out
}

func goMethodComment(o *Operation) string {
	return "// " + strings.Join(wrapText(goExportedName(o.Verb)+": "+operationProse(o), 110), "\n// ")
}

// goParameters are the parameters of a method.
func goParameters(o *Operation) string {
	out := []string{"ctx context.Context"}
	for _, f := range o.PathFields {
		out = append(out, goParameterName(f.Name)+" string")
	}
	if o.Input != nil {
		out = append(out, o.inputArgument()+" "+o.Input.Name)
	}
	return strings.Join(append(out, "options ...Option"), ", ")
}

// goResultTypes is the result of a method.
func goResultTypes(o *Operation) string {
	switch {
	case o.List:
		return "(*Page[" + goTypeName(o.Output, false) + "], error)"
	case o.Bytes:
		return "(*Download, error)"
	case o.Output == nil:
		return "error"
	case o.Output.Kind == Array:
		return "(" + goTypeName(o.Output, false) + ", error)"
	}
	return "(*" + goTypeName(o.Output, false) + ", error)"
}

// goPathExpression is the expression for the path of a call: the literal with its parameters escaped.
func goPathExpression(o *Operation) string {
	out := strconv.Quote(o.Path)
	for _, f := range o.PathFields {
		out = strings.Replace(out, "{"+f.Wire+"}", `"+url.PathEscape(`+goParameterName(f.Name)+`)+"`, 1)
	}
	return strings.TrimSuffix(out, `+""`)
}

func goRequestLiteral(o *Operation) string {
	out := fmt.Sprintf("Request{Method: %q, Path: %s", o.Method, goPathExpression(o))
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

// goFormStatements are the statements that fill a form, one field after the other.
func goFormStatements(o *Operation) (out []string) {
	for _, f := range o.Input.Fields {
		name := goExportedName(f.Name)
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

// goExampleCall is a call with the operation's example.
func goExampleCall(o *Operation) string {
	example := parseExample(o)
	args := []string{"ctx"}
	for _, f := range o.PathFields {
		args = append(args, strconv.Quote(example.textOf(f.Wire)))
	}
	if o.Input != nil {
		rest := example.renderInput(o, func(name string, f *Field, v any) string {
			return goExportedName(name) + ": " + goFieldValue(o.Input, f, v)
		})
		args = append(args, "frontdesk."+o.Input.Name+"{"+strings.Join(rest, ", ")+"}")
	}
	path := "client"
	for _, n := range strings.Split(o.Noun.Full, ".") {
		path += "." + goExportedName(n)
	}
	verb := goExportedName(o.Verb)
	out := "// " + o.Summary + "\n"
	switch {
	case o.List:
		return out + "for item, err := range " + path + "." + verb + "All(" + strings.Join(args, ", ") +
			") {\n\tfmt.Println(item, err)\n}\n"
	case o.Output == nil && !o.Bytes:
		return out + "err = " + path + "." + verb + "(" + strings.Join(args, ", ") + ")\n"
	}
	word := goResultVariable(o)
	return out + word + ", err := " + path + "." + verb + "(" + strings.Join(args, ", ") + ")\n"
}

// goResultVariable is a variable for what a call answers. It must not be a keyword of Go.
func goResultVariable(o *Operation) string {
	switch {
	case o.Bytes:
		return "file"
	case o.Output.Kind == Array:
		return "results"
	}
	if word := goParameterName(o.Output.Name); !token.IsKeyword(word) {
		return word
	}
	return "result"
}

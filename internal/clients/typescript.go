package clients

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
)

// typescriptLanguage is the library for TypeScript.
func typescriptLanguage() language {
	return language{
		template: "typescript.tmpl",
		file:     "typescript/src/generated.ts",
		title:    "TypeScript",
		fence:    "ts",
		example:  tsExampleCall,
		funcs: template.FuncMap{
			"camel": camelCase, "class": pascalCase, "type": tsTypeName, "field": tsInterfaceMember,
			"args": tsParameters, "call": tsCallExpression,
			"answer": tsReturnType, "quote": tsQuoted,
		},
	}
}

func tsQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(s) + "'"
}

// tsTypeName is the type of a value as it is received, or as it may be sent.
func tsTypeName(s *Shape, input bool) string {
	t := ""
	switch s.Kind {
	case String:
		t = "string"
		if s.Enum != nil {
			var values []string
			for _, e := range s.Enum {
				values = append(values, tsQuoted(e))
			}
			t = strings.Join(values, " | ")
		}
	case Time, Date:
		t = "string"
		if input && s.Kind == Time {
			t = "string | Date"
		}
	case Integer, Number:
		t = "number"
	case Boolean:
		t = "boolean"
	case Bytes:
		t = "Upload"
	case Any:
		t = "unknown"
	case Array:
		t = tsTypeName(s.Elem, input)
		if strings.Contains(t, " ") {
			t = "(" + t + ")"
		}
		t += "[]"
	case Map:
		t = "Record<string, " + tsTypeName(s.Elem, input) + ">"
	case Object:
		t = s.Name
		if s.Row != nil {
			t += "<" + tsTypeName(s.Row, false) + ">"
		}
	case Union:
		var of []string
		for _, u := range s.Of {
			of = append(of, tsTypeName(u, input))
		}
		t = strings.Join(of, " | ")
	}
	if s.Null && s.Kind != Any {
		t += " | null"
	}
	return t
}

// tsInterfaceMember is a member of an interface.
func tsInterfaceMember(t *Type, f *Field) string {
	if t.Batch && f.Name == "data" {
		return "data?: T"
	}
	mark := "?"
	if f.Required {
		mark = ""
	}
	return f.Name + mark + ": " + tsTypeName(&f.Shape, t.Input)
}

// tsParameters are the parameters of a method.
func tsParameters(o *Operation) string {
	var out []string
	for _, f := range o.PathFields {
		out = append(out, f.Name+": string")
	}
	if o.Input != nil {
		mark := "?"
		if o.NeedsInput() {
			mark = ""
		}
		out = append(out, o.inputArgument()+mark+": "+o.Input.Name)
	}
	return strings.Join(append(out, "options?: CallOptions"), ", ")
}

// inputArgument is the name of the argument that has the input.
func (o *Operation) inputArgument() string {
	if o.InBody {
		return "input"
	}
	return "params"
}

func tsReturnType(o *Operation) string {
	switch {
	case o.List:
		return "Pages<" + tsTypeName(o.Output, false) + ">"
	case o.Bytes:
		return "Promise<Download>"
	case o.Output == nil:
		return "Promise<void>"
	}
	return "Promise<" + tsTypeName(o.Output, false) + ">"
}

// tsCallExpression is the call of the runtime that a method makes.
func tsCallExpression(o *Operation) string {
	path := tsQuoted(o.Path)
	if len(o.PathFields) > 0 {
		path = "path`" + o.Path + "`"
		for _, f := range o.PathFields {
			path = strings.Replace(path, "{"+f.Wire+"}", "${"+f.Name+"}", 1)
		}
	}
	if o.List {
		params := "undefined"
		if o.Input != nil {
			params = "params"
		}
		return fmt.Sprintf("list(%s, %s, %t, options)", path, params, o.Cursor)
	}
	call := fmt.Sprintf("{ method: '%s', path: %s", o.Method, path)
	switch {
	case o.Form:
		call += ", form: input"
	case o.InBody && !o.NeedsInput():
		call += ", body: input ?? {}"
	case o.InBody:
		call += ", body: input"
	case o.Input != nil:
		call += ", query: params"
	}
	verb := "call"
	if o.Bytes {
		verb = "download"
	}
	return verb + "(" + call + " }, options)"
}

// tsExampleCall is a call with the operation's example.
func tsExampleCall(o *Operation) string {
	example := parseExample(o)
	var args []string
	for _, f := range o.PathFields {
		args = append(args, tsQuoted(example.textOf(f.Wire)))
	}
	if rest := example.renderInput(o, func(name string, f *Field, v any) string {
		if f != nil && f.Kind == Bytes {
			return name + ": { name: 'letter.txt', data: 'Dear Ada' }"
		}
		return name + ": " + tsLiteral(v)
	}); rest != nil {
		args = append(args, "{ "+strings.Join(rest, ", ")+" }")
	}
	path := "client"
	for _, n := range strings.Split(o.Noun.Full, ".") {
		path += "." + camelCase(n)
	}
	call := path + "." + camelCase(o.Verb) + "(" + strings.Join(args, ", ") + ")"
	out := "// " + o.Summary + "\n"
	if o.List {
		return out + "for await (const item of " + call + ") console.log(item)\n"
	}
	return out + "await " + call + "\n"
}

// tsLiteral is a value as TypeScript writes it.
func tsLiteral(v any) string {
	switch v := v.(type) {
	case string:
		return tsQuoted(v)
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, tsLiteral(e))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case *orderedObject:
		var out []string
		for _, name := range v.names {
			key := name
			if !isIdentifier(name) {
				key = tsQuoted(name)
			}
			out = append(out, key+": "+tsLiteral(v.values[name]))
		}
		return "{ " + strings.Join(out, ", ") + " }"
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

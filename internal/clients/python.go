package clients

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// python is the library for Python.
func python() language {
	return language{
		template: "python.tmpl",
		file:     "python/frontdesk/generated.py",
		title:    "Python",
		fence:    "python",
		example:  pyExample,
		funcs: template.FuncMap{
			"snake": pythonName, "class": pascal, "type": pyType, "field": pyField, "args": pyArgs, "answer": pyAnswer,
			"body": pyBody, "doc": pyDoc, "free": pyFree, "path": pyPath, "value": pyValue, "quote": pyQuote,
		},
	}
}

// pyQuote is a string literal. JSON's form is valid Python.
func pyQuote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// pyType is the type hint of a value as it is received, or as it may be sent.
func pyType(s *Shape, input bool) string {
	t := ""
	switch s.Kind {
	case String:
		t = "str"
		if s.Enum != nil {
			var values []string
			for _, e := range s.Enum {
				values = append(values, pyQuote(e))
			}
			t = "Literal[" + strings.Join(values, ", ") + "]"
		}
	case Time:
		t = "_dt.datetime"
	case Date:
		t = "_dt.date"
	case Integer:
		t = "int"
	case Number:
		t = "float"
	case Boolean:
		t = "bool"
	case Bytes:
		t = "Upload"
	case Any:
		return "Any"
	case Array:
		t = "List[" + pyType(s.Elem, input) + "]"
		if input {
			t = "Sequence[" + pyType(s.Elem, input) + "]"
		}
	case Map:
		t = "Dict[str, " + pyType(s.Elem, input) + "]"
		if input {
			t = "Mapping[str, " + pyType(s.Elem, input) + "]"
		}
	case Object:
		t = s.Name
		if s.Row != nil {
			t += "[" + pyType(s.Row, false) + "]"
		}
	case Union:
		var of []string
		for _, u := range s.Of {
			of = append(of, pyType(u, input))
		}
		t = strings.Join(of, " | ")
	}
	if s.Null {
		t += " | None"
	}
	return t
}

// pyField is a member of a class.
func pyField(t *Type, f *Field) string {
	name, kind := pythonName(f.Name), pyType(&f.Shape, t.Input)
	switch {
	case t.Batch && f.Name == "data":
		return "data: T | None = None"
	case t.Input && !f.Required:
		return name + ": NotRequired[" + kind + "]"
	case !t.Input && !f.Required:
		return name + ": " + strings.TrimSuffix(kind, " | None") + " | None = None"
	}
	return name + ": " + kind
}

// pyArgs are the parameters of a method. Those of the input are keywords, the required ones
// first. An optional one of a body can be omitted or None, which clears the field.
func pyArgs(o *Operation) string {
	var out []string
	for _, f := range o.PathFields {
		out = append(out, pythonName(f.Name)+": str")
	}
	if o.Input != nil {
		out = append(out, "*")
		for _, f := range slices.Concat(
			keep(o.Input.Fields, func(f *Field) bool { return f.Required }),
			keep(o.Input.Fields, func(f *Field) bool { return !f.Required })) {
			arg := pythonName(f.Name) + ": " + pyType(&f.Shape, true)
			switch {
			case f.Required:
			case o.InBody:
				arg += " | Omit = OMIT"
			default:
				arg = strings.TrimSuffix(arg, " | None") + " | None = None"
			}
			out = append(out, arg)
		}
	}
	return strings.Join(append([]string{"self"}, out...), ", ")
}

func keep(fields []*Field, which func(*Field) bool) []*Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f *Field) bool { return !which(f) })
}

func pyAnswer(o *Operation) string {
	switch {
	case o.List:
		return "Pages[" + pyType(o.Output, false) + "]"
	case o.Bytes:
		return "Download"
	case o.Output == nil:
		return "None"
	}
	return pyType(o.Output, false)
}

// pyValue is the answer's type where the runtime needs it as a value, with the builtin list.
func pyValue(o *Operation) string {
	return strings.ReplaceAll(pyType(o.Output, false), "List[", "list[")
}

// pyPath is the expression for the path of a call. path_of escapes its parameters.
func pyPath(o *Operation) string {
	if len(o.PathFields) == 0 {
		return pyQuote(o.Path)
	}
	template, args := o.Path, ""
	for _, f := range o.PathFields {
		template = strings.Replace(template, "{"+f.Wire+"}", "{}", 1)
		args += ", " + pythonName(f.Name)
	}
	return "path_of(" + pyQuote(template) + args + ")"
}

// pyBody is a dict with the input under the API's names.
func pyBody(o *Operation) string {
	var out []string
	for _, f := range o.Input.Fields {
		name := pythonName(f.Name)
		value := name
		// wire renames the keys below, and formats times and dates. The runtime formats a query itself.
		if o.InBody && !o.Form && slices.Contains([]Kind{Array, Object, Time, Date}, f.Kind) {
			value = "wire(" + name + ")"
		}
		out = append(out, pyQuote(f.Name)+": "+value)
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// pyFree lists the keys of inputs whose values are the caller's own JSON, so that the runtime
// does not rename what is inside. A key that is free in one input must be free in all.
func pyFree(api *API) string {
	free, ours := map[string]bool{}, map[string]bool{}
	for _, t := range api.Types {
		if !t.Input {
			continue
		}
		for _, f := range t.Fields {
			switch f.Kind {
			case Map, Any:
				free[f.Name] = true
			case Array, Object:
				ours[f.Name] = true
			}
		}
	}
	var names []string
	for name := range free {
		if ours[name] {
			panic("clients: " + name + " is free-form in one input and not in another")
		}
		names = append(names, pyQuote(pythonName(name)))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// pyDoc is the docstring of a method.
func pyDoc(o *Operation) string {
	text := strings.ReplaceAll(prose(o), `\`, `\\`)
	if len(text) < 100 {
		return `"""` + text + `"""`
	}
	lines := wrap(text, 108)
	return `"""` + strings.Join(lines, "\n        ") + "\n        \"\"\""
}

// pyExample is a call with the operation's example.
func pyExample(o *Operation) string {
	example := exampleOf(o)
	var args []string
	for _, f := range o.PathFields {
		args = append(args, pyQuote(example.text(f.Wire)))
	}
	args = append(args, example.rest(o, func(name string, f *Field, v any) string {
		if f.Kind == Bytes {
			return pythonName(name) + `=Upload("letter.txt", b"Dear Ada")`
		}
		return pythonName(name) + "=" + pyLiteral(&f.Shape, v, f.Kind == Map || f.Kind == Any)
	})...)
	path := "client"
	for _, n := range strings.Split(o.Noun.Full, ".") {
		path += "." + pythonName(n)
	}
	call := path + "." + pythonName(o.Verb) + "(" + strings.Join(args, ", ") + ")"
	out := "# " + o.Summary + "\n"
	if o.List {
		return out + "for item in " + call + ":\n    print(item)\n"
	}
	return out + call + "\n"
}

// pyLiteral is a value as Python writes it. free is whether it is the caller's own JSON, whose
// keys stay as they are.
func pyLiteral(s *Shape, v any, free bool) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		switch s.Kind {
		case Time:
			return fmt.Sprintf("datetime.fromisoformat(%q)", v)
		case Date:
			return fmt.Sprintf("date.fromisoformat(%q)", v)
		}
		return pyQuote(v)
	case []any:
		elem := &Shape{Kind: Any}
		if s.Elem != nil {
			elem = s.Elem
		}
		var out []string
		for _, e := range v {
			out = append(out, pyLiteral(elem, e, free))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case *object:
		var out []string
		for _, name := range v.names {
			below, key := pyMember(s, name), name
			if !free {
				key = pythonName(name)
			}
			out = append(out, pyQuote(key)+": "+pyLiteral(below, v.values[name],
				free || below.Kind == Map || below.Kind == Any))
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// pyMember is the shape of a member of an object; Any where the object has no type.
func pyMember(s *Shape, name string) *Shape {
	if s.Type != nil {
		for _, f := range s.Type.Fields {
			if f.Name == name {
				return &f.Shape
			}
		}
	}
	return &Shape{Kind: Any}
}

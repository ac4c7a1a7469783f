package clients

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// pythonLanguage is the library for Python.
func pythonLanguage() language {
	return language{
		template: "python.tmpl",
		file:     "python/frontdesk/generated.py",
		title:    "Python",
		fence:    "python",
		example:  pyExampleCall,
		funcs: template.FuncMap{
			"snake": pythonName, "class": pascalCase, "type": pyTypeHint, "field": pyClassField, "args": pyParameters,
			"answer": pyReturnType,
			"body":   pyInputDict, "doc": pyDocstring, "free": pyFreeFormKeys, "path": pyPathExpression,
			"value": pyRuntimeType, "quote": pyQuoted,
		},
	}
}

// pyQuoted is a string literal. JSON's form is valid Python.
func pyQuoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// pyTypeHint is the type hint of a value as it is received, or as it may be sent.
func pyTypeHint(s *Shape, input bool) string {
	t := ""
	switch s.Kind {
	case String:
		t = "str"
		if s.Enum != nil {
			var values []string
			for _, e := range s.Enum {
				values = append(values, pyQuoted(e))
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
		t = "List[" + pyTypeHint(s.Elem, input) + "]"
		if input {
			t = "Sequence[" + pyTypeHint(s.Elem, input) + "]"
		}
	case Map:
		t = "Dict[str, " + pyTypeHint(s.Elem, input) + "]"
		if input {
			t = "Mapping[str, " + pyTypeHint(s.Elem, input) + "]"
		}
	case Object:
		t = s.Name
		if s.Row != nil {
			t += "[" + pyTypeHint(s.Row, false) + "]"
		}
	case Union:
		var of []string
		for _, u := range s.Of {
			of = append(of, pyTypeHint(u, input))
		}
		t = strings.Join(of, " | ")
	}
	if s.Null {
		t += " | None"
	}
	return t
}

// pyClassField is a member of a class.
func pyClassField(t *Type, f *Field) string {
	name, kind := pythonName(f.Name), pyTypeHint(&f.Shape, t.Input)
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

// pyParameters are the parameters of a method. Those of the input are keywords, the required ones
// first. An optional one of a body can be omitted or None, which clears the field.
func pyParameters(o *Operation) string {
	var out []string
	for _, f := range o.PathFields {
		out = append(out, pythonName(f.Name)+": str")
	}
	if o.Input != nil {
		out = append(out, "*")
		for _, f := range slices.Concat(
			filterFields(o.Input.Fields, func(f *Field) bool { return f.Required }),
			filterFields(o.Input.Fields, func(f *Field) bool { return !f.Required })) {
			arg := pythonName(f.Name) + ": " + pyTypeHint(&f.Shape, true)
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

func filterFields(fields []*Field, which func(*Field) bool) []*Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f *Field) bool { return !which(f) })
}

func pyReturnType(o *Operation) string {
	switch {
	case o.List:
		return "Pages[" + pyTypeHint(o.Output, false) + "]"
	case o.Bytes:
		return "Download"
	case o.Output == nil:
		return "None"
	}
	return pyTypeHint(o.Output, false)
}

// pyRuntimeType is the answer's type where the runtime needs it as a value, with the builtin list.
func pyRuntimeType(o *Operation) string {
	return strings.ReplaceAll(pyTypeHint(o.Output, false), "List[", "list[")
}

// pyPathExpression is the expression for the path of a call. path_of escapes its parameters.
func pyPathExpression(o *Operation) string {
	if len(o.PathFields) == 0 {
		return pyQuoted(o.Path)
	}
	template, args := o.Path, ""
	for _, f := range o.PathFields {
		template = strings.Replace(template, "{"+f.Wire+"}", "{}", 1)
		args += ", " + pythonName(f.Name)
	}
	return "path_of(" + pyQuoted(template) + args + ")"
}

// pyInputDict is a dict with the input under the API's names.
func pyInputDict(o *Operation) string {
	var out []string
	for _, f := range o.Input.Fields {
		name := pythonName(f.Name)
		value := name
		// wire renames the keys below, and formats times and dates. The runtime formats a query itself.
		if o.InBody && !o.Form && slices.Contains([]Kind{Array, Object, Time, Date}, f.Kind) {
			value = "wire(" + name + ")"
		}
		out = append(out, pyQuoted(f.Name)+": "+value)
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// pyFreeFormKeys lists the keys of inputs whose values are the caller's own JSON, so that the runtime
// does not rename what is inside. A key that is free in one input must be free in all.
func pyFreeFormKeys(api *API) string {
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
		names = append(names, pyQuoted(pythonName(name)))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// pyDocstring is the docstring of a method.
func pyDocstring(o *Operation) string {
	text := strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(operationProse(o))
	if before, ok := strings.CutSuffix(text, `"`); ok { // it would join those that end the docstring
		text = before + `\"`
	}
	if len(text) < 100 {
		return `"""` + text + `"""`
	}
	lines := wrapText(text, 108)
	return `"""` + strings.Join(lines, "\n        ") + "\n        \"\"\""
}

// pyExampleCall is a call with the operation's example.
func pyExampleCall(o *Operation) string {
	example := parseExample(o)
	var args []string
	for _, f := range o.PathFields {
		args = append(args, pyQuoted(example.textOf(f.Wire)))
	}
	args = append(args, example.renderInput(o, func(name string, f *Field, v any) string {
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
		return pyQuoted(v)
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
	case *orderedObject:
		var out []string
		for _, name := range v.names {
			below, key := pyMemberShape(s, name), name
			if !free {
				key = pythonName(name)
			}
			out = append(out, pyQuoted(key)+": "+pyLiteral(below, v.values[name],
				free || below.Kind == Map || below.Kind == Any))
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// pyMemberShape is the shape of a member of an object; Any where the object has no type.
func pyMemberShape(s *Shape, name string) *Shape {
	if s.Type != nil {
		for _, f := range s.Type.Fields {
			if f.Name == name {
				return &f.Shape
			}
		}
	}
	return &Shape{Kind: Any}
}

package docs

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"frontdesk/internal/kernel/op"

	"github.com/google/jsonschema-go/jsonschema"
)

// noun is a page of the reference: all operations on one resource.
type noun struct {
	Key, Name string
	Groups    []*group
}

// Path is the address of the page.
func (n *noun) Path() string { return "/docs/api/" + n.Key }

// group is the operations under one heading.
type group struct {
	Name, Anchor string
	Operations   []operation
}

// operation is one entry of the reference.
type operation struct {
	Name, Short, Method, Path, Summary, Description string
	Permission                                      string
	Events                                          []string
	Fields                                          []fieldLine
	HasBody, IsForm                                 bool
	Example                                         string // the part in the body
	Code                                            []Sample
	Key, KeyRequired                                bool
	Answer                                          string
	Output                                          []fieldLine
	Same                                            *operation // the one on the page that lists the same output fields
	Sample                                          string     // a sample answer
	Refusals                                        []refusal
}

// fieldLine is one field of an input or an output.
type fieldLine struct {
	Name, In, Type, Doc, Example string
	Required                     bool
	Depth                        int
	Options                      []string
}

type refusal struct {
	Status  int
	Code    string
	Message string
}

// makeNouns describes all operations of the REST door, grouped into pages by the first
// part of their path.
func (d *Door) makeNouns() (nouns []*noun) {
	common := d.commonCodes()
	for _, o := range d.catalog.All() {
		if o.Doors&op.RESTDoor == 0 || o.Path == "" {
			continue
		}
		key, tag := pageKeyOf(o), headingOf(o)
		i := slices.IndexFunc(nouns, func(n *noun) bool { return n.Key == key })
		if i < 0 {
			i = len(nouns)
			nouns = append(nouns, &noun{Key: key, Name: titleCase(key)})
		}
		n := nouns[i]
		j := slices.IndexFunc(n.Groups, func(g *group) bool { return g.Name == tag })
		if j < 0 {
			j = len(n.Groups)
			n.Groups = append(n.Groups, &group{Name: tag, Anchor: strings.ToLower(strings.ReplaceAll(tag, " ", "-"))})
		}
		described := d.describeOperation(o)
		described.Refusals = slices.DeleteFunc(described.Refusals, func(r refusal) bool { return common[r.Code] })
		n.Groups[j].Operations = append(n.Groups[j].Operations, described)
	}
	sort.Slice(nouns, func(i, j int) bool { return nouns[i].Name < nouns[j].Name })
	for _, n := range nouns {
		n.shareOutputs()
	}
	return nouns
}

// shareOutputs lists equal output fields once on a page: later operations refer to the first.
func (n *noun) shareOutputs() {
	first := map[string]*operation{}
	for _, g := range n.Groups {
		for i := range g.Operations {
			o := &g.Operations[i]
			text := fmt.Sprint(o.Output)
			if same := first[text]; same != nil {
				o.Same, o.Output = same, nil
			} else if len(o.Output) > 0 {
				first[text] = o
			}
		}
	}
}

// commonCodes are the refusals that at least nine of ten operations have. The pages
// explain them once and leave them out of the operations.
func (d *Door) commonCodes() map[string]bool {
	seen, all := map[string]int{}, 0
	for _, o := range d.catalog.All() {
		if o.Doors&op.RESTDoor == 0 || o.Path == "" {
			continue
		}
		all++
		for _, kinds := range o.PossibleFaults() {
			for _, k := range kinds {
				seen[k.Code]++
			}
		}
	}
	common := map[string]bool{}
	for code, n := range seen {
		common[code] = n*10 >= all*9
	}
	return common
}

func (d *Door) describeOperation(o *op.Op) operation {
	example := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(o.Example), &example); err != nil {
		panic("docs: " + o.Name + ": " + err.Error()) // the declaration was checked at start
	}
	v := operation{Name: o.Name, Short: o.Name[strings.LastIndexByte(o.Name, '.')+1:], Method: o.Method, Path: o.Path,
		Summary: o.Summary, Description: o.Description, Events: o.Events, Key: o.TakesIdempotencyKey(),
		KeyRequired: o.KeyRequired}
	if !o.Public && o.Resource != op.Unrestricted {
		v.Permission = o.Resource + ":write"
		if o.Action == op.ActionRead {
			v.Permission = o.Resource + ":read"
		}
	}
	params := o.Parameters(nil)
	sort.SliceStable(params, func(i, j int) bool { return params[i].In == "path" && params[j].In != "path" })
	path := o.Path
	var query []string
	for _, p := range params {
		text := plainText(example[p.Name])
		v.Fields = append(v.Fields,
			fieldLine{Name: p.Name, In: p.In, Type: typeInWords(p.Schema), Doc: p.Doc, Required: p.Required,
				Example: text,
				Options: optionsOf(p.Schema)})
		if _, ok := example[p.Name]; ok {
			if p.In == "path" {
				path = strings.ReplaceAll(path, "{"+p.Name+"}", text)
			} else {
				query = append(query, p.Name+"="+text)
			}
			delete(example, p.Name)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	call := &exampleCall{Method: o.Method, URL: d.baseURL + path, Open: o.Public, Key: o.KeyRequired,
		Bytes: o.AnswersBytes()}
	if s, _ := o.BodySchema(nil); s != nil {
		v.HasBody = true
		v.Fields = append(v.Fields, fieldLines(s, "body", 0)...)
		text, err := json.MarshalIndent(example, "", "  ")
		if err != nil {
			panic(err)
		}
		v.Example = string(text)
		if call.Body = v.Example; o.IsForm() {
			call.Body, call.Form = "", formParts(s, example)
			v.HasBody, v.IsForm = false, true
		}
	}
	v.Code = append([]Sample{{"curl", call.curlCommand()}}, d.samples()[o.Name]...)
	if s, list := o.OutputSchema(nil); s != nil {
		v.Answer = "with one record in data"
		if list {
			v.Answer = "with a list in data and its page in meta.pagination"
		}
		v.Output = fieldLines(s, "", 0)
		v.Sample = d.sampleAnswer(o, s, list)
	}
	v.Answer = fmt.Sprintf("%d %s", o.Status, v.Answer)
	if o.MayCreate {
		v.Answer = "201 if it created, or " + v.Answer
	}
	if o.MayFinishNow {
		v.Answer = "200 if it was done at once, or " + v.Answer
	}
	for status, kinds := range o.PossibleFaults() {
		for _, k := range kinds {
			v.Refusals = append(v.Refusals, refusal{status, k.Code, k.Message})
		}
	}
	sort.Slice(v.Refusals, func(i, j int) bool {
		a, b := v.Refusals[i], v.Refusals[j]
		return a.Status < b.Status || a.Status == b.Status && a.Code < b.Code
	})
	return v
}

// plainText is a value of an example as it is written in an address: a list is joined
// by commas.
func plainText(value json.RawMessage) string {
	var list []string
	if json.Unmarshal(value, &list) == nil {
		return strings.Join(list, ",")
	}
	return strings.Trim(string(value), `"`)
}

// formParts is the example as the parts of a form: pairs of name and text, where
// @ names a file.
func formParts(s *jsonschema.Schema, example map[string]json.RawMessage) (out [][2]string) {
	for _, name := range s.PropertyOrder {
		text := strings.Trim(string(example[name]), `"`)
		if s.Properties[name].Format == "binary" {
			text = "@letter.pdf"
		}
		if text != "" {
			out = append(out, [2]string{name, text})
		}
	}
	return out
}

// optionsOf are the values that a field takes, where there are few.
func optionsOf(s *jsonschema.Schema) (out []string) {
	if s.Type == "boolean" || slices.Contains(s.Types, "boolean") {
		return []string{"true", "false"}
	}
	for _, e := range s.Enum {
		if e != nil {
			out = append(out, fmt.Sprint(e))
		}
	}
	return out
}

// fieldLines lists the fields of an object, each followed by the fields inside it, down to
// three levels.
func fieldLines(s *jsonschema.Schema, in string, depth int) (out []fieldLine) {
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		out = append(out, fieldLine{Name: name, In: in, Type: typeInWords(p), Doc: p.Description,
			Required: slices.Contains(s.Required, name), Depth: depth})
		inner := p
		if p.Items != nil {
			inner = p.Items
		}
		if inner.Properties != nil && depth < 3 {
			out = append(out, fieldLines(inner, in, depth+1)...)
		}
	}
	return out
}

func typeInWords(s *jsonschema.Schema) string {
	t := s.Type
	if t == "" {
		t = strings.Join(s.Types, " or ")
	}
	if s.Items != nil {
		t = strings.Replace(t, "array", "array of "+typeInWords(s.Items), 1)
	}
	if s.Format != "" {
		t += ", " + s.Format
	}
	if len(s.Enum) > 0 {
		t += ": " + strings.Join(optionsOf(s), ", ")
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		t += fmt.Sprintf(", %v to %v", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		t += fmt.Sprintf(", %v or more", *s.Minimum)
	}
	if s.Default != nil {
		t += ", default " + string(s.Default)
	}
	return t
}

package desk

import (
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Sample is what is on the screen as a program would ask for it.
type Sample struct{ Head, Text string }

// Samples are the calls that list what a list shows.
func (v *Visit) Samples(operation string, q url.Values) []Sample {
	o := v.Catalog.Named(operation)
	asked := url.Values{}
	for name, texts := range q {
		if o.HasQueryField(name) && name != op.ViewField && len(texts) > 0 && texts[0] != "" {
			asked[name] = texts
		}
	}
	path := o.Path
	if len(asked) > 0 {
		path += "?" + asked.Encode()
	}
	return v.samples("GET", path, operation, v.typedInput(operation, asked))
}

// ObjectSamples are the calls that read an object.
func (v *Visit) ObjectSamples(ops, ref string) []Sample {
	o := v.Catalog.Named(ops + ".get")
	if o == nil {
		return nil
	}
	return v.samples("GET", strings.Replace(o.Path, "{id}", ref, 1), o.Name, Fields{"id": ref})
}

func (v *Visit) typedInput(operation string, asked url.Values) Fields {
	in := Fields{}
	s := v.schema(operation)
	for name, texts := range asked {
		if p := s.Properties[name]; p != nil {
			in[name] = typed(v, p, texts)
		}
	}
	return in
}

func (v *Visit) samples(method, path, operation string, in Fields) []Sample {
	arguments, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return nil
	}
	curl := "curl '" + strings.ReplaceAll(v.BaseURL+path, "'", "%27") +
		"' \\\n  -H \"Authorization: Bearer $FRONTDESK_KEY\""
	if method != "GET" {
		curl = strings.Replace(curl, "curl ", "curl -X "+method+" ", 1)
	}
	tool := `{"name": "` + strings.ReplaceAll(operation, ".", "_") + `", "arguments": ` + string(arguments) + `}`
	return slices.Clone([]Sample{{"curl", curl}, {"Tool call of an agent", tool}})
}

package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/door/mcp"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// The schemas of the lists are shorter than the whole one, and mean the same: what is valid stays valid, and an
// argument that they show is refused when its type, its choice or its absence is wrong.
func TestShortSchemasMeanTheSame(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	catalog := app.Describe()
	texts := mcp.DescribeAll(catalog)
	type tool struct {
		name     string
		example  map[string]any
		whole    *jsonschema.Schema
		shorter  []*jsonschema.Schema
		argument []string
	}
	var tools []tool
	for _, o := range catalog.All() {
		name := strings.ReplaceAll(o.Name, ".", "_")
		text, ok := texts[name]
		if !ok {
			continue
		}
		v := tool{name: name, example: parsed(t, []byte(o.Example)).(map[string]any)}
		if o.KeyRequired {
			v.example["idempotencyKey"] = "a key"
		}
		for i, described := range text {
			var d struct{ InputSchema json.RawMessage }
			if err := json.Unmarshal(described, &d); err != nil {
				t.Fatal(err)
			}
			schema := compiled(t, fmt.Sprintf("%s/%d", name, i), d.InputSchema)
			if err := schema.Validate(v.example); err != nil {
				t.Errorf("%s: the example: %v", name, err)
			}
			if v.whole = schema; i < 2 {
				v.shorter = append(v.shorter, schema)
			}
		}
		v.argument = slices.Sorted(maps.Keys(v.whole.Properties))
		tools = append(tools, v)
	}
	refused, wrong := 0, 0
	for range 10_000 {
		v := tools[random.IntN(len(tools))]
		input := maps.Clone(v.example)
		for range 1 + random.IntN(2) {
			name := v.argument[random.IntN(len(v.argument))]
			if random.IntN(4) == 0 {
				delete(input, name)
				continue
			}
			input[name] = randomValue(random, v.whole.Properties[name])
		}
		err := v.whole.Validate(input)
		for i, shorter := range v.shorter {
			shortErr := shorter.Validate(input)
			mustRefuse := refusedArgument(err, shorter)
			switch {
			case shortErr != nil && err == nil:
				t.Errorf("seed %d: %s, list %d: only the shorter one refuses %v: %v", seed, v.name, i, input, shortErr)
			case shortErr == nil && mustRefuse != "":
				t.Errorf("seed %d: %s, list %d: only the whole one refuses %s of %v", seed, v.name, i, mustRefuse,
					input)
			default:
				continue
			}
			if wrong++; wrong > 20 {
				t.FailNow()
			}
		}
		if err != nil {
			refused++
		}
	}
	if refused < 2_000 || refused > 9_000 {
		t.Errorf("%d of 10,000 are refused, so little is proven", refused)
	}
}

// randomValue is a value of any type, or one of the choices that the argument has.
func randomValue(random *rand.Rand, s *jsonschema.Schema) any {
	if s.Enum != nil && random.IntN(2) == 0 {
		return s.Enum.Values[random.IntN(len(s.Enum.Values))]
	}
	return []any{nil, "text", "2026-01-31T12:00:00Z", "ada@example.com", json.Number("3"), json.Number("1.5"), true,
		[]any{}, []any{"text"}, []any{json.Number("1")}, map[string]any{},
		map[string]any{"text": "text"}}[random.IntN(12)]
}

// refusedArgument is an argument, shown by a shorter schema, whose type, choice or absence the whole schema refuses;
// empty if there is none.
func refusedArgument(err error, shorter *jsonschema.Schema) string {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return ""
	}
	if len(invalid.InstanceLocation) == 0 {
		if missing, ok := invalid.ErrorKind.(*kind.Required); ok {
			return "the absence of " + strings.Join(missing.Missing, ", ")
		}
	}
	if len(invalid.InstanceLocation) == 1 && shorter.Properties[invalid.InstanceLocation[0]] != nil {
		switch invalid.ErrorKind.(type) {
		case *kind.Type, *kind.Enum, *kind.AnyOf:
			return invalid.InstanceLocation[0]
		}
	}
	for _, cause := range invalid.Causes {
		if name := refusedArgument(cause, shorter); name != "" {
			return name
		}
	}
	return ""
}

package op

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cputest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json/jsontext"
)

// everything has a field of every kind.
type everything struct {
	Name    string            `json:"name" min:"1"`
	Plain   *string           `json:"plain"`
	Kind    string            `json:"kind" default:"a" enum:"a,b"`
	Count   int               `json:"count" default:"3" min:"1" max:"10"`
	Big     *int              `json:"big"`
	Ratio   *float64          `json:"ratio"`
	Flag    Optional[bool]    `json:"flag"`
	Clear   Nullable[string]  `json:"clear"`
	When    *clock.Time       `json:"when"`
	Day     *clock.Date       `json:"day"`
	Ref     *id.ID            `json:"ref"`
	Mail    *string           `json:"mail" format:"email"`
	Code    *string           `json:"code" pattern:"^[a-z]+$"`
	Tags    []string          `json:"tags" optional:"yes" max:"3" itemMax:"5"`
	Nested  []nestedThing     `json:"nested" optional:"yes"`
	Labels  map[string]string `json:"labels" optional:"yes"`
	Data    jsontext.Value    `json:"data" optional:"yes" kinds:"object"`
	Any     jsontext.Value    `json:"any" optional:"yes" kinds:"string,number,boolean,array"`
	Through *nestedThing      `json:"through"`
}

type nestedThing struct {
	Value int           `json:"value"`
	More  []nestedThing `json:"more" optional:"yes"`
}

func decodeEverything(text string) (everything, *fault.Tree) {
	n := compileSchema(reflect.TypeFor[everything](), map[reflect.Type]*schemaNode{})
	v := reflect.New(reflect.TypeFor[everything]()).Elem()
	tree := decodeJSON(n, []byte(text), v, nil)
	return v.Interface().(everything), tree
}

func TestDecode(t *testing.T) {
	v,
		tree := decodeEverything(`{"name": "n", "plain": null, "kind": "b", "count": 10, "big": -9007199254740992,
			"ratio": 1.5e3, "flag": false, "clear": null,
		"when": "2026-01-31T13:00:00+01:00", "day": "2024-02-29", "ref": "6F1C2A34-9D6C-4C1E-8A54-1F0A3D6B7C88",
			"mail": "ü@exämple.com", "code": "abc",
		"tags": ["x", "é\u00e9"], "nested": [{"value": 1, "more": [{"value": 2}]}], "labels": {"a": "b"},
			"data": {"k": [1, {"z": null}, 1e300, -0.5E-300]}, "any": ["s"], "through": {"value": 7}}`)
	if tree != nil {
		t.Fatal(tree.Fault(fault.Invalid))
	}
	if v.When.String() != "2026-01-31T12:00:00.000Z" || *v.Ref != "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88" ||
		!v.Flag.Set ||
		v.Flag.Value || !v.Clear.Null || v.Clear.PtrOrNil() != nil ||
		v.Plain != nil || v.Tags[1] != "éé" || v.Nested[0].More[0].Value != 2 || v.Labels["a"] != "b" ||
		string(v.Data) != `{"k": [1, {"z": null}, 1e300, -0.5E-300]}` || v.Through.Value != 7 || *v.Ratio != 1500 {
		t.Errorf("decoded %+v", v)
	}
}

// Every refusal names its place and says why.
func TestDecodeRefusals(t *testing.T) {
	const outOfRange = `{"errors":[],"properties":{"data":{"errors":["Invalid number: out of range"],"properties":{}}}}`
	for text, want := range map[string]string{
		`{}`:                   `{"errors":[],"properties":{"name":{"errors":["Required"]}}}`,
		`{"name":" \u00a0\n"}`: `{"errors":[],"properties":{"name":{"errors":["Must not be blank"]}}}`,
		`{"name":""}`: `{"errors":[],"properties":{"name":{"errors":["Too short: expected at least 1 ` +
			`character"]}}}`,
		`{"name":null}`: `{"errors":[],"properties":{"name":{"errors":["Invalid input: expected string, ` +
			`received null"]}}}`,
		`{"name":"n","kind":"c"}`: `{"errors":[],"properties":{"kind":{"errors":["Invalid option: expected one of ` +
			`a, b"]}}}`,
		`{"name":"n","kind":null}`: `{"errors":[],"properties":{"kind":{"errors":["Invalid input: expected string, ` +
			`received null"]}}}`,
		`{"name":"n","flag":null}`: `{"errors":[],"properties":{"flag":{"errors":["Invalid input: expected boolean, ` +
			`received null"]}}}`,
		`{"name":"n","count":0}`:  `{"errors":[],"properties":{"count":{"errors":["Too small: expected at least 1"]}}}`,
		`{"name":"n","count":11}`: `{"errors":[],"properties":{"count":{"errors":["Too big: expected at most 10"]}}}`,
		`{"name":"n","count":1.0}`: `{"errors":[],"properties":{"count":{"errors":["Invalid input: expected ` +
			`integer"]}}}`,
		`{"name":"n","count":"1"}`: `{"errors":[],"properties":{"count":{"errors":["Invalid input: expected integer, ` +
			`received string"]}}}`,
		`{"name":"n","big":1e99}`: `{"errors":[],"properties":{"big":{"errors":["Invalid input: expected integer"]}}}`,
		`{"name":"n","big":9007199254740993}`: `{"errors":[],"properties":{"big":{"errors":["Invalid integer: out of ` +
			`range"]}}}`,
		`{"name":"n","ratio":1e999}`: `{"errors":[],"properties":{"ratio":{"errors":["Invalid number: out of ` +
			`range"]}}}`,
		`{"name":"n","when":"2026-01-31"}`: `{"errors":[],"properties":{"when":{"errors":["Invalid date-time; write ` +
			`it ` +
			`like 2026-01-31T12:00:00Z"]}}}`,
		`{"name":"n","day":"2023-02-29"}`: `{"errors":[],"properties":{"day":{"errors":["Invalid date; write it like ` +
			`2026-01-31"]}}}`,
		`{"name":"n","ref":"x"}`: `{"errors":[],"properties":{"ref":{"errors":["Invalid UUID"]}}}`,
		`{"name":"n","code":"A"}`: `{"errors":[],"properties":{"code":{"errors":["Invalid format: must ` +
			`match ^[a-z]+$"]}}}`,
		`{"name":"n","tags":["a",5,"toolong"]}`: `{"errors":[],"properties":{"tags":{"errors":[],"items":[null,` +
			`{"errors":["Invalid input: expected string, received number"]},` +
			`{"errors":["Too long: expected at most 5 characters"]}]}}}`,
		`{"name":"n","tags":["a","b","c","d"]}`: `{"errors":[],"properties":{"tags":{"errors":["Too many: expected ` +
			`at ` +
			`most 3"]}}}`,
		`{"name":"n","nested":[{"value":1},{"more":[{"value":"x"}]},{"value":2}]}`: `{"errors":[],` +
			`"properties":{"nested":{"errors":[],"items":[null,{"errors":[],` +
			`"properties":{"more":{"errors":[],"items":[{"errors":[],` +
			`"properties":{"value":{"errors":["Invalid input: expected integer, received string"]}}}]},` +
			`"value":{"errors":["Required"]}}},null]}}}`,
		`{"name":"n","labels":{"a":1}}`: `{"errors":[],"properties":{"labels":{"errors":[],` +
			`"properties":{"a":{"errors":["Invalid input: expected string, received number"]}}}}}`,
		`{"name":"n","data":[]}`: `{"errors":[],"properties":{"data":{"errors":["Invalid input: expected object, ` +
			`received ` +
			`array"],` +
			`"properties":{}}}}`,
		`{"name":"n","any":null}`: `{"errors":[],` +
			`"properties":{"any":{"errors":["Invalid input: expected string or number or boolean or array,` +
			` received null"]}}}`,
		`{"name":"n","data":{"a":"\u0000"}}`: `{"errors":[],"properties":{"data":{"errors":["Must not contain the ` +
			`character U+0000"],` +
			`"properties":{}}}}`,
		`{"name":"n","data":{"a":1e400000}}`:   outOfRange,
		`{"name":"n","data":{"a":[0e-99999]}}`: outOfRange,
		`{"name":"n","any":1e-401}`: `{"errors":[],"properties":{"any":{"errors":["Invalid number: out of ` +
			`range"]}}}`,
		`{"name":"n","data":{"a":[1e999]}}`: outOfRange,
		`{"name":"n","data":{"a":-1e-999}}`: outOfRange,
		`{"name":"n","any":0.` + strings.Repeat("1", 2000) +
			`}`: `{"errors":[],"properties":{"any":{"errors":["Invalid number: out of range"]}}}`,
		`{"name":"n","Name":1,"nope":{}}`: `{"errors":["Unrecognized key: ` +
			`\"Name\"","Unrecognized key: \"nope\""],"properties":{}}`,
		`{"name":"n","name":"m"}`:           `{"errors":["Duplicate key: \"name\""]}`,
		`{"name":"n","data":{"a":1,"a":2}}`: `{"errors":["Duplicate key: \"a\""]}`,
		`{"name":"n"`: `{"errors":["Invalid JSON: the text ` +
			`ends too early"]}`,
		`{"name":"n"}{}`: `{"errors":["Invalid JSON: more text ` +
			`after the end of the object"]}`,
		`[1]`: `{"errors":["Invalid input: expected ` +
			`object, received array"]}`,
		`{"name":"n","data":` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70) +
			`}`: `{"errors":["Invalid JSON: nested deeper than 64 levels"]}`,
		`{"name":"n","nope":` + strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70) +
			`}`: `{"errors":["Invalid JSON: nested deeper than 64 levels"]}`,
	} {
		_, tree := decodeEverything(text)
		got, _ := json.Marshal(tree)
		var a, b any
		json.Unmarshal(got, &a)          //nolint:errcheck // compared below
		json.Unmarshal([]byte(want), &b) //nolint:errcheck // compared below
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%.100s\n got %s\nwant %s", text, got, want)
		}
	}
}

// However much is wrong, what is said of it is not longer than what was sent.
func TestDecodeBounds(t *testing.T) {
	var many []string
	for i := range 50_000 {
		many = append(many, fmt.Sprintf(`"k%d":0`, i))
	}
	for _, text := range []string{`{` + strings.Join(many, ",") + `}`,
		`{"name":"n","labels":{` + strings.Join(many, ",") + `}}`,
		`{"` + strings.Repeat("é", 300_000) + `":0}`,
		`{"` + strings.Repeat("x", 500_000) + `":0,"` + strings.Repeat("x", 500_000) + `":0}`} {
		_, tree := decodeEverything(text)
		if got, err := json.Marshal(tree); tree == nil || err != nil || len(got) > 20_000 {
			t.Errorf("%.30s: %d bytes, %v", text, len(got), err)
		}
	}
}

// FuzzDecode: whatever the bytes, the decoder neither panics nor accepts what
// the rules forbid, and what it accepts it accepts again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"name":"n"}`, `{"name":"n","nested":[{"value":1,"more":[]}],"any":[1],"data":{}}`,
		`{"name":"\u0000"}`, `{"name":"n","tags":[`, "{\"name\":\"\xff\"}", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	for _, s := range jsonShapes {
		f.Add([]byte(s.Text(100)))
	}
	n := compileSchema(reflect.TypeFor[everything](), map[reflect.Type]*schemaNode{})
	f.Fuzz(func(t *testing.T, text []byte) {
		v := reflect.New(n.typ).Elem()
		var tree *fault.Tree
		cputest.CheckWithin(t, len(text), func() { tree = decodeJSON(n, text, v, nil) })
		if tree != nil {
			if _, err := json.Marshal(tree); err != nil {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("accepted what is not JSON: %q", text)
		}
		if strings.ContainsRune(v.Interface().(everything).Name, 0) {
			t.Fatalf("accepted U+0000: %q", text)
		}
	})
}

// FuzzFingerprint: the fingerprint never panics, and spacing does not matter.
func FuzzFingerprint(f *testing.F) {
	o := Write(Spec{Name: "x.create", Route: "POST /v1/contacts/{id}/x", Summary: "X."},
		func(_ ctxType, _ *Call, in struct {
			ID id.ID `path:"id"`
			A  int   `json:"a"`
		}) (*everything, error) {
			return nil, nil
		})
	f.Add("v", []byte(`{"b":[1,2.0,{"z":1,"a":2}],"a":1}`))
	f.Add("\xff", []byte(`{`))
	f.Fuzz(func(t *testing.T, id string, text []byte) {
		one := o.fingerprint([]string{id}, nil, text)
		if again := o.fingerprint([]string{id}, nil, text); again != one {
			t.Fatal("not stable")
		}
		if json.Valid(text) && jsontext.Value(text).IsValid() {
			spaced := o.fingerprint([]string{id}, nil, []byte(" "+string(text)+"\n"))
			if strings.TrimSpace(string(text)) != "" && strings.TrimSpace(string(text))[0] == '{' && spaced != one &&
				jsontext.Value(strings.ToValidUTF8(id, "?")) != nil && strings.ToValidUTF8(id, "") == id {
				t.Fatalf("spacing matters: %q", text)
			}
		}
	})
}

func TestFingerprint(t *testing.T) {
	type in struct {
		ID id.ID          `path:"id"`
		A  int            `json:"a" default:"1"`
		B  jsontext.Value `json:"b" optional:"yes"`
	}
	o := Write(Spec{Name: "x.create", Route: "POST /v1/contacts/{id}/x", Summary: "X."},
		func(ctxType, *Call, in) (*everything, error) { return nil, nil })
	print := func(path []string, text string) [32]byte { return o.fingerprint(path, nil, []byte(text)) }
	base := print([]string{"p"}, `{"a":1,"b":{"x":1.0,"y":"é"}}`)
	for _, same := range []string{`{ "b" : {"y":"\u00e9","x":1.0}, "a":1 }`,
		"\n{\"a\":1,\"b\":{\"x\":1.0,\"y\":\"é\"}}\t"} {
		if print([]string{"p"}, same) != base {
			t.Errorf("%s is another request", same)
		}
	}
	if print(nil, `{"id":"p","a":1,"b":{"x":1.0,"y":"é"}}`) != base {
		t.Error("the same request through another door is another")
	}
	for _, other := range []string{`{"a":1,"b":{"x":1,"y":"é"}}`, `{"a":1,"b":{"x":1.0,"y":"É"}}`,
		`{"b":{"x":1.0,"y":"é"}}`, `{"a":1,"b":{"x":1.0,"y":"é"},"c":null}`} {
		if print([]string{"p"}, other) == base {
			t.Errorf("%s is the same request", other)
		}
	}
	if print([]string{"q"}, `{"a":1,"b":{"x":1.0,"y":"é"}}`) == base {
		t.Error("another path is the same request")
	}
	if print([]string{"p"}, ``) != print([]string{"p"}, `{}`) ||
		print([]string{"p"}, `nonsense`) == print([]string{"p"}, `nonsens`) {
		t.Error("empty or malformed bodies")
	}
}

// A bad declaration panics at start.
func TestBadDeclarations(t *testing.T) {
	type twice struct {
		A string `json:"a"`
		B string `query:"a"`
	}
	type noPath struct {
		A string `json:"a"`
	}
	type stray struct {
		A id.ID `json:"a" ref:"nothing"`
	}
	type bad struct {
		A string `json:"a" format:"nonsense"`
	}
	good := Spec{Name: "x.create", Route: "POST /v1/contacts", Summary: "X."}
	with := func(change func(*Spec)) Spec { s := good; change(&s); return s }
	for name, declare := range map[string]func(){
		"no name":        func() { Write(with(func(s *Spec) { s.Name = "" }), handler[noPath]) },
		"no route":       func() { Write(with(func(s *Spec) { s.Route = "" }), handler[noPath]) },
		"no resource":    func() { Write(with(func(s *Spec) { s.Route = "POST /contacts" }), handler[noPath]) },
		"field twice":    func() { Write(good, handler[twice]) },
		"path unknown":   func() { Write(with(func(s *Spec) { s.Route = "POST /v1/contacts/{id}" }), handler[noPath]) },
		"unknown format": func() { Write(good, handler[bad]) },
		"body of a GET":  func() { Read(with(func(s *Spec) { s.Route = "GET /v1/contacts" }), handler[noPath]) },
		"bad example":    func() { Write(with(func(s *Spec) { s.Example = `{"b": 1}` }), handler[noPath]) },
		"strange status": func() { Write(with(func(s *Spec) { s.Status = 299 }), handler[noPath]) },
		"binds a key that it does not require": func() {
			s := good
			s.BindsKey = func(ctxType, *db.Tx, id.ID, string) (bool, error) { return false, nil }
			Write(s, handler[noPath])
		},
		"input no struct":       func() { Write(good, handler[string]) },
		"names rows of nothing": func() { NewCatalog([]*Op{Write(good, handler[stray])}) },
		"two of a name": func() {
			o := Write(good, handler[noPath])
			NewCatalog([]*Op{o, o})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			declare()
		}()
	}
	Write(good, handler[noPath])
}

// A body that is nested too deep stands for itself: putting it in order would
// take long, and it is refused anyway.
func TestDeepBodiesAreNotOrdered(t *testing.T) {
	o := &Op{}
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"b":"[\"{", "a":`, depth) + `1` + strings.Repeat("}", depth))
	}
	if got := o.canonicalInput(nil, nested(maxDepth)); !strings.HasPrefix(string(got), `{"a":{"a":`) {
		t.Errorf("not in order: %.40s", got)
	}
	for _, depth := range []int{maxDepth + 2, 5000} {
		if body := nested(depth); string(o.canonicalInput(nil, body)) != string(body) {
			t.Errorf("%d levels were put in order", depth)
		}
	}
}

func (everything) HoldsExternal() bool { return false }

package apptest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/door/docs"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// apiDocument is the OpenAPI document. Its schemas are compiled by an independent
// validator, so that a mistake of our own schema code shows.
type apiDocument struct {
	paths     map[string]any
	responses map[string]any // that operations share
	compiler  *jsonschema.Compiler
	mu        sync.Mutex
	schemas   map[string]*jsonschema.Schema
}

const documentURL = "https://frontdesk.example/openapi.json"

var loadDocument = sync.OnceValues(func() (*apiDocument, error) {
	text, err := docs.OpenAPI(app.Describe(), "http://test")
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(documentURL, doc); err != nil {
		return nil, err
	}
	all := doc.(map[string]any)
	return &apiDocument{
		paths:     all["paths"].(map[string]any),
		responses: all["components"].(map[string]any)["responses"].(map[string]any),
		compiler:  c,
		schemas:   map[string]*jsonschema.Schema{},
	}, nil
})

// findOperation looks up the path template that matches a path, and its operation.
func (d *apiDocument) findOperation(method, path string) (template string, operation map[string]any) {
	segments := strings.Split(path, "/")
	for _, template := range slices.Sorted(maps.Keys(d.paths)) { // literal segments sort before {names}
		parts := strings.Split(template, "/")
		if len(parts) != len(segments) {
			continue
		}
		same := true
		for i, p := range parts {
			same = same && (p == segments[i] || strings.HasPrefix(p, "{") && segments[i] != "")
		}
		if same {
			operation, _ = d.paths[template].(map[string]any)[strings.ToLower(method)].(map[string]any)
			return template, operation
		}
	}
	return "", nil
}

// findResponse looks up an operation's answer with a status, and the JSON pointer to it.
func (d *apiDocument) findResponse(template, method, status string) (pointer string, answer map[string]any) {
	method = strings.ToLower(method)
	operation := d.paths[template].(map[string]any)[method].(map[string]any)
	answer, _ = operation["responses"].(map[string]any)[status].(map[string]any)
	if shared, ok := answer["$ref"].(string); ok {
		answer, _ = d.responses[shared[strings.LastIndexByte(shared, '/')+1:]].(map[string]any)
		return strings.TrimPrefix(shared, "#"), answer
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	return "/paths/" + escape(template) + "/" + method + "/responses/" + status, answer
}

func (d *apiDocument) compileSchema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(documentURL + "#" + pointer)
	if err == nil {
		d.schemas[pointer] = s
	}
	return s, err
}

// checkConforms insists that an answer is as the document describes it: its status, its
// headers and its body. Paths and methods that the document does not have, the
// probe, and short answers, which leave fields out, are not checked.
func checkConforms(t testing.TB, req *http.Request, res *http.Response, body []byte) {
	t.Helper()
	d, err := loadDocument()
	if err != nil {
		t.Fatal(err)
	}
	template, operation := d.findOperation(req.Method, req.URL.Path)
	if operation == nil || strings.HasPrefix(template, "/v1/probe-") || req.URL.Query().Get("view") == "short" {
		return
	}
	fail := func(format string, args ...any) {
		t.Errorf("%s %s: %s\n%d %s", req.Method, req.URL.Path, fmt.Sprintf(format, args...), res.StatusCode, body)
	}
	status := strconv.Itoa(res.StatusCode)
	pointer, answer := d.findResponse(template, req.Method, status)
	if answer == nil {
		fail("the document has no status %s here", status)
		return
	}
	for name := range answer["headers"].(map[string]any) {
		if name != "Idempotency-Replay" && res.Header.Get(name) == "" {
			fail("the header %s is missing", name)
		}
	}
	if answer["content"] == nil {
		if len(body) > 0 {
			fail("a body where the document has none")
		}
		return
	}
	if content, ok := answer["content"].(map[string]any); ok && content["application/json"] == nil {
		if kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); content[kind] == nil &&
			content["*/*"] == nil {
			fail("the document has no content of type %s here", kind)
		}
		return
	}
	s, err := d.compileSchema(pointer + "/content/application~1json/schema")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		fail("not JSON: %v", err)
		return
	}
	if err := s.Validate(value); err != nil {
		fail("not as the document describes it: %v", err)
	}
}

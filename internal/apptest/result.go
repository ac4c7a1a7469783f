package apptest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// ResultOf is an operation's outcome as REST would show it.
func ResultOf(t testing.TB, answer op.Answer, err error) Result {
	t.Helper()
	if err == nil {
		return Result{Status: answer.Status, Body: answer.Body}
	}
	f := fault.FromError(err)
	if f.Kind == fault.Internal {
		t.Logf("internal: %v", err)
	}
	body, err := op.ErrorBody(f)
	if err != nil {
		t.Fatal(err)
	}
	return Result{Status: f.Status, Body: body}
}

// OK insists on a success and returns its data.
func (r Result) OK(t testing.TB, status int) Value {
	t.Helper()
	if r.Status != status {
		t.Fatalf("status %d, want %d: %s", r.Status, status, r.Body)
	}
	if len(r.Body) == 0 {
		return Value{t, nil}
	}
	return parseJSON(t, r.Body).At("data")
}

// Refused insists on a refusal with this status and code, and returns the
// error object.
func (r Result) Refused(t testing.TB, status int, code string) Value {
	t.Helper()
	e := parseJSON(t, r.Body).At("error")
	if r.Status != status || e.Text("code") != code {
		t.Fatalf("answered %d %s, want %d %s: %s", r.Status, e.Text("code"), status, code, r.Body)
	}
	if e.Text("message") == "" {
		t.Fatalf("a refusal without a message: %s", r.Body)
	}
	return e
}

// Page is the pagination of a list.
func (r Result) Page(t testing.TB) Value {
	t.Helper()
	return parseJSON(t, r.Body).At("meta.pagination")
}

// Value is a JSON value of an answer.
type Value struct {
	t testing.TB
	v any
}

func parseJSON(t testing.TB, text []byte) Value {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("not JSON: %s: %v", text, err)
	}
	return Value{t, v}
}

// At follows a path like "emails.0.email"; what is not there is nil.
func (v Value) At(path string) Value {
	cur := v.v
	for _, step := range strings.Split(path, ".") {
		switch x := cur.(type) {
		case map[string]any:
			cur = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				return Value{v.t, nil}
			}
			cur = x[i]
		default:
			return Value{v.t, nil}
		}
	}
	return Value{v.t, cur}
}

// Has reports whether an object has a field, even a null one.
func (v Value) Has(field string) bool {
	m, _ := v.v.(map[string]any)
	_, ok := m[field]
	return ok
}

// Text is a string at a path; "" when it is not one.
func (v Value) Text(path string) string {
	s, _ := v.At(path).v.(string)
	return s
}

// ID is an id at a path.
func (v Value) ID(path string) id.ID { return id.ID(v.Text(path)) }

// Number is a number at a path; -1 when it is not one.
func (v Value) Number(path string) float64 {
	f, ok := v.At(path).v.(float64)
	if !ok {
		return -1
	}
	return f
}

// Null reports whether the value is null or not there.
func (v Value) Null() bool { return v.v == nil }

// Len is the length of an array.
func (v Value) Len() int {
	a, _ := v.v.([]any)
	return len(a)
}

// Same insists on a value at a path, compared as text.
func (v Value) Same(path string, want any) {
	v.t.Helper()
	got := v.At(path).v
	if f, ok := got.(float64); ok {
		if n, ok := want.(int); ok && float64(n) == f {
			return
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		v.t.Errorf("%s is %v, want %v (in %v)", path, got, want, v.v)
	}
}

func (v Value) String() string {
	b, _ := json.Marshal(v.v)
	return string(b)
}

package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
)

// The bounds of a condition. The cost is CEL's own measure of work; the time
// ends what the cost does not foresee.
const (
	maxCondition  = 2000 // characters
	conditionCost = 200_000
	conditionTime = 200 * time.Millisecond
	regexSize     = 1000
	nesting       = 3
)

// conditions is the language: CEL over two objects, event and input, whose
// fields nobody knows before they are there.
var conditions = sync.OnceValue(func() *cel.Env {
	object := cel.MapType(cel.StringType, cel.DynType)
	env, err := cel.NewEnv(cel.Variable("event", object), cel.Variable("input", object), cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxCondition), cel.ParserRecursionLimit(50),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateRegexProgramSizeLimit(regexSize), cel.ValidateComprehensionNestingLimit(nesting),
			cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()))
	if err != nil {
		panic(err) // a bad declaration
	}
	return env
})

// condition is a compiled expression.
type condition struct{ program cel.Program }

// compile reads a condition. Of what does not parse, or cannot be true or
// false, it says where and why.
func compile(text string) (c *condition, issue string) {
	ast, issues := conditions().Compile(text)
	if issues.Err() != nil {
		var said []string
		for i, e := range issues.Errors() {
			if i == 3 {
				break
			}
			if e.Location.Line() < 1 { // about the whole
				said = append(said, e.Message)
				continue
			}
			said = append(said, fmt.Sprintf("Line %d, column %d: %s", e.Location.Line(), e.Location.Column()+1, plainly(e.Message)))
		}
		return nil, strings.Join(said, "; ")
	}
	if t := ast.OutputType(); t.Kind() != cel.BoolKind && t.Kind() != cel.DynKind {
		return nil, fmt.Sprintf("A condition is true or false; this one is of type %s", t)
	}
	program, err := conditions().Program(ast, cel.CostLimit(conditionCost), cel.InterruptCheckFrequency(100))
	if err != nil {
		return nil, "It cannot be run: " + err.Error()
	}
	return &condition{program}, ""
}

// The compiler speaks to those who know its grammar: it names every token that
// it would have taken.
var compilerWords = []struct {
	said  *regexp.Regexp
	means string
}{
	{regexp.MustCompile(`^Syntax error: .* '<EOF>' expecting`), "something is missing at the end"},
	{regexp.MustCompile(`^Syntax error: missing '(.+)' at`), `"$1" is missing`},
	{regexp.MustCompile(`^Syntax error: token recognition error at: '=\s*'`), `to compare, write "=="`},
	{regexp.MustCompile(`^Syntax error: (?:mismatched|extraneous) input '(.+?)' expecting`), `"$1" does not belong here`},
	{regexp.MustCompile(`^Syntax error: (?:token recognition error at:|no viable alternative at input) '\s*(.+?)\s*'$`), `"$1" does not belong here`},
	{regexp.MustCompile(`^undeclared reference to '(.+?)'`), `there is no "$1"; a condition sees event and input`},
}

// plainly says an issue in words for whoever wrote the condition.
func plainly(issue string) string {
	for _, w := range compilerWords {
		if at := w.said.FindStringSubmatchIndex(issue); at != nil {
			return string(w.said.ExpandString(nil, w.means, issue, at))
		}
	}
	return issue
}

// holds evaluates the condition over an event and an input, or says why it
// cannot.
func (c *condition) holds(ctx context.Context, values map[string]any) (holds bool, issue string) {
	ctx, cancel := context.WithTimeout(ctx, conditionTime)
	defer cancel()
	out, _, err := c.program.ContextEval(ctx, map[string]any{"event": asObject(values["event"]), "input": asObject(values["input"])})
	if err != nil {
		text := err.Error()
		if strings.Contains(text, "cost limit") || strings.Contains(text, "interrupt") {
			text = "it takes too long"
		}
		return false, "The condition could not be evaluated: " + text + "."
	}
	b, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Sprintf("The condition gave a value of type %s, not true or false.", out.Type().TypeName())
	}
	return b, ""
}

func asObject(v any) any {
	if v == nil {
		return map[string]any{}
	}
	return native(v)
}

// native is a JSON value as CEL counts: whole numbers are integers.
func native(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = native(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = native(e)
		}
		return out
	}
	return v
}

package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/interpreter"
)

// The bounds of a condition. The cost is CEL's own measure of work; the time
// limit stops what the cost does not foresee.
const (
	maxCondition  = 2000 // characters
	conditionCost = 200_000
	conditionTime = 200 * time.Millisecond
	maxNesting    = 3

	// For a condition that is evaluated inside a transaction, where others
	// wait.
	quickCost = 2_000
	quickTime = 5 * time.Millisecond
	quickData = 16 << 10 // bytes of the event's data

	maxCompiled = 1000
)

// conditionEnv is the language: CEL over two objects, event and input, whose
// fields are unknown until run time.
var conditionEnv = sync.OnceValue(func() *cel.Env {
	object := cel.MapType(cel.StringType, cel.DynType)
	env, err := cel.NewCustomEnv(append(celLibrary(), cel.Variable("event", object), cel.Variable("input", object),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxCondition), cel.ParserRecursionLimit(50),
		cel.ASTValidators(regexLiterals{}, cel.ValidateComprehensionNestingLimit(maxNesting),
			cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals()))...)
	if err != nil {
		panic(err) // a bad declaration
	}
	return env
})

// condition is a compiled expression.
type condition struct{ program, quick cel.Program } // quick is nil if the condition cannot run in a transaction

// conditionCache caches the conditions in use, by their text: parsing one takes a
// hundred times as long as evaluating it.
var conditionCache = struct {
	sync.Mutex
	byText map[string]*condition
}{byText: map[string]*condition{}}

// cachedCondition returns a condition that is in the cache, or nil.
func cachedCondition(text string) *condition {
	conditionCache.Lock()
	defer conditionCache.Unlock()
	return conditionCache.byText[text]
}

// compileCondition returns a condition from the cache or parses it, or says what is wrong
// with it. A full cache drops conditions at random.
func compileCondition(text string) (c *condition, issue string) {
	if c = cachedCondition(text); c != nil {
		return c, ""
	}
	if c, issue = parseCondition(text); issue != "" {
		return nil, issue
	}
	conditionCache.Lock()
	defer conditionCache.Unlock()
	for other := range conditionCache.byText {
		if len(conditionCache.byText) < maxCompiled {
			break
		}
		delete(conditionCache.byText, other)
	}
	conditionCache.byText[text] = c
	return c, ""
}

// parseCondition parses a condition. If it does not parse, or cannot be true or false,
// the issue says where and why.
func parseCondition(text string) (c *condition, issue string) {
	ast, issues := conditionEnv().Compile(text)
	if issues.Err() != nil {
		var said []string
		for i, e := range issues.Errors() {
			if i == 3 {
				break
			}
			if e.Location.Line() < 1 { // about the whole expression
				said = append(said, e.Message)
				continue
			}
			said = append(said, fmt.Sprintf("Line %d, column %d: %s", e.Location.Line(), e.Location.Column()+1,
				rewordIssue(e.Message)))
		}
		return nil, strings.Join(said, "; ")
	}
	if t := ast.OutputType(); t.Kind() != cel.BoolKind && t.Kind() != cel.DynKind {
		return nil, fmt.Sprintf("A condition must be true or false; this one has type %s", t)
	}
	c = &condition{}
	var err error
	for _, p := range []struct {
		to   *cel.Program
		cost uint64
	}{{&c.program, conditionCost}, {&c.quick, quickCost}} {
		if *p.to, err = conditionEnv().Program(ast, cel.CostTracking(regexCost{}), cel.CostLimit(p.cost),
			cel.InterruptCheckFrequency(100)); err != nil {
			return nil, "It cannot run: " + err.Error()
		}
	}
	if strings.Contains(text, "matches") {
		c.quick = nil // the cost of a regular expression is known only after it ran
	}
	return c, ""
}

// compilerMessages reword the compiler's messages, which list every token that its
// grammar would have accepted.
var compilerMessages = []struct {
	said  *regexp.Regexp
	means string
}{
	{regexp.MustCompile(`^Syntax error: .* '<EOF>' expecting`), "something is missing at the end"},
	{regexp.MustCompile(`^Syntax error: missing '(.+)' at`), `"$1" is missing`},
	{regexp.MustCompile(`^Syntax error: token recognition error at: '=\s*'`), `to compare, write "=="`},
	{regexp.MustCompile(`^Syntax error: (?:mismatched|extraneous) input '(.+?)' expecting`),
		`"$1" does not belong here`},
	{regexp.MustCompile(`^Syntax error: (?:token recognition error at:|no viable alternative at input) '\s*(.+?)\s*'$`),
		`"$1" does not belong here`},
	{regexp.MustCompile(`^undeclared reference to '(.+?)'`), `there is no "$1"; a condition sees event and input`},
}

// rewordIssue rewords an issue for whoever wrote the condition.
func rewordIssue(issue string) string {
	for _, w := range compilerMessages {
		if at := w.said.FindStringSubmatchIndex(issue); at != nil {
			return string(w.said.ExpandString(nil, w.means, issue, at))
		}
	}
	return issue
}

// evaluateFully evaluates the condition over an event and an input, or says why it
// cannot.
func (c *condition) evaluateFully(ctx context.Context, values map[string]any) (holds bool, issue string) {
	holds, issue, took := runProgram(ctx, c.program, conditionTime, values)
	if took {
		issue = "The condition could not be evaluated: it took too long."
	}
	return holds, issue
}

// evaluateQuickly evaluates the condition within the bounds of a transaction. known
// is false if it may take longer than that.
func (c *condition) evaluateQuickly(ctx context.Context, values map[string]any) (holds bool, issue string, known bool) {
	if c.quick == nil {
		return false, "", false
	}
	holds, issue, took := runProgram(ctx, c.quick, quickTime, values)
	return holds, issue, !took
}

// runProgram runs a program for at most bound, or reports that it took too long.
func runProgram(ctx context.Context, p cel.Program, bound time.Duration, values map[string]any) (holds bool,
	issue string, tooLong bool) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	out, _, err := p.ContextEval(ctx,
		map[string]any{"event": toCELObject(values["event"]), "input": toCELObject(values["input"])})
	var stopped interpreter.EvalCancelledError
	if err != nil && (ctx.Err() != nil || errors.As(err, &stopped)) {
		return false, "", true
	}
	if err != nil {
		return false, "The condition could not be evaluated: " + err.Error() + ".", false
	}
	b, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Sprintf("The condition returned a %s, not true or false.", out.Type().TypeName()), false
	}
	return b, "", false
}

func toCELObject(v any) any {
	if v == nil {
		return map[string]any{}
	}
	return toCELValue(v)
}

// toCELValue converts a JSON value to the types of CEL: whole numbers become
// integers.
func toCELValue(v any) any {
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
			out[k] = toCELValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = toCELValue(e)
		}
		return out
	}
	return v
}

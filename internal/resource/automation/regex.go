package automation

import (
	"regexp"
	"regexp/syntax"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// The bounds of a regular expression. Neither CEL's cost limit nor its time
// limit stops one that runs, and it may take as many steps as its program and
// the text multiplied. So anything that could be slow is refused before it
// starts.
const (
	regexSize  = 1000       // instructions in its program
	regexWork  = 10_000_000 // instructions times bytes of text
	maxPattern = maxCondition
	// instructions times bytes per unit of CEL's cost: with conditionCost, all
	// regular expressions of a condition together may take as long as two that
	// reach regexWork
	regexUnit = 100
)

// celLibrary is CEL's, with a bounded matches function.
func celLibrary() []cel.EnvOption {
	text := []*cel.Type{cel.StringType, cel.StringType}
	return []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: []*env.Function{{Name: overloads.Matches}}})),
		cel.Function(overloads.Matches, cel.Overload(overloads.Matches, text, cel.BoolType),
			cel.MemberOverload(overloads.MatchesString, text, cel.BoolType),
			cel.SingletonBinaryBinding(matchBounded)),
	}
}

// matchBounded is the CEL function, with both bounds: of the program, and of the program
// times the text.
func matchBounded(text, pattern ref.Val) ref.Val {
	t, isText := text.(types.String)
	p, isPattern := pattern.(types.String)
	if !isText || !isPattern {
		return types.MaybeNoSuchOverloadErr(text)
	}
	if len(p) > maxPattern {
		return types.NewErr("a regular expression must not exceed %d bytes", maxPattern)
	}
	n, err := countInstructions(string(p))
	if err != nil {
		return types.WrapErr(err)
	}
	if n > regexSize || n*len(t) > regexWork {
		return types.NewErr("the regular expression would take too long over a text of %d bytes", len(t))
	}
	r, err := regexp.Compile(string(p))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(r.MatchString(string(t)))
}

// regexLiterals checks the patterns that are written in a condition before it
// ever runs. CEL's own validator would compile a pattern first, however large.
type regexLiterals struct{}

// Name is what CEL knows it by.
func (regexLiterals) Name() string { return "frontdesk.regex" }

// Validate reports what is wrong with each pattern.
func (regexLiterals) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	for _, call := range ast.MatchDescendants(ast.NavigateAST(a), ast.FunctionMatcher(overloads.Matches)) {
		args := call.AsCall().Args()
		if len(args) == 0 || args[len(args)-1].Kind() != ast.LiteralKind { // the pattern comes last
			continue
		}
		pattern := args[len(args)-1]
		text, _ := pattern.AsLiteral().Value().(string)
		switch n, err := countInstructions(text); {
		case err != nil:
			issues.ReportErrorAtID(pattern.ID(), "this is not a valid regular expression: %s", err)
		case n > regexSize:
			issues.ReportErrorAtID(pattern.ID(), "this regular expression is too large; shorten it, or "+
				"repeat less in it")
		}
	}
}

// countInstructions counts the instructions of a regular expression's program. It does
// not compile one that is plainly too large: a pattern of a few letters, with
// nested repetitions, could take a second to compile.
func countInstructions(pattern string) (int, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	if n := minInstructions(tree); n > regexSize {
		return n, nil
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

// minInstructions is a lower bound of how many instructions a program will have. Beyond
// regexSize it stops counting.
func minInstructions(r *syntax.Regexp) int {
	n := 1
	if r.Op == syntax.OpLiteral {
		n = len(r.Rune)
	}
	if len(r.Sub) > 0 {
		n = 0
	}
	for _, sub := range r.Sub {
		if n += minInstructions(sub); n > regexSize {
			return n
		}
	}
	if r.Op == syntax.OpRepeat {
		times := r.Max
		if times < 0 { // no end
			times = max(r.Min, 1)
		}
		n *= times
	}
	return n
}

// regexCost tells CEL what a regular expression took. CEL itself counts the
// characters of the pattern, a few of which can make a program of any size.
type regexCost struct{}

// CallCost is the cost of matches; CEL knows the cost of everything else.
func (regexCost) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	if function != overloads.Matches || len(args) != 2 {
		return nil
	}
	t, isText := args[0].(types.String)
	p, isPattern := args[1].(types.String)
	if !isText || !isPattern || len(p) > maxPattern {
		return nil
	}
	n, err := countInstructions(string(p))
	cost := uint64(1 + n*len(t)/regexUnit)
	if err != nil || n > regexSize || n*len(t) > regexWork {
		cost = regexSize // matchBounded refused it, but counting took time too
	}
	return &cost
}

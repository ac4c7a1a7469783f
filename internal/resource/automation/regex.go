package automation

import (
	"regexp"
	"regexp/syntax"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// The bounds of a regular expression. Neither CEL's cost nor its clock ends one
// that runs, and it may take as many steps as its program and the text have
// together: so what could be slow is refused before it begins.
const (
	regexSize  = 1000       // instructions of its program
	regexWork  = 10_000_000 // instructions by bytes of the text
	maxPattern = maxCondition
)

// library is CEL's, with a function matches that has bounds.
func library() []cel.EnvOption {
	text := []*cel.Type{cel.StringType, cel.StringType}
	return []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: []*env.Function{{Name: overloads.Matches}}})),
		cel.Function(overloads.Matches, cel.Overload(overloads.Matches, text, cel.BoolType), cel.MemberOverload(overloads.MatchesString, text, cel.BoolType),
			cel.SingletonBinaryBinding(matches)),
	}
}

func matches(text, pattern ref.Val) ref.Val {
	t, isText := text.(types.String)
	p, isPattern := pattern.(types.String)
	if !isText || !isPattern {
		return types.MaybeNoSuchOverloadErr(text)
	}
	if len(p) > maxPattern {
		return types.NewErr("a regular expression has at most %d bytes", maxPattern)
	}
	tree, err := syntax.Parse(string(p), syntax.Perl)
	if err != nil {
		return types.WrapErr(err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return types.WrapErr(err)
	}
	if n := len(program.Inst); n > regexSize || n*len(t) > regexWork {
		return types.NewErr("the regular expression would take too long over a text of %d bytes", len(t))
	}
	r, err := regexp.Compile(string(p))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(r.MatchString(string(t)))
}

package op

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// A model writes EUR for eur, "3" for 3, and a day where a time is wanted. What cannot be misread is put right before
// the input is decoded, by the declared types. Whatever needs a guess, like "1,5", is left for decoding to refuse. REST
// stays strict: a program that is corrected in silence hides its bug.

// Forgiver knows what is needed to put an input right.
type Forgiver struct {
	// Midnight is when a day begins for the caller's business, and the name of its time zone.
	Midnight func(date clock.Date) (clock.Time, string, error)
	// OperationOf is the name of the operation that a tool is named after, empty for none.
	OperationOf func(tool string) string
}

// Forgive puts right what cannot be misread in an input. notes say what the caller may not have meant. An input with
// nothing to forgive, or that is not JSON, stays as it is.
func (o *Op) Forgive(input []byte, f Forgiver) (out []byte, notes []string, err error) {
	w := forgiving{Decoder: jsontext.NewDecoder(bytes.NewBuffer(input), ours), Forgiver: f}
	w.copyValue(o.in, "")
	switch {
	case w.failed != nil:
		return nil, nil, w.failed
	case w.err != nil || !w.changed:
		return input, nil, nil
	}
	return w.out, w.notes, nil
}

// forgiving copies an input and puts right what it can.
type forgiving struct {
	*jsontext.Decoder
	Forgiver
	out     []byte
	notes   []string
	changed bool
	err     error // in the input's JSON
	failed  error // in asking for the business's midnight
}

func (w *forgiving) read() (v jsontext.Value) {
	if w.err == nil {
		v, w.err = w.ReadValue()
	}
	return v
}

// copyValue copies a value. name is that of its field.
func (w *forgiving) copyValue(n *schemaNode, name string) {
	if n != nil && n.documentedAs != nil {
		n = n.documentedAs
	}
	kind := w.PeekKind()
	if w.StackDepth() > maxDepth {
		w.err = errTooDeep
		return
	}
	switch {
	case n != nil && kind == '{' && (n.kind == objectValue || n.kind == mapValue),
		n != nil && kind == '[' && n.kind == arrayValue:
		w.copyContainer(n, name)
		return
	}
	text := w.read()
	if n == nil || w.err != nil {
		w.out = append(w.out, text...)
		return
	}
	right := n.putRight(text)
	if right == nil && (n.format == "date-time" || n.format == timeOrNeverFormat) && kind == '"' {
		right = w.putDateRight(text, name)
	}
	if right == nil && n.format == operationFormat && kind == '"' {
		right = w.putOperationRight(text)
	}
	if right != nil {
		w.out, w.changed = append(w.out, right...), true
		return
	}
	w.out = append(w.out, text...)
}

// copyContainer copies an object or an array.
func (w *forgiving) copyContainer(n *schemaNode, name string) {
	open, err := w.ReadToken()
	if err != nil {
		w.err = err
		return
	}
	w.out = append(w.out, byte(open.Kind()))
	for first := len(w.out); w.err == nil && w.PeekKind() != '}' && w.PeekKind() != ']'; {
		if len(w.out) > first {
			w.out = append(w.out, ',')
		}
		elem := n.elem
		if n.kind != arrayValue {
			key := w.read()
			w.out = append(append(w.out, key...), ':')
			if p := n.props[strings.Trim(string(key), `"`)]; p != nil {
				elem, name = p.node, p.name
			}
		}
		w.copyValue(elem, name)
	}
	end, err := w.ReadToken()
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.out = append(w.out, byte(end.Kind()))
}

// The formats that say how an input is put right. Decoding accepts any string for them.
const (
	decimalFormat   = "decimal"   // a number as text
	operationFormat = "operation" // the name of an operation
)

// timeOrNeverFormat is the format of a filter by a time that some rows do not have.
const timeOrNeverFormat = "time-or-never"

var (
	integerText  = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})$`)
	decimalText  = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?$`)
	currencyText = regexp.MustCompile(`^[A-Za-z]{3}$`)
)

// putRight is what a value must have meant, or nil if it is right, or if nothing can be said.
func (n *schemaNode) putRight(text jsontext.Value) []byte {
	inner := strings.Trim(string(text), `"`) // none of the forms below has an escape
	switch quoted := text.Kind() == '"'; {
	case quoted && n.kind == intValue && integerText.MatchString(inner),
		quoted && n.kind == numberValue && decimalText.MatchString(inner):
		return []byte(inner)
	case text.Kind() == '0' && n.format == decimalFormat && decimalText.MatchString(inner):
		return strconv.AppendQuote(nil, inner)
	case quoted && n.format == "currency" && currencyText.MatchString(inner):
		if lower := strings.ToLower(inner); lower != inner {
			return strconv.AppendQuote(nil, lower)
		}
	}
	return nil
}

// putDateRight takes a day where a time is wanted for its beginning, and says so.
func (w *forgiving) putDateRight(text jsontext.Value, name string) []byte {
	day, err := clock.ParseDate(strings.Trim(string(text), `"`))
	if err != nil || w.Midnight == nil {
		return nil
	}
	at, zone, err := w.Midnight(day)
	if err != nil {
		w.failed = err
		return nil
	}
	w.notes = append(w.notes, name+" is taken as "+at.String()+", when "+string(day)+" begins in "+zone+".")
	return strconv.AppendQuote(nil, at.String())
}

// putOperationRight takes the name of a tool for its operation.
func (w *forgiving) putOperationRight(text jsontext.Value) []byte {
	if w.OperationOf == nil {
		return nil
	}
	if name := w.OperationOf(strings.Trim(string(text), `"`)); name != "" {
		return strconv.AppendQuote(nil, name)
	}
	return nil
}

// unknownKey begins the issue about a key that is not declared.
const unknownKey = "Unrecognized key: "

// ExplainKeys completes the refusal of unknown keys: with the field whose name is the nearest or else with what
// elsewhere says, such as the tool that takes the key. Other errors stay as they are.
func (o *Op) ExplainKeys(err error, elsewhere func(key string) string) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err
	}
	tree, ok := f.Details.(*fault.Tree)
	if !ok || !o.in.explainKeys(tree, elsewhere) {
		return err
	}
	return tree.Fault(f.Kind)
}

// explainKeys completes the issues of a tree, and reports whether there were any to complete.
func (n *schemaNode) explainKeys(tree *fault.Tree, elsewhere func(string) string) (found bool) {
	if n != nil && n.documentedAs != nil {
		n = n.documentedAs
	}
	if tree == nil || n == nil {
		return false
	}
	for i, issue := range tree.Errors {
		key, err := strconv.Unquote(strings.TrimPrefix(issue, unknownKey))
		if err != nil || !strings.HasPrefix(issue, unknownKey) {
			continue
		}
		names := make([]string, len(n.order))
		for i, p := range n.order {
			names[i] = p.name
		}
		if more := DidYouMean(key, names, elsewhere(key)); more != "" {
			tree.Errors[i], found = issue+"; "+more, true
		}
	}
	for name, below := range tree.Properties {
		if p := n.props[name]; p != nil {
			found = p.node.explainKeys(below, elsewhere) || found
		}
	}
	for _, below := range tree.Items {
		found = n.elem.explainKeys(below, elsewhere) || found
	}
	return found
}

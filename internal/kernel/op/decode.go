package op

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json/jsontext"
)

// decoder reads one JSON text into Go values and collects every issue on the way, in one pass and without an
// intermediate form. Decoders are pooled.
type decoder struct {
	*jsontext.Decoder
	rd bytes.Reader

	isOpen func(string) bool // reports a placeholder, whose value is not known yet (Op.Check); nil for none
}

var decoderPool = sync.Pool{New: func() any { return &decoder{Decoder: new(jsontext.Decoder)} }}

// decodeJSON fills v from a JSON object that n describes, and returns its issues, nil for none. accept says which
// fields may be in the object; nil accepts all.
func decodeJSON(n *schemaNode, text []byte, v reflect.Value, accept func(*schemaProp) bool) *fault.Tree {
	return decodeOpenJSON(n, text, v, accept, nil)
}

// decodeOpenJSON is decodeJSON for a text with placeholders: strings for which open reports true are accepted anywhere.
func decodeOpenJSON(n *schemaNode, text []byte, v reflect.Value, accept func(*schemaProp) bool,
	open func(string) bool) *fault.Tree {
	d := decoderPool.Get().(*decoder)
	defer decoderPool.Put(d)
	d.isOpen = open
	d.rd.Reset(text)
	d.Reset(&d.rd)
	// Valid JSON that is no object is told what was expected; a kind of 0 is a syntax error or an empty text.
	if k := d.PeekKind(); k != '{' && k != 0 {
		if err := d.SkipValue(); err == nil {
			return (*fault.Tree)(nil).Add(fault.WrongKindIssue("object", jsonKindName(k)))
		}
	}
	tree, err := d.decodeObject(n, v, accept)
	if err == nil {
		if _, end := d.ReadToken(); !errors.Is(end, io.EOF) {
			err = errors.New("more text after the end of the object")
		}
	}
	if err != nil {
		return (*fault.Tree)(nil).Add(syntaxIssue(err))
	}
	return tree
}

var errTooDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

// syntaxIssue tells the caller why a text is not JSON, in words that do not depend on the JSON library.
func syntaxIssue(err error) string {
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName): // JSON readers differ in which of the two they take
		var s *jsontext.SyntacticError
		if errors.As(err, &s) {
			return "Duplicate key: " + quoteKey(s.JSONPointer.LastToken())
		}
		return "Duplicate key"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "Invalid JSON: the text ends too early"
	case errors.Is(err, errTooDeep):
		return "Invalid JSON: " + err.Error()
	}
	var s *jsontext.SyntacticError
	if errors.As(err, &s) && s.Err != nil {
		return fmt.Sprintf("Invalid JSON at byte %d: %s", s.ByteOffset, strings.TrimPrefix(s.Err.Error(), "jsontext: "))
	}
	return "Invalid JSON: " + err.Error()
}

// maxIssues bounds the issues that are reported about one object: a body of one megabyte can have two hundred thousand
// unknown keys, and the answer would be larger still.
const maxIssues = 100

// quoteKey is one of the caller's keys as an issue shows it: in quotes, and cut if it is long.
func quoteKey(key string) string {
	if len(key) > defaultMaxLength {
		key = strings.ToValidUTF8(key[:defaultMaxLength], "") + "…"
	}
	return strconv.Quote(key)
}

// jsonKindName is the JSON name for the kind of a token.
func jsonKindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case '"':
		return "string"
	case '0':
		return "number"
	case 't', 'f':
		return "boolean"
	case '[':
		return "array"
	case '{':
		return "object"
	}
	return "nothing"
}

// decodeValue decodes the next value into v. A syntax error ends the decoding; any other problem becomes an issue, and
// decoding goes on, so that a caller learns of all issues at once.
func (d *decoder) decodeValue(n *schemaNode, v reflect.Value) (*fault.Tree, error) {
	if d.StackDepth() > maxDepth {
		return nil, errTooDeep
	}
	k := d.PeekKind()
	if k == '"' && d.isOpen != nil {
		return d.decodeOpenText(n, v)
	}
	// null is a value of its own only in raw JSON; everywhere else it clears the field or is refused.
	if k == 'n' && (n.nullable || n.kind != anyValue) {
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
		if !n.nullable {
			return n.wrongKindIssue("null"), nil
		}
		if n.hold == heldAsNullable { // Nullable: Set and Null
			v.Field(0).SetBool(true)
			v.Field(1).SetBool(true)
		}
		return nil, nil
	}
	v = n.markSent(v)
	fits := false // the JSON is of the kind that the schema wants
	switch n.kind {
	case anyValue:
		return d.decodeRaw(n, k, v)
	case stringValue:
		fits = k == '"'
	case intValue, numberValue:
		fits = k == '0'
	case boolValue:
		fits = k == 't' || k == 'f'
	case arrayValue:
		if n.isCommaList && k == '"' { // "a,b" as in a query
			tok, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			return n.storeList([]string{tok.String()}, v), nil
		}
		fits = k == '['
	case objectValue, mapValue:
		fits = k == '{'
	}
	if !fits {
		if err := d.skipUnwanted(); err != nil {
			return nil, err
		}
		return n.wrongKindIssue(jsonKindName(k)), nil
	}
	switch n.kind {
	case objectValue:
		return d.decodeObject(n, v, nil)
	case mapValue:
		return d.decodeMap(n, v)
	case arrayValue:
		return d.decodeArray(n, v)
	case stringValue:
		tok, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		return n.storeString(tok.String(), v), nil
	case boolValue:
		tok, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		v.SetBool(tok.Bool())
		return nil, nil
	}
	text, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	return n.storeNumber(string(text), v), nil
}

// decodeOpenText decodes a string that may be a placeholder, which stands for a value of any kind.
func (d *decoder) decodeOpenText(n *schemaNode, v reflect.Value) (*fault.Tree, error) {
	tok, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	s := tok.String()
	if d.isOpen(s) {
		return nil, nil
	}
	if n.kind == stringValue {
		return n.storeString(s, n.markSent(v)), nil
	}
	if n.isCommaList {
		return n.storeList([]string{s}, v), nil
	}
	if n.kind == anyValue && (len(n.oneOf) == 0 || slices.Contains(n.oneOf, stringValue)) {
		return nil, nil
	}
	return n.wrongKindIssue("string"), nil
}

// wrongKindIssue is the issue that a value is of the wrong kind.
func (n *schemaNode) wrongKindIssue(received string) *fault.Tree {
	return n.newIssueTree(fault.WrongKindIssue(n.kind.String(), received))
}

// newIssueTree makes a tree with one issue about the value as a whole, in the form that the kind of value has.
func (n *schemaNode) newIssueTree(text string) *fault.Tree {
	tree := (*fault.Tree)(nil).Add(text)
	if n.kind == objectValue || n.kind == mapValue || len(n.oneOf) == 1 && n.oneOf[0] == objectValue {
		return tree.AsObject()
	}
	return tree
}

// markSent marks a field as sent and returns the part of it that takes the value. The numbers are the fields of
// Nullable (Set, Null, Value) and Optional (Set, Value).
func (n *schemaNode) markSent(v reflect.Value) reflect.Value {
	switch n.hold {
	case heldByPointer:
		p := reflect.New(v.Type().Elem())
		v.Set(p)
		return p.Elem()
	case heldAsNullable:
		v.Field(0).SetBool(true)
		return v.Field(2)
	case heldAsOptional:
		v.Field(0).SetBool(true)
		return v.Field(1)
	}
	return v
}

// skipUnwanted skips an unwanted value. Unlike jsontext's SkipValue it refuses one that is nested too deep.
func (d *decoder) skipUnwanted() error {
	base := d.StackDepth()
	for {
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		if d.StackDepth() > maxDepth {
			return errTooDeep
		}
		if d.StackDepth() <= base {
			return nil
		}
	}
}

// decodeObject decodes an object into a struct, and adds issues for unknown and for missing fields.
func (d *decoder) decodeObject(n *schemaNode, v reflect.Value, accept func(*schemaProp) bool) (tree *fault.Tree,
	err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var few uint64        // the fields seen, one bit each, if there are at most 64
	var many map[int]bool // the fields seen, if there are more
	if len(n.order) > 64 {
		many = map[int]bool{}
	}
	for d.PeekKind() != '}' {
		tok, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		p := n.props[tok.String()]
		if p == nil || accept != nil && !accept(p) {
			if tree == nil || len(tree.Errors) < maxIssues {
				tree = tree.Add(unknownKey + quoteKey(tok.String()))
			}
			if err := d.skipUnwanted(); err != nil {
				return nil, err
			}
			continue
		}
		if many != nil {
			many[p.position] = true
		} else {
			few |= 1 << p.position
		}
		c, err := d.decodeValue(p.node, fieldByIndex(v, p.index))
		if err != nil {
			return nil, err
		}
		if p.sentIndex != nil { // a field of Changes: note that it was sent, even if its value is the zero value
			names := fieldByIndex(v, p.sentIndex)
			names.Set(reflect.Append(names, reflect.ValueOf(p.name)))
		}
		tree = tree.SetField(p.name, c)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for _, p := range n.order {
		// few or many is empty, so that both can be asked.
		if p.required && few&(1<<p.position) == 0 && !many[p.position] && (accept == nil || accept(p)) {
			tree = tree.SetField(p.name, p.node.newIssueTree(fault.MissingIssue))
		}
	}
	return tree.AsObject(), nil
}

// fieldByIndex is reflect's FieldByIndex with a fast path, because nearly all fields are direct ones.
func fieldByIndex(v reflect.Value, index []int) reflect.Value {
	if len(index) == 1 {
		return v.Field(index[0])
	}
	return v.FieldByIndex(index)
}

// decodeMap decodes an object with any keys into a map.
func (d *decoder) decodeMap(n *schemaNode, v reflect.Value) (tree *fault.Tree, err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	m := reflect.MakeMap(v.Type())
	for d.PeekKind() != '}' {
		tok, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := tok.String()
		e := reflect.New(v.Type().Elem()).Elem()
		c, err := d.decodeValue(n.elem, e)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(key, 0) { // PostgreSQL stores no text with it
			c = c.Add(noNUL)
		}
		if tree == nil || len(tree.Properties) < maxIssues {
			tree = tree.SetField(key, c)
		}
		m.SetMapIndex(reflect.ValueOf(key), e)
	}
	_, err = d.ReadToken()
	v.Set(m)
	return tree.AsObject(), err
}

// decodeArray decodes an array into a slice. Elements past the bound are checked for syntax and dropped.
func (d *decoder) decodeArray(n *schemaNode, v reflect.Value) (tree *fault.Tree, err error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	s := reflect.MakeSlice(v.Type(), 0, 4)
	count := 0
	for d.PeekKind() != ']' {
		e := reflect.New(v.Type().Elem()).Elem()
		c, err := d.decodeValue(n.elem, e)
		if err != nil {
			return nil, err
		}
		if n.max < 0 || int64(count) < n.max {
			tree = tree.SetItem(count, c)
			s = reflect.Append(s, e)
		}
		count++
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	tree = tree.PadItems(min(count, s.Len()))
	if int64(count) < n.min {
		tree = tree.Add(fault.TooFewIssue(n.min))
	}
	if n.max >= 0 && int64(count) > n.max {
		tree = tree.Add(fault.TooManyIssue(n.max))
	}
	v.Set(s)
	return tree, nil
}

const (
	noNUL      = "Must not contain the character U+0000"
	outOfRange = "Invalid number: out of range"
)

// decodeRaw stores a value of any kind as its JSON text.
func (d *decoder) decodeRaw(n *schemaNode, k jsontext.Kind, v reflect.Value) (tree *fault.Tree, err error) {
	base := d.StackDepth()
	text, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	text = text.Clone() // ReadValue's bytes are the decoder's buffer, which is used again
	if err := d.checkRawValue(text, base, func(issue string) { tree = tree.Add(issue) }); err != nil {
		return nil, err
	}
	if len(n.oneOf) > 0 {
		names := make([]string, len(n.oneOf))
		for i, o := range n.oneOf {
			names[i] = o.String()
		}
		if !slices.Contains(names, jsonKindName(k)) {
			tree = tree.Add(fault.WrongKindIssue(strings.Join(names, " or "), jsonKindName(k)))
		}
		if names[0] == objectValue.String() && len(names) == 1 {
			tree = tree.AsObject()
		}
	}
	v.SetBytes(text)
	return tree, nil
}

// checkRawValue looks through a raw value and notes what the database could not store: the character U+0000 and numbers
// out of range. depth is how deep the value itself is nested.
func (d *decoder) checkRawValue(text jsontext.Value, depth int, note func(string)) error {
	inner := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		tok, err := inner.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if depth+inner.StackDepth() > maxDepth {
			return errTooDeep
		}
		switch {
		case tok.Kind() == '"' && strings.ContainsRune(tok.String(), 0):
			note(noNUL)
			return nil
		case tok.Kind() == '0' && !isStorableNumber(tok.String()):
			note(outOfRange)
			return nil
		}
	}
}

// isStorableNumber reports whether a number that is kept as written can be stored and read by others: PostgreSQL
// refuses 1e200000, and JavaScript reads it as infinity.
func isStorableNumber(number string) bool {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(x, 0) || len(number) > 1000 {
		return false
	}
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return true
	}
	exponent, err := strconv.Atoi(number[i+1:])
	return err == nil && exponent >= -400 && exponent <= 400
}

// storeString checks a string against its node and stores it.
func (n *schemaNode) storeString(s string, v reflect.Value) (tree *fault.Tree) {
	switch {
	case v.Type() == reflect.TypeFor[id.ID]():
		u, ok := id.Parse(s)
		if !ok {
			return tree.Add("Invalid UUID")
		}
		v.SetString(string(u))
		return nil
	case v.Type() == reflect.TypeFor[clock.Time]():
		t, err := clock.ParseTime(s)
		if err != nil {
			return tree.Add("Invalid date-time; write it like 2026-01-31T12:00:00Z")
		}
		v.SetInt(int64(t))
		return nil
	}
	if strings.IndexByte(s, 0) >= 0 { // PostgreSQL stores no text with it
		return tree.Add(noNUL)
	}
	// A string has at most as many characters as bytes, so most need not be counted.
	if n.min > 0 || n.max >= 0 && int64(len(s)) > n.max {
		length := int64(utf8.RuneCountInString(s))
		if length < n.min {
			tree = tree.Add(fault.TooShortIssue(n.min))
		}
		if n.max >= 0 && length > n.max {
			tree = tree.Add(fault.TooLongIssue(n.max))
		}
	}
	if n.notBlank && s != "" && strings.TrimSpace(s) == "" {
		tree = tree.Add("Must not be blank")
	}
	if n.enum != nil && !slices.Contains(n.enum, s) {
		tree = tree.Add(fault.NotAmongIssue(n.enum))
	}
	if n.pattern != nil && !n.pattern.MatchString(s) {
		tree = tree.Add("Invalid format: must match " + n.pattern.String())
	}
	if n.format != "" && tree == nil { // one issue is enough
		if issue := formatChecks[n.format](s); issue != "" {
			tree = tree.Add(issue)
		}
	}
	v.SetString(s)
	return tree
}

// storeNumber checks the text of a JSON number against its node and stores it.
func (n *schemaNode) storeNumber(text string, v reflect.Value) (tree *fault.Tree) {
	if n.kind == numberValue {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(x, 0) { // JSON has no infinity, so the answer could not be written
			return tree.Add(outOfRange)
		}
		v.SetFloat(x)
		return nil
	}
	x, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return tree.Add("Invalid integer: out of range")
	case err != nil:
		return tree.Add("Invalid input: expected integer")
	case n.bounded && x < n.min:
		return tree.Add(fault.TooSmallIssue(n.min))
	case n.bounded && x > n.max:
		return tree.Add(fault.TooBigIssue(n.max))
	case !n.bounded && (x > 1<<53 || x < -1<<53):
		return tree.Add("Invalid integer: out of range") // JSON clients lose digits past 2^53
	}
	v.SetInt(x)
	return nil
}

// storeList stores the values of a query filter. Each text has one value, or several with commas between them.
func (n *schemaNode) storeList(texts []string, v reflect.Value) (tree *fault.Tree) {
	all := strings.Split(strings.Join(texts, ","), ",")
	if int64(len(all)) > n.max {
		return tree.Add(fault.TooManyIssue(n.max))
	}
	s := reflect.MakeSlice(v.Type(), len(all), len(all))
	for i, text := range all {
		if wrong := n.elem.storeFromText(strings.TrimSpace(text), s.Index(i)); wrong != nil {
			tree = tree.Add(wrong.Errors[0])
		}
	}
	v.Set(s)
	return tree
}

// storeFromText stores a value that is not JSON: of the path, the query, a form or a default.
func (n *schemaNode) storeFromText(s string, v reflect.Value) *fault.Tree {
	if !utf8.ValidString(s) {
		return (*fault.Tree)(nil).Add("Invalid UTF-8")
	}
	v = n.markSent(v)
	switch n.kind {
	case stringValue:
		return n.storeString(s, v)
	case intValue, numberValue:
		return n.storeNumber(s, v)
	case boolValue:
		if s != "true" && s != "false" {
			return (*fault.Tree)(nil).Add("Invalid input: expected true or false")
		}
		v.SetBool(s == "true")
		return nil
	}
	if n.isCommaList {
		return n.storeList([]string{s}, v)
	}
	panic("op: " + n.typ.String() + " cannot come from text")
}

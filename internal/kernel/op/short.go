package op

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"unicode/utf8"

	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/fault"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What a model reads costs its user, character by character. So an answer has a short form. One rule makes it, from
// the declared fields of the answer: nulls, empty texts, lists and objects, the times of rows inside of other rows, and
// the id of the row around them are left out, and long texts are cut. The tag view of a field says more: full leaves it
// out, name shows a row by its id and title, count shows how long a list is, whole shows a text to its end. Raw JSON,
// in which a null may mean something, keeps all but the ends of its texts.

// The values of the tag view, besides FullView.
const (
	shortName  = "name"
	shortCount = "count"
	shortWhole = "whole"
)

// maxShortText is how many characters of a text a short answer shows.
const maxShortText = 400

// ViewParameter is the parameter by which a caller says which form of an answer it wants. Agents get the short form
// unless they say full, all others the full form unless they say short.
const (
	ViewParameter = "view"
	FullView      = "full"
	ShortView     = "short"
)

// HasShortForm reports whether the operation is a list or a get whose callers can choose the view.
func (o *Op) HasShortForm() bool {
	return o.Method == http.MethodGet && o.out != nil && o.in.props[ViewParameter] == nil
}

// CheckView refuses a request for a view that does not exist.
func (o *Op) CheckView(query url.Values) error {
	if view, ok := query[ViewParameter]; ok && o.HasShortForm() {
		return CheckViewName(view[0])
	}
	return nil
}

// CheckViewName refuses the name of a view that does not exist.
func CheckViewName(view string) error {
	if view == ShortView || view == FullView {
		return nil
	}
	return refuseQueryField(ViewParameter, fault.NotAmongIssue([]string{ShortView, FullView}))
}

// Shorten is the body of a successful answer in its short form. Members beside data stay as they are.
func (o *Op) Shorten(body []byte) []byte {
	s := newShortener(body)
	s.writeBody(o.answerNode(), nil)
	return s.finish(body)
}

// ShortenWrite is the short form of what an operation that writes answers: the row's id, the fields by which people
// call it, and what the server filled in, which is what the input did not say. An update leaves alone what it was not
// sent, so of the fields that it takes only those are shown that became something else than was sent.
func (o *Op) ShortenWrite(body, input []byte) []byte {
	if o.batch != nil {
		return o.batch.shortenResults(body)
	}
	var answer struct {
		Data map[string]any `json:"data"`
	}
	var sent map[string]any
	if json.Unmarshal(body, &answer) != nil || len(input) > 0 && json.Unmarshal(input, &sent) != nil {
		return o.Shorten(body) // the answer is no row
	}
	s := newShortener(body)
	_, s.kept = RowTitle(answer.Data)
	s.kept = append(s.kept, "id")
	if o.Changes() {
		s.unchanged = o.in
	}
	s.writeBody(o.answerNode(), sent)
	return s.finish(body)
}

// answerNode is the schema of data in the answer.
func (o *Op) answerNode() *schemaNode {
	if o.isList {
		return &schemaNode{kind: arrayValue, elem: o.out}
	}
	return o.out
}

// shortener writes the short form of a JSON text that this package encoded.
type shortener struct {
	*jsontext.Decoder
	out []byte
	err error

	row       string      // the id of the row that is written, as JSON
	kept      []string    // fields of the row that are shown although they were sent
	unchanged *schemaNode // the input of an update: those of its fields that were not sent stayed as they were
}

// ours reads JSON that was written here, so that nobody has to check it again.
var ours = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func newShortener(body []byte) *shortener {
	return &shortener{Decoder: jsontext.NewDecoder(bytes.NewBuffer(body), ours), out: make([]byte, 0, len(body))}
}

// finish returns what was written. A text that turns out not to be JSON stays as it is.
func (s *shortener) finish(body []byte) []byte {
	if s.err != nil {
		return body
	}
	return s.out
}

// read returns the next value or name. It is valid until the next one is read.
func (s *shortener) read() (v jsontext.Value) {
	if s.err == nil {
		v, s.err = s.ReadValue()
	}
	return v
}

// enter reads the begin or the end of an object or array, and writes it.
func (s *shortener) enter() {
	if s.err != nil {
		return
	}
	var t jsontext.Token
	if t, s.err = s.ReadToken(); s.err == nil {
		s.out = append(s.out, byte(t.Kind()))
	}
}

// goesOn reports whether the object or array has another element, and writes the comma before it.
func (s *shortener) goesOn(end jsontext.Kind, first int) bool {
	if s.err != nil || s.PeekKind() == end {
		return false
	}
	if len(s.out) > first {
		s.out = append(s.out, ',')
	}
	return true
}

// writeBody writes the whole answer. Only its data has rows.
func (s *shortener) writeBody(data *schemaNode, sent any) {
	s.enter()
	for first := len(s.out); s.goesOn('}', first); {
		name := s.read()
		s.out = append(append(s.out, name...), ':')
		if string(name) != `"data"` {
			s.out = append(s.out, s.read()...)
			continue
		}
		s.writeValue(data, sent, 0)
	}
	s.enter()
}

// writeValue writes a value. sent is what the input had in its place, nil for nothing. said is false if the value tells
// nothing: it is null or empty, or just what was sent. length is how long a text is that was cut, otherwise 0.
func (s *shortener) writeValue(n *schemaNode, sent any, depth int) (length int, said bool) {
	switch s.PeekKind() {
	case 'n':
		s.out = append(s.out, s.read()...)
		return 0, false
	case '{':
		object, _ := sent.(map[string]any)
		return 0, s.writeObject(n, object, depth)
	case '[':
		list, _ := sent.([]any)
		return 0, s.writeArray(n, list, depth)
	case '"':
		return s.writeText(n, sent)
	}
	text := s.read()
	s.out = append(s.out, text...)
	return 0, !isSameScalar(text, sent)
}

// isSent reports whether an id, as JSON, is what was sent.
func isSent(text jsontext.Value, sent any) bool {
	was, ok := sent.(string)
	return ok && string(text) == `"`+was+`"`
}

// isSameScalar reports whether a number, true or false is what was sent.
func isSameScalar(text jsontext.Value, sent any) bool {
	switch sent := sent.(type) {
	case bool:
		return strconv.FormatBool(sent) == string(text)
	case float64:
		x, err := strconv.ParseFloat(string(text), 64)
		return err == nil && x == sent
	}
	return false
}

// writeArray writes an array. Elements keep their places; if all of them are as they were sent, it tells nothing.
func (s *shortener) writeArray(n *schemaNode, sent []any, depth int) (said bool) {
	var elem *schemaNode
	if n != nil {
		elem = n.elem
	}
	s.enter()
	count := 0
	for first := len(s.out); s.goesOn(']', first); count++ {
		var was any
		if count < len(sent) {
			was = sent[count]
		}
		length, told := s.writeValue(elem, was, depth)
		if length > 0 { // there is no field beside it that could say so
			note := " (" + strconv.Itoa(length) + " characters)\""
			s.out = append(s.out[:len(s.out)-1], note...)
		}
		said = said || told
	}
	s.enter()
	return said || count > 0 && count != len(sent)
}

// writeObject writes an object without what its schema says to leave out.
func (s *shortener) writeObject(n *schemaNode, sent map[string]any, depth int) (said bool) {
	raw := n == nil || n.kind == anyValue
	s.enter()
	for first := len(s.out); ; {
		start := len(s.out)
		if !s.goesOn('}', first) {
			break
		}
		if s.writeMember(n, sent, depth) || raw {
			said = true
		} else {
			s.out = s.out[:start]
		}
	}
	s.enter()
	return said
}

// writeMember writes a member of an object: its name, its value and the length of a text that was cut. If it reports
// false, the member tells nothing, and what was written is dropped.
func (s *shortener) writeMember(n *schemaNode, sent map[string]any, depth int) bool {
	start := len(s.out)
	s.out = append(append(s.out, s.read()...), ':')
	if s.err != nil {
		return false
	}
	name, member, form := s.findMember(n, s.out[start+1:len(s.out)-2], sent, depth)
	kind := s.PeekKind()
	switch {
	case form == FullView:
		s.skip()
		return false
	case kind == '[' && form != "":
		count := s.countElements()
		s.out = append(append(s.out[:start], `"`+name+`Count":`...), strconv.Itoa(count)...)
		return count > 0
	case kind == '{' && form == shortName:
		return s.writeName()
	case kind == '"' && form == shortWhole:
		s.out = append(s.out, s.read()...)
		return true
	}
	if kind == '"' && member != nil && member.format == "uuid" {
		text := s.read()
		s.out = append(s.out, text...)
		if depth == 0 && name == "id" {
			s.row = string(text)
		}
		said := string(text) != s.row || depth == 0 // a row inside of another need not name it
		return said && !isSent(text, sent[name]) || name == "id"
	}
	was := sent[name]
	if depth == 0 && slices.Contains(s.kept, name) {
		was = nil
	}
	length, said := s.writeValue(member, was, depth+1)
	if length > 0 {
		s.out = append(append(s.out, `,"`+name+`Length":`...), strconv.Itoa(length)...)
	}
	return said
}

// countElements skips an array and says how many elements it has.
func (s *shortener) countElements() (n int) {
	var elements []jsontext.Value
	if text := s.read(); s.err == nil {
		s.err = json.Unmarshal(text, &elements, ours)
	}
	return len(elements)
}

// writeName writes the id and the title of a row in place of the row. An object that is no row stays.
func (s *shortener) writeName() bool {
	text := s.read().Clone()
	var row map[string]any
	if s.err != nil || json.Unmarshal(text, &row, ours) != nil {
		return false
	}
	ref, ok := row["id"].(string)
	if !ok {
		inner := newShortener(text)
		inner.writeValue(nil, nil, 0)
		s.out = append(s.out, inner.finish(text)...)
		return true
	}
	named := map[string]any{"id": ref}
	_, fields := RowTitle(row)
	for _, name := range fields {
		named[name] = cut.Ellipsis(row[name].(string), maxShortText)
	}
	short, err := json.Marshal(named, sortedKeys)
	s.out, s.err = append(s.out, short...), err
	return true
}

func (s *shortener) skip() {
	if s.err == nil {
		s.err = s.SkipValue()
	}
}

// findMember returns the name and the schema of an object's member, nil for raw JSON, and in which form a short answer
// shows it.
func (s *shortener) findMember(n *schemaNode, text []byte, sent map[string]any, depth int) (name string,
	member *schemaNode, form string) {
	if n == nil || n.kind == anyValue {
		return string(text), nil, ""
	}
	p := n.props[string(text)]
	if p == nil {
		return string(text), n.elem, "" // of a map, or a member that is not declared
	}
	_, wasSent := sent[p.name]
	stays := depth == 0 && s.unchanged != nil && !wasSent && s.staysInUpdate(p)
	if stays || depth > 0 && p.node.format == "date-time" && n.isRow() {
		return p.name, nil, FullView
	}
	return p.name, p.node, p.short
}

// staysInUpdate reports whether an update that was not sent a field leaves it as it is: a field that it takes, and rows
// that belong to the row.
func (s *shortener) staysInUpdate(p *schemaProp) bool {
	hasRows := p.node.kind == arrayValue && p.node.elem.isRow()
	return (hasRows || s.unchanged.props[p.name] != nil) && !slices.Contains(s.kept, p.name)
}

// isRow reports whether an object is a row of a table, with the fields of Record.
func (n *schemaNode) isRow() bool { return n.props["id"] != nil && n.props["createdAt"] != nil }

// writeText writes a text, and cuts a long one. What has a format, such as an address, would be of no use if it were
// cut.
func (s *shortener) writeText(n *schemaNode, sent any) (length int, said bool) {
	quoted := s.read()
	if s.err != nil {
		return 0, false
	}
	if len(quoted) == len(`""`) && n != nil && n.kind == stringValue {
		s.out = append(s.out, quoted...)
		return 0, false
	}
	was, wasSent := sent.(string)
	if len(quoted) <= maxShortText+2 && !wasSent || n != nil && n.format != "" && !wasSent {
		s.out = append(s.out, quoted...)
		return 0, true
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		s.err = err
		return 0, false
	}
	said = !wasSent || was != string(text)
	if n != nil && n.format != "" || utf8.RuneCount(text) <= maxShortText {
		s.out = append(s.out, quoted...)
		return 0, said
	}
	if s.out, err = jsontext.AppendQuote(s.out, cut.Graphemes(string(text), maxShortText)+"…"); err != nil {
		s.err = err
	}
	return utf8.RuneCount(text), said
}

// batchSummary is the short form of a batch's answer.
type batchSummary struct {
	Created int            `json:"created,omitzero"`
	Updated int            `json:"updated,omitzero"`
	Refused int            `json:"refused,omitzero"`
	IDs     []*string      `json:"ids" doc:"of the rows, in their order; null for one that was refused"`
	Errors  []batchRefusal `json:"errors,omitempty"`
}

// batchRefusal says why a row was refused.
type batchRefusal struct {
	Row   int            `json:"row" doc:"its place, from 0"`
	Error jsontext.Value `json:"error"`
}

// shortenResults is a batch's answer as ids and counts.
func (b *batchOperations) shortenResults(body []byte) []byte {
	var answer struct {
		Data []struct {
			Status int `json:"status"`
			Data   struct {
				ID *string `json:"id"`
			} `json:"data"`
			Error jsontext.Value `json:"error"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return body
	}
	sum := batchSummary{IDs: make([]*string, len(answer.Data))}
	for i, r := range answer.Data {
		switch sum.IDs[i] = r.Data.ID; {
		case r.Error != nil:
			sum.Refused++
			sum.Errors = append(sum.Errors, batchRefusal{i, r.Error})
		case r.Status == b.create.Status:
			sum.Created++
		default:
			sum.Updated++
		}
	}
	text, err := json.Marshal(map[string]any{"data": sum})
	if err != nil {
		return body
	}
	return text
}

package mcp

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxAnswer is how many characters an answer has at most. A stranger's mail must not fill the context of whoever reads
// it. Text and structured content are the same answer: a model is shown one of them.
const maxAnswer = 60_000

// partLength is how much of a body that is too long one part shows. The rest is for names and brackets, which every
// part has again, and for what is said about the part.
const partLength = maxAnswer - 4_000

// sizeOfRune is how many characters a character takes inside a JSON string.
func sizeOfRune(r rune) int {
	switch {
	case r == '"' || r == '\\':
		return len(`\\`)
	case r < ' ':
		return len(`\u0000`) // or less, such as \n
	}
	return 1
}

// partWriter copies one part of a JSON text: the values, and the pieces of long strings, that lie between two places
// of it. Objects and arrays around them are written again, so that every part is JSON, and tells where its values
// belong. The parts one after another have everything.
type partWriter struct {
	*jsontext.Decoder
	out      []byte
	at       int // the size of what was read
	from, to int // what to copy
	err      error
}

// writePart is a part of a JSON text, the first being 1, and how many parts there are.
func writePart(body []byte, part int) (out []byte, parts int, err error) {
	w := partWriter{Decoder: jsontext.NewDecoder(bytes.NewReader(body), lenient),
		from: (part - 1) * partLength, to: part * partLength}
	w.copyValue(0)
	if w.err != nil {
		return nil, 0, w.err
	}
	return w.out, max(1, (w.at+partLength-1)/partLength), nil
}

// isInside reports whether the place that is read now belongs to the part.
func (w *partWriter) isInside() bool { return w.at >= w.from && w.at < w.to }

func (w *partWriter) read() (v jsontext.Value) {
	if w.err == nil {
		v, w.err = w.ReadValue()
	}
	return v
}

// copyValue copies what belongs to the part of a value, and reports whether that is anything.
func (w *partWriter) copyValue(depth int) bool {
	switch w.PeekKind() {
	case '{', '[':
		return w.copyContainer(depth)
	case '"':
		return w.copyText()
	}
	text, inside := w.read(), w.isInside()
	w.at += utf8.RuneCount(text)
	if inside {
		w.out = append(w.out, text...)
	}
	return inside
}

// copyContainer copies what belongs to the part of an object or an array. The id of the row that the answer is about
// is in every part.
func (w *partWriter) copyContainer(depth int) bool {
	open, err := w.ReadToken()
	if err != nil {
		w.err = err
		return false
	}
	object := open.Kind() == '{'
	copied := w.isInside()
	w.at += len("[],")
	w.out = append(w.out, byte(open.Kind()))
	for first := len(w.out); w.err == nil && w.PeekKind() != ']' && w.PeekKind() != '}'; {
		before := len(w.out)
		if before > first {
			w.out = append(w.out, ',')
		}
		always := false
		if object {
			name := w.read()
			w.at += utf8.RuneCount(name) + len(":,")
			w.out = append(append(w.out, name...), ':')
			always = depth == 1 && string(name) == `"id"` && w.PeekKind() == '"'
		}
		value := len(w.out)
		switch inside := w.copyOrAll(always, depth); {
		case inside:
			copied = true
		case len(w.out) == value || !always:
			w.out = w.out[:before]
		}
	}
	end, err := w.ReadToken()
	if err != nil {
		w.err = err
		return false
	}
	w.out = append(w.out, byte(end.Kind()))
	return copied
}

// copyOrAll is copyValue, or, if always, copies the value whether or not it belongs to the part.
func (w *partWriter) copyOrAll(always bool, depth int) bool {
	if !always {
		return w.copyValue(depth + 1)
	}
	inside, text := w.isInside(), w.read()
	w.at += utf8.RuneCount(text)
	w.out = append(w.out, text...)
	return inside
}

// copyText copies the piece of a string that belongs to the part. An ellipsis stands for what is in other parts.
func (w *partWriter) copyText() bool {
	quoted := w.read()
	if w.err != nil {
		return false
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		w.err = err
		return false
	}
	inside := w.isInside()
	w.at += len(`""`)
	begin, end := -1, 0
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRune(text[i:])
		if w.isInside() {
			if begin < 0 {
				begin = i
			}
			end = i + width
		}
		w.at += sizeOfRune(r)
		i += width
	}
	switch {
	case begin < 0 && (!inside || len(text) > 0):
		return false
	case begin < 0:
		begin = 0
	}
	piece := string(text[begin:end])
	if begin > 0 {
		piece = "…" + piece
	}
	if end < len(text) {
		piece += "…"
	}
	w.out, w.err = jsontext.AppendQuote(w.out, piece)
	return true
}

// addMember adds a member to the end of a JSON object.
func addMember(object []byte, name string, value any) []byte {
	object = bytes.TrimSuffix(bytes.TrimSpace(object), []byte{'}'})
	out := append(make([]byte, 0, len(object)+len(name)+64), object...)
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(strconv.AppendQuote(out, name), ':')
	return append(append(out, mustEncode(value)...), '}')
}

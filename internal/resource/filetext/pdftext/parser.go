package pdftext

import (
	"bytes"
	"strconv"
)

// The values of PDF. Numbers are float64; a word is anything that has no mark of its own, such as true, null, obj or
// the operators of a page's content.
type (
	name  string
	word  string
	text  string
	array []any
	dict  map[name]any
	ref   int // a reference to an object, by its number
)

// stream is a dictionary with bytes, which are still encoded.
type stream struct {
	dict dict
	raw  []byte
}

// parser reads values one after another.
type parser struct {
	data   []byte
	at     int
	budget *budget
	values int // read since the last reset
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

// skipSpace skips white space and comments.
func (p *parser) skipSpace() {
	start := p.at
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case isSpace(c):
			p.at++
		case c == '%':
			for p.at < len(p.data) && p.data[p.at] != '\n' && p.data[p.at] != '\r' {
				p.at++
			}
		default:
			p.budget.spend(p.at - start)
			return
		}
	}
	p.budget.spend(p.at - start)
}

// closer ends an array or a dictionary.
type closer byte

// next reads a value. ok is false at the end of the data.
func (p *parser) next(depth int) (v any, ok bool) {
	p.skipSpace()
	if p.at >= len(p.data) {
		return nil, false
	}
	if p.values++; p.values > maxOperands || depth > maxDepth {
		panic(errBudget{})
	}
	start := p.at
	defer func() { p.budget.spend(p.at - start + tokenWork) }()
	switch c := p.data[p.at]; {
	case c == '/':
		p.at++
		return p.readName(), true
	case c == '(':
		return p.readText(), true
	case c == '<' && p.follows("<<"):
		p.at += 2
		return p.readDict(depth), true
	case c == '<':
		return p.readHex(), true
	case c == '>' && p.follows(">>"):
		p.at += 2
		return closer('>'), true
	case c == '[':
		p.at++
		return p.readArray(depth), true
	case c == ']':
		p.at++
		return closer(']'), true
	case isDelimiter(c):
		p.at++
		return word(c), true
	}
	return p.readWord(), true
}

func (p *parser) follows(s string) bool { return bytes.HasPrefix(p.data[p.at:], []byte(s)) }

// readWord reads a number or a word.
func (p *parser) readWord() any {
	start := p.at
	for p.at < len(p.data) && !isSpace(p.data[p.at]) && !isDelimiter(p.data[p.at]) {
		p.at++
	}
	s := p.data[start:p.at]
	if c := s[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if x, err := strconv.ParseFloat(string(s[:min(len(s), 40)]), 64); err == nil {
			return x
		}
	}
	return word(s)
}

func (p *parser) readName() name {
	start, escaped := p.at, false
	for p.at < len(p.data) && !isSpace(p.data[p.at]) && !isDelimiter(p.data[p.at]) {
		escaped = escaped || p.data[p.at] == '#'
		p.at++
	}
	s := p.data[start:p.at]
	if !escaped {
		return name(s)
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '#' && i+2 < len(s) {
			if n, err := strconv.ParseUint(string(s[i+1:i+3]), 16, 8); err == nil {
				out, i = append(out, byte(n)), i+2
				continue
			}
		}
		out = append(out, s[i])
	}
	return name(out)
}

// readText reads a string in parentheses, which may have others inside.
func (p *parser) readText() text {
	var out []byte
	p.at++
	for open := 1; p.at < len(p.data); p.at++ {
		c := p.data[p.at]
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				p.at++
				return text(out)
			}
		case '\\':
			out = p.readEscape(out)
			continue
		}
		out = append(out, c)
	}
	return text(out)
}

// readEscape reads what follows a backslash, and leaves the parser at its last byte.
func (p *parser) readEscape(out []byte) []byte {
	p.at++
	if p.at >= len(p.data) {
		return out
	}
	c := p.data[p.at]
	if at := bytes.IndexByte([]byte("nrtbf"), c); at >= 0 {
		return append(out, "\n\r\t\b\f"[at])
	}
	switch {
	case c == '\r':
		if p.at+1 < len(p.data) && p.data[p.at+1] == '\n' {
			p.at++
		}
		return out
	case c == '\n':
		return out
	case c >= '0' && c <= '7':
		n := 0
		for i := 0; i < 3 && p.at < len(p.data) && p.data[p.at] >= '0' && p.data[p.at] <= '7'; i++ {
			n = n*8 + int(p.data[p.at]-'0')
			p.at++
		}
		p.at--
		return append(out, byte(n))
	}
	return append(out, c)
}

// readHex reads a string of hexadecimal digits; a missing last one is 0.
func (p *parser) readHex() text {
	var out []byte
	half, odd := byte(0), false
	for p.at++; p.at < len(p.data) && p.data[p.at] != '>'; p.at++ {
		n, err := strconv.ParseUint(string(p.data[p.at:p.at+1]), 16, 8)
		if err != nil {
			continue
		}
		if odd {
			out = append(out, half<<4|byte(n))
		}
		half, odd = byte(n), !odd
	}
	p.at++
	if odd {
		out = append(out, half<<4)
	}
	return text(out)
}

func (p *parser) readArray(depth int) array {
	out := array{}
	for {
		v, ok := p.next(depth + 1)
		if c, end := v.(closer); !ok || end && c == ']' {
			return out
		}
		out = appendValue(out, v)
	}
}

// appendValue appends a value. "12 0 R" is three values and becomes a reference.
func appendValue(list array, v any) array {
	if n := len(list); v == word("R") && n >= 2 {
		if num, ok := list[n-2].(float64); ok && num >= 0 && num < 1e9 {
			return append(list[:n-2], ref(num))
		}
	}
	return append(list, v)
}

func (p *parser) readDict(depth int) dict {
	var list array
	for {
		v, ok := p.next(depth + 1)
		if c, end := v.(closer); !ok || end && c == '>' {
			break
		}
		list = appendValue(list, v)
	}
	out := dict{}
	for i := 0; i+1 < len(list); i += 2 {
		key, ok := list[i].(name)
		if !ok { // something is missing; go on at the next name
			i--
			continue
		}
		out[key] = list[i+1]
	}
	return out
}

package pdftext

import (
	"bytes"
	"math"
	"strings"
	"unicode"
)

// matrix is a transformation as PDF writes it (8.3.3): a b c d e f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// then is m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// graphics is the state that q keeps and Q brings back, as far as text depends on it.
type graphics struct {
	page                 matrix
	font                 *font
	size                 float64
	charSpace, wordSpace float64
	scale                float64
	leading              float64
}

// textWriter collects the text of a page. It writes a new line when the height changes, and a space when there is room
// for one between two pieces of a line: many files have no spaces, only distances.
type textWriter struct {
	out      strings.Builder
	started  bool
	endX     float64 // where the last character ended
	lineY    float64
	lineSize float64
}

// place prepares for text at a place.
func (w *textWriter) place(x, y, size float64) {
	if !w.started {
		w.started = true
	} else if off := math.Abs(y - w.lineY); off > 0.4*max(size, w.lineSize) {
		w.out.WriteByte('\n')
		if off > 2.2*max(size, w.lineSize) {
			w.out.WriteByte('\n')
		}
	} else if gap := x - w.endX; gap > 0.15*size || gap < -0.5*size {
		w.space()
	}
	w.lineY, w.lineSize = y, size
}

func (w *textWriter) space() {
	if s := w.out.String(); s != "" && s[len(s)-1] != ' ' && s[len(s)-1] != '\n' {
		w.out.WriteByte(' ')
	}
}

// finish is the text of the page, without spaces at the ends of its lines.
func (w *textWriter) finish() string {
	var out []string
	for line := range strings.SplitSeq(w.out.String(), "\n") {
		if line = strings.TrimRight(line, " "); line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// interpreter carries out the content of a page or a form.
type interpreter struct {
	*document
	w         *textWriter
	resources dict
	depth     int
	graphics
	stack      []graphics
	text, line matrix // the text matrix and that of the beginning of the line
	operands   array
}

// runContent carries out the operators of a content that have to do with text.
func (d *document) runContent(w *textWriter, data []byte, resources dict, depth int) {
	d.runContentAt(w, data, resources, depth, identity)
}

func (d *document) runContentAt(w *textWriter, data []byte, resources dict, depth int, at matrix) {
	i := &interpreter{document: d, w: w, resources: resources, depth: depth, text: identity, line: identity,
		graphics: graphics{page: at, scale: 1}}
	p := d.parse(data)
	for {
		v, ok := p.next(0)
		if !ok {
			return
		}
		op, isWord := v.(word)
		switch {
		case !isWord:
			i.operands = append(i.operands, v)
			continue
		case op == "ID": // the bytes of a picture, up to EI
			i.skipPicture(p)
		default:
			i.run(op)
		}
		i.operands, p.values = i.operands[:0], 0
	}
}

func (i *interpreter) skipPicture(p *parser) {
	start := p.at
	for {
		at := bytes.Index(p.data[p.at:], []byte("EI"))
		if at < 0 {
			p.at = len(p.data)
			break
		}
		before, after := p.at+at-1, p.at+at+2
		p.at = after
		if before >= 0 && isSpace(p.data[before]) && (after == len(p.data) || isSpace(p.data[after])) {
			break
		}
	}
	i.budget.spend(p.at - start)
}

// arg is the nth number of an operator, counted from the last one, 0.
func (i *interpreter) arg(n int) float64 {
	if at := len(i.operands) - 1 - n; at >= 0 {
		if x, ok := i.operands[at].(float64); ok {
			return x
		}
	}
	return 0
}

func (i *interpreter) argMatrix() matrix {
	return matrix{i.arg(5), i.arg(4), i.arg(3), i.arg(2), i.arg(1), i.arg(0)}
}

func (i *interpreter) lastText() text {
	if n := len(i.operands); n > 0 {
		t, _ := i.operands[n-1].(text)
		return t
	}
	return ""
}

// run carries out one operator (Annex A).
func (i *interpreter) run(op word) {
	switch op {
	case "q":
		if len(i.stack) < 1000 {
			i.stack = append(i.stack, i.graphics)
		}
	case "Q":
		if n := len(i.stack); n > 0 {
			i.graphics, i.stack = i.stack[n-1], i.stack[:n-1]
		}
	case "cm":
		i.page = i.argMatrix().then(i.page)
	case "Do":
		i.runForm()
	case "BT":
		i.text, i.line = identity, identity
	case "Tf":
		i.setFont()
	case "Tc":
		i.charSpace = i.arg(0)
	case "Tw":
		i.wordSpace = i.arg(0)
	case "Tz":
		i.scale = i.arg(0) / 100
	case "TL":
		i.leading = i.arg(0)
	case "Td":
		i.moveLine(i.arg(1), i.arg(0))
	case "TD":
		i.leading = -i.arg(0)
		i.moveLine(i.arg(1), i.arg(0))
	case "Tm":
		i.line = i.argMatrix()
		i.text = i.line
	case "T*":
		i.moveLine(0, -i.leading)
	default:
		i.runShow(op)
	}
}

// runShow carries out the operators that show text.
func (i *interpreter) runShow(op word) {
	switch op {
	case "Tj":
		i.show(i.lastText())
	case "'", `"`:
		if op == `"` {
			i.wordSpace, i.charSpace = i.arg(2), i.arg(1)
		}
		i.moveLine(0, -i.leading)
		i.show(i.lastText())
	case "TJ":
		if n := len(i.operands); n > 0 {
			list, _ := i.operands[n-1].(array)
			for _, v := range list {
				switch v := v.(type) {
				case text:
					i.show(v)
				case float64:
					i.advance(-v / 1000 * i.size * i.scale)
				}
			}
		}
	}
}

func (i *interpreter) setFont() {
	i.size = i.arg(0)
	if n := len(i.operands); n >= 2 {
		if key, ok := i.operands[n-2].(name); ok {
			i.font = i.loadFont(i.dict(i.resources["Font"])[key])
		}
	}
}

func (i *interpreter) moveLine(x, y float64) {
	i.line = matrix{1, 0, 0, 1, x, y}.then(i.line)
	i.text = i.line
}

func (i *interpreter) advance(x float64) { i.text = matrix{1, 0, 0, 1, x, 0}.then(i.text) }

// show writes a string where the text matrix is, and moves behind it.
func (i *interpreter) show(s text) {
	if i.font == nil {
		return
	}
	i.budget.spend(len(s) * 4)
	i.font.each(s, func(chars string, width float64, space bool) {
		at := i.text.then(i.page)
		size := math.Abs(i.size) * math.Hypot(at[2], at[3])
		if strings.TrimSpace(chars) == "" {
			if chars != "" {
				i.w.space()
			}
		} else {
			i.w.place(at[4], at[5], size)
			for _, r := range chars {
				if r != unicode.ReplacementChar && unicode.IsPrint(r) {
					i.w.out.WriteRune(r)
				}
			}
		}
		x := width/1000*i.size + i.charSpace
		if space {
			x += i.wordSpace
		}
		i.advance(x * i.scale)
		if strings.TrimSpace(chars) != "" {
			i.w.endX = i.text.then(i.page)[4]
		}
	})
	if i.w.out.Len() > maxText {
		panic(errBudget{})
	}
}

// runForm carries out the content of a form, which may use others.
func (i *interpreter) runForm() {
	n := len(i.operands)
	if n == 0 || i.depth >= maxDepth {
		return
	}
	key, _ := i.operands[n-1].(name)
	s, ok := i.get(i.dict(i.resources["XObject"])[key]).(*stream)
	if !ok || s.dict["Subtype"] != name("Form") {
		return
	}
	own := i.dict(s.dict["Resources"])
	if own == nil {
		own = i.resources
	}
	at := i.page
	if m := i.array(s.dict["Matrix"]); len(m) == 6 {
		var form matrix
		for n := range form {
			form[n] = i.number(m[n], 0)
		}
		at = form.then(at)
	}
	i.budget.spend(formWork)
	i.runContentAt(i.w, i.decode(s), own, i.depth+1, at)
}

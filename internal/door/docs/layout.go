package docs

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// columns is how long a line of the document may be before its value is broken
// up.
const columns = 120

// layout breaks JSON into lines. A value that fits takes one line, so that one
// change is one line of diff, and indentation does not double the document.
func layout(text []byte) ([]byte, error) {
	var out bytes.Buffer
	err := layoutValue(&out, text, "\n")
	return out.Bytes(), err
}

// layoutValue writes one value whose line starts with newline.
func layoutValue(out *bytes.Buffer, v jsontext.Value, newline string) error {
	if err := v.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true)); err != nil {
		return err
	}
	if kind := v.Kind(); len(newline)+len(v) <= columns || kind != '{' && kind != '[' {
		out.Write(v)
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	open, err := d.ReadToken()
	if err != nil {
		return err
	}
	out.WriteString(open.String())
	deeper := newline + " "
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(deeper)
		member, err := d.ReadValue()
		if err != nil {
			return err
		}
		if open.Kind() == '{' {
			out.Write(member)
			out.WriteString(": ")
			if member, err = d.ReadValue(); err != nil {
				return err
			}
		}
		if err := layoutValue(out, member.Clone(), deeper); err != nil {
			return err
		}
	}
	out.WriteString(newline)
	out.WriteByte(v[len(v)-1])
	return nil
}

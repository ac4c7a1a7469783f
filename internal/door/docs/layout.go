package docs

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// maxColumns is how long a line of the document may be before its value is broken
// up.
const maxColumns = 120

// layoutJSON breaks JSON into lines. A value that fits takes one line, so that one
// change is one line of diff. Lines are not indented: indentation was an eighth of
// the document.
func layoutJSON(text []byte) ([]byte, error) {
	var out bytes.Buffer
	err := layoutValue(&out, text)
	return out.Bytes(), err
}

func layoutValue(out *bytes.Buffer, v jsontext.Value) error {
	if kind := v.Kind(); len(v) <= maxColumns || kind != '{' && kind != '[' {
		out.Write(v)
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	open, err := d.ReadToken()
	if err != nil {
		return err
	}
	out.WriteString(open.String())
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		member, err := d.ReadValue()
		if err != nil {
			return err
		}
		if open.Kind() == '{' {
			out.Write(member)
			out.WriteByte(':')
			if member, err = d.ReadValue(); err != nil {
				return err
			}
		}
		if err := layoutValue(out, member.Clone()); err != nil {
			return err
		}
	}
	out.WriteByte('\n')
	out.WriteByte(v[len(v)-1])
	return nil
}

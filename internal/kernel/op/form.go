package op

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"reflect"

	"frontdesk/internal/kernel/fault"
)

// Upload is the field of a Bytes operation's input where the file stands in
// its form. The bytes never get there: Form hands them on as they arrive.
type Upload string

// IsForm reports whether the operation's body is multipart/form-data.
func (o *Op) IsForm() bool { return o.shape == bytesShape && o.hasBody }

// AnswersBytes reports whether the operation answers with a *Content.
func (o *Op) AnswersBytes() bool { return o.shape == bytesShape && o.out == nil && !o.nothing }

// maxFormText bounds a part that is not the file.
const maxFormText = 64 << 10

// Form reads the operation's multipart body of at most max bytes. Parts may
// come in any order: file is called with the name and the bytes of the one
// that an Upload stands for, the others fill the fields of in, which points to
// the operation's input. What is known to be wrong before the file arrives is
// refused without reading it.
func (c *Call) Form(s *Stream, in any, max int64, file func(name string, r io.Reader) error) error {
	v := reflect.ValueOf(in).Elem()
	_, params, err := mime.ParseMediaType(s.ContentType)
	if err != nil || params["boundary"] == "" {
		return fault.BadInput.Say("Content-Type must be multipart/form-data with a boundary.")
	}
	if s.Length > max {
		return tooLarge()
	}
	form := multipart.NewReader(&bounded{s.Reader, max}, params["boundary"])
	seen := map[string]bool{}
	var tree *fault.Tree
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return brokenForm(err)
		}
		name := part.FormName()
		p := c.op.in.props[name]
		switch {
		case p == nil || p.origin != body:
			return tree.Add("Unrecognized key: " + quoted(name)).Fault(fault.Invalid)
		case seen[name]:
			return tree.At([]any{name}, "Given twice").Fault(fault.Invalid)
		}
		seen[name] = true
		if p.node.typ != reflect.TypeFor[Upload]() {
			text, err := io.ReadAll(io.LimitReader(part, maxFormText+1))
			if err != nil {
				return brokenForm(err)
			}
			if len(text) > maxFormText {
				return tree.At([]any{name}, "Too long").Fault(fault.Invalid)
			}
			if len(text) > 0 || !p.node.nullable { // a form sends what was left empty
				tree = tree.Set(name, p.node.fromText(string(text), field(v, p.index)))
				if err := c.PermitReference(name, p.node.ref); err != nil {
					return err
				}
			}
			continue
		}
		if tree != nil {
			return tree.Fault(fault.Invalid)
		}
		if err := file(part.FileName(), part); err != nil {
			var lost *streamError
			if errors.As(err, &lost) || errors.Is(err, io.ErrUnexpectedEOF) {
				return brokenForm(err)
			}
			return err
		}
	}
	for _, p := range c.op.in.order {
		if p.origin == body && p.required && !seen[p.name] {
			tree = tree.At([]any{p.name}, fault.Missing)
		}
	}
	return tree.Fault(fault.Invalid)
}

// brokenForm is the refusal of a body that ends early or is not a form.
func brokenForm(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	f = fault.BadInput.Because(err)
	f.Text = "The form is malformed or incomplete."
	return f
}

func tooLarge() error { return fault.TooLarge.New() }

// streamError is an error of the caller's connection.
type streamError struct{ error }

func (e *streamError) Unwrap() error { return e.error }

// bounded ends a stream that is longer than agreed with a refusal.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, tooLarge()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &streamError{err}
	}
	return n, err
}

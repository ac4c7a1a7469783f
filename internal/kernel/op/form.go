package op

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"reflect"

	"frontdesk/internal/kernel/fault"
)

// Upload marks the field of an input that is the file in a multipart form. The field itself stays empty: Call.Form
// passes the bytes on as they arrive.
type Upload string

// IsForm reports whether the operation's body is multipart/form-data.
func (o *Op) IsForm() bool { return o.shape == bytesShape && o.hasBody }

// AnswersBytes reports whether the operation answers with a *Content.
func (o *Op) AnswersBytes() bool { return o.shape == bytesShape && o.out == nil && !o.answersNothing }

// maxFormFieldBytes bounds the bytes of a form's part that is not the file, because it is held in memory.
const maxFormFieldBytes = 64 << 10

// Form reads the operation's multipart body of at most max bytes. in points to the operation's input. Parts may come in
// any order: file is called with the name and the bytes of the part for the Upload field, the others fill their fields.
// Issues that are known before the file arrives are refused without reading it.
func (c *Call) Form(s *Stream, in any, max int64, file func(name string, r io.Reader) error) error {
	v := reflect.ValueOf(in).Elem()
	_, params, err := mime.ParseMediaType(s.ContentType)
	if err != nil || params["boundary"] == "" {
		return fault.BadInput.Say("Content-Type must be multipart/form-data with a boundary.")
	}
	if s.Length > max {
		return refuseTooLarge()
	}
	form := multipart.NewReader(&boundedReader{s.Reader, max}, params["boundary"])
	seen := map[string]bool{}
	var tree *fault.Tree
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return refuseBrokenForm(err)
		}
		name := part.FormName()
		p := c.op.in.props[name]
		switch {
		case p == nil || p.origin != originBody:
			return tree.Add("Unrecognized key: " + quoteKey(name)).Fault(fault.Invalid)
		case seen[name]:
			return tree.At([]any{name}, "Given twice").Fault(fault.Invalid)
		}
		seen[name] = true
		if p.node.typ != reflect.TypeFor[Upload]() {
			text, err := io.ReadAll(io.LimitReader(part, maxFormFieldBytes+1))
			if err != nil {
				return refuseBrokenForm(err)
			}
			if len(text) > maxFormFieldBytes {
				return tree.At([]any{name}, "Too long").Fault(fault.Invalid)
			}
			if len(text) > 0 || !p.node.nullable { // browsers send fields that were left empty
				tree = tree.SetField(name, p.node.storeFromText(string(text), fieldByIndex(v, p.index)))
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
				return refuseBrokenForm(err)
			}
			return err
		}
	}
	for _, p := range c.op.in.order {
		if p.origin == originBody && p.required && !seen[p.name] {
			tree = tree.At([]any{p.name}, fault.MissingIssue)
		}
	}
	return tree.Fault(fault.Invalid)
}

// refuseBrokenForm refuses a body that ends early or is not a form. A refusal, such as that of a body that is too
// large, stays as it is.
func refuseBrokenForm(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	f = fault.BadInput.Because(err)
	f.Text = "The form is malformed or incomplete."
	return f
}

// refuseTooLarge refuses a body that is larger than allowed.
func refuseTooLarge() error { return fault.TooLarge.New() }

// streamError is an error in reading the caller's body. It tells a broken connection from an error in storing the file.
type streamError struct{ error }

func (e *streamError) Unwrap() error { return e.error }

// boundedReader refuses a stream once it is longer than allowed.
type boundedReader struct {
	io.Reader
	left int64 // bytes that may still come
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, refuseTooLarge()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &streamError{err}
	}
	return n, err
}

package frontdesk

import (
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
)

// Upload is a file to send. It is read as it is sent. A Reader that can seek,
// like an *os.File, is sent again when the server asks for it.
type Upload struct {
	Name   string
	Reader io.Reader
}

// Part is a field of a form: a file, or a text.
type Part struct {
	Field string
	File  *Upload
	Text  string
}

// Download is a file that is received. Close it.
type Download struct {
	io.ReadCloser
	Name        string
	ContentType string
	Size        int64 // -1 if it is not known
}

// Download makes a call whose answer is a file.
func (c *caller) Download(ctx context.Context, r Request, options ...Option) (*Download, error) {
	var out *Download
	err := c.send(ctx, r, append(options, func(s *settings) { s.timeout = 0 }),
		func(answer *http.Response) error {
			_, params, _ := mime.ParseMediaType(answer.Header.Get("Content-Disposition"))
			out = &Download{answer.Body, params["filename"], answer.Header.Get("Content-Type"), answer.ContentLength}
			return nil
		})
	return out, err
}

// encodeForm writes a form while it is read.
func encodeForm(parts []Part) (stream io.ReadCloser, contentType string) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		err := func() error {
			for _, p := range parts {
				if p.File == nil {
					if err := form.WriteField(p.Field, p.Text); err != nil {
						return err
					}
					continue
				}
				part, err := form.CreateFormFile(p.Field, p.File.Name)
				if err != nil {
					return err
				}
				if _, err := io.Copy(part, p.File.Reader); err != nil {
					return err
				}
			}
			return form.Close()
		}()
		w.CloseWithError(err)
	}()
	return r, form.FormDataContentType()
}

// rewind makes a form ready to be sent again, if it can be.
func rewind(parts []Part) bool {
	for _, p := range parts {
		if p.File == nil {
			continue
		}
		s, ok := p.File.Reader.(io.Seeker)
		if !ok {
			return false
		}
		if _, err := s.Seek(0, io.SeekStart); err != nil {
			return false
		}
	}
	return true
}

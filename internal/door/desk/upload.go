package desk

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/file"
)

// The bounds of a form that may have files.
const (
	maxParts = 60
	maxText  = 2 << 20 // of one field
	maxPlain = 4 << 20 // of a form without files
)

// Send hands a file and further fields to an operation that takes a form.
func (v *Visit) Send(operation, name string, content io.Reader, fields map[string]string, out any) error {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		w.CloseWithError(writeForm(form, name, content, fields))
	}()
	defer r.Close() // ends the writer when the operation refuses early
	return v.send(operation, form.FormDataContentType(), -1, r, out)
}

func writeForm(form *multipart.Writer, name string, content io.Reader, fields map[string]string) error {
	for field, text := range fields {
		if err := form.WriteField(field, text); err != nil {
			return err
		}
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, content); err != nil {
		return err
	}
	return form.Close()
}

// ReadUploads reads the form of a Route that streams: its fields become the
// posted ones, and its files are stored as files of the organization.
func (v *Visit) ReadUploads() ([]id.ID, error) {
	if !strings.HasPrefix(v.R.Header.Get("Content-Type"), "multipart/form-data") {
		v.R.Body = http.MaxBytesReader(v.W, v.R.Body, maxPlain)
		return nil, badForm(v.R.ParseForm())
	}
	form, err := v.R.MultipartReader()
	if err != nil {
		return nil, badForm(err)
	}
	v.R.PostForm = url.Values{}
	v.R.Form = v.R.PostForm
	var files []id.ID
	for n := 0; ; n++ {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return files, badForm(err)
		}
		if n >= maxParts {
			return files, fault.BadInput.Say("The form has too many parts. Attach fewer files at a time.")
		}
		if part.FileName() != "" {
			var made file.File
			if err := v.Send("files.upload", part.FileName(), part, nil, &made); err != nil {
				return files, err
			}
			files = append(files, made.ID)
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, maxText+1))
		if err != nil {
			return files, badForm(err)
		}
		if len(text) > maxText {
			return files, fault.BadInput.Say("The text is too long. Nothing was saved; go back and shorten it.")
		}
		v.R.PostForm.Add(part.FormName(), strings.ToValidUTF8(string(text), "\uFFFD"))
	}
}

func badForm(err error) error {
	if err == nil {
		return nil
	}
	f := fault.BadInput.Because(err)
	f.Text = "The form could not be read to its end. Go back and send it again."
	return f
}

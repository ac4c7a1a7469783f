package apptest

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"testing"
)

// Part is one part of a form. One with a FileName is a file.
type Part struct{ Name, FileName, Text string }

// BuildForm writes a multipart body, and the content type that goes with it.
func BuildForm(t testing.TB, parts ...Part) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		create := func() error { return w.WriteField(p.Name, p.Text) }
		if p.FileName != "" {
			create = func() error {
				part, err := w.CreateFormFile(p.Name, p.FileName)
				if err == nil {
					_, err = part.Write([]byte(p.Text))
				}
				return err
			}
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// UploadForm sends a form to a path.
func (a *App) UploadForm(t testing.TB, key, path string, parts ...Part) Result {
	t.Helper()
	body, kind := BuildForm(t, parts...)
	return a.SendREST(t, key, http.MethodPost, path, body, "Content-Type", kind)
}

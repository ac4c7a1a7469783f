package desk

import (
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A session may end while somebody fills in a form. What they then send is not lost:
// the page that asks them to sign in holds it, and once they have, it is carried out as
// if nothing had happened in between. It is held by the page and not by the server,
// because the server does not know whose it is.

// Kept is a form that was sent when nobody was signed in.
type Kept struct {
	Address string // where it was sent to
	Fields  url.Values
	Files   bool // it had files, which are not kept
}

const (
	keptAddress = "then"
	keptFiles   = "then-files"
	keptPrefix  = "then."
)

// Hidden are the fields of the page that asks to sign in, by name.
func (k *Kept) Hidden() url.Values {
	out := url.Values{keptAddress: {k.Address}}
	if k.Files {
		out.Set(keptFiles, "yes")
	}
	for name, values := range k.Fields {
		out[keptPrefix+name] = values
	}
	return out
}

// KeptForm is the form that the page to sign in holds, or nil.
func (v *Visit) KeptForm() *Kept {
	address := v.R.PostForm.Get(keptAddress)
	if !IsLocalPath(address) {
		return nil
	}
	k := &Kept{Address: address, Fields: url.Values{}, Files: v.R.PostForm.Has(keptFiles)}
	for name, values := range v.R.PostForm {
		if name, ok := strings.CutPrefix(name, keptPrefix); ok {
			k.Fields[name] = values
		}
	}
	return k
}

// keepForm is the form that was just sent.
func (v *Visit) keepForm() (*Kept, error) {
	k := &Kept{Address: v.R.URL.RequestURI(), Fields: v.R.PostForm}
	if strings.HasPrefix(v.R.Header.Get("Content-Type"), "multipart/form-data") {
		if err := v.R.ParseMultipartForm(maxEdited); err != nil {
			return nil, err
		}
		k.Fields = v.R.MultipartForm.Value
		for _, files := range v.R.MultipartForm.File {
			k.Files = k.Files || slices.ContainsFunc(files, func(f *multipart.FileHeader) bool { return f.Size > 0 })
		}
		if err := v.R.MultipartForm.RemoveAll(); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// CarryOut does what a form asked for, in the session that has just begun. A form whose
// files are gone is shown instead.
func (v *Visit) CarryOut(k *Kept, token string) error {
	to, err := url.Parse(k.Address)
	if err != nil {
		return err
	}
	if k.Files {
		return v.Redirect(to.Path)
	}
	body := k.Fields.Encode()
	r := v.R.Clone(v.R.Context())
	r.Form, r.PostForm, r.MultipartForm, r.Pattern = nil, nil, nil, ""
	r.URL, r.RequestURI = to, k.Address
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	cookies := slices.DeleteFunc(r.Cookies(), func(c *http.Cookie) bool { return c.Name == v.CookieName() })
	r.Header.Del("Cookie")
	for _, c := range append(cookies, &http.Cookie{Name: v.CookieName(), Value: token}) {
		r.AddCookie(c)
	}
	v.mux.ServeHTTP(v.W, r)
	return nil
}

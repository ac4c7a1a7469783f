package desk_test

import (
	"bytes"
	"context"
	"html"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// browser visits the console as a person does: with cookies, following
// redirects on the site, and without running scripts.
type browser struct {
	t    testing.TB
	site string
	http *http.Client
}

func visit(t testing.TB, site string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, site, &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), site+"/") {
			return http.ErrUseLastResponse // the client's own address
		}
		return nil
	}}}
}

// page is what the browser shows in the end.
type page struct {
	t      testing.TB
	Status int
	Path   string // with the query
	Body   string
	Header http.Header
}

func (b *browser) do(method, path string, form url.Values, headers ...string) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, b.site+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{b.t, res.StatusCode, res.Request.URL.RequestURI(), string(text), res.Header}
}

func (b *browser) get(path string) page { b.t.Helper(); return b.do(http.MethodGet, path, nil) }

// post sends a form, given in pairs of name and value.
func (b *browser) post(path string, pairs ...string) page {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, path, form)
}

func (b *browser) signIn(email, password string) page {
	b.t.Helper()
	return b.post("/sign-in", "email", email, "password", password)
}

// cookie is the session's, or nil.
func (b *browser) cookie() *http.Cookie {
	u, err := url.Parse(b.site)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.http.Jar.Cookies(u) {
		if strings.HasSuffix(c.Name, "frontdesk") {
			return c
		}
	}
	return nil
}

// at asserts that the page is shown at a path and has these texts.
func (p page) at(path string, texts ...string) page {
	p.t.Helper()
	if p.Status != 200 || !strings.HasPrefix(p.Path, path) {
		p.t.Fatalf("%d at %s, want 200 at %s: %s", p.Status, p.Path, path, p.text())
	}
	return p.has(texts...)
}

// refused asserts a status and texts.
func (p page) refused(status int, texts ...string) page {
	p.t.Helper()
	if p.Status != status {
		p.t.Fatalf("%d at %s, want %d: %s", p.Status, p.Path, status, p.text())
	}
	return p.has(texts...)
}

func (p page) has(texts ...string) page {
	p.t.Helper()
	for _, s := range texts {
		if !strings.Contains(p.text(), s) {
			p.t.Fatalf("%s: no %q in: %s", p.Path, s, p.text())
		}
	}
	return p
}

func (p page) hasNot(texts ...string) page {
	p.t.Helper()
	for _, s := range texts {
		if strings.Contains(p.Body, s) {
			p.t.Fatalf("%s: %q in: %s", p.Path, s, p.text())
		}
	}
	return p
}

var (
	tag   = regexp.MustCompile(`<[^>]*>`)
	space = regexp.MustCompile(`\s+`)
)

// text is what a person reads.
func (p page) text() string {
	return strings.TrimSpace(space.ReplaceAllString(html.UnescapeString(tag.ReplaceAllString(p.Body, " ")), " "))
}

// find is the first group of a pattern in the page's source.
func (p page) find(pattern string) string {
	p.t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(p.Body)
	if m == nil {
		p.t.Fatalf("%s: nothing like %s in: %s", p.Path, pattern, p.Body)
	}
	return html.UnescapeString(m[1])
}

// owner is a browser in which the test organization's owner is signed in.
func owner(t testing.TB, a *apptest.App) *browser {
	t.Helper()
	b := visit(t, a.URL)
	b.signIn(a.Owner, "a long password").at("/")
	return b
}

// emptyApp is a service on an empty database.
func emptyApp(t testing.TB, e db.Engine) (*app.App, string) {
	t.Helper()
	a, err := app.Open(context.Background(), apptest.Settings(t, e), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, server.URL
}

// events lists the types of everything that was logged, in order.
func events(t testing.TB, d *db.DB) string {
	t.Helper()
	var types []string
	err := d.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		types, err = db.QueryAll[string](ctx, tx,
			"SELECT type || ':' || actor_kind || ':' || door FROM events ORDER BY seq")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(types, " ")
}

// upload sends a file with other fields, as a form does.
func (b *browser) upload(path string, fields map[string]string, name, content string) page {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for field, value := range fields {
		if err := form.WriteField(field, value); err != nil {
			b.t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := io.WriteString(part, content); err != nil {
		b.t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, b.site+path, &body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	req.Header.Set("Accept", "text/html")
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{b.t, res.StatusCode, res.Request.URL.RequestURI(), string(text), res.Header}
}

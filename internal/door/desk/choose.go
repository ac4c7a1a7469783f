package desk

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// What a reader chose for lists, kept in cookies of their browser: how dense rows
// are, and which columns of a list are left out.
const (
	densityCookie = "desk_density"
	hiddenCookie  = "desk_hidden_"
	comfortable   = "comfortable"
	choiceAge     = 400 * 24 * 60 * 60 // the longest that browsers keep a cookie
	maxHidden     = 1000               // characters
)

// columnChoice is one column in the menu of a list.
type columnChoice struct {
	Head  string
	Shown bool
}

func (v *Visit) cookieText(name string) string {
	c, err := v.R.Cookie(name)
	if err != nil {
		return ""
	}
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	return text
}

// density is the reader's choice, or nothing for compact rows.
func (v *Visit) density() string {
	if v.cookieText(densityCookie) == comfortable {
		return comfortable
	}
	return ""
}

// columns are those that the address asks for, or else that the reader wants to see. The first
// names the row and always stays.
func (n *Noun[T]) columns(v *Visit, q url.Values) []Column[T] {
	hidden := strings.Split(v.cookieText(hiddenCookie+n.Path), "|")
	asked := addressColumns(q)
	return slices.DeleteFunc(slices.Clone(n.Columns), func(c Column[T]) bool {
		switch {
		case c.Head == n.Columns[0].Head:
			return false
		case len(asked) > 0:
			return !slices.Contains(asked, c.Field)
		}
		return slices.Contains(hidden, c.Head)
	})
}

// columnFields are the fields of the columns with some heads.
func (n *Noun[T]) columnFields(heads []string) []string {
	out := []string{}
	for _, c := range n.Columns {
		if c.Field != "" && slices.Contains(heads, c.Head) {
			out = append(out, c.Field)
		}
	}
	return out
}

// heads are the columns that can be left out, and whether they are.
func (n *Noun[T]) heads(v *Visit) []columnChoice {
	shown := n.columns(v, v.R.URL.Query())
	out := []columnChoice{}
	for _, c := range n.Columns[1:] {
		out = append(out, columnChoice{c.Head,
			slices.ContainsFunc(shown, func(s Column[T]) bool { return s.Head == c.Head })})
	}
	return out
}

// chooseView keeps what the reader chose in the menu of a list.
func chooseView(v *Visit) error {
	n := v.noun(v.Value("path"))
	if n == nil {
		return fault.NotFound.New()
	}
	var hidden []string
	for _, head := range v.R.PostForm["column"] {
		if !slices.Contains(v.R.PostForm["shown"], head) {
			hidden = append(hidden, head)
		}
	}
	back := v.Back("/" + n.path())
	if u, err := url.Parse(back); err == nil && u.Query().Has(op.ViewField) { // a view has columns of its own
		q := u.Query()
		q.Set(columnsField, strings.Join(n.columnFields(v.R.PostForm["shown"]), ","))
		if len(hidden) == 0 {
			q.Del(columnsField)
		}
		back, hidden = address(u.Path, q), strings.Split(v.cookieText(hiddenCookie+n.path()), "|")
	}
	text := strings.Join(hidden, "|")
	if len(text) > maxHidden {
		text = ""
	}
	density := ""
	if v.Value("density") == comfortable {
		density = comfortable
	}
	v.keep(hiddenCookie+n.path(), text)
	v.keep(densityCookie, density)
	return v.Redirect(back)
}

// Choice is what the reader chose before and a browser keeps, or nothing.
func (v *Visit) Choice(name string) string { return v.cookieText(name) }

// KeepChoice keeps what the reader chose. Nothing forgets it.
func (v *Visit) KeepChoice(name, text string) { v.keep(name, text) }

func (v *Visit) keep(name, text string) {
	c := &http.Cookie{Name: name, Value: url.QueryEscape(text), Path: "/", MaxAge: choiceAge, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(v.BaseURL, "https://")}
	if text == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v.W, c)
}

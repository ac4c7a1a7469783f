package docs

import (
	"bytes"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strings"

	pages "frontdesk/docs"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// chapter is a page of the guide.
type chapter struct {
	Key, Title string
	Body       template.HTML
	Sections   []section // the first is the chapter itself
}

// section is a heading and the words below it, for the search.
type section struct{ Title, Anchor, Text string }

// Path is the address of the page.
func (c *chapter) Path() string { return "/docs/guide/" + c.Key }

// chapterLinks finds the links to chapters in the guide's README.
var chapterLinks = regexp.MustCompile(`\]\(([a-z-]+)\.md\)`)

// readGuide reads the chapters in the order of the guide's README, then the pages about
// the contract and the error codes.
func readGuide() (out []*chapter, err error) {
	list, err := pages.Pages.ReadFile("guide/README.md")
	if err != nil {
		return nil, err
	}
	files := []string{}
	for _, m := range chapterLinks.FindAllSubmatch(list, -1) {
		files = append(files, "guide/"+string(m[1])+".md")
	}
	for _, file := range append(files, "contract.md", "codes.md") {
		source, err := pages.Pages.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c := &chapter{Key: strings.TrimSuffix(path.Base(file), ".md")}
		if err := c.renderChapter(source); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// markdown renders the guide. HTML in the Markdown is not passed on.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// renderChapter renders a chapter and notes its sections.
func (c *chapter) renderChapter(source []byte) error {
	document := markdown.Parser().Parse(text.NewReader(source))
	var plain strings.Builder
	flush := func() {
		if n := len(c.Sections); n > 0 {
			c.Sections[n-1].Text = plain.String()
		}
		plain.Reset()
	}
	var gone []*ast.Link
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			flush()
			s := section{Title: plainWords(n, source)}
			if id, ok := n.AttributeString("id"); ok && n.Level > 1 {
				s.Anchor = "#" + string(id.([]byte))
			}
			if n.Level == 1 {
				c.Title = s.Title
			}
			c.Sections = append(c.Sections, s)
		case *ast.Link:
			if to, ok := guideLink(string(n.Destination)); ok {
				n.Destination = []byte(to)
			} else {
				gone = append(gone, n)
			}
		case *ast.Image:
			n.Destination = []byte("/docs/guide/" + string(n.Destination))
		case *ast.Text:
			plain.Write(n.Value(source))
			plain.WriteByte(' ')
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			plain.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	flush()
	for _, link := range gone { // a link to a file that the server does not have becomes plain text
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
	var b bytes.Buffer
	err = markdown.Renderer().Render(&b, source, document)
	// A wide table scrolls in a box of its own. With tabindex, the keyboard can scroll it.
	body := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`).
		Replace(b.String())
	c.Body = template.HTML(body) //nolint:gosec // the repository's own pages
	return err
}

// plainWords is the text of a node.
func plainWords(n ast.Node, source []byte) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			b.Write(t.Value(source))
		} else {
			b.WriteString(plainWords(child, source))
		}
	}
	return b.String()
}

// guideLink is a link of the guide as the server has it. It is not ok for files
// that only the repository has.
func guideLink(to string) (string, bool) {
	if strings.HasPrefix(to, "#") || strings.Contains(to, "://") {
		return to, true
	}
	file, anchor, _ := strings.Cut(to, "#")
	name, isPage := strings.CutSuffix(path.Base(file), ".md")
	if !isPage || strings.Contains(file, "adr/") || strings.HasPrefix(file, "../../") {
		return "", false
	}
	if name == "README" {
		return "/docs", true
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	return "/docs/guide/" + name + anchor, true
}

// servePicture serves a drawing of the guide.
func servePicture(w http.ResponseWriter, r *http.Request) {
	text, err := pages.Pages.ReadFile("guide/pictures/" + r.PathValue("name"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	serveContent(w, "image/svg+xml", func() ([]byte, error) { return text, nil })
}

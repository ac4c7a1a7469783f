package template

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	markdownhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// writtenToHTML reads what people write by hand. Every line end stays. HTML is text like any other, and so are lines
// of dashes below others: nobody means a heading by the mark above a signature.
var writtenToHTML = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100),
				util.Prioritized(parser.NewLinkParser(), 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300),
				util.Prioritized(parser.NewEmphasisParser(), 500),
			),
			parser.WithASTTransformers(util.Prioritized(picturesAreLinks{}, 100)),
		)),
		goldmark.WithRendererOptions(markdownhtml.WithHardWraps()))
})

// MarkdownToHTML turns a text that somebody wrote by hand into clean HTML. It reports false where the text has no
// marks, so that it is best sent as it is, or is too intricate to be read as Markdown.
func MarkdownToHTML(written string) (html string, formatted bool) {
	if isIntricateMarkdown(written) {
		return "", false
	}
	source := []byte(written)
	tree := writtenToHTML().Parser().Parse(text.NewReader(source))
	if !hasMarks(tree) {
		return "", false
	}
	var b strings.Builder
	if err := writtenToHTML().Renderer().Render(&b, source, tree); err != nil {
		return "", false // cannot fail: nothing but the builder is written to
	}
	html, err := sanitizeHTML(b.String())
	return html, err == nil
}

// hasMarks reports whether there is more than paragraphs, indented lines and addresses.
func hasMarks(tree ast.Node) (found bool) {
	err := ast.Walk(tree, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindDocument, ast.KindParagraph, ast.KindText, ast.KindString, ast.KindAutoLink, ast.KindCodeBlock:
			return ast.WalkContinue, nil
		}
		found = true
		return ast.WalkStop, nil
	})
	return found && err == nil
}

// picturesAreLinks makes links of pictures: one that is loaded from elsewhere would tell its owner who reads the mail.
type picturesAreLinks struct{}

func (picturesAreLinks) Transform(tree *ast.Document, _ text.Reader, _ parser.Context) {
	var pictures []*ast.Image
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if picture, ok := n.(*ast.Image); ok && entering {
			pictures = append(pictures, picture)
		}
		return ast.WalkContinue, nil
	})
	for _, picture := range pictures {
		link := ast.NewLink()
		link.Destination, link.Title = picture.Destination, picture.Title
		for child := picture.FirstChild(); child != nil; child = picture.FirstChild() {
			link.AppendChild(link, child)
		}
		picture.Parent().ReplaceChild(picture.Parent(), picture, link)
	}
}

package template

import "strings"

// The Markdown parser is fast on what people write, and slow on some texts that
// nobody writes: fifty thousand nested quotes took 4 seconds, half as many
// unclosed links 6. Such a text is refused when it is written, so that no mail
// waits for it.
const (
	maxParagraph   = 10_000     // bytes without an empty line, unless it is plain text
	maxOpeners     = 100        // characters that open something, up to which a paragraph counts as plain text
	maxNested      = 24         // quotes and lists that start on one line
	maxDefinitions = 300        // of links, like [name]: address
	maxLinkWork    = 25_000_000 // characters to search for the ends of links
	maxExpansion   = 10_000_000 // bytes that uses of definitions expand to
	maxPadding     = 2000       // cells that tables are padded with
)

const intricateMarkdown = "Too intricate for Markdown: it has a paragraph of more than 10,000 bytes with many " +
	"marks, or too " +
	"many nested quotes or lists, link definitions or uses of them, links in one paragraph or missing cells of " +
	"tables. Use fewer, or the bodyFormat html"

// isIntricateMarkdown reports whether Markdown would take too long to parse.
func isIntricateMarkdown(body string) bool {
	definitions, work, cells, longest := 0, 0, 0, 0
	uses := strings.Count(body, "[")
	for len(body) > 0 {
		// The parser searches for what closes a mark up to the end of its paragraph, so each is judged alone.
		paragraph, rest, _ := strings.Cut(body, "\n\n")
		body = rest
		if len(paragraph) > maxParagraph && countOpeners(paragraph) > maxOpeners {
			return true
		}
		for line := range strings.Lines(paragraph) {
			if countNestedBlocks(line) > maxNested {
				return true
			}
		}
		for i, definition := range strings.Split(paragraph, "]:") {
			if i > 0 {
				definitions, longest = definitions+1, max(longest, len(definition))
			}
		}
		for i := 0; ; {
			next := strings.Index(paragraph[i:], "](")
			if next < 0 {
				break
			}
			i += next + 2
			work += len(paragraph) - i
		}
		cells += countPaddedCells(paragraph)
		if definitions > maxDefinitions || work > maxLinkWork || cells > maxPadding || longest*uses > maxExpansion {
			return true
		}
	}
	return false
}

// countOpeners counts the characters that may open a mark. For each the parser
// searches the rest of the paragraph for its end.
func countOpeners(paragraph string) (n int) {
	for i := range len(paragraph) {
		if strings.IndexByte("*_[]<>`!|&\\", paragraph[i]) >= 0 {
			n++
		}
	}
	return n
}

// countPaddedCells counts the cells by which the parser would fill up a table: it pads
// every row to the width of the line of dashes, so ten thousand bytes could
// become six million cells.
func countPaddedCells(paragraph string) (cells int) {
	columns := 0
	for line := range strings.Lines(paragraph) {
		if strings.Trim(line, "|-: \t\r\n>+*.)0123456789") == "" {
			columns = max(columns, strings.Count(line, "|")+1)
		}
	}
	if columns <= 2 {
		return 0
	}
	for line := range strings.Lines(paragraph) {
		cells += max(columns-strings.Count(line, "|")-1, 0)
	}
	return cells
}

// countNestedBlocks counts the quotes and lists that start on a line.
func countNestedBlocks(line string) (n int) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>' || c == '-' || c == '+' || c == '*':
			n++
		case c == ')' || c == '.':
			n++ // after the number of an item
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c >= '0' && c <= '9':
		default:
			return n
		}
	}
	if rule := strings.Trim(line, " \t\r\n"); rule != "" && strings.Trim(rule, rule[:1]+" \t") == "" &&
		rule[0] != '>' &&
		rule[0] != '+' {
		return 0 // a horizontal rule, or dots
	}
	return n
}

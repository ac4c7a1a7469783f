package mcp

import (
	_ "embed" // of the card
	"slices"
)

// The card is a page that clients with MCP Apps (cardExtension) show beside the answer of a tool:
// what waits for a person, and a button that opens the page where it is decided. It decides nothing itself. Clients
// without apps ignore it, and show the link as before.

//go:embed card.html
var cardHTML string

const (
	cardAddress = "ui://frontdesk/proposal.html"
	cardType    = "text/html;profile=mcp-app"

	cardExtension = "io.modelcontextprotocol/ui"
)

// showsCard are the operations whose tools answer with a proposal.
var showsCard = []string{"proposals.create", "proposals.get", "undo.create"}

// cardMeta tells clients that the answers of the tool have a card; nil if they have none.
func (t *tool) cardMeta() map[string]any {
	if slices.Contains(showsCard, t.op.Name) {
		return cardMeta()
	}
	return nil
}

// cardMeta tells clients that the answer of a tool has a card.
func cardMeta() map[string]any {
	return map[string]any{"ui": map[string]any{"resourceUri": cardAddress}}
}

// readCard is the card as a resource. It loads nothing from anywhere.
func (d *Door) readCard() result {
	return markPrivate(result{"contents": []any{map[string]any{"uri": cardAddress, "mimeType": cardType,
		"text":  cardHTML,
		"_meta": map[string]any{"ui": map[string]any{"prefersBorder": true}}}}})
}

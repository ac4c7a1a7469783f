package message

import (
	"strings"
	"unicode"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxRecipients bounds to, cc and bcc, each.
const maxRecipients = 50

const addressIssue = "Invalid email address; write it like name@example.com, without the person's name"

// parseRecipients parses to, cc or bcc: one address or an array of them, which the
// schema has checked. A repeated address counts once.
func parseRecipients(raw jsontext.Value) (out []string, tree *fault.Tree) {
	out = []string{}
	if len(raw) == 0 {
		return out, nil
	}
	if raw.Kind() == '"' {
		var one string
		if err := json.Unmarshal(raw, &one); err != nil || !op.IsEmailAddress(one) {
			return out, tree.Add(addressIssue)
		}
		return append(out, one), nil
	}
	var list []jsontext.Value
	if err := json.Unmarshal(raw, &list); err != nil {
		return out, tree.Add("Must be an address or an array of addresses")
	}
	if len(list) > maxRecipients {
		return out, tree.Add("Too many: expected at most 50")
	}
	seen := map[string]bool{}
	for i, item := range list {
		var one string
		if err := json.Unmarshal(item, &one); err != nil || !op.IsEmailAddress(one) {
			tree = tree.SetItem(i, (*fault.Tree)(nil).Add(addressIssue))
			continue
		}
		if f := db.FoldText(one); !seen[f] {
			seen[f] = true
			out = append(out, one)
		}
	}
	return out, tree.PadItems(len(list))
}

// breaksHeader reports whether a text contains line ends or control characters,
// which would let it add headers of its own to a mail.
func breaksHeader(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

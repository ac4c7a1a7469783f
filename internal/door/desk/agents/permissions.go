package agents

import (
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/op"
)

// permissionRow is a resource of an agent's permission table.
type permissionRow struct {
	Word, Help string
	Cells      []permissionCell
}

// permissionCell is a resource and an action, with its three-way switch.
type permissionCell struct {
	Name, Action, Label string
	Levels              []permissionLevel
	Tools               int // how many it opens when it is allowed
	Reads               int // how many of them also need the permission to see
}

type permissionLevel struct {
	Value, Word string
	On          bool
}

// openedBy counts tools by the cell that opens them, such as "contacts.read";
// those among them that also need the permission to see; and those that need
// no cell.
func openedBy(d *desk.Visit) (cells, reads map[string]int, free int) {
	cells, reads = map[string]int{}, map[string]int{}
	for _, o := range d.Catalog.All() {
		cell := o.Resource + "." + o.Action.String()
		switch {
		case !desk.IsTool(o):
		case o.Resource == op.Unrestricted:
			free++
		default:
			cells[cell]++
			if o.Reads {
				reads[cell]++
			}
		}
	}
	return cells, reads, free
}

// countTools is how many tools an agent's client would see.
func countTools(d *desk.Visit, g *account.Agent) (n int) {
	allowed := g.AllowedPermissions() | g.ProposablePermissions()
	for _, o := range d.Catalog.All() {
		if desk.IsTool(o) && o.AllowedBy(allowed) {
			n++
		}
	}
	return n
}

// permissionTable is the table as the page shows it.
func permissionTable(d *desk.Visit, table map[string]string) (rows []permissionRow) {
	cells, reads, _ := openedBy(d)
	for _, r := range op.Resources() {
		row := permissionRow{Word: desk.ResourceWord(r), Help: desk.ResourceHelp[r]}
		for _, a := range desk.Actions {
			name := r + "." + a.String()
			cell := permissionCell{Name: name, Action: desk.ActionWords[a],
				Label: desk.ActionWords[a] + " " + strings.ToLower(row.Word),
				Tools: cells[name], Reads: reads[name]}
			for _, level := range []string{"allow", "ask", "deny"} {
				cell.Levels = append(cell.Levels, permissionLevel{level, desk.Capital(level), table[name] == level})
			}
			row.Cells = append(row.Cells, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// permissionWords says what an agent may do alone, only after asking a person,
// and not at all.
func permissionWords(table map[string]string) (may, ask, not []string) {
	agent := account.Agent{Permissions: table}
	allowed := agent.AllowedPermissions()
	for _, level := range []string{"allow", "ask", "deny"} {
		for _, a := range desk.Actions {
			var nouns []string
			for _, r := range op.Resources() {
				if table[r+"."+a.String()] == level || level == "allow" && allowed.Allow(r, a) {
					nouns = append(nouns, strings.ToLower(desk.ResourceWord(r)))
				}
			}
			if len(nouns) == 0 {
				continue
			}
			text := desk.ActionWords[a] + " " + desk.JoinAnd(nouns)
			if len(nouns) == len(op.Resources()) {
				text = desk.ActionWords[a] + " everything"
				if level == "deny" {
					text = desk.ActionWords[a] + " anything"
				}
			}
			switch level {
			case "allow":
				may = append(may, text)
			case "ask":
				ask = append(ask, text)
			default:
				not = append(not, text)
			}
		}
	}
	return may, ask, not
}

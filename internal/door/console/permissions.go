package console

import (
	"strings"

	"frontdesk/internal/account"
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

// isTool reports whether the agent connection lists an operation as a tool: it
// is open to agents and does not stream bytes.
func isTool(o *op.Op) bool { return o.Doors&op.AgentDoor != 0 && !o.TakesStream() }

// openedBy counts tools by the cell that opens them, such as "contacts.read";
// those among them that also need the permission to see; and those that need
// no cell.
func (d *Door) openedBy() (cells, reads map[string]int, free int) {
	cells, reads = map[string]int{}, map[string]int{}
	for _, o := range d.Catalog.All() {
		cell := o.Resource + "." + o.Action.String()
		switch {
		case !isTool(o):
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

// tools is how many tools an agent's client would see.
func (d *Door) tools(g *account.Agent) (n int) {
	allowed := g.AllowedPermissions() | g.ProposablePermissions()
	for _, o := range d.Catalog.All() {
		if isTool(o) && o.AllowedBy(allowed) {
			n++
		}
	}
	return n
}

// permissionTable is the table as the page shows it.
func (d *Door) permissionTable(table map[string]string) (rows []permissionRow) {
	cells, reads, _ := d.openedBy()
	for _, r := range op.Resources() {
		row := permissionRow{Word: resourceWord(r), Help: resourceHelp[r]}
		for _, a := range actions {
			name := r + "." + a.String()
			cell := permissionCell{Name: name, Action: actionWords[a],
				Label: actionWords[a] + " " + strings.ToLower(row.Word),
				Tools: cells[name], Reads: reads[name]}
			for _, level := range []string{"allow", "ask", "deny"} {
				cell.Levels = append(cell.Levels, permissionLevel{level, capital(level), table[name] == level})
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
		for _, a := range actions {
			var nouns []string
			for _, r := range op.Resources() {
				if table[r+"."+a.String()] == level || level == "allow" && allowed.Allow(r, a) {
					nouns = append(nouns, strings.ToLower(resourceWord(r)))
				}
			}
			if len(nouns) == 0 {
				continue
			}
			text := actionWords[a] + " " + joinAnd(nouns)
			if len(nouns) == len(op.Resources()) {
				text = actionWords[a] + " everything"
				if level == "deny" {
					text = actionWords[a] + " anything"
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

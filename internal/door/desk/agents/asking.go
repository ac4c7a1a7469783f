package agents

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
)

// asking is the part of an agent's page that says how it asks, and its limits.
type asking struct {
	Propose bool
	Guard   bool
	Locked  bool // only an owner switches the guard off, and the reader is none
	Compact bool
	Limits  []limitField
}

type limitField struct{ Name, Label, Value string }

func askingOf(v *desk.Visit, g *account.Agent) asking {
	text := func(n *int64) string {
		if n == nil {
			return ""
		}
		return fmt.Sprint(*n)
	}
	l := &g.Limits
	spend := ""
	if l.SpendCents != nil {
		spend = desk.Plain(*l.SpendCents, spendCurrency)
	}
	return asking{Propose: g.AskMode == account.AskPropose, Guard: g.IsGuarded(),
		Locked:  g.IsGuarded() && v.Session.Role != "owner",
		Compact: g.ToolList == account.ToolsCompact, Limits: []limitField{
			{"spendCents", "Money spent, in USD", spend},
			{"messages", "Mails sent", text(l.Messages)},
			{"newRecipients", "New addresses written to", text(l.NewRecipients)},
			{"deletions", "Deletions", text(l.Deletions)},
			{"dnsChanges", "DNS changes", text(l.DNSChanges)},
		}}
}

func (room *Room) saveAsking(v *desk.Visit) error {
	g, err := readAgent(v)
	if err != nil {
		return err
	}
	limits := desk.Fields{}
	for _, l := range askingOf(v, g).Limits {
		limits[l.Name] = nil
		if text := strings.TrimSpace(v.Value(l.Name)); text != "" {
			n, issue := readLimit(l.Name, text)
			if issue != "" {
				return room.showAgent(v, http.StatusBadRequest, g,
					&desk.Typed{Values: desk.NewTyped("name", g.Name).Values,
						Errors: map[string]string{}, Error: l.Label + ": " + issue})
			}
			limits[l.Name] = n
		}
	}
	mode := account.AskUnavailable
	if v.Value("askMode") == account.AskPropose {
		mode = account.AskPropose
	}
	tools := account.ToolsAll
	if v.Value("toolList") == account.ToolsCompact {
		tools = account.ToolsCompact
	}
	input := desk.Fields{"id": g.ID, "askMode": mode, "limits": limits, "toolList": tools}
	// A box that stays as it was, or cannot be changed, decides nothing.
	if ticked := v.Value("guard") == "on"; ticked != g.IsGuarded() && !askingOf(v, g).Locked {
		input["guard"] = map[bool]string{true: "on", false: "off"}[ticked]
	}
	if err := v.Do("agents.configure", input, nil); err != nil {
		var f *fault.Fault
		if errors.As(err, &f) && f.Status < 500 {
			return room.showAgent(v, f.Status, g, &desk.Typed{Values: desk.NewTyped("name", g.Name).Values,
				Errors: map[string]string{}, Error: f.Sentence()})
		}
		return err
	}
	return v.Done(agentPath(g.ID), "saved", nil)
}

// spendCurrency is what agents spend: domains are paid in it.
const spendCurrency = "usd"

// readLimit reads a limit of a day, money as everything else that a person types.
func readLimit(name, text string) (int64, string) {
	if name == "spendCents" {
		cents, issue := desk.Cents(text, spendCurrency)
		n, _ := cents.(int64)
		if n < 0 {
			issue = "Must not be negative"
		}
		return n, issue
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, "Must be a whole number, or empty for no limit"
	}
	return n, ""
}

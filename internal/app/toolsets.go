package app

import (
	"context"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/door/mcp"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"
)

// toolsets are names under which agents' clients ask for the tools of several
// resources at once (/mcp?toolsets=mail,invoices), beside the resources' own names.
var toolsets = map[string][]string{
	"mail":   {"messages", "email_templates", "email_opt_ins"},
	"people": {"contacts", "customers", "email_opt_ins"},
	"sales":  {"customers", "invoices"},
}

// compactTools are the tools that a compact list names directly: those of the daily work.
var compactTools = []string{"contacts_list", "contacts_get", "contacts_create", "tasks_list", "tasks_create",
	"threads_list", "messages_list", "messages_get", "messages_create", "invoices_list", "proposals_get"}

// findMidnight is when a day begins in the time zone of a caller's business, and the name of that zone.
func (a *App) findMidnight(ctx context.Context, c *op.Caller, day clock.Date) (at clock.Time, zone string, err error) {
	err = a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		b, err := account.LoadBusinessEvenDeleted(ctx, tx, c.Organization, c.Business)
		if err != nil {
			return err
		}
		place, err := time.LoadLocation(b.Timezone)
		if err != nil {
			place = time.UTC
		}
		begin, err := time.ParseInLocation(time.DateOnly, string(day), place)
		at, zone = clock.FromStd(begin), place.String()
		return err
	})
	return at, zone, err
}

// DescribeTools is the list of tools that the client of an agent with a preset gets from /mcp
// with this query.
func DescribeTools(query, preset string) ([]byte, error) {
	d := &mcp.Door{Toolsets: toolsets, Daily: compactTools}
	catalog := Describe() // which makes the resources known
	agent := account.Agent{Permissions: agent.PresetPermissions(preset)}
	return d.List(catalog, query, agent.AllowedPermissions())
}

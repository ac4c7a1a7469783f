package app

import (
	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/door/mcp"
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

// DescribeTools is the list of tools that the client of an agent with a preset gets from /mcp
// with this query.
func DescribeTools(query, preset string) ([]byte, error) {
	d := &mcp.Door{Toolsets: toolsets, Daily: compactTools}
	catalog := Describe() // which makes the resources known
	agent := account.Agent{Permissions: agent.PresetPermissions(preset)}
	return d.List(catalog, query, agent.AllowedPermissions())
}

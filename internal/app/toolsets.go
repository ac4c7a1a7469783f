package app

import "frontdesk/internal/door/mcp"

// toolsets are names under which agents' clients ask for the tools of several
// resources at once (/mcp?toolsets=mail,invoices), beside the resources' own names.
var toolsets = map[string][]string{
	"mail":   {"messages", "email_templates", "email_opt_ins"},
	"people": {"contacts", "customers", "email_opt_ins"},
	"sales":  {"customers", "invoices"},
}

// daily are the tools that a compact list of tools names directly.
var daily = []string{"contacts_list", "contacts_get", "contacts_create", "tasks_list", "tasks_create",
	"threads_list", "messages_list", "messages_get", "messages_create", "invoices_list", "proposals_get"}

// Tools is what an agent's client with every right is told of the tools at /mcp with
// this query.
func Tools(query string) ([]byte, error) {
	d := &mcp.Door{Toolsets: toolsets, Daily: daily}
	return d.List(Describe(), query)
}

package app

import (
	"frontdesk/internal/door/console"
	"frontdesk/internal/door/oauth"
)

// console is the door for people.
func (a *App) console() *console.Door {
	s := &a.Settings
	d := &console.Door{Runner: a.Runner, Catalog: a.Catalog, Accounts: a.Accounts, Grants: a.Grants, Log: a.Log, BaseURL: s.BaseURL,
		Proxies: a.proxies(), Limits: s.RateLimit.ByPlan(), AgentLimits: s.AgentLimit.ByPlan()}
	if s.MCPListen != "" {
		d.AgentURL = oauth.Resource(s.MCPURL)
	}
	return d
}

package app

import (
	"frontdesk/internal/door/console"
	"frontdesk/internal/door/oauth"
	"frontdesk/internal/kernel/peer"
)

// console is the door for people.
func (a *App) console() *console.Door {
	s := &a.Settings
	proxies, err := peer.Parse(s.TrustedProxies)
	if err != nil {
		panic(err) // Settle has read them
	}
	d := &console.Door{Runner: a.Runner, Catalog: a.Catalog, Accounts: a.Accounts, Grants: a.Grants, Log: a.Log, BaseURL: s.BaseURL,
		Proxies: proxies, Limits: s.RateLimit.ByPlan(), AgentLimits: s.AgentLimit.ByPlan()}
	if s.MCPListen != "" {
		d.AgentURL = oauth.Resource(s.MCPURL)
	}
	return d
}

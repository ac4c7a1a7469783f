package app

import (
	"context"

	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/door/console"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/door/desk/files"
	"frontdesk/internal/door/desk/house"
	"frontdesk/internal/door/desk/mail"
	"frontdesk/internal/door/desk/money"
	"frontdesk/internal/door/desk/overview"
	"frontdesk/internal/door/desk/people"
	"frontdesk/internal/door/desk/web"
	"frontdesk/internal/door/desk/work"
	"frontdesk/internal/door/oauth"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
)

// newConsole is the door for people: signing in, the account, and the desk.
func (a *App) newConsole() *console.Door {
	s := &a.Settings
	d := &console.Door{Desk: a.newDesk(), Runner: a.Runner, Catalog: a.Catalog, Accounts: a.Accounts, Grants: a.Grants,
		Log:     a.Log,
		BaseURL: s.BaseURL,
		Proxies: a.trustedProxies(), Allowances: a.planAllowances(), Storage: s.StorageLimit.LimitsByPlan()}
	if s.PaymentsProvider == stripe.Name {
		d.CardsAt = s.Stripe.CheckoutURL
	}
	if s.MCPListen != "" {
		d.AgentURL = oauth.ResourceURL(s.MCPURL)
	}
	return d
}

// newDesk is the pages for the daily work. Each package adds its own.
func (a *App) newDesk() *desk.Desk {
	d := &desk.Desk{
		Runner:  a.Runner,
		Catalog: a.Catalog,
		Log:     a.Log,
		BaseURL: a.Settings.BaseURL,
		Live:    &desk.Live{Follower: a.Follower, Catalog: a.Catalog, Session: a.Accounts.SessionByToken},
	}
	people.Join(d)
	work.Join(d)
	house.Join(d)
	files.Join(d)
	money.Join(d)
	web.Join(d)
	mail.Join(d)
	overview.Join(d)
	return d
}

// planAllowances are the limits in which plans differ, each with its counter.
func (a *App) planAllowances() []console.Allowance {
	s := &a.Settings
	type look = func(context.Context, *db.Tx, id.ID, string) (limit.Verdict, error)
	noQueue := func(fn look) func(context.Context, id.ID, string) (limit.Verdict, int, error) {
		return func(ctx context.Context, org id.ID, plan string) (v limit.Verdict, waiting int, err error) {
			err = a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
				v, err = fn(ctx, tx, org, plan)
				return err
			})
			return v, 0, err
		}
	}
	return []console.Allowance{
		{Name: "API requests", ByPlan: s.RateLimit.LimitsByPlan(), Look: noQueue(a.REST.Allowance),
			Spent: "Requests are answered 429 and say how long to wait. All keys share it."},
		{Name: "Agent requests", ByPlan: s.AgentLimit.LimitsByPlan(), Look: noQueue(a.MCP.Allowance),
			Spent: "Tool calls are refused and say how long to wait; listing tools is free. All agents share it."},
		{Name: "Automation executions", ByPlan: s.AutomationLimit.LimitsByPlan(), Look: a.Automations.Allowance,
			Spent: "Nothing is lost: further executions wait their turn."},
	}
}

package app

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/adapter/stripe"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/door/desk/agents"
	"frontdesk/internal/door/desk/automations"
	"frontdesk/internal/door/desk/files"
	"frontdesk/internal/door/desk/house"
	"frontdesk/internal/door/desk/mail"
	"frontdesk/internal/door/desk/money"
	"frontdesk/internal/door/desk/notices"
	"frontdesk/internal/door/desk/overview"
	"frontdesk/internal/door/desk/people"
	"frontdesk/internal/door/desk/review"
	"frontdesk/internal/door/desk/settings"
	"frontdesk/internal/door/desk/signin"
	"frontdesk/internal/door/desk/web"
	"frontdesk/internal/door/desk/work"
	"frontdesk/internal/door/oauth"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/resource/notification"
)

// newDesk is the door for people. Each room adds its own pages.
func (a *App) newDesk() *desk.Desk {
	s := &a.Settings
	d := &desk.Desk{
		Runner:   a.Runner,
		Catalog:  a.Catalog,
		Accounts: a.Accounts,
		Log:      a.Log,
		BaseURL:  s.BaseURL,
		Proxies:  a.trustedProxies(),
		Live: &desk.Live{Follower: a.Follower, Catalog: a.Catalog, Session: a.Accounts.SessionByToken,
			Unread: a.countUnread},
	}
	if s.MCPListen != "" {
		d.AgentURL = oauth.ResourceURL(s.MCPURL)
	}
	signin.Join(d)
	people.Join(d)
	work.Join(d)
	house.Join(d)
	files.Join(d)
	money.Join(d)
	web.Join(d)
	mail.Join(d)
	overview.Join(d)
	review.Join(d)
	notices.Join(d)
	automations.Join(d)
	agentRoom := &agents.Room{Grants: a.Grants}
	agentRoom.Join(d)
	accountRoom := &settings.Room{Allowances: a.planAllowances(), Storage: s.StorageLimit.LimitsByPlan(),
		Connections: agentRoom.ListConnections}
	if s.PaymentsProvider == stripe.Name {
		accountRoom.CardsAt = s.Stripe.CheckoutURL
	}
	accountRoom.Join(d)
	return d
}

// countUnread counts the notifications that the visitor of a page has not read.
func (a *App) countUnread(ctx context.Context, s *account.Session) (n int, err error) {
	err = a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		unread, err := notification.CountUnread(ctx, tx, account.CallerOfSession(s))
		n = unread.Unread
		return err
	})
	return n, err
}

// planAllowances are the limits in which plans differ, each with its counter.
func (a *App) planAllowances() []settings.Allowance {
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
	return []settings.Allowance{
		{Name: "API requests", ByPlan: s.RateLimit.LimitsByPlan(), Look: noQueue(a.REST.Allowance),
			Spent: "Requests are answered 429 and say how long to wait. All keys share it."},
		{Name: "Agent requests", ByPlan: s.AgentLimit.LimitsByPlan(), Look: noQueue(a.MCP.Allowance),
			Spent: "Tool calls are refused and say how long to wait; listing tools is free. All agents share it."},
		{Name: "Automation executions", ByPlan: s.AutomationLimit.LimitsByPlan(), Look: a.Automations.Allowance,
			Spent: "Nothing is lost: further executions wait their turn."},
	}
}

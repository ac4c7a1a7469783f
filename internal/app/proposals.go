package app

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/door/mcp"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/automation"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/proposal"
)

// openProposals creates what agents propose and people decide.
func (a *App) openProposals() {
	a.Proposals = proposal.New(proposal.Config{
		DB:      a.DB,
		Clock:   a.Clock,
		Log:     a.Log,
		Jobs:    a.Jobs,
		Events:  a.Events,
		Runner:  a.Runner,
		Catalog: a.Catalog,
		Makers:  proposalMakers{a.Accounts, a.Automations},
		Seal:    a.seal,
		Notify:  a.notifyReviewers,
		Names: map[string]func(ctx context.Context, tx *db.Tx, org, listener id.ID) (string, error){
			"automation": a.Automations.NameOf,
			"webhook":    a.Webhooks.NameOf,
		},
		BaseURL:    a.Settings.BaseURL,
		DeletedFor: a.Settings.Retention.Deleted,
	})
	a.Proposals.Handle()
	a.Runner.Meter = a.Proposals.Meter
}

// proposalMakers finds who made a proposal, to run it as them: a user, key or agent, or an
// automation.
type proposalMakers struct {
	accounts    *account.Accounts
	automations *automation.Service
}

func (m proposalMakers) MakerAsCaller(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*op.Caller,
	error) {
	if kind == op.AutomationActor {
		return m.automations.CallerFor(ctx, org, maker)
	}
	return m.accounts.MakerAsCaller(ctx, org, kind, maker)
}

// notifyReviewers mails those who want to hear what waits for a decision.
func (a *App) notifyReviewers(ctx context.Context, tx *db.Tx, org id.ID, n proposal.Notice) error {
	content, err := renderNotice("Something waits for your decision", []string{
		"An agent proposes: " + n.Title,
		"Look at it and decide: " + n.URL,
	}, a.Settings.BaseURL, "you asked for it; the Review page has a switch to end it")
	if err != nil {
		return err
	}
	cause := event.Event{Organization: org, At: a.Clock.Now()}.BySystem()
	for _, to := range n.To {
		if !op.IsEmailAddress(to) {
			continue
		}
		if _, err := a.Messages.Post(ctx, tx, cause, message.Outgoing{To: []string{to}, Content: content}); err != nil {
			return err
		}
	}
	return nil
}

// agentProposals gives the door of agents the proposals in its own form.
type agentProposals struct{ proposals *proposal.Service }

func (a agentProposals) Find(ctx context.Context, o *op.Op, q op.Request) (*mcp.Proposal, error) {
	v, err := a.proposals.Find(ctx, o, q)
	return toAgentProposal(v, false, err)
}

func (a agentProposals) Propose(ctx context.Context, o *op.Op, q op.Request, because, text string) (*mcp.Proposal,
	error) {
	v, made, err := a.proposals.Propose(ctx, o, q, because, text)
	return toAgentProposal(v, made, err)
}

// toAgentProposal is a proposal as the door of agents shows it. made says that it is new.
func toAgentProposal(v *proposal.Proposal, made bool, err error) (*mcp.Proposal, error) {
	if err != nil || v == nil {
		return nil, err
	}
	body, err := v.Answer()
	return &mcp.Proposal{ID: v.ID, New: made, Waiting: v.Status == proposal.Pending, URL: v.ApprovalURL,
		Summary: v.Summary(), Body: body, Sight: v.Sight()}, err
}

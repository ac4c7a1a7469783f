package automation

import (
	"context"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// An automation acts for whoever last changed its steps, or for the user behind
// that key or agent. When that user leaves the organization, package account
// lists what they made, and each automation is paused or taken over by somebody.

var _ account.Keeper = (*Service)(nil)

// MadeBy lists the active automations that act for a user.
func (s *Service) MadeBy(ctx context.Context, tx *db.Tx, org, user id.ID) ([]account.Holding, error) {
	return db.QueryAll[account.Holding](ctx, tx, `
		SELECT id, 'automation' AS kind, name, status FROM automations
		WHERE organization_id = $1 AND maker_user_id = $2 AND status = 'active' AND deleted_at IS NULL
		ORDER BY created_at, seq`, org, user)
}

// TakeOver makes an automation act for the caller, who must be allowed to take
// each of its steps.
func (s *Service) TakeOver(ctx context.Context, c *op.Call, automation id.ID) error {
	return s.modifyAutomation(ctx, c, automation, func(v *Automation) error { return s.setMaker(ctx, c, v) })
}

// Stop pauses an automation whose maker leaves.
func (s *Service) Stop(ctx context.Context, c *op.Call, automation id.ID) error {
	return s.modifyAutomation(ctx, c, automation, func(v *Automation) error {
		v.Status = statusPaused
		if err := s.armTrigger(ctx, c, v); err != nil {
			return err
		}
		return cancelExecutions(ctx, c, v.ID, "The maker of the automation left the organization.", queued, running)
	})
}

// modifyAutomation locks an automation, changes and saves it, and emits the event.
func (s *Service) modifyAutomation(ctx context.Context, c *op.Call, automation id.ID,
	change func(*Automation) error) error {
	v, err := automations.Lock(ctx, c.Tx, c.Org, automation)
	if err != nil {
		return err
	}
	if v.Steps, err = NormalizeSteps(v.Steps); err != nil { // PostgreSQL reformats JSON
		return err
	}
	if err := change(v); err != nil {
		return err
	}
	v.UpdatedAt = c.Now
	if err := automations.Save(ctx, c.Tx, v); err != nil {
		return err
	}
	return c.Emit("automation.updated", v.ID, v)
}

package webhook

import (
	"context"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// A webhook belongs to its maker, who last set its URL or enabled it. When the
// maker leaves the organization, the webhook is disabled or somebody takes it
// over. While the maker is disabled, nothing is sent to it.

var _ account.Keeper = (*Service)(nil)

// MadeBy lists the active webhooks that belong to a user.
func (s *Service) MadeBy(ctx context.Context, tx *db.Tx, org, user id.ID) ([]account.Holding, error) {
	return db.QueryAll[account.Holding](ctx, tx, `
		SELECT id, 'webhook' AS kind, url AS name, status FROM webhooks
		WHERE organization_id = $1 AND maker_user_id = $2 AND status = 'active' AND deleted_at IS NULL
		ORDER BY created_at, seq`, org, user)
}

// TakeOver makes the caller the maker of a webhook.
func (s *Service) TakeOver(ctx context.Context, c *op.Call, webhook id.ID) error {
	return s.modifyWebhook(ctx, c, webhook, func(v *Webhook) error {
		v.MakerUserID = c.Caller.UserIDOrNil()
		return nil
	})
}

// Stop disables a webhook whose maker leaves.
func (s *Service) Stop(ctx context.Context, c *op.Call, webhook id.ID) error {
	return s.modifyWebhook(ctx, c, webhook, func(v *Webhook) error {
		why := reasonMakerLeft
		v.Status, v.DisabledReason = statusDisabled, &why
		if err := s.cancelWaiting(ctx, c.Tx, v); err != nil {
			return err
		}
		return v.updateListener(ctx, c.Tx)
	})
}

// modifyWebhook locks a webhook, changes it, and saves it with an event.
func (s *Service) modifyWebhook(ctx context.Context, c *op.Call, webhook id.ID, change func(*Webhook) error) error {
	v, err := webhooks.Lock(ctx, c.Tx, c.Org, webhook)
	if err != nil {
		return err
	}
	if err := change(v); err != nil {
		return err
	}
	v.UpdatedAt = c.Now
	if err := webhooks.Save(ctx, c.Tx, v); err != nil {
		return err
	}
	return c.Emit("webhook.updated", v.ID, v)
}

// suspendedRecheck is how long to wait before checking again whether a webhook's
// maker is enabled.
const suspendedRecheck = time.Minute

// isSuspended reports whether the maker of a webhook is disabled or has left.
func (v *Webhook) isSuspended(ctx context.Context, tx *db.Tx) (bool, error) {
	if v.MakerUserID == nil {
		return false, nil
	}
	is, err := account.IsActiveMember(ctx, tx, v.OrganizationID, *v.MakerUserID)
	return !is, err
}

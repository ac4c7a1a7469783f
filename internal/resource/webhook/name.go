package webhook

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// NameOf is what people know a webhook by: its URL. It is empty when the webhook is gone.
func (s *Service) NameOf(ctx context.Context, tx *db.Tx, org, webhook id.ID) (string, error) {
	urls, err := db.QueryAll[string](ctx, tx, "SELECT url FROM webhooks WHERE organization_id = $1 AND id = $2", org,
		webhook)
	if err != nil || len(urls) == 0 {
		return "", err
	}
	return urls[0], nil
}

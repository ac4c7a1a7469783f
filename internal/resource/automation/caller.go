package automation

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// NameOf is the name of an automation, or empty when it is gone.
func (s *Service) NameOf(ctx context.Context, tx *db.Tx, org, automation id.ID) (string, error) {
	names, err := db.QueryAll[string](ctx, tx, "SELECT name FROM automations WHERE organization_id = $1 AND id = $2",
		org, automation)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return names[0], nil
}

// CallerFor is an automation as it would act now: with the permissions that its
// maker had when the steps were written, as far as the maker still has them.
func (s *Service) CallerFor(ctx context.Context, org, automation id.ID) (*op.Caller, error) {
	var v *Automation
	err := s.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = automations.Get(ctx, tx, org, automation)
		return err
	})
	if err != nil {
		return nil, err
	}
	var maker id.ID
	if v.MakerID != nil {
		maker = *v.MakerID
	}
	found, err := s.makers.MakerAsCaller(ctx, org, op.ActorKind(v.MakerKind), maker)
	if err != nil {
		return nil, err
	}
	c := *found
	c.Kind, c.ID, c.Role, c.Chain = op.AutomationActor, v.ID, "", []id.ID{v.ID}
	c.Permissions &= op.ParseCells(v.Permissions)
	if c.User == "" && v.MakerUserID != nil {
		c.User = *v.MakerUserID
	}
	return &c, nil
}

package account

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// SetupPrefix begins the token of the first-run link.
const SetupPrefix = "fdu_"

// CreateSetupLink creates the link with which the first owner sets up the service. It
// returns an empty string once there is an organization. A new link replaces the
// previous one, so that only the last one printed works.
func (a *Accounts) CreateSetupLink(ctx context.Context) (string, error) {
	token := secret.NewToken(SetupPrefix)
	hash := secret.HashToken(token)
	empty := false
	err := a.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if empty, err = hasNoOrganization(ctx, tx); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, "DELETE FROM setup_links"); err != nil || !empty {
			return err
		}
		_, err = db.Exec(ctx, tx, "INSERT INTO setup_links (hash, created_at) VALUES ($1, $2)", hash[:], a.clock.Now())
		return err
	})
	if err != nil || !empty {
		return "", err
	}
	return a.config.BaseURL + "/setup/" + token, nil
}

func hasNoOrganization(ctx context.Context, tx *db.Tx) (bool, error) {
	_, err := db.QueryOne[int](ctx, tx, "SELECT 1 FROM organizations LIMIT 1")
	if errors.Is(err, db.ErrNoRow) {
		return true, nil
	}
	return false, err
}

// CheckSetupLink refuses a first-run link that is used or not the current one.
func (a *Accounts) CheckSetupLink(ctx context.Context, token string) error {
	return a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error { return checkSetupLink(ctx, tx, token) })
}

var errSetupLinkGone = fault.NotFound.Say("This link was used, or a newer one replaced it. As long as its database " +
	"is empty, the server prints a new one when it starts, and so does frontdesk admin setup-link.")

func checkSetupLink(ctx context.Context, tx *db.Tx, token string) error {
	hash := secret.HashToken(token)
	_, err := db.QueryOne[int](ctx, tx, "SELECT 1 FROM setup_links WHERE hash = $1", hash[:])
	if errors.Is(err, db.ErrNoRow) {
		return errSetupLinkGone
	}
	return err
}

func (a *Accounts) setupOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:     "organizations.set_up",
			Summary:  "Create the first organization, its business and its owner, and sign the owner in.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Status:   201,
			Secret:   true,
			Events:   []string{"organization.created", "business.created", "user.created", "session.created"},
			Example: `{"token": "fdu_0000000000000000000000000000000000000000", "organizationName": "Analytical ` +
				`Engines", ` +
				`"name": "Ada Lovelace", "email": "ada@example.com", "password": "a long sentence"}`,
		}, a.setUpFirstOrganization),
	}
}

type organizationSetUp struct {
	Token            string  `json:"token"`
	OrganizationName string  `json:"organizationName" min:"1"`
	BusinessName     *string `json:"businessName" min:"1" doc:"by default the organization's name"`
	Name             string  `json:"name" min:"1"`
	Email            string  `json:"email" format:"email"`
	Password         string  `json:"password" max:"1000"`
	Origin
}

// setUpFirstOrganization is one transaction: either the owner, the organization and the business
// all exist, or the link still works.
func (a *Accounts) setUpFirstOrganization(ctx context.Context, c *op.Call, in organizationSetUp) (*NewSession, error) {
	// The link comes first: only its holder may make the server hash a password.
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error { return checkSetupLink(ctx, tx, in.Token) })
	if err != nil {
		return nil, err
	}
	password, err := a.hashStrangersPassword(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		// Deleting the row claims the link; a second request finds none.
		hash := secret.HashToken(in.Token)
		n, err := db.Exec(ctx, c.Tx, "DELETE FROM setup_links WHERE hash = $1", hash[:])
		if err != nil {
			return nil, err
		}
		empty, err := hasNoOrganization(ctx, c.Tx)
		if err != nil {
			return nil, err
		}
		if n == 0 || !empty {
			return nil, errSetupLinkGone
		}
		user := id.New()
		c.Caller = &op.Caller{Kind: op.UserActor, ID: user}
		// Plans are for operators who host others. The owner of a new server is
		// not limited by one.
		org := organizationCreate{Name: in.OrganizationName, BusinessName: in.BusinessName, Plan: "enterprise"}
		if _, err := a.createOrganization(ctx, c, org); err != nil {
			return nil, err
		}
		owner := newUser{id: user, email: in.Email, name: in.Name, passwordHash: &password}
		if err := insertUser(ctx, c, owner); err != nil {
			return nil, err
		}
		if _, err := a.joinOrganization(ctx, c, user, "owner"); err != nil {
			return nil, err
		}
		return a.beginSession(ctx, c, user, in.Origin, "")
	})
}

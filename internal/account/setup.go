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

// SetupLink is where the first owner sets the service up, on an empty
// database; otherwise it is empty. A new link replaces the one before: the
// one that somebody reads is the last that was printed.
func (a *Accounts) SetupLink(ctx context.Context) (string, error) {
	token := secret.NewToken(SetupPrefix)
	hash := secret.Hash(token)
	empty := false
	err := a.db.Write(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if empty, err = noOrganization(ctx, tx); err != nil {
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

func noOrganization(ctx context.Context, tx *db.Tx) (bool, error) {
	_, err := db.One[int](ctx, tx, "SELECT 1 FROM organizations LIMIT 1")
	if errors.Is(err, db.ErrNone) {
		return true, nil
	}
	return false, err
}

// SetupOpen refuses a first-run link that is not the current one, or that was used.
func (a *Accounts) SetupOpen(ctx context.Context, token string) error {
	return a.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error { return setupOpen(ctx, tx, token) })
}

var errSetupGone = fault.NotFound.Say("This link was used, or a newer one replaced it. As long as there is nothing " +
	"in its database, the server prints a new one at its start, and so does frontdesk admin setup-link.")

func setupOpen(ctx context.Context, tx *db.Tx, token string) error {
	hash := secret.Hash(token)
	_, err := db.One[int](ctx, tx, "SELECT 1 FROM setup_links WHERE hash = $1", hash[:])
	if errors.Is(err, db.ErrNone) {
		return errSetupGone
	}
	return err
}

func (a *Accounts) setupOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{Name: "organizations.set_up", Summary: "Make the first organization, its business and its owner, who is then signed in.",
			Resource: op.Free, Doors: op.Console, Public: true, Status: 201, Secret: true,
			Events:  []string{"organization.created", "business.created", "user.created", "session.created"},
			Example: `{"token": "fdu_0000000000000000000000000000000000000000", "organizationName": "Analytical Engines", "name": "Ada Lovelace", "email": "ada@example.com", "password": "a long sentence"}`}, a.setUp),
	}
}

type organizationSetUp struct {
	Token            string  `json:"token"`
	OrganizationName string  `json:"organizationName" min:"1"`
	BusinessName     *string `json:"businessName" min:"1" doc:"by default the organization's name"`
	Browser          string  `json:"browser" default:""`
	Name             string  `json:"name" min:"1"`
	Email            string  `json:"email" format:"email"`
	Password         string  `json:"password" max:"1000"`
}

// setUp is one transaction: the owner, the organization and the business are
// there together, or the link still works.
func (a *Accounts) setUp(ctx context.Context, c *op.Call, in organizationSetUp) (*NewSession, error) {
	// The link first: only who has it may make the server hash a password.
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) error { return setupOpen(ctx, tx, in.Token) })
	if err != nil {
		return nil, err
	}
	password, err := a.choosePassword(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*NewSession, error) {
		// Whoever deletes the row holds the link; a second one finds none.
		hash := secret.Hash(in.Token)
		n, err := db.Exec(ctx, c.Tx, "DELETE FROM setup_links WHERE hash = $1", hash[:])
		if err != nil {
			return nil, err
		}
		empty, err := noOrganization(ctx, c.Tx)
		if err != nil {
			return nil, err
		}
		if n == 0 || !empty {
			return nil, errSetupGone
		}
		user := id.New()
		c.Caller = &op.Caller{Kind: op.User, ID: user}
		// Plans are for those who host others. Whoever sets a server up is not
		// held back by one.
		org := organizationCreate{Name: in.OrganizationName, BusinessName: in.BusinessName, Plan: "enterprise"}
		if _, err := a.createOrganization(ctx, c, org); err != nil {
			return nil, err
		}
		if err := insertUser(ctx, c, user, in.Email, in.Name, password, nil); err != nil {
			return nil, err
		}
		if _, err := a.join(ctx, c, user, "owner"); err != nil {
			return nil, err
		}
		return a.begin(ctx, c, user, in.Browser)
	})
}

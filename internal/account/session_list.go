package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// OpenSession is a browser in which a user is signed in.
type OpenSession struct {
	ID        id.ID      `json:"id"`
	CreatedAt clock.Time `json:"createdAt"`
	UsedAt    clock.Time `json:"usedAt" doc:"to the hour"`
	UserAgent string     `json:"userAgent" max:"500" doc:"what the browser called itself; empty if unknown"`
	Address   string     `json:"address" doc:"where the sign-in came from; empty if unknown"`
	Factor    Factor     `json:"factor"`
	Current   bool       `json:"current" doc:"the one that asks"`
}

func (a *Accounts) sessionListOperations() []*op.Op {
	const token = `"token": "fds_0000000000000000000000000000000000000000"`
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "sessions.list",
			Summary:  "List the browsers in which you are signed in, the last used first.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Example:  `{` + token + `}`,
		}, a.listSessions),
		op.Write(op.Spec{
			Name:     "sessions.end",
			Summary:  "End one of your sessions.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Status:   204,
			Events:   []string{"session.deleted"},
			Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"}`,
		}, a.endSession),
		op.Write(op.Spec{
			Name:     "sessions.end_others",
			Summary:  "End all of your other sessions.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Status:   204,
			Events:   []string{"session.deleted"},
			Example:  `{` + token + `}`,
		}, a.endOtherSessions),
	}
}

type sessionList struct {
	Token string `json:"token" doc:"the session that asks"`
	op.Page
}

func (a *Accounts) listSessions(ctx context.Context, c *op.Call, in sessionList) (*op.List[OpenSession], error) {
	hash := secret.HashToken(in.Token)
	rows, err := db.QueryAll[OpenSession](ctx, c.Tx, `
		SELECT id, created_at, used_at, user_agent, address, factor, hash = $2
		FROM sessions
		WHERE user_id = $1 AND expires_at > $3
		ORDER BY used_at DESC, seq DESC LIMIT $4 OFFSET $5`, c.Caller.ID, hash[:], c.Now, in.Limit, in.Offset)
	return op.NewList(in.Page, rows), err
}

// endSession ends a session of the caller, whichever organization it looks at.
func (a *Accounts) endSession(ctx context.Context, c *op.Call, in byID) (op.Nothing, error) {
	rows, err := db.QueryAll[SignedIn](ctx, c.Tx, `
		DELETE FROM sessions
		WHERE id = $1 AND user_id = $2
		RETURNING `+signedInColumns, in.ID, c.Caller.ID)
	if err == nil && len(rows) == 0 {
		err = db.AsNotFound(db.ErrNoRow, "session")
	}
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, emitSessionsEnded(c, rows)
}

// endOtherSessions also forgets sign-ins that wait for a second factor: somebody
// who knows the password may have begun them.
func (a *Accounts) endOtherSessions(ctx context.Context, c *op.Call, in ofSession) (op.Nothing, error) {
	if err := lockActiveUser(ctx, c.Tx, c.Caller.ID); err != nil {
		return op.Nothing{}, err
	}
	hash := secret.HashToken(in.Token)
	rows, err := db.QueryAll[SignedIn](ctx, c.Tx, `
		DELETE FROM sessions
		WHERE user_id = $1 AND hash <> $2
		RETURNING `+signedInColumns, c.Caller.ID, hash[:])
	if err != nil {
		return op.Nothing{}, err
	}
	if err := endSessionsExcept(ctx, c.Tx, c.Caller.ID, in.Token); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, emitSessionsEnded(c, rows)
}

func emitSessionsEnded(c *op.Call, rows []SignedIn) error {
	for i := range rows {
		c.Org = rows[i].OrganizationID
		if err := c.Emit("session.deleted", rows[i].ID, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

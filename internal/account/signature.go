package account

import (
	"context"
	"net/http"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"
)

// Signature is what a member's mails end with, in one organization.
type Signature struct {
	Text string `json:"text" max:"2000"`
}

// signatureOperations are the desk's alone: a program writes its own mails.
func signatureOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "signature.get",
			Summary:  "Read what your mails end with.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Example:  `{}`,
		}, getSignature),
		op.Write(op.Spec{
			Name:     "signature.save",
			Summary:  "Set what your mails end with.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Status:   http.StatusNoContent,
			Events:   []string{"user.signature_changed"},
			Example:  `{"text": "Ada Lovelace\nEngines"}`,
		}, saveSignature),
	}
}

func getSignature(ctx context.Context, c *op.Call, _ struct{}) (*Signature, error) {
	text, err := db.QueryOne[string](ctx, c.Tx, `
		SELECT COALESCE(signature, '') FROM memberships
		WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`, c.Org, c.Caller.User)
	return &Signature{Text: text}, db.AsNotFound(err, "member")
}

func saveSignature(ctx context.Context, c *op.Call, in Signature) (op.Nothing, error) {
	_, err := db.Exec(ctx, c.Tx, `
		UPDATE memberships SET signature = $3, updated_at = $4
		WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NULL`, c.Org, c.Caller.User, in.Text, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("user.signature_changed", c.Caller.User, &in)
}

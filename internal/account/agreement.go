package account

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Acceptance records that a business accepted one version of an agreement.
type Acceptance struct {
	op.Record
	BusinessID id.ID  `json:"businessId"`
	Kind       string `json:"kind" enum:"business,domain"`
	Version    string `json:"version"`
	UserID     id.ID  `json:"userId"`
	Source     string `json:"source" enum:"console,cli"`
}

var acceptances = db.NewTable[Acceptance]("agreements", db.Life{
	Noun:         "agreement",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("business_id", "businesses", db.Keeps),
		db.RefTo("user_id", "users", db.Keeps),
	},
	Permanent: true,
})

func (a *Accounts) agreementOperations() []*op.Op {
	return []*op.Op{
		WriteByManager(op.Spec{
			Name:     "agreements.accept",
			Summary:  "Accept the current version of an agreement for a business.",
			Resource: op.Account,
			Doors:    Doors,
			Events:   []string{"agreement.accepted"},
			Example: `{"businessId": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "kind": "business", "by": ` +
				`"ada@example.com"}`,
		}, a.acceptAgreement),
		// Any member may see whether a missing agreement blocks them.
		op.Read(op.Spec{
			Name:     "agreements.list",
			Summary:  "Show which agreements each business has accepted.",
			Resource: op.Unrestricted,
			Doors:    Doors,
			Example:  `{"kind": "business"}`,
		}, a.listAgreements),
	}
}

type agreementAccept struct {
	BusinessID id.ID   `json:"businessId"`
	Kind       string  `json:"kind" enum:"business,domain"`
	Version    *string `json:"version" doc:"the version that was read; refused if it is not current"`
	By         *string `json:"by" doc:"for the operator: email of the owner or admin who accepts"`
}

// DomainAgreement is the agreement that registering domains needs.
const DomainAgreement = "domain"

var domainAgreements = []string{DomainAgreement}

// AcceptedAgreements are those that a caller's business accepted beside the business
// agreement, without which it may not act at all.
func AcceptedAgreements(domains bool) []string {
	if domains {
		return domainAgreements
	}
	return nil
}

// currentVersion is the current version of an agreement.
func (a *Accounts) currentVersion(kind string) string {
	if kind == DomainAgreement {
		return a.config.DomainAgreement
	}
	return a.config.BusinessAgreement
}

// acceptAgreement records the acceptance by an owner or admin in the console, or by the
// operator on behalf of a named one. Accepting twice changes nothing.
func (a *Accounts) acceptAgreement(ctx context.Context, c *op.Call, in agreementAccept) (*Acceptance, error) {
	if current := a.currentVersion(in.Kind); in.Version != nil && *in.Version != current {
		return nil, fault.Field("version",
			"The current version is now "+current+". Nothing was accepted; read that version first")
	}
	if err := db.Lock(ctx, c.Tx, "businesses", c.Org, in.BusinessID); err != nil {
		return nil, db.AsNotFound(err, "business")
	}
	row := &Acceptance{Record: c.NewRecord(), BusinessID: in.BusinessID, Kind: in.Kind,
		Version: a.currentVersion(in.Kind), UserID: c.Caller.ID, Source: "console"}
	if c.Door == op.AdminDoor {
		if in.By == nil {
			return nil, fault.Field("by", "Required: the email of the owner or admin who accepts")
		}
		who, err := findManager(ctx, c, *in.By, "accept an agreement")
		if err != nil {
			return nil, err
		}
		row.UserID, row.Source = who.ID, "cli"
	}
	before, err := db.QueryAll[Acceptance](ctx, c.Tx, `SELECT `+acceptances.Columns()+` FROM agreements
		WHERE organization_id = $1 AND business_id = $2 AND kind = $3 AND version = $4 AND deleted_at IS NULL`, c.Org,
		in.BusinessID, in.Kind, row.Version)
	if err != nil {
		return nil, err
	}
	if len(before) > 0 {
		return &before[0], nil
	}
	if err := acceptances.Insert(ctx, c.Tx, row); err != nil {
		return nil, err
	}
	a.ClearCallersOnCommit(c)
	return row, c.Emit("agreement.accepted", row.ID, row)
}

// Standing says whether a business has accepted an agreement.
type Standing struct {
	BusinessID   id.ID       `json:"businessId"`
	BusinessName string      `json:"businessName"`
	Kind         string      `json:"kind" enum:"business,domain"`
	Version      string      `json:"version" doc:"the current one"`
	AcceptedAt   *clock.Time `json:"acceptedAt" doc:"when the current version was accepted"`
	AcceptedBy   *string     `json:"acceptedBy"`
	Before       *string     `json:"before" doc:"the last accepted version, if it is another one"`
}

type agreementList struct {
	op.Page
	Kind string `query:"kind" default:"business" enum:"business,domain"`
}

func (a *Accounts) listAgreements(ctx context.Context, c *op.Call, in agreementList) (*op.List[Standing], error) {
	rows, err := db.QueryAll[Standing](ctx, c.Tx, `
		SELECT b.id, b.name, $2, $3, g.created_at, u.name,
			(SELECT p.version FROM agreements p WHERE p.organization_id = $1 AND p.business_id = b.id
				AND p.kind = $2 AND p.version <> $3 AND p.deleted_at IS NULL
				ORDER BY p.seq DESC LIMIT 1)
		FROM businesses b
		LEFT JOIN agreements g ON g.organization_id = $1 AND g.business_id = b.id AND g.kind = $2 AND g.version = $3
			AND g.deleted_at IS NULL
		LEFT JOIN users u ON u.id = g.user_id
		WHERE b.organization_id = $1 AND b.deleted_at IS NULL ORDER BY b.seq LIMIT $4 OFFSET $5`,
		c.Org, in.Kind, a.currentVersion(in.Kind), in.Limit, in.Offset)
	return op.NewList(in.Page, rows), err
}

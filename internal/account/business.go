package account

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Business belongs to an organization, which starts with one; keys, agents and
// agreements belong to a business. Its row is told here, because an
// organization is made with it; what can be done with businesses is in
// resource/business.
type Business struct {
	op.Record
	Name        string  `json:"name"`
	LegalName   *string `json:"legalName"`
	Description *string `json:"description" max:"10000"`
	Industry    *string `json:"industry"`
	Timezone    string  `json:"timezone" doc:"an IANA name, for example Europe/Berlin"`
	Locale      string  `json:"locale" doc:"a BCP 47 tag, for example en-US"`
	Currency    string  `json:"currency" doc:"ISO 4217 in lower case, for example usd"`
	LogoFileID  *id.ID  `json:"logoFileId"`
}

// Users are what acts for a business: the API keys that still work, and the agents.
type Users struct {
	APIKeys []id.ID `json:"apiKeyIds"`
	Agents  []id.ID `json:"agentIds"`
}

// None reports whether nothing acts for the business.
func (u *Users) None() bool { return len(u.APIKeys)+len(u.Agents) == 0 }

// UsersOf finds what acts for a business, a hundred of each at most.
func UsersOf(ctx context.Context, c *op.Call, business id.ID) (u Users, err error) {
	u.APIKeys, err = db.All[id.ID](ctx, c.Tx, `
		SELECT id FROM api_keys
		WHERE organization_id = $1 AND business_id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
		ORDER BY seq LIMIT 100`, c.Org, business, c.Now)
	if err != nil {
		return u, err
	}
	u.Agents, err = db.All[id.ID](ctx, c.Tx, `
		SELECT id FROM agents WHERE organization_id = $1 AND business_id = $2 AND deleted_at IS NULL
		ORDER BY seq LIMIT 100`, c.Org, business)
	return u, err
}

// Businesses is where they are.
var Businesses = db.NewTable[Business]("businesses", "business")

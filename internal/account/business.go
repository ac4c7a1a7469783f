package account

import (
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

// Businesses is where they are.
var Businesses = db.NewTable[Business]("businesses", "business")

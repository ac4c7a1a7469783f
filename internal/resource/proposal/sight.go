package proposal

import (
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Sight is what a proposal shows its maker.
func (v *Proposal) Sight() op.Sight {
	s := op.Sight{External: v.External}
	for i := range v.Effects {
		s.Opaque = s.Opaque || v.Effects[i].tellsOfSomebody()
	}
	return s
}

// tellsOfSomebody reports whether an effect shows what the house knows of somebody: the
// former values of a row, or a new one that is filled in from them.
func (e *Effect) tellsOfSomebody() bool {
	if e.Kind == Send || !db.TellsOfSomebody(e.ResourceType) {
		return false
	}
	var after struct {
		ContactID  *string `json:"contactId"`
		CustomerID *string `json:"customerId"`
	}
	if e.Kind != Create || json.Unmarshal(e.After, &after) != nil {
		return true
	}
	return after.ContactID != nil || after.CustomerID != nil
}

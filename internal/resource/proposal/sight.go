package proposal

import (
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// Sight tells the guard what a proposal shows its maker: whether outsiders wrote some
// of it, and whether it reveals what is known of other people.
func (v *Proposal) Sight() op.Exposure {
	s := op.Exposure{External: v.External}
	for i := range v.Effects {
		s.Opaque = s.Opaque || v.Effects[i].tellsOfSomebody()
	}
	return s
}

// tellsOfSomebody reports whether an effect shows what the organization knows of
// somebody: the former values of a row about a person, or a new row that is filled in
// from a contact or customer.
func (e *Effect) tellsOfSomebody() bool {
	if e.Kind == KindSend || !db.ConcernsCounterparty(e.ResourceType) {
		return false
	}
	var after struct {
		ContactID  *string `json:"contactId"`
		CustomerID *string `json:"customerId"`
	}
	if e.Kind != KindCreate || json.Unmarshal(e.After, &after) != nil {
		return true
	}
	return after.ContactID != nil || after.CustomerID != nil
}

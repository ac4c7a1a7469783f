package life

import (
	"fmt"
	"slices"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Two erasures clear references in the same order.
func TestErasureOrder(t *testing.T) {
	var first []db.Referrer
	for range 20 {
		e := &Erasure{clears: map[db.Referrer]map[id.ID]bool{}}
		for i := range 20 {
			e.clears[db.Referrer{Table: fmt.Sprint("t", i/2), Ref: db.RefTo(fmt.Sprint("c", i%2), "people")}] = nil
		}
		order := e.referrersToClear()
		if first == nil {
			first = order
		}
		if len(order) != 20 || !slices.Equal(order, first) {
			t.Fatalf("%v, and then %v", first, order)
		}
	}
}

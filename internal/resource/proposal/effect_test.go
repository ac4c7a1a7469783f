package proposal

import (
	"strings"
	"testing"

	"frontdesk/internal/kernel/event"

	"github.com/go-json-experiment/json"
)

// What an effect shows stands for one text alone, whatever the steps hold beside it.
func TestEffectTextIsNotForged(t *testing.T) {
	long := strings.Repeat("A long story. ", 500)
	short := cutWithDigest(long, maxShownText) // what the service writes, as somebody's own text
	for _, forged := range []string{short, "Pay. " + short[len(short)-70:], long + short[len(short)-70:]} {
		input, err := json.Marshal(map[string]string{"description": long, "text": forged})
		if err != nil {
			t.Fatal(err)
		}
		p := &Proposal{Steps: []ProposalStep{{Input: input}}}
		for _, n := range []int{maxShownText, maxMailText} {
			for _, text := range []string{long, forged} {
				if got, isWhole := p.WholeText(cutWithDigest(text, n)); got != text || !isWhole {
					t.Errorf("cut at %d, a text of %d bytes is shown as %d, %t", n, len(text), len(got), isWhole)
				}
			}
		}
		unknown := cutWithDigest(forged+"!"+short[len(short)-70:], maxMailText)
		if got, isWhole := p.WholeText(unknown); got != unknown || isWhole {
			t.Errorf("what no step has is shown as %d bytes, %t", len(got), isWhole)
		}
	}
}

// What is deleted is counted by what happens, whatever the sentence about it says.
func TestDeletionTotals(t *testing.T) {
	for kind, want := range map[string]int{
		"task.deleted": 1, "contact.erased": 1, "domain.dns_record.deleted": 1, "domain.email.deleted": 1,
		"task.created": 0, "domain.dns_record.created": 0, "domain.email.updated": 0, "webhook.tested": 0,
	} {
		e, err := effectOfEvent(event.Event{Type: kind, Data: []byte(`{"name": "x"}`)}, &newRowNames{}, false)
		if err != nil {
			t.Fatal(err)
		}
		e.Summary = "Done."
		if got := sumTotals([]Effect{*e}).Deletions; got != want {
			t.Errorf("%s is %d deletions, want %d", kind, got, want)
		}
	}
}

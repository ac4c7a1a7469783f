package account

import (
	"fmt"
	"testing"
	"time"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// A refusal costs the sender and never the account. Neither holds up a known
// browser.
func TestAttackRefusalsAreFree(t *testing.T) {
	var tries attempts
	now := time.Unix(1_000_000, 0)
	attempt := func(account, address string) error {
		return spendAllowances(t.Context(), tries.senderAllowances(account, address), now)
	}
	left := func(account string) int {
		return tries.accounts.Local.Peek(account, triesPerAccount, triesWindow, now).Remaining
	}

	// One address is refused after a few, and the account keeps most of its allowance.
	for i := range 100 {
		if err := attempt("ada", "hammer"); (err != nil) != (i >= triesPerPair) {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
	if got := left("ada"); got != triesPerAccount-triesPerPair {
		t.Errorf("one address left the account %d", got)
	}
	// The address paid for all of it, and is refused for other accounts too.
	if err := attempt("grace", "hammer"); !fault.IsKind(err, fault.RateLimited) {
		t.Errorf("an address that was refused %d times goes on: %v", 100-triesPerPair, err)
	}
	if err := attempt("ada", "elsewhere"); err != nil {
		t.Errorf("another address: %v", err)
	}

	// Many addresses use up the account's allowance. They pay for its refusals.
	for i := range 100 {
		attempt("ada", fmt.Sprint("bot ", i)) //nolint:errcheck // most are refused
	}
	if got := left("ada"); got != 0 {
		t.Errorf("%d are left", got)
	}
	v := tries.pairs.Local.Peek(addressAndAccount{"bot 99", "ada"}, triesPerPair, triesWindow, now)
	if v.Remaining != triesPerPair-1 {
		t.Errorf("a refusal by the account was free: %+v", v)
	}
	before := tries.accounts.Local.Peek("ada", triesPerAccount, triesWindow, now).Reset
	attempt("ada", "bot 1") //nolint:errcheck // it is refused
	if after := tries.accounts.Local.Peek("ada", triesPerAccount, triesWindow, now).Reset; after != before {
		t.Errorf("a refusal cost the account: %s, before %s", after, before)
	}

	// A known browser, also for another user of the same browser.
	ada, grace := id.New(), id.New()
	for i := range triesPerBrowser {
		if err := spendAllowances(t.Context(), tries.browserAllowances("token", ada), now); err != nil {
			t.Errorf("attempt %d in a known browser: %v", i, err)
		}
	}
	if err := spendAllowances(t.Context(), tries.browserAllowances("token", ada), now); err == nil {
		t.Error("a known browser may guess without end")
	}
	if err := spendAllowances(t.Context(), tries.browserAllowances("token", grace), now); err != nil {
		t.Errorf("somebody else in that browser: %v", err)
	}
	// Right passwords cost nothing.
	for range 100 {
		all := tries.senderAllowances("emmy", "home")
		if err := spendAllowances(t.Context(), all, now); err != nil {
			t.Fatal(err)
		}
		if err := refundAllowances(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
}

// A flood of strangers is turned away and leaves a place for a sign-in from a
// known browser.
func TestAttackHashingFlood(t *testing.T) {
	q := newHashQueue()
	var leave []func()
	for range cap(q.places) {
		out, err := q.waitForPlace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, out)
	}
	waiting := make(chan error, maxWaiting)
	for range maxWaiting {
		go func() {
			out, err := q.waitForPlace(t.Context())
			if err == nil {
				out()
			}
			waiting <- err
		}()
	}
	for q.waiting.Load() < maxWaiting {
		time.Sleep(time.Millisecond)
	}
	if _, err := q.waitForPlace(t.Context()); !fault.IsKind(err, fault.Unavailable) {
		t.Errorf("one more waits: %v", err)
	}
	for _, out := range leave {
		out()
	}
	for range maxWaiting {
		if err := <-waiting; err != nil {
			t.Errorf("who waited: %v", err)
		}
	}
}

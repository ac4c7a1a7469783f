package business_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/resource/business"
)

// A sender's name cannot be taken for an address, and nothing hidden is in it.
func TestSenderName(t *testing.T) {
	for name, want := range map[string]string{
		"Ada's Engines":                       "Ada's Engines",
		" Ada \t Lovelace\n":                  "Ada Lovelace",
		"ada@example.com":                     "ada at example.com",
		"Bank <info@bank.example>":            "Bank info at bank.example",
		"a\u202eb\u200bc\xff":                 "abc",
		strings.Repeat("ä", 120):              strings.Repeat("ä", business.MaxSenderName),
		strings.Repeat("a", 99) + " " + "bcd": strings.Repeat("a", 99),
	} {
		if got := business.SenderName(name); got == nil || *got != want {
			t.Errorf("%q gives %v, want %q", name, got, want)
		}
	}
	for _, name := range []string{"", " \t", "<>", "\u202e\u200b"} {
		if got := business.SenderName(name); got != nil {
			t.Errorf("%q gives %q", name, *got)
		}
	}
}

// A letterhead has what the business says of itself, and leaves out what it does not say.
func TestLetterhead(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		call := a.Door("rest", a.Tenant)
		letterhead := func() (l *business.Letterhead) {
			t.Helper()
			if err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
				l, err = business.LetterheadOf(ctx, tx, a.Org, a.Business)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return l
		}
		if l := letterhead(); l.Address != nil || l.Phone != nil || len(l.Lines) != 0 {
			t.Errorf("of a business that says nothing: %+v", l)
		}
		call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "legalName": "Engines Ltd"}`, a.Business)).OK(t, 200)
		for _, address := range []string{"1 First Street", "2 Second Street"} {
			call(t, "businesses.physical_presences.create", fmt.Sprintf(`{"id": %q, "name": "Office",
				"address": %q}`, a.Business, address)).OK(t, 201)
		}
		call(t, "businesses.profile.update", fmt.Sprintf(`{"id": %q, "phone": "020 7946 0018"}`, a.Business)).OK(t, 200)
		l := letterhead()
		if l.Address == nil || *l.Address != "1 First Street" || l.Phone == nil || *l.Phone != "020 7946 0018" ||
			!slices.Contains(l.Lines, "Engines Ltd") || !slices.Contains(l.Lines, "1 First Street") {
			t.Errorf("%+v", l)
		}
	})
}

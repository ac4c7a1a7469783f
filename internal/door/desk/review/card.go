package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/proposal"
)

// card is a proposal as a person decides on it. Its template is "review-card".
type card struct {
	proposal.Proposal
	Anchor, Path, Mark string
	Heading            string
	IsQuoted           bool // the heading is the maker's words
	Who                string
	Avatar             *desk.Avatar
	Asked              *desk.TimeText
	Words              string // the maker's reason, cut
	State              desk.Pill
	Shown              []shownStep
	Differences        []difference
	Progress           *proposal.UndoProgress // of a large undo
	Stays              []string               // of an undo: what stays as it is, and why
	Foot               string
	Button             string // what approving is called
	Open               bool   // it waits for a decision
	IsStale            bool   // it waits, and is not as it was shown
	Mine               bool   // it is a plan of the reader, to be carried out
	Decides            bool   // the reader may
	TooLong            bool   // the queue shows only its beginning, so it is decided on its own page
	On                 bool   // the current one of the queue
	Back               string // where its forms lead back to; empty for its own page
	Problem            string
}

// difference is a field that is no longer as it was shown.
type difference struct{ Word, Before, Now, Text string }

const (
	maxReason = 1000 // characters of the maker's reason on the page
	// maxQueued is how many effects the queue shows of a proposal.
	maxQueued = 20
)

// newCard tells all of a proposal; in a queue, its beginning.
func newCard(v *desk.Visit, names map[id.ID]string, p *proposal.Proposal, queued bool) (*card, error) {
	row := newReviewRow(v, names, *p)
	c := &card{Proposal: *p, Anchor: "p-" + string(p.ID), Path: reviewPath(p),
		Mark: "proposal." + string(p.ID) + "." + p.SHA256, Heading: row.Says, Who: row.Who, Avatar: row.Avatar,
		Asked: v.When(p.CreatedAt), State: row.State, Open: p.Status == proposal.Pending, IsStale: p.CanBeShownAnew(),
		Decides: v.May("proposals.approve"), Button: "Approve"}
	c.Mine = p.Status == proposal.Planned && p.MakerKind == "user" && p.MakerID != nil && *p.MakerID == v.Session.User
	if len(p.Steps)+len(p.LeftOut) > 1 {
		c.Heading, c.IsQuoted = desk.Visible(cut.Ellipsis(p.Title, 200)), true
	}
	if p.Reason != nil {
		c.Words = desk.Visible(cut.Ellipsis(*p.Reason, maxReason))
	}
	if queued && len(p.Effects) > maxQueued {
		c.TooLong, p.Effects = true, p.Effects[:maxQueued]
	}
	var err error
	if c.Shown, err = tell(v, p); err != nil {
		return nil, err
	}
	if c.Progress, err = p.Progress(); err != nil {
		return nil, err
	}
	for _, s := range p.Skipped {
		c.Stays = append(c.Stays, v.SkippedWords(s))
	}
	switch {
	case len(p.LeftOut) > 0:
		c.Button = fmt.Sprintf("Approve %d of %d", len(p.Steps), len(p.Steps)+len(p.LeftOut))
	case p.Totals.Deletions > 0 && len(p.Steps) == 1:
		c.Button = "Delete"
	}
	c.Foot = c.footWords(v)
	c.Differences, err = tellDifferences(v, &c.Proposal)
	return c, err
}

// Deletes reports whether something is gone afterwards.
func (c *card) Deletes() bool { return c.Totals.Deletions > 0 }

// Size is how much of it there is, in a few words.
func (c *card) Size() string {
	words := []string{desk.Count(len(c.Steps)+len(c.LeftOut), "step", "steps")}
	if n := len(c.LeftOut); n > 0 {
		words = append(words, strconv.Itoa(n)+" left out")
	}
	if n := c.Totals.Mails; n > 0 {
		words = append(words, "mail to "+desk.Count(n, "address", "addresses"))
	}
	if c.Totals.AmountCents > 0 {
		words = append(words, "costs money")
	}
	return strings.Join(words, ", ")
}

// isForeseen reports whether its effects are all that happens: nothing of it runs elsewhere, and
// no automation goes on with it.
func (c *card) isForeseen() bool {
	return !slices.ContainsFunc(c.Effects, func(e proposal.Effect) bool {
		return !e.Rehearsed || e.Kind == proposal.KindCallOut ||
			slices.ContainsFunc(e.Triggers, func(t proposal.EffectTrigger) bool { return t.Kind == "automation" })
	})
}

// reachWords say what it costs and who gets mail, as far as that is known.
func (c *card) reachWords(v *desk.Visit) (words []string) {
	foreseen := c.isForeseen()
	if c.Totals.AmountCents > 0 && c.Totals.Currency != nil {
		words = append(words, "Costs "+v.Money(c.Totals.AmountCents, *c.Totals.Currency)+".")
	} else if foreseen {
		words = append(words, "Costs nothing.")
	}
	if n := c.Totals.Mails; n > 0 {
		words = append(words, desk.Capital(desk.Count(n, "address gets mail.", "addresses get mail.")))
	} else if foreseen {
		words = append(words, "Nobody gets mail.")
	}
	switch {
	case foreseen:
		return words
	case len(words) > 0:
		return append(words, "What else it costs and whom else it reaches is not known beforehand.")
	}
	return []string{"What it costs and whom it reaches is not known beforehand."}
}

// footWords sums up what it costs, whom it reaches, and how it is done.
func (c *card) footWords(v *desk.Visit) string {
	words := c.reachWords(v)
	together := true
	for _, s := range c.Steps {
		o := v.Catalog.Named(s.Operation)
		together = together && o != nil && o.CanJoinSeries()
	}
	switch {
	case len(c.Steps) > 1 && together:
		words = append(words, "All "+strconv.Itoa(len(c.Steps))+" steps happen, or none of them.")
	case len(c.Steps) > 1:
		words = append(words, "The steps are done one after the other; where one fails, those before it stay.")
	}
	if c.Open {
		words = append(words, "It waits until "+v.When(c.ExpiresAt).Exact+".")
	}
	return strings.Join(words, " ")
}

// tellDifferences says what is no longer as it was shown, with the words of the page.
func tellDifferences(v *desk.Visit, p *proposal.Proposal) ([]difference, error) {
	t := v.NewTeller()
	var out []difference
	for range 2 { // the second time the names are known
		out = nil
		for _, line := range p.Difference {
			d := proposal.ReadDifference(line)
			if d.Field == "" || d.Effect < 0 || d.Effect >= len(p.Effects) {
				out = append(out, difference{Text: desk.Capital(desk.Visible(d.Text))})
				continue
			}
			e := &p.Effects[d.Effect]
			fields := t.Fields(e.ResourceType, e.ResourceID, map[string]any{d.Field: d.Before},
				map[string]any{d.Field: d.Now})
			for _, c := range fields {
				out = append(out, difference{Word: c.Word, Before: c.Before, Now: c.After})
			}
		}
		if err := t.LoadNames(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

package proposal

import (
	"errors"
	"slices"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json/jsontext"
)

// Proposing something must not be a way to read what one may not read. A step that
// the maker may only propose may show such data in its effects. From the first such
// step on, everything is withheld from the maker until a person has approved: later
// steps could pass its values on, through placeholders or through rows.

// withholdFrom hides everything from step i on from the maker.
func (o *outcome) withholdFrom(i int) {
	if o.withheld < 0 || i < o.withheld {
		o.withheld = i
	}
}

// withheldText stands for what the maker may not read.
const withheldText = "Only the person who decides is shown this."

// withholdRefusal replaces a refusal whose text could reveal what the maker may not
// read.
func (o *outcome) withholdRefusal(err error) error {
	var step *op.StepError
	if !errors.As(err, &step) || o.withheld < 0 || step.Step < o.withheld || !op.IsRefusal(step.Err) ||
		slices.Contains([]*fault.Kind{TooLong, fault.RateLimited}, fault.FromError(step.Err).Kind) {
		return err
	}
	return &op.StepError{Step: step.Step, Err: withheldRefusal.New()}
}

var withheldRefusal = &fault.Kind{Code: "WITHHELD", Status: 409,
	Message: "Why is not told, because it is about what you may not read."}

// isReleased reports whether a person has approved it.
func (v *Proposal) isReleased() bool { return v.DecidedAt != nil && v.Status != Rejected }

// viewForMaker is the proposal as its maker may see it.
func (v *Proposal) viewForMaker() *Proposal {
	c := *v
	if v.WithheldFrom == nil || v.isReleased() {
		return &c
	}
	from := *v.WithheldFrom
	c.Withheld, c.Effects, c.Difference = true, []Effect{}, []string{}
	for _, e := range v.Effects {
		if e.Step < from {
			c.Effects = append(c.Effects, e)
		}
	}
	c.Totals = sumTotals(c.Effects)
	c.Steps = slices.Clone(v.Steps)
	for i := from; i < len(c.Steps); i++ {
		step := &c.Steps[i]
		step.Withheld, step.Result, step.Error = true, nil, nil
		c.Effects = append(c.Effects, Effect{Step: i, Kind: KindCallOut, Summary: withheldText,
			Before: jsontext.Value("{}"),
			After:  jsontext.Value("{}"), Recipients: []string{}, Triggers: []EffectTrigger{}, Withheld: true})
	}
	c.EffectsTotal = len(c.Effects)
	if len(v.Difference) > 0 {
		c.Difference = []string{withheldText}
	}
	return &c
}

// withheldProposal is a proposal as an event shows it when something is withheld. It
// is a type of its own so that the event log does not compare it with the stored row:
// the former values would reveal what is withheld.
type withheldProposal Proposal

// eventView is the proposal as an event shows it. Its maker may read events, so what is
// withheld from the maker is withheld here too.
func (v *Proposal) eventView() any {
	c := v.viewForMaker()
	if c.Withheld {
		return (*withheldProposal)(c)
	}
	return c
}

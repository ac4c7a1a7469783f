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

// withhold hides everything from step i on from the maker.
func (o *outcome) withhold(i int) {
	if o.withheld < 0 || i < o.withheld {
		o.withheld = i
	}
}

// notTold stands for what the maker may not read.
const notTold = "Only the person who decides is shown this."

// withholdRefusal replaces a refusal whose text could reveal what the maker may not
// read.
func (o *outcome) withholdRefusal(err error) error {
	var step *op.StepError
	if !errors.As(err, &step) || o.withheld < 0 || step.Step < o.withheld || !op.IsRefusal(step.Err) ||
		slices.Contains([]*fault.Kind{TooLong, fault.RateLimited}, fault.Of(step.Err).Kind) {
		return err
	}
	return &op.StepError{Step: step.Step, Err: withheldRefusal.New()}
}

var withheldRefusal = &fault.Kind{Code: "WITHHELD", Status: 409,
	Message: "Why is not told, because it is about what you may not read."}

// released reports whether a person has approved it.
func (v *Proposal) released() bool { return v.DecidedAt != nil && v.Status != Rejected }

// forMaker is the proposal as its maker may see it.
func (v *Proposal) forMaker() *Proposal {
	c := *v
	if v.WithheldFrom == nil || v.released() {
		return &c
	}
	from := *v.WithheldFrom
	c.Withheld, c.Effects, c.Difference = true, []Effect{}, []string{}
	for _, e := range v.Effects {
		if e.Step < from {
			c.Effects = append(c.Effects, e)
		}
	}
	c.Totals = totalsOf(c.Effects)
	c.Steps = slices.Clone(v.Steps)
	for i := from; i < len(c.Steps); i++ {
		step := &c.Steps[i]
		step.Withheld, step.Result, step.Error = true, nil, nil
		c.Effects = append(c.Effects, Effect{Step: i, Kind: CallOut, Summary: notTold, Before: jsontext.Value("{}"),
			After: jsontext.Value("{}"), Recipients: []string{}, Triggers: []EffectTrigger{}, Withheld: true})
	}
	c.EffectsTotal = len(c.Effects)
	if len(v.Difference) > 0 {
		c.Difference = []string{notTold}
	}
	return &c
}

// withheldProposal is a proposal as an event shows it when something is withheld. It
// is a type of its own so that the event log does not compare it with the stored row:
// the former values would reveal what is withheld.
type withheldProposal Proposal

// told is the proposal as an event shows it. Its maker may read events, so what is
// withheld from the maker is withheld here too.
func (v *Proposal) told() any {
	c := v.forMaker()
	if c.Withheld {
		return (*withheldProposal)(c)
	}
	return c
}

package notification

import (
	"context"

	"frontdesk/internal/account/agent"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

var _ = db.Declare("notification_choices", db.Life{
	Refs:      []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
	Permanent: true,
})

// Choice is whether a person wants to be told of a kind by a channel.
type Choice struct {
	Kind    Kind    `json:"kind"`
	Channel Channel `json:"channel" enum:"desk,mail,push"`
	Wanted  bool    `json:"wanted"`
}

// choices are what people chose otherwise than the default.
type choices map[choiceKey]bool

type choiceKey struct {
	user    id.ID
	kind    Kind
	channel Channel
}

// loadChoices reads the choices of some people.
func loadChoices(ctx context.Context, tx *db.Tx, org id.ID, users ...id.ID) (choices, error) {
	type row struct {
		User id.ID `db:"user_id"`
		Choice
	}
	rows, err := db.QueryAll[row](ctx, tx, `
		SELECT user_id, kind, channel, wanted FROM notification_choices
		WHERE organization_id = $1 AND user_id = ANY($2)`, org, users)
	out := choices{}
	for _, r := range rows {
		out[choiceKey{r.User, r.Kind, r.Channel}] = r.Wanted
	}
	return out, err
}

func (c choices) wants(user id.ID, kind Kind, channel Channel) bool {
	if wanted, chosen := c[choiceKey{user, kind, channel}]; chosen {
		return wanted
	}
	return infoOf(kind).byDefault(channel)
}

// Choices are what a person is told, and how.
type Choices struct {
	Choices       []Choice       `json:"choices" max:"1000"`
	Subscriptions []Subscription `json:"subscriptions" max:"1000" doc:"the browsers that take push messages"`
	PushKey       string         `json:"pushKey" doc:"what a browser needs to subscribe"`
}

func (s *Service) getChoices(ctx context.Context, c *op.Call, _ struct{}) (*Choices, error) {
	chosen, err := loadChoices(ctx, c.Tx, c.Org, c.Caller.User)
	if err != nil {
		return nil, err
	}
	reviews, err := agent.WantsReviewMail(ctx, c.Tx, c.Org, c.Caller.User)
	if err != nil {
		return nil, err
	}
	out := &Choices{PushKey: s.publicKey()}
	for i := range Kinds {
		for _, channel := range Channels {
			k := &Kinds[i]
			wanted := chosen.wants(c.Caller.User, k.Kind, channel)
			switch {
			case channel == Desk && k.Problem:
				wanted = true
			case channel == Mail && k.Kind == Proposed:
				wanted = reviews
			}
			out.Choices = append(out.Choices, Choice{k.Kind, channel, wanted})
		}
	}
	out.Subscriptions, err = listSubscriptions(ctx, c.Tx, c.Org, c.Caller.User)
	return out, err
}

type choiceInput struct {
	Choices []Choice `json:"choices" min:"1"`
}

// choose keeps what a person wants. The mail about proposals has its own switch on the Review page, which is the same.
func choose(ctx context.Context, c *op.Call, in choiceInput) (op.Nothing, error) {
	for _, v := range in.Choices {
		if err := keepChoice(ctx, c, v); err != nil {
			return op.Nothing{}, err
		}
	}
	return op.Nothing{}, c.Emit(choicesEvent, c.Caller.User, in)
}

func keepChoice(ctx context.Context, c *op.Call, v Choice) error {
	known := false
	for i := range Kinds {
		known = known || Kinds[i].Kind == v.Kind
	}
	switch {
	case !known:
		return fault.Field("choices", "There is no kind "+string(v.Kind))
	case v.Channel == Desk && infoOf(v.Kind).Problem && !v.Wanted:
		return fault.Field("choices", "The desk always tells of "+string(v.Kind)+": nobody would know otherwise")
	case v.Channel == Mail && v.Kind == Proposed:
		_, err := agent.SetReviewMail(ctx, c, v.Wanted)
		return err
	}
	_, err := db.Exec(ctx, c.Tx, `
		INSERT INTO notification_choices (organization_id, created_at, user_id, kind, channel, wanted)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (organization_id, user_id, kind, channel) DO UPDATE SET wanted = excluded.wanted`,
		c.Org, c.Now, c.Caller.User, v.Kind, v.Channel, v.Wanted)
	return err
}

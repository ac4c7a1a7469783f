package proposal

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/guard"
	"frontdesk/internal/resource/message"

	"github.com/go-json-experiment/json"
)

// Meter counts what an agent's call does against its limits, and refuses what the
// guard forbids. It runs in the transaction of the effects, so that a refusal undoes
// them. It is the op.Meter of the Runner.
func (s *Service) Meter(ctx context.Context, c *op.Call, told []any) error {
	if err := guard.Check(ctx, c, told); err != nil {
		return err
	}
	var use account.Use
	for _, t := range told {
		switch t := t.(type) {
		case op.Charge:
			use.SpendCents += t.AmountCents
		case op.AnnouncedEvent:
			if err := s.meterEvent(ctx, c, event.Event{Type: t.Type, ResourceID: t.Resource}, &use); err != nil {
				return err
			}
		case event.Event:
			if c.HasAnnounced(t) {
				continue
			}
			if err := s.meterEvent(ctx, c, t, &use); err != nil {
				return err
			}
		}
	}
	if use == (account.Use{}) {
		return nil
	}
	return agent.ReserveUse(ctx, c.Tx, c.Caller, c.Now, use)
}

// meteredMail is the part of a message's event that is metered.
type meteredMail struct {
	Status string   `json:"status"`
	To     []string `json:"to"`
	CC     []string `json:"cc"`
	BCC    []string `json:"bcc"`
}

// meterEvent adds what an event means to the use of an agent: deletions, changes of
// DNS, and mail with its recipients.
func (s *Service) meterEvent(ctx context.Context, c *op.Call, e event.Event, use *account.Use) error {
	switch {
	case strings.HasPrefix(e.Type, "domain.dns_record."):
		use.DNSChanges++
	case strings.HasSuffix(e.Type, ".deleted"):
		use.Deletions++
	}
	if !strings.HasPrefix(e.Type, "message.") {
		return nil
	}
	var m meteredMail
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return err
	}
	if effectKind(e, map[string]any{"status": m.Status}) != KindSend {
		return nil
	}
	to := slices.Concat(m.To, m.CC, m.BCC)
	strange, err := message.NeverWrittenTo(ctx, c.Tx, c.Org, to)
	if err != nil {
		return err
	}
	use.Messages += int64(len(to))
	use.NewRecipients += int64(len(strange))
	return nil
}

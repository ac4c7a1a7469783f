package optin

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// Whoever follows a link is not signed in: the token alone says whose address it
// is and in which organization. RFC 8058 requires that unsubscribing works with
// one POST, without a cookie, and that a GET changes nothing, because link
// scanners open every link in a mail.

// How often one IP address may follow links. It is generous, because mailbox
// providers unsubscribe for all their users from a few addresses.
const (
	maxVisits    = 600
	visitsWindow = time.Minute
)

// Subscription is what a link shows: an address, and who writes to it.
type Subscription struct {
	Organization string  `json:"organization"`
	Email        *string `json:"email" doc:"null when the address is no longer known"`
	Subscribed   bool    `json:"subscribed" doc:"false once opted out"`
}

func (l *Links) unsubscribeOperations() []*op.Op {
	const example = `{"token": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "address": ` +
		`"192.0.2.7"}`
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "email_opt_ins.subscription",
			Summary:  "Show whose marketing mail a link ends.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Example:  example,
		}, l.showSubscription),
		op.Flow(op.Spec{
			Name:     "email_opt_ins.unsubscribe",
			Summary:  "End marketing mail to the address that a link names.",
			Resource: op.Unrestricted,
			Doors:    op.ConsoleDoor,
			Public:   true,
			Events:   []string{"email_opt_in.updated"},
			Example:  example,
		}, l.unsubscribe),
	}
}

type linkVisit struct {
	Token   string `json:"token"`
	Address string `json:"address" doc:"the visitor's IP address, for the rate limit"`
}

// AdmitVisit counts a visit against the rate limit of the visitor's IP address.
func (l *Links) AdmitVisit(c *op.Call, address string) error {
	v := l.visitLimiter.Spend(address, maxVisits, visitsWindow, c.Now.Std())
	if v.OK {
		return nil
	}
	f := fault.RateLimited.Say("Too many visits from this address. Try again in a minute.")
	f.RetryAfter = v.Retry
	return f
}

func (l *Links) showSubscription(ctx context.Context, c *op.Call, in linkVisit) (*Subscription, error) {
	if err := l.AdmitVisit(c, in.Address); err != nil {
		return nil, err
	}
	s, _, err := l.findSubscription(ctx, c, in.Token)
	return s, err
}

// findSubscription looks up what a token names, and sets the organization of the call. The
// row is nil when it was deleted, purged or erased: then the address gets no
// marketing mail, which is what the visitor wants.
func (l *Links) findSubscription(ctx context.Context, c *op.Call, token string) (*Subscription, *EmailOptIn, error) {
	org, link, err := l.ReadToken(unsubscribePurpose, token)
	if err != nil {
		return nil, nil, err
	}
	c.Org, c.Caller = org, &op.Caller{Kind: op.SystemActor, Organization: org}
	sender, err := account.LoadOrganization(ctx, c.Tx, org)
	if errors.Is(err, db.ErrNoRow) {
		return nil, nil, fault.NotFound.Say("The sender of this message no longer exists.")
	}
	if err != nil {
		return nil, nil, err
	}
	s := &Subscription{Organization: sender.Name}
	v, err := optIns.Find(ctx, c.Tx, db.InOrganization(org).And("link_id = ?", link))
	if fault.IsKind(err, fault.NotFound) {
		return s, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s.Email, s.Subscribed = &v.Email, v.Status != optedOut
	return s, v, nil
}

// unsubscribe opts an address out. It may be repeated: an address that is out
// stays out, with its original time.
func (l *Links) unsubscribe(ctx context.Context, c *op.Call, in linkVisit) (*Subscription, error) {
	if err := l.AdmitVisit(c, in.Address); err != nil {
		return nil, err
	}
	return op.Finish(ctx, c, func(ctx context.Context) (*Subscription, error) {
		s, v, err := l.findSubscription(ctx, c, in.Token)
		if err != nil || v == nil {
			return s, err
		}
		link := v.LinkID
		v, err = optIns.Lock(ctx, c.Tx, c.Org, v.ID)
		if fault.IsKind(err, fault.NotFound) || err == nil && v.LinkID != link {
			return &Subscription{Organization: s.Organization}, nil // deleted a moment ago, or given to another address
		}
		if err != nil {
			return nil, err
		}
		s.Subscribed = false
		if v.Status == optedOut {
			return s, nil
		}
		v.setStatus(optedOut, c.Now)
		return s, v.saveAndEmit(ctx, c)
	})
}

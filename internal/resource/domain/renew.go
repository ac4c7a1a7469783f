package domain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// A renewal, ordered by a caller (renewDomain) or by a job (renewAutomatically),
// and the job that carries it out (carryOutRenewal).

func (d *Domains) renewOperations() []*op.Op {
	return []*op.Op{
		op.Flow(op.Spec{
			Name:    "domains.renew_quote",
			Words:   "extend, how much, cost, price",
			Route:   "GET /v1/domains/{id}/registration/renew/quote",
			Summary: "Quote the price of a renewal.",
			Errors:  []*fault.Kind{Unsupported, TransferInFlight, Unavailable},
			Example: `{"id": ` + exampleID + `, "periodYears": 2}`,
		}, d.quoteRenewal),
		op.WithQuote(op.Flow(op.Spec{
			Name:        "domains.renew",
			Words:       "keep, another year, extend, prolong",
			Rehearses:   true,
			Route:       "POST /v1/domains/{id}/registration/renew",
			Summary:     "Renew a registered domain and charge the default card.",
			Description: "The renewal continues after the answer; follow it at /v1/operations/{operationId}.",
			Status:      202,
			Outward:     true,
			Spends:      true,
			KeyRequired: true,
			Reads:       true,
			Gate:        agreementGate,
			Errors:      paymentErrors(Unsupported, TransferInFlight, RenewalInFlight),
			Events:      []string{"operation.created"},
			Example:     `{"id": ` + exampleID + `, "periodYears": 1, "maxAmountCents": 1500}`,
		}, d.renewDomain), func(ctx context.Context, c *op.Call, in renewal) (any, error) {
			v, err := d.readDomainForCall(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			return d.fetchOffer(ctx, v.Name)
		}),
	}
}

// RenewalQuote is the price of a renewal.
type RenewalQuote struct {
	DomainID          id.ID      `json:"domainId"`
	Domain            string     `json:"domain"`
	PeriodYears       int        `json:"periodYears"`
	AmountCents       int64      `json:"amountCents" doc:"the whole charge, with no other fees"`
	Currency          string     `json:"currency"`
	RenewalPriceCents int64      `json:"renewalPriceCents" doc:"each year"`
	ExpiresAt         clock.Time `json:"expiresAt" doc:"when the registration ends now"`
	RenewedUntil      clock.Time `json:"renewedUntil" doc:"when it would end"`

	op.NoExternalText
}

type renewalQuoteInput struct {
	domainRef
	PeriodYears int `query:"periodYears" default:"1" min:"1" max:"10"`
}

func (d *Domains) quoteRenewal(ctx context.Context, c *op.Call, in renewalQuoteInput) (*RenewalQuote, error) {
	v, err := d.readRenewableDomain(ctx, c, in.ID, in.PeriodYears, fault.BadInput)
	if err != nil {
		return nil, err
	}
	leave, err := takeSlot(d.querySlots)
	if err != nil {
		return nil, err
	}
	defer leave()
	offer, err := d.fetchOffer(ctx, v.Name)
	if err != nil {
		return nil, err
	}
	return &RenewalQuote{
		DomainID:          v.ID,
		Domain:            v.Name,
		PeriodYears:       in.PeriodYears,
		AmountCents:       offer.renewalTotal(in.PeriodYears),
		Currency:          currency,
		RenewalPriceCents: offer.RenewalPrice,
		ExpiresAt:         *v.ExpiresAt,
		RenewedUntil:      clock.FromStd(v.ExpiresAt.Std().AddDate(in.PeriodYears, 0, 0)),
	}, nil
}

// readRenewableDomain reads a domain that may be renewed for so many years. kind is the fault for too
// many: of the body, or of the query.
func (d *Domains) readRenewableDomain(
	ctx context.Context, c *op.Call, ref id.ID, years int, kind *fault.Kind,
) (*Domain, error) {
	v, err := d.readDomainForCall(ctx, c, ref)
	if err != nil {
		return nil, err
	}
	if err := checkNotLeaving(v, "renew"); err != nil {
		return nil, err
	}
	return v, d.checkRenewalLimit(v, years, kind)
}

type renewal struct {
	domainRef
	PeriodYears    int   `json:"periodYears" default:"1" min:"1" max:"10"`
	MaxAmountCents int64 `json:"maxAmountCents" min:"0" doc:"cents of a US dollar; at least the price of the years"`
}

func (d *Domains) renewDomain(ctx context.Context, c *op.Call, in renewal) (*Accepted, error) {
	o, leave, err := d.resumeOrder(ctx, c)
	if err != nil {
		return nil, err
	}
	defer leave()
	resumed := o != nil
	if !resumed {
		if o, err = d.orderRenewal(ctx, c, &in); err != nil {
			return nil, err
		}
	}
	return d.payOrder(ctx, c, o, resumed)
}

// orderRenewal checks a renewal and places its order.
func (d *Domains) orderRenewal(ctx context.Context, c *op.Call, in *renewal) (*Operation, error) {
	v, err := d.readRenewableDomain(ctx, c, in.ID, in.PeriodYears, fault.Invalid)
	if err != nil {
		return nil, err
	}
	o, err := d.newRenewalOrder(ctx, c, v, in.PeriodYears)
	if err != nil {
		return nil, err
	}
	if err := checkPriceLimit(c.Caller, o.Wanted.AmountCents, in.MaxAmountCents); err != nil {
		return nil, err
	}
	if err := d.chooseCard(ctx, c.Read, c.Org, &o.Wanted); err != nil {
		return nil, err
	}
	return o, d.placeOrder(ctx, c, o, func(ctx context.Context, tx *db.Tx) error { return d.claimRenewal(ctx, tx, o) })
}

// maxYearsAhead is how far ahead registries let a registration end.
const maxYearsAhead = 10

// checkRenewalLimit refuses a renewal that no registry accepts, before anything is charged.
func (d *Domains) checkRenewalLimit(v *Domain, years int, kind *fault.Kind) error {
	limit := d.cfg.Clock.Now().Std().AddDate(maxYearsAhead, 0, 0)
	if end := v.ExpiresAt.Std().AddDate(years, 0, 0); end.After(limit) {
		issue := fmt.Sprintf("Too many: the registration would end on %s, and it may end at most %d years from today",
			end.Format(time.DateOnly), maxYearsAhead)
		return (*fault.Tree)(nil).At([]any{"periodYears"}, issue).Fault(kind)
	}
	return nil
}

// offerForCall is the registrar's offer for a name. A rehearsal calls nobody: its offer was
// fetched before it began. c is nil for an automatic renewal.
func (d *Domains) offerForCall(ctx context.Context, c *op.Call, name string) (*Offer, error) {
	if c != nil && c.Rehearsing() {
		return c.Quote().(*Offer), nil
	}
	return d.fetchOffer(ctx, name)
}

// newRenewalOrder is an order at the current price, without a card yet.
func (d *Domains) newRenewalOrder(ctx context.Context, c *op.Call, v *Domain, years int) (*Operation, error) {
	offer, err := d.offerForCall(ctx, c, v.Name)
	if err != nil {
		return nil, err
	}
	w := Order{Years: years, AmountCents: offer.renewalTotal(years), Until: *v.ExpiresAt}
	return d.newOrder(v.OrganizationID, renewalOrder, v.Name, v.ID, w), nil
}

// claimRenewal makes an order the only renewal of its domain.
func (d *Domains) claimRenewal(ctx context.Context, tx *db.Tx, o *Operation) error {
	v, err := d.lockDomain(ctx, tx, o.OrganizationID, o.DomainID)
	if err != nil {
		return err
	}
	if err := checkNotLeaving(v, "renew"); err != nil {
		return err
	}
	if err := checkNoRenewal(ctx, tx, o.OrganizationID, o.DomainID); err != nil {
		return err
	}
	o.Wanted.Until = *v.ExpiresAt
	return d.checkRenewalLimit(v, o.Wanted.Years,
		fault.Invalid) // another renewal may have added years since the first check
}

const autoRenewJob = "domain.auto_renew"

const (
	renewAhead      = 30 * 24 * time.Hour // before the registration ends
	renewRetryAfter = 24 * time.Hour      // after a renewal that failed
)

// enqueueDueRenewals enqueues the automatic renewal of every domain that ends soon, unless one is under
// way or failed within the last day.
func (d *Domains) enqueueDueRenewals(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	now := d.cfg.Clock.Now()
	rows, err := findDueDomains(ctx, tx, `d.status = 'active' AND d.expires_at <= $1 AND d.auto_renew
		AND d.transfer_requested_at IS NULL
		AND (d.renewal_failed_at IS NULL OR d.renewal_failed_at <= $2)
		AND NOT EXISTS (SELECT 1 FROM operations p
			WHERE p.organization_id = d.organization_id AND p.domain_id = d.id
			AND p.type = 'domain_renewal' AND p.status IN ('paying', 'queued', 'running'))
		ORDER BY d.expires_at LIMIT $3`, now.Add(renewAhead), now.Add(-renewRetryAfter), enqueueBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, err := d.cfg.Jobs.Enqueue(ctx, tx, autoRenewJob, r, job.ForOrganization(r.Organization),
			job.UniqueKey(string(r.Domain)))
		if err != nil {
			return err
		}
	}
	return nil
}

// renewAutomatically orders and pays for the renewal of a domain without a request. If it dies after
// the order is written, settleOrder finds out whether the card was charged: then the order is
// queued, otherwise it ends.
func (d *Domains) renewAutomatically(ctx context.Context, j job.Job, a domainArgs) (job.Outcome, error) {
	v, err := d.readDomain(ctx, a.Organization, a.Domain)
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !v.isDueForRenewal(d.cfg.Clock.Now()) {
		return nil, nil
	}
	o, err := d.newRenewalOrder(ctx, nil, v, 1)
	if err == nil {
		o.Automatic = true
		err = d.chooseCard(ctx, d.cfg.DB.Read, a.Organization, &o.Wanted)
	}
	if err != nil {
		return d.recordNotOrdered(a, err)
	}
	err = d.cfg.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := j.RenewLease(ctx, tx); err != nil {
			return err
		}
		if err := d.claimRenewal(ctx, tx, o); err != nil {
			return err
		}
		return d.insertOrder(ctx, tx, o)
	})
	var f *fault.Fault
	if errors.As(err, &f) {
		return nil, nil // somebody renews it, or it is leaving
	}
	if err != nil {
		return nil, err
	}
	d.pauseAt("claimed")
	payment, err := d.chargeOrder(ctx, o, false)
	var no *Refusal
	switch {
	case errors.As(err, &no):
		return func(ctx context.Context, tx *db.Tx) error {
			return d.endUnpaidOrder(ctx, tx, o, orderRefused, no.Message)
		}, nil
	case err != nil:
		d.cfg.Log.WarnContext(ctx, "the outcome of a charge is not known", "operation", o.ID, "err", err)
		return nil, nil // settleOrder finds out
	}
	d.pauseAt("charged")
	return func(ctx context.Context, tx *db.Tx) error { return d.queueOrderBySystem(ctx, tx, o, payment) }, nil
}

// isDueForRenewal reports whether a domain is renewed automatically today. enqueueDueRenewals asks
// the same in SQL.
func (v *Domain) isDueForRenewal(now clock.Time) bool {
	return checkNotLeaving(v, "renew") == nil && v.Status == StatusActive && *v.AutoRenew &&
		*v.ExpiresAt <= now.Add(renewAhead) &&
		(v.RenewalFailedAt == nil || *v.RenewalFailedAt <= now.Add(-renewRetryAfter))
}

// recordNotOrdered records why an automatic renewal could not even be ordered. If a provider was not
// available, the job fails instead and is tried again.
func (d *Domains) recordNotOrdered(a domainArgs, err error) (job.Outcome, error) {
	var f *fault.Fault
	if !errors.As(err, &f) || f.Kind == fault.Unavailable {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		return d.recordRenewalFailure(ctx, tx, a, f.Code, f.Sentence())
	}, nil
}

// carryOutRenewal is the job that renews a registration that is paid for, with saved steps
// like carryOutRegistration.
func (d *Domains) carryOutRenewal(ctx context.Context, j job.Job, a orderArgs) (job.Outcome, error) {
	r, err := d.startOrderRun(ctx, j, a)
	if r == nil || err != nil {
		return nil, err
	}
	for err == nil {
		switch r.o.Step {
		case "":
			err = r.saveStep(ctx, stepRenewing)
		case stepRenewing:
			err = r.renewRegistration(ctx)
		case stepRenewed:
			return r.completeRenewal, nil
		case stepRefunding:
			return r.refundOrder(ctx)
		default:
			err = fmt.Errorf("domain: a renewal has no step %s", r.o.Step)
		}
	}
	return nil, err
}

// renewRegistration makes the renewal, or finds the one that an earlier run made.
func (r *orderRun) renewRegistration(ctx context.Context) error {
	o, registrar := r.o, r.d.cfg.Registrar
	var held *HeldRegistration
	err := ErrUnknownToProvider
	if r.resumed {
		held, err = registrar.Renewed(ctx, o.workKey(), o.ResourceName, o.Wanted.Until)
	}
	if errors.Is(err, ErrUnknownToProvider) {
		held, err = registrar.Renew(ctx, o.workKey(), o.ResourceName, o.Wanted.Years, o.Wanted.Until)
	}
	r.d.pauseAt("renew-called")
	return r.saveRegistrarAnswer(ctx, held, err, stepRenewed, "RENEWAL_FAILED")
}

// completeRenewal writes the new end of a registration and ends its order.
func (r *orderRun) completeRenewal(ctx context.Context, tx *db.Tx) error {
	d, o := r.d, r.o
	v, err := d.lockDomain(ctx, tx, o.OrganizationID, o.DomainID)
	if err != nil {
		return err
	}
	now := d.cfg.Clock.Now()
	v.ExpiresAt, v.RenewalFailedAt, v.ExpiryNoticed, v.UpdatedAt = &o.Wanted.Held.ExpiresAt, nil, nil, now
	if v.Status == StatusExpired && *v.ExpiresAt > now {
		v.Status = StatusActive
	}
	if err := d.saveDomain(ctx, tx, v); err != nil {
		return err
	}
	if err := d.emitSystemEvent(ctx, tx, o.newEvent("domain.renewed", v.ID), v); err != nil {
		return err
	}
	return r.succeedOrder(ctx, tx)
}

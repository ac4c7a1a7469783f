package domain

import (
	"context"
	"errors"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
)

// A domain's move to another registrar.

func (d *Domains) transferOperations() []*op.Op {
	const ref = `{"id": ` + exampleID + `}`
	return []*op.Op{
		op.Flow(op.Spec{
			Name:      "domains.registration.transfer",
			Words:     "move away, leave, other provider, another provider, auth code, switch provider",
			Rehearses: true,
			Route:     "POST /v1/domains/{id}/registration/transfer",
			Summary:   "Ask to leave for another registrar.",
			Description: "The answer shows, once, the code that the other registrar asks for. " +
				"The transfer ends when the domain has left.",
			Status:  200,
			Secret:  true,
			Errors:  []*fault.Kind{Locked, SubdomainsExist, TransferInFlight, RenewalInFlight, Unsupported},
			Events:  []string{"domain.transfer_requested"},
			Example: ref,
		}, d.beginTransfer),
		op.Flow(op.Spec{
			Name:      "domains.registration.transfer.cancel",
			Words:     "stay, stop transfer",
			Rehearses: true,
			Route:     "DELETE /v1/domains/{id}/registration/transfer",
			Summary:   "Withdraw a transfer to another registrar.",
			Errors:    []*fault.Kind{Unsupported},
			Events:    []string{"domain.transfer_canceled"},
			Example:   ref,
		}, d.cancelTransfer),
	}
}

// TransferStarted is the answer to a transfer, with the code that is shown once.
type TransferStarted struct {
	AuthCode *string  `json:"authCode" doc:"for the other registrar; null when it is mailed to the registrant"`
	Transfer Transfer `json:"transfer"`

	op.NoExternalText
}

// beginTransfer asks the registrar for the code of a transfer, and then records the transfer.
// The domain may have become unable to leave by then; in that case the registrar's part is
// withdrawn.
func (d *Domains) beginTransfer(ctx context.Context, c *op.Call, in domainRef) (*TransferStarted, error) {
	var v *Domain
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = d.loadDomain(ctx, tx, c.Org, in.ID); err != nil {
			return err
		}
		return checkMayLeave(ctx, tx, v)
	})
	if err != nil {
		return nil, err
	}
	if err := c.AnnounceEvent(ctx, "domain.transfer_requested", v.ID); err != nil {
		return nil, err
	}
	code := ""
	if !c.Rehearsing() {
		code, err = d.cfg.Registrar.BeginTransfer(ctx, v.Name)
	}
	if err := registrarFault(err, v); err != nil {
		return nil, err
	}
	out, err := op.Finish(ctx, c, func(ctx context.Context) (*TransferStarted, error) {
		v, err := d.lockDomain(ctx, c.Tx, c.Org, in.ID)
		if err != nil {
			return nil, err
		}
		if err := checkMayLeave(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		v.TransferRequestedAt, v.UpdatedAt = &c.Now, c.Now
		if err := d.saveDomain(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		out := &TransferStarted{Transfer: *v.Registration.Transfer}
		if code != "" {
			out.AuthCode = &code
		}
		return out, c.Emit("domain.transfer_requested", v.ID, v)
	})
	var f *fault.Fault
	if errors.As(err, &f) && f.Kind != TransferInFlight && !c.Rehearsing() {
		// Something came in between, like a renewal: what was begun at the
		// registrar is withdrawn. With TransferInFlight it belongs to another
		// request, and stays.
		if e := d.cfg.Registrar.EndTransfer(ctx, v.Name); e != nil {
			d.cfg.Log.WarnContext(ctx, "a transfer that was refused is still begun at the registrar",
				"name", v.Name, "err", e)
		}
	}
	return out, err
}

// checkMayLeave refuses a domain that cannot move to another registrar now.
func checkMayLeave(ctx context.Context, tx *db.Tx, v *Domain) error {
	if err := checkNotLeaving(v, "transfer"); err != nil {
		return err
	}
	if *v.TransferLock {
		return Locked.New()
	}
	if err := checkNoSubdomains(ctx, tx, v.OrganizationID, v.ID); err != nil {
		return err
	}
	return checkNoRenewal(ctx, tx, v.OrganizationID, v.ID)
}

func (d *Domains) cancelTransfer(ctx context.Context, c *op.Call, in domainRef) (op.Nothing, error) {
	v, err := d.readDomainForCall(ctx, c, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if v.Registration == nil || v.Registration.Transfer == nil || v.Status == StatusTransferred {
		return op.Nothing{}, fault.NotFound.Say("No transfer of %s is under way.", v.Name)
	}
	if !c.Rehearsing() {
		if err := registrarFault(d.cfg.Registrar.EndTransfer(ctx, v.Name), v); err != nil {
			return op.Nothing{}, err
		}
	}
	return op.Finish(ctx, c, func(ctx context.Context) (op.Nothing, error) {
		v, err := d.lockDomain(ctx, c.Tx, c.Org, in.ID)
		if err != nil || v.TransferRequestedAt == nil || v.Status == StatusTransferred {
			return op.Nothing{}, err
		}
		v.TransferRequestedAt, v.UpdatedAt = nil, c.Now
		if err := d.saveDomain(ctx, c.Tx, v); err != nil {
			return op.Nothing{}, err
		}
		return op.Nothing{}, c.Emit("domain.transfer_canceled", v.ID, v)
	})
}

const checkTransferJob = "domain.watch_transfer"

// enqueueTransferChecks enqueues a check of every outgoing transfer.
func (d *Domains) enqueueTransferChecks(ctx context.Context, tx *db.Tx, _ job.Job, _ struct{}) error {
	rows, err := findDueDomains(ctx, tx, `d.transfer_requested_at IS NOT NULL AND d.status <> 'transferred'
		ORDER BY d.transfer_requested_at LIMIT $1`, enqueueBatch)
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, err := d.cfg.Jobs.Enqueue(ctx, tx, checkTransferJob, r,
			job.ForOrganization(r.Organization), job.UniqueKey(string(r.Domain)))
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTransfer ends a transfer once the registrar says that the domain left.
func (d *Domains) checkTransfer(ctx context.Context, _ job.Job, a domainArgs) (job.Outcome, error) {
	v, err := d.readDomain(ctx, a.Organization, a.Domain)
	if fault.IsKind(err, fault.NotFound) || err == nil &&
		(v.TransferRequestedAt == nil || v.Status == StatusTransferred) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	left, err := d.cfg.Registrar.Left(ctx, v.Name)
	if err != nil || !left {
		return nil, err
	}
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := d.lockDomain(ctx, tx, a.Organization, a.Domain)
		if err != nil || v.TransferRequestedAt == nil || v.Status == StatusTransferred {
			return err
		}
		v.Status, v.UpdatedAt = StatusTransferred, d.cfg.Clock.Now()
		if err := d.saveDomain(ctx, tx, v); err != nil {
			return err
		}
		if err := releaseNames(ctx, tx, a.Organization, a.Domain); err != nil {
			return err
		}
		return d.emitSystemEvent(ctx, tx, v.newEvent("domain.transferred"), v)
	}, nil
}

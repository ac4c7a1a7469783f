package zone

import (
	"context"
	"errors"
	"slices"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
)

// A write of a record has three steps. beginWrite commits the intent to its row;
// carryOutIntent calls the provider, outside every transaction; settleIntent
// commits the outcome. A zone has one intent at a time, so its writes take turns
// in all processes. A process that dies in between leaves an intent whose lease
// runs out. Then the next writer, a retry with the same key, or a job looks at
// the provider's zone and finishes the write.

// These are variables because tests shorten them.
var (
	leaseRenewInterval = 4 * time.Second  // how often a writer extends its lease
	maxTurnWait        = 20 * time.Second // how long a writer waits for its turn
)

const (
	leaseDuration    = 15 * time.Second      // how long an intent belongs to its writer without being extended
	turnPollInterval = 25 * time.Millisecond // how often it looks whether its turn has come
)

var (
	errZoneBusy   = errors.New("zone: another write of the zone is under way")
	errUnfinished = errors.New("zone: a write of the zone was left open")
	errTakenOver  = errors.New("zone: another writer took the write over")
)

// writePlan decides what a write intends, given the zone's rows: it returns the row with its
// intent, a new one or one of these. It runs with the domain locked. No row means that there
// is nothing to do.
type writePlan func(ctx context.Context, tx *db.Tx, rows []DNSRecord) (*DNSRecord, error)

// beginWrite commits an intent, once it is this writer's turn. It first finishes a write that
// another one left open.
func (z *Zones) beginWrite(ctx context.Context, s transactor, at Ref, want writePlan) (*DNSRecord, error) {
	waiting, cancel := context.WithTimeout(ctx, maxTurnWait)
	defer cancel()
	for {
		v, unfinished, err := z.tryBeginWrite(ctx, s, at, want)
		switch {
		case (errors.Is(err, errZoneBusy) || errors.Is(err, errUnfinished)) && db.InTransaction(ctx):
			return nil, Busy.New() // a rehearsal, whose transaction is open: it must not wait
		case errors.Is(err, errUnfinished):
			if err := z.finishAbandonedWrite(ctx, s, at, unfinished); err != nil {
				return nil, err
			}
		case errors.Is(err, errZoneBusy):
			select {
			case <-waiting.Done():
				return nil, Busy.New()
			case <-time.After(turnPollInterval):
			}
		default:
			return v, err
		}
	}
}

// tryBeginWrite commits an intent unless the zone has one: errZoneBusy while somebody's lease on it
// holds, errUnfinished with its row once the lease has run out.
func (z *Zones) tryBeginWrite(
	ctx context.Context, s transactor, at Ref, want writePlan,
) (v, unfinished *DNSRecord, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, unfinished = nil, nil
		if err := z.cfg.Lock(ctx, tx, at); err != nil {
			return err
		}
		rows, err := loadZoneRows(ctx, tx, at)
		if err != nil {
			return err
		}
		// Leases go by the database's clock, which all processes share.
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		for i := range rows {
			if rows[i].Intent == nil {
				continue
			}
			if *rows[i].IntentUntil > now {
				return errZoneBusy
			}
			unfinished = &rows[i]
			return errUnfinished
		}
		if v, err = want(ctx, tx, rows); err != nil || v == nil {
			return err
		}
		if v.ManagedBy == ByUser {
			tx.AddToTrace(op.AnnouncedEvent{Type: eventOfIntent[*v.Intent], Resource: v.ID})
		}
		insert := !slices.ContainsFunc(rows, func(r DNSRecord) bool { return r.ID == v.ID })
		return z.leaseIntent(ctx, tx, at, v, insert)
	})
	return v, unfinished, err
}

// leaseIntent writes the intent with a new lease, and enqueues the job that finishes the write if
// nobody else does. insert is whether the row is new.
func (z *Zones) leaseIntent(ctx context.Context, tx *db.Tx, at Ref, v *DNSRecord, insert bool) error {
	now, err := db.ReadClock(ctx, tx)
	if err != nil {
		return err
	}
	attempt, until := id.New(), now.Add(leaseDuration)
	v.IntentID, v.IntentUntil = &attempt, &until
	v.Version++
	if insert {
		err = dnsRecords.Insert(ctx, tx, v)
	} else {
		err = dnsRecords.Save(ctx, tx, v)
	}
	if err != nil {
		return err
	}
	_, err = z.cfg.Jobs.Enqueue(ctx, tx, settleJob, settleArgs{at.Org, at.Domain, at.Name, at.Registering, v.ID},
		job.RunAt(z.cfg.Clock.Now().Add(leaseDuration+time.Second)), job.ForOrganization(at.Org))
	return err
}

// keepLease extends the lease of an intent until stop is called. If it cannot, the returned context
// ends before the lease does: a writer who lost the intent must not call the provider after
// whoever took it over.
func (z *Zones) keepLease(ctx context.Context, at Ref, v *DNSRecord) (kept context.Context, stop func()) {
	kept, cancel := context.WithCancel(ctx)
	const early = 2 * time.Second
	lost := time.AfterFunc(leaseDuration-early, cancel)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-kept.Done():
				return
			case <-time.After(leaseRenewInterval):
			}
			asked := time.Now() //nolint:forbidigo // a duration, not a time
			switch err := z.renewLease(kept, at, v); {
			case err == nil:
				lost.Reset(leaseDuration - early - time.Since(asked))
			case errors.Is(err, errTakenOver):
				cancel()
			case kept.Err() == nil:
				z.cfg.Log.WarnContext(ctx, "the lease of a DNS write could not be renewed", "err", err)
			}
		}
	}()
	return kept, func() { lost.Stop(); cancel(); <-done }
}

// renewLease extends a lease that has not run out yet. errTakenOver means that it has, or that
// another writer has the intent.
func (z *Zones) renewLease(ctx context.Context, at Ref, v *DNSRecord) error {
	return z.cfg.DB.Write(db.WithReservedPool(ctx), func(ctx context.Context, tx *db.Tx) error {
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		n, err := db.Exec(ctx, tx, `
			UPDATE dns_records SET intent_until = $4
			WHERE organization_id = $1 AND id = $2 AND intent_id = $3 AND intent_until > $5`,
			at.Org, v.ID, *v.IntentID, now.Add(leaseDuration), now)
		if err == nil && n == 0 {
			err = errTakenOver
		}
		return err
	})
}

// carryOutIntent calls the provider for an intent. resumed is whether that may have been done
// before; then it looks at the provider's zone first.
func (z *Zones) carryOutIntent(ctx context.Context, at Ref, v *DNSRecord, resumed bool) error {
	ctx, stop := z.keepLease(ctx, at, v)
	defer stop()
	zone := at.Name
	old, r := v.toRecord(), v.toRecord()
	if *v.Intent == intentReplace {
		var err error
		if r, err = v.parseReplacement(); err != nil {
			return err
		}
	}
	oldThere, newThere := true, false
	if resumed {
		actual, err := z.cfg.DNS.Records(ctx, zone)
		if err != nil {
			return err
		}
		// A record with another TTL is removed all the same, but it is not yet added or replaced.
		has := func(r Record) bool {
			return slices.ContainsFunc(actual, func(o Record) bool {
				return o.Same(r) && (o.TTL == r.TTL || *v.Intent == intentRemove)
			})
		}
		oldThere, newThere = has(old), has(r)
	}
	switch *v.Intent {
	case intentAdd:
		if newThere {
			return nil
		}
		return z.cfg.DNS.Add(ctx, zone, r)
	case intentReplace:
		if newThere && (!oldThere || old.Same(r)) {
			return nil
		}
		return z.cfg.DNS.Replace(ctx, zone, old, r)
	default:
		if !oldThere {
			return nil
		}
		return z.cfg.DNS.Remove(ctx, zone, r)
	}
}

// findOpenIntent finds the row of an intent that this writer still has, with its domain locked. It
// is nil if another one has it, or it is settled.
func (z *Zones) findOpenIntent(ctx context.Context, tx *db.Tx, at Ref, v *DNSRecord) (*DNSRecord, error) {
	if err := z.cfg.Lock(ctx, tx, at); err != nil {
		return nil, err
	}
	row, err := dnsRecords.Find(ctx, tx, db.InOrganization(at.Org).And("id = ?", v.ID).And("intent_id = ?",
		*v.IntentID))
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil
	}
	return row, err
}

// settleIntent commits the outcome of an intent: nil for success, or the provider's refusal. mine is
// false if somebody else settled it or took it over; then nothing is written.
func (z *Zones) settleIntent(
	ctx context.Context, tx *db.Tx, at Ref, v *DNSRecord, outcome error,
) (row *DNSRecord, mine bool, err error) {
	if row, err = z.findOpenIntent(ctx, tx, at, v); err != nil {
		return nil, false, err
	}
	if row == nil {
		return v, false, nil
	}
	intent := *row.Intent
	if outcome == nil && intent == intentReplace {
		wanted, err := row.parseReplacement()
		if err != nil {
			return nil, false, err
		}
		row.setRecord(wanted)
	}
	row.Intent, row.IntentID, row.IntentUntil, row.Wanted = nil, nil, nil, nil
	row.Version++
	if outcome == nil {
		row.UpdatedAt = z.cfg.Clock.Now()
	}
	if err := dnsRecords.Save(ctx, tx, row); err != nil {
		return nil, false, err
	}
	removed := outcome == nil && intent == intentRemove
	// A record that was not added, or that the provider does not have, does not
	// exist.
	missing := outcome != nil && (intent == intentAdd || ProviderStatus(outcome) == 404)
	if removed || missing {
		row, err = dnsRecords.SoftDelete(ctx, tx, at.Org, row.ID, z.cfg.Clock.Now())
	}
	return row, true, err
}

// giveUpIntent commits that an intent failed, if the error proves it, or else leaves the intent open
// for the next writer. It returns what the caller sees.
func (z *Zones) giveUpIntent(ctx context.Context, s transactor, at Ref, v *DNSRecord, outcome error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if isDefiniteRefusal(outcome) {
		err := s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, _, err := z.settleIntent(ctx, tx, at, v, outcome)
			return err
		})
		return errors.Join(providerFault(outcome), err)
	}
	// Nobody knows whether the provider acted. The lease ends at once, so that the next writer need
	// not wait to find out.
	err := s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, `
			UPDATE dns_records SET intent_until = 0
			WHERE organization_id = $1 AND id = $2 AND intent_id = $3`, at.Org, v.ID, *v.IntentID)
		return err
	})
	if err != nil {
		z.cfg.Log.WarnContext(ctx, "an open DNS write keeps its lease", "err", err)
	}
	return op.UnknownOutcome(providerFault(outcome))
}

// claimIntent takes over an intent that was left open, with a new lease. mine is false if it is
// settled by now.
func (z *Zones) claimIntent(ctx context.Context, s transactor, at Ref, v *DNSRecord) (mine bool, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, err := z.findOpenIntent(ctx, tx, at, v)
		if mine = row != nil; err != nil || !mine {
			return err
		}
		*v = *row
		return z.leaseIntent(ctx, tx, at, v, false)
	})
	return mine, err
}

// finishAbandonedWrite carries out what another writer left open. Its event names no caller, because the one
// who wanted it is gone.
func (z *Zones) finishAbandonedWrite(ctx context.Context, s transactor, at Ref, v *DNSRecord) error {
	mine, err := z.claimIntent(ctx, s, at, v)
	if err != nil || !mine {
		return err
	}
	outcome := z.carryOutIntent(ctx, at, v, true)
	if outcome != nil && !isDefiniteRefusal(outcome) {
		return z.giveUpIntent(ctx, s, at, v, outcome)
	}
	return s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, mine, err := z.settleIntent(ctx, tx, at, v, outcome)
		if err != nil || !mine || outcome != nil || row.ManagedBy != ByUser {
			return err
		}
		e := event.Event{Organization: at.Org, At: z.cfg.Clock.Now(), Type: eventOfIntent[*v.Intent],
			ResourceID: row.ID}
		if e.Data, err = json.Marshal(row, json.Deterministic(true)); err != nil {
			return err
		}
		return z.cfg.Events.Append(ctx, tx, e.BySystem())
	})
}

// eventOfIntent is the event of each intent once it is carried out.
var eventOfIntent = map[intent]string{
	intentAdd:     "domain.dns_record.created",
	intentReplace: "domain.dns_record.updated",
	intentRemove:  "domain.dns_record.deleted",
}

const settleJob = "dns.settle"

type settleArgs struct {
	Org         id.ID  `json:"org"`
	Domain      id.ID  `json:"domain"`
	Zone        string `json:"zone"`
	Registering bool   `json:"registering"`
	Record      id.ID  `json:"record"`
}

// Handle declares the jobs.
func (z *Zones) Handle() {
	job.HandleFlow(z.cfg.Jobs, settleJob, z.runSettleJob, job.ForgetWhenDone())
}

// runSettleJob is the job that finishes an intent whose lease ran out. While its writer extends
// the lease, the job looks again later.
func (z *Zones) runSettleJob(ctx context.Context, _ job.Job, a settleArgs) (job.Outcome, error) {
	var v *DNSRecord
	var held time.Duration
	err := z.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		v, err = dnsRecords.Find(ctx, tx, db.InOrganization(a.Org).And("id = ?", a.Record).And("intent_id IS NOT NULL"))
		if err == nil {
			held = v.IntentUntil.Sub(now)
		}
		return err
	})
	if err == nil && held > 0 {
		return nil, job.RunAgainAfter(held + time.Second)
	}
	if err == nil {
		at := Ref{Org: a.Org, Domain: a.Domain, Name: a.Zone, Registering: a.Registering}
		err = z.finishAbandonedWrite(ctx, z.cfg.DB, at, v)
	}
	if fault.IsKind(err, fault.NotFound) {
		err = nil // it is settled, or the domain is deleted, and its zone with it
	}
	return nil, err
}

// AwaitWrites waits until nobody writes to these zones any more. The caller has made sure that
// no new write can begin. If one is still open after maxTurnWait, it refuses: the caller must
// not touch the zones under it, and tries again later.
func (z *Zones) AwaitWrites(ctx context.Context, zones []Ref) error {
	for end := time.Now().Add(maxTurnWait); time.Now().Before(end); { //nolint:forbidigo // a duration, not a time
		writing := 0
		err := z.cfg.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			writing, err = countOpenWrites(ctx, tx, zones)
			return err
		})
		if err != nil || writing == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(turnPollInterval):
		}
	}
	return Busy.New()
}

// countOpenWrites counts the intents whose lease has not run out.
func countOpenWrites(ctx context.Context, tx *db.Tx, zones []Ref) (total int, err error) {
	now, err := db.ReadClock(ctx, tx)
	if err != nil {
		return 0, err
	}
	for _, at := range zones {
		n, err := db.QueryOne[int](ctx, tx, `
			SELECT count(*) FROM dns_records
			WHERE organization_id = $1 AND domain_id = $2 AND intent_id IS NOT NULL AND intent_until > $3`,
			at.Org, at.Domain, now)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

package domain

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

// A write of a record is three steps. begin commits the intent to its row;
// carryOut calls the provider, outside of every transaction; settle commits
// what came of it. A zone has one intent at a time, so its writes take turns
// in all processes. Whoever dies in between leaves an intent whose lease runs
// out: the next writer, a retry with the same key, or a job then looks at the
// zone and finishes it.
const (
	intentAdd     = "add"
	intentReplace = "replace"
	intentRemove  = "remove"

	intentLease = 90 * time.Second // longer than any Flow may run
	turnTime    = 20 * time.Second // how long a writer waits for its turn
	turnPause   = 25 * time.Millisecond
)

var (
	errTurn = errors.New("domain: another write of the zone is under way")
	errOpen = errors.New("domain: a write of the zone was left open")
)

// plan says what a write wants, given the zone's rows: the row with its
// intent, new or one of them. It runs with the domain held. No row means that
// there is nothing to do.
type plan func(ctx context.Context, tx *db.Tx, rows []DNSRecord) (*DNSRecord, error)

// begin commits an intent, once it is this writer's turn.
func (z *Zones) begin(ctx context.Context, s store, at zoneRef, want plan) (v *DNSRecord, err error) {
	ctx2, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	for {
		var open *DNSRecord
		err = s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			v, open = nil, nil
			if err := holdZone(ctx, tx, at); err != nil {
				return err
			}
			rows, err := rowsOf(ctx, tx, at)
			if err != nil {
				return err
			}
			now, err := db.Now(ctx, tx)
			if err != nil {
				return err
			}
			for i := range rows {
				if rows[i].Intent == nil {
					continue
				}
				if *rows[i].IntentUntil > now {
					return errTurn
				}
				open = &rows[i]
				return errOpen
			}
			if v, err = want(ctx, tx, rows); err != nil || v == nil {
				return err
			}
			return z.keep(ctx, tx, at, v, !slices.ContainsFunc(rows, func(r DNSRecord) bool { return r.ID == v.ID }))
		})
		switch {
		case errors.Is(err, errOpen):
			if err := z.finish(ctx, s, at, open); err != nil {
				return nil, err
			}
		case errors.Is(err, errTurn):
			select {
			case <-ctx2.Done():
				return nil, ZoneBusy.New()
			case <-time.After(turnPause):
			}
		default:
			return v, err
		}
	}
}

// keep writes the intent with a new lease, and the job that sees to it when
// nobody else does.
func (z *Zones) keep(ctx context.Context, tx *db.Tx, at zoneRef, v *DNSRecord, insert bool) error {
	now, err := db.Now(ctx, tx)
	if err != nil {
		return err
	}
	attempt, until := id.New(), now.Add(intentLease)
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
	_, err = z.Jobs.Enqueue(ctx, tx, settleJob, settleArgs{at.Org, at.ID, at.Name, at.Kind, v.ID}, job.At(z.Clock.Now().Add(intentLease+time.Second)), job.For(at.Org))
	return err
}

// carryOut calls the provider for an intent. One that may have been carried
// out before looks at the zone first.
func (z *Zones) carryOut(ctx context.Context, zone string, v *DNSRecord, again bool) error {
	old, r := v.record(), v.record()
	if *v.Intent == intentReplace {
		var err error
		if r, err = v.replacement(); err != nil {
			return err
		}
	}
	oldThere, newThere := true, false
	if again {
		actual, err := z.DNS.Records(ctx, zone)
		if err != nil {
			return err
		}
		has := func(r Record) bool {
			return slices.ContainsFunc(actual, func(o Record) bool { return o.Same(r) && (o.TTL == r.TTL || *v.Intent == intentRemove) })
		}
		oldThere, newThere = has(old), has(r)
	}
	switch *v.Intent {
	case intentAdd:
		if newThere {
			return nil
		}
		return z.DNS.Add(ctx, zone, r)
	case intentReplace:
		if newThere && (!oldThere || old.Same(r)) {
			return nil
		}
		return z.DNS.Replace(ctx, zone, old, r)
	default:
		if !oldThere {
			return nil
		}
		return z.DNS.Remove(ctx, zone, r)
	}
}

// settle commits the outcome of an intent and reports whether it was still
// open: only one outcome of an attempt is written.
func (z *Zones) settle(ctx context.Context, tx *db.Tx, at zoneRef, v *DNSRecord, outcome error) (*DNSRecord, bool, error) {
	if err := holdZone(ctx, tx, at); err != nil {
		return nil, false, err
	}
	row, err := dnsRecords.Find(ctx, tx, db.In(at.Org).And("id = ?", v.ID).And("intent_id = ?", *v.IntentID))
	if fault.Has(err, fault.NotFound) {
		return v, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	intent := *row.Intent
	if outcome == nil && intent == intentReplace {
		wanted, err := row.replacement()
		if err != nil {
			return nil, false, err
		}
		row.become(wanted)
	}
	row.Intent, row.IntentID, row.IntentUntil, row.Wanted = nil, nil, nil, nil
	row.Version++
	if outcome == nil {
		row.UpdatedAt = z.Clock.Now()
	}
	if err := dnsRecords.Save(ctx, tx, row); err != nil {
		return nil, false, err
	}
	// A record that was not added, or that the provider does not have, is none.
	if gone := StatusOf(outcome) == 404; outcome == nil && intent == intentRemove || outcome != nil && (intent == intentAdd || gone) {
		row, err = dnsRecords.Remove(ctx, tx, at.Org, row.ID, z.Clock.Now())
	}
	return row, true, err
}

// giveUp commits that an intent failed, or that its outcome is not known, and
// returns what the caller hears.
func (z *Zones) giveUp(ctx context.Context, s store, at zoneRef, v *DNSRecord, outcome error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if definite(outcome) {
		err := s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, _, err := z.settle(ctx, tx, at, v, outcome)
			return err
		})
		return errors.Join(dnsRefusal(outcome), err)
	}
	// The lease ends at once: whoever writes next may look at the zone.
	err := s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, "UPDATE dns_records SET intent_until = 0 WHERE organization_id = $1 AND id = $2 AND intent_id = $3", at.Org, v.ID, *v.IntentID)
		return err
	})
	if err != nil {
		z.Log.WarnContext(ctx, "an open DNS write keeps its lease", "err", err)
	}
	return op.Unknown(dnsRefusal(outcome))
}

// claim makes an intent that was left open this process's own.
func (z *Zones) claim(ctx context.Context, s store, at zoneRef, v *DNSRecord) (mine bool, err error) {
	err = s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		mine = false
		if err := holdZone(ctx, tx, at); err != nil {
			return err
		}
		row, err := dnsRecords.Find(ctx, tx, db.In(at.Org).And("id = ?", v.ID).And("intent_id = ?", *v.IntentID))
		if fault.Has(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		mine, *v = true, *row
		return z.keep(ctx, tx, at, v, false)
	})
	return mine, err
}

// finish carries out what somebody else left open, and tells of it as the
// service's own doing.
func (z *Zones) finish(ctx context.Context, s store, at zoneRef, v *DNSRecord) error {
	mine, err := z.claim(ctx, s, at, v)
	if err != nil || !mine {
		return err
	}
	outcome := z.carryOut(ctx, at.Name, v, true)
	if outcome != nil && !definite(outcome) {
		return z.giveUp(ctx, s, at, v, outcome)
	}
	return s.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, mine, err := z.settle(ctx, tx, at, v, outcome)
		if err != nil || !mine || outcome != nil || row.ManagedBy != byUser {
			return err
		}
		text, err := json.Marshal(row, json.Deterministic(true))
		if err != nil {
			return err
		}
		return z.Events.Append(ctx, tx, event.Event{Organization: at.Org, At: z.Clock.Now(), Type: happened[*v.Intent], ResourceID: row.ID, Data: text}.BySystem())
	})
}

// happened names the event of each intent.
var happened = map[string]string{intentAdd: "domain.dns_record.created", intentReplace: "domain.dns_record.updated", intentRemove: "domain.dns_record.deleted"}

const settleJob = "dns.settle"

type settleArgs struct {
	Org    id.ID  `json:"org"`
	Domain id.ID  `json:"domain"`
	Zone   string `json:"zone"`
	Kind   string `json:"kind"`
	Record id.ID  `json:"record"`
}

// Handle declares the jobs.
func (z *Zones) Handle() {
	job.HandleFlow(z.Jobs, settleJob, func(ctx context.Context, _ job.Job, a settleArgs) (job.Outcome, error) {
		at := zoneRef{Org: a.Org, ID: a.Domain, Name: a.Zone, Kind: a.Kind}
		var v *DNSRecord
		err := z.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			now, err := db.Now(ctx, tx)
			if err != nil {
				return err
			}
			v, err = dnsRecords.Find(ctx, tx, db.In(a.Org).And("id = ?", a.Record).And("intent_id IS NOT NULL").And("intent_until <= ?", now))
			return err
		})
		if fault.Has(err, fault.NotFound) {
			return nil, nil
		}
		if err == nil {
			err = z.finish(ctx, z.DB, at, v)
		}
		if fault.Has(err, fault.NotFound) {
			err = nil // the domain is deleted, and its zone with it
		}
		return nil, err
	}, job.Forget())
}

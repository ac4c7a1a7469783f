package app

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/secret"
)

// sealedPlace is a column that holds sealed bytes, and how the place that
// they are bound to is written in SQL. Every column that seals has a line in
// sealedPlaces: a key leaves its file once no line holds anything of it.
type sealedPlace struct{ table, column, where, place string }

var sealedPlaces = []sealedPlace{
	{"idempotency", "body", "sealed", "'idempotency/' || organization_id || '/' || key"},
	{"link_signing_keys", "sealed", "TRUE", "'link_signing_keys/' || purpose"},
	{"domain_email", "ed25519_sealed", "TRUE", "'domain_email/' || domain_id || '/fd-ed25519'"},
	{"domain_email", "rsa_sealed", "TRUE", "'domain_email/' || domain_id || '/fd-rsa'"},
	{"mail_keys", "sealed", "TRUE", "'mail_keys/' || domain || '/' || selector"},
	{"webhooks", "secret", "TRUE", "'webhooks/' || id"},
	{"webhooks", "previous_secret", "previous_secret IS NOT NULL", "'webhooks/' || id || '/previous'"},
}

// Rotated is what a rotation did.
type Rotated struct {
	Key      int   `json:"key"` // that now seals
	Resealed int   `json:"resealed"`
	Removed  []int `json:"removed"`
	Kept     []int `json:"kept"` // older keys that are still in the file
}

// rotate puts a new key into the file, seals anew with it, and takes the old
// ones out once nothing needs them. After any step it can be killed: the file
// always has every key that something is sealed with, and a second run goes
// on. On PostgreSQL other servers may have the file as it was: what is stored
// stays as they can read it, and the old keys with it, until a run with retire,
// which adds none.
func (a *App) rotate(ctx context.Context, retire bool, say db.Say) (*Rotated, error) {
	a.seal.rotation.Lock()
	defer a.seal.rotation.Unlock()
	if err := a.seal.fits(); err != nil {
		return nil, err
	}
	box := a.seal.current()
	if !retire {
		var err error
		if box, err = secret.AddKey(a.seal.path); err != nil {
			return nil, err
		}
		a.seal.set(box)
		a.step("added")
	}
	// On SQLite this waits for every write that sealed with the old key.
	err := a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return prove(ctx, tx, box) })
	if err != nil {
		return nil, err
	}
	a.step("proved")
	out := &Rotated{Key: int(box.Newest()), Removed: []int{}, Kept: []int{}}
	shared := a.DB.Engine() == db.Postgres && !retire
	if !shared {
		for _, p := range sealedPlaces {
			n, err := a.reseal(ctx, p, box.Newest(), say)
			out.Resealed += n
			if err != nil {
				return nil, err
			}
		}
		a.step("resealed")
	}
	for _, n := range box.Numbers() {
		if n == box.Newest() {
			continue
		}
		used := shared
		if !used {
			if used, err = a.inUse(ctx, n); err != nil {
				return nil, err
			}
		}
		if used {
			out.Kept = append(out.Kept, int(n))
			continue
		}
		err := a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "DELETE FROM sealing_keys WHERE number = $1", int(n))
			return err
		})
		if err != nil {
			return nil, err
		}
		a.step("forgotten")
		next, err := secret.RemoveKey(a.seal.path, n)
		if err != nil {
			return nil, err
		}
		a.seal.set(next)
		out.Removed = append(out.Removed, int(n))
	}
	a.Log.InfoContext(ctx, "sealing key rotated", "key", out.Key, "resealed", out.Resealed, "removed", len(out.Removed), "kept", len(out.Kept))
	return out, nil
}

// step lets a test stop a rotation between two of its steps.
func (a *App) step(name string) {
	if a.seal.afterStep != nil {
		a.seal.afterStep(name)
	}
}

const resealBatch = 200

// reseal seals anew what a column holds of older keys. It looks on snapshots
// and writes in small transactions.
func (a *App) reseal(ctx context.Context, p sealedPlace, newest byte, say db.Say) (done int, err error) {
	old := " AND substr(" + p.column + ", 1, 1) <> $1"
	type row struct {
		Seq    int64  `db:"seq"`
		Place  string `db:"place"`
		Sealed []byte `db:"sealed"`
	}
	for last := int64(0); ; {
		var seqs []int64
		err := a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			seqs, err = db.All[int64](ctx, tx, "SELECT seq FROM "+p.table+" WHERE "+p.where+old+" AND seq > $2 ORDER BY seq LIMIT $3", []byte{newest}, last, resealBatch)
			return err
		})
		if err != nil || len(seqs) == 0 {
			return done, err
		}
		n := 0
		err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			n = 0
			for _, seq := range seqs {
				text := "SELECT seq, " + p.place + ", " + p.column + " FROM " + p.table + " WHERE " + p.where + old + " AND seq = $2"
				if tx.Engine() == db.Postgres {
					text += " FOR UPDATE"
				}
				rows, err := db.All[row](ctx, tx, text, []byte{newest}, seq)
				if err != nil {
					return err
				}
				for _, r := range rows { // one, or none when it is gone or changed meanwhile
					plain, err := a.seal.Open(r.Sealed, r.Place)
					if err != nil {
						return fmt.Errorf("%s, row %d: %w", p.table, r.Seq, err)
					}
					sealed, err := a.seal.Seal(plain, r.Place)
					if err != nil {
						return err
					}
					if _, err := db.Exec(ctx, tx, "UPDATE "+p.table+" SET "+p.column+" = $2 WHERE seq = $1", r.Seq, sealed); err != nil {
						return err
					}
					n++
				}
			}
			return nil
		})
		if err != nil {
			return done, err
		}
		done += n
		last = seqs[len(seqs)-1]
		if say != nil {
			say(fmt.Sprintf("sealed anew in %s: %d so far", p.table, done))
		}
		a.step("batch")
	}
}

// inUse reports whether anything is sealed with a key.
func (a *App) inUse(ctx context.Context, number byte) (used bool, err error) {
	err = a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, p := range sealedPlaces {
			rows, err := db.All[int64](ctx, tx, "SELECT seq FROM "+p.table+" WHERE "+p.where+" AND substr("+p.column+", 1, 1) = $1 LIMIT 1", []byte{number})
			if err != nil {
				return err
			}
			used = used || len(rows) > 0
		}
		return nil
	})
	return used, err
}

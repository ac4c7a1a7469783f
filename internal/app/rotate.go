package app

import (
	"context"
	"fmt"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/secret"
)

// RotationResult is what a rotation of the sealing key did.
type RotationResult struct {
	Key      int   `json:"key"` // that now seals
	Resealed int   `json:"resealed"`
	Removed  []int `json:"removed"`
	Kept     []int `json:"kept"` // older keys that are still in the file
}

// rotateSealingKey adds a new key to the file, seals the stored secrets with it, and removes
// the old keys once nothing needs them. It can be killed after any step: the file
// always has every key in use, and a second run continues. On PostgreSQL other
// servers may still have the old file, so the stored secrets and the old keys
// stay until a run with retire, which adds no key.
func (a *App) rotateSealingKey(ctx context.Context, retire bool, say db.ProgressFunc) (*RotationResult, error) {
	a.seal.rotation.Lock()
	defer a.seal.rotation.Unlock()
	if err := a.seal.checkKey(); err != nil {
		return nil, err
	}
	box := a.seal.currentBox()
	if !retire {
		var err error
		if box, err = secret.AddKey(a.seal.path); err != nil {
			return nil, err
		}
		a.seal.setBox(box)
		a.afterRotationStep("added")
	}
	// On SQLite this waits for every write that sealed with the old key.
	err := a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error { return recordProof(ctx, tx, box) })
	if err != nil {
		return nil, err
	}
	a.afterRotationStep("proved")
	out := &RotationResult{Key: int(box.NewestKey()), Removed: []int{}, Kept: []int{}}
	shared := a.DB.Engine() == db.Postgres && !retire
	if !shared {
		for _, p := range db.SealedColumns() {
			n, err := a.resealColumn(ctx, p, box.NewestKey(), say)
			out.Resealed += n
			if err != nil {
				return nil, err
			}
		}
		a.afterRotationStep("resealed")
	}
	for _, n := range box.KeyNumbers() {
		if n == box.NewestKey() {
			continue
		}
		used := shared
		if !used {
			if used, err = a.isKeyInUse(ctx, n); err != nil {
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
		a.afterRotationStep("forgotten")
		next, err := secret.RemoveKey(a.seal.path, n)
		if err != nil {
			return nil, err
		}
		a.seal.setBox(next)
		out.Removed = append(out.Removed, int(n))
	}
	a.Log.InfoContext(ctx, "sealing key rotated", "key", out.Key, "resealed", out.Resealed, "removed", len(out.Removed),
		"kept", len(out.Kept))
	return out, nil
}

// afterRotationStep lets a test stop a rotation between two of its steps.
func (a *App) afterRotationStep(name string) {
	if a.seal.afterStep != nil {
		a.seal.afterStep(name)
	}
}

const resealBatch = 200

// resealColumn seals again what a column holds under older keys. It finds the rows on
// snapshots and writes in small transactions. The first byte of sealed bytes is the
// number of their key.
func (a *App) resealColumn(ctx context.Context, p db.SealedColumn, newest byte, say db.ProgressFunc) (done int,
	err error) {
	old := " AND substr(" + p.Column + ", 1, 1) <> $1"
	type row struct {
		Seq    int64  `db:"seq"`
		Place  string `db:"place"`
		Sealed []byte `db:"sealed"`
	}
	for last := int64(0); ; {
		var seqs []int64
		err := a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
			seqs, err = db.QueryAll[int64](ctx, tx,
				"SELECT seq FROM "+p.Table+" WHERE "+p.Where+old+" AND seq > $2 ORDER BY seq LIMIT $3",
				[]byte{newest}, last, resealBatch)
			return err
		})
		if err != nil || len(seqs) == 0 {
			return done, err
		}
		n := 0
		err = a.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			n = 0
			for _, seq := range seqs {
				text := "SELECT seq, " + p.Place + ", " + p.Column + " FROM " + p.Table + " WHERE " + p.Where + old +
					" AND seq = $2"
				if tx.Engine() == db.Postgres {
					text += " FOR UPDATE"
				}
				rows, err := db.QueryAll[row](ctx, tx, text, []byte{newest}, seq)
				if err != nil {
					return err
				}
				for _, r := range rows { // one, or none when it is gone or changed meanwhile
					plain, err := a.seal.Open(r.Sealed, r.Place)
					if err != nil {
						return fmt.Errorf("%s, row %d: %w", p.Table, r.Seq, err)
					}
					sealed, err := a.seal.Seal(plain, r.Place)
					if err != nil {
						return err
					}
					if _, err := db.Exec(ctx, tx, "UPDATE "+p.Table+" SET "+p.Column+" = $2 WHERE seq = $1", r.Seq,
						sealed); err != nil {
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
			say(fmt.Sprintf("resealed in %s: %d so far", p.Table, done))
		}
		a.afterRotationStep("batch")
	}
}

// isKeyInUse reports whether anything is sealed with a key.
func (a *App) isKeyInUse(ctx context.Context, number byte) (used bool, err error) {
	err = a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		for _, p := range db.SealedColumns() {
			rows, err := db.QueryAll[int64](ctx, tx,
				"SELECT seq FROM "+p.Table+" WHERE "+p.Where+" AND substr("+p.Column+
					", 1, 1) = $1 LIMIT 1", []byte{number})
			if err != nil {
				return err
			}
			used = used || len(rows) > 0
		}
		return nil
	})
	return used, err
}

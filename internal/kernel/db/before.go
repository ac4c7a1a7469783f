package db

import (
	"context"
	"errors"
	"reflect"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// former is a row that the transaction locked to change it, as it was: an event can
// then say what was there before, and updated_at never goes back.
type former struct {
	row   id.ID
	value any // a pointer to a copy
}

// remember keeps a copy of a row that is about to change. Only the first copy of a
// row counts: it is what was there before the transaction.
func (t *Table[T]) remember(tx *Tx, row *T) {
	if !tx.writable {
		return
	}
	key := id.ID(t.plan.place(reflect.ValueOf(row).Elem(), t.field("id")).String())
	tx.latest = max(tx.latest, clock.Time(t.plan.place(reflect.ValueOf(row).Elem(), t.field("updated_at")).Int()))
	if tx.Before(key) == nil {
		was := *row
		tx.former = append(tx.former, former{key, &was})
		t.traceVersion(tx, row, key)
	}
}

// Before is a pointer to a row as it was when this transaction locked it, or nil.
func (tx *Tx) Before(row id.ID) any {
	for _, f := range tx.former {
		if f.row == row {
			return f.value
		}
	}
	return nil
}

// NotBefore is now, or a moment after the last change of all rows that this
// transaction has locked. Whoever waited for a row, or has a slower clock, may come
// with a time before that change, and events must stay in order.
func (tx *Tx) NotBefore(now clock.Time) clock.Time { return max(now, tx.latest+1) }

// moveOn keeps updated_at from going backwards.
func (t *Table[T]) moveOn(tx *Tx, row *T) {
	v := reflect.ValueOf(row).Elem()
	was, ok := tx.Before(id.ID(t.plan.place(v, t.field("id")).String())).(*T)
	if !ok {
		return
	}
	f := t.field("updated_at")
	now, before := t.plan.place(v, f), t.plan.place(reflect.ValueOf(was).Elem(), f).Int()
	if now.Int() < before {
		now.SetInt(before + 1)
	}
}

// guard is a check that a write must pass once it holds a row. It is how If-Match
// compares the version that a caller saw with the row that is locked now.
type guard struct {
	row   id.ID
	check func(context.Context) error
}

// Guard has check run once, as soon as the transaction has locked a row, before
// anything is changed.
func (tx *Tx) Guard(row id.ID, check func(context.Context) error) { tx.guard = &guard{row, check} }

// Guarded reports whether a guard has not run yet.
func (tx *Tx) Guarded() bool { return tx.guard != nil }

// locked runs the guard of a row that was just locked, if there is one.
func (tx *Tx) locked(ctx context.Context, row id.ID) error {
	if tx.guard == nil || tx.guard.row != row {
		return nil
	}
	check := tx.guard.check
	tx.guard = nil
	return check(ctx)
}

// Try runs fn inside a write so that its error undoes what fn did, and nothing
// else. Without the savepoint PostgreSQL would refuse every statement that follows
// a failed one.
func (tx *Tx) Try(ctx context.Context, fn func(context.Context) error) error {
	if _, err := tx.exec(ctx, "SAVEPOINT try", nil); err != nil {
		return err
	}
	// What would happen at the commit, and what was traced, is undone too.
	index, after, told := len(tx.index), len(tx.after), tx.trace.length()
	err := fn(ctx)
	if err != nil {
		tx.index, tx.after = tx.index[:index], tx.after[:after]
		tx.trace.cut(told)
		if _, undo := tx.exec(ctx, "ROLLBACK TO SAVEPOINT try", nil); undo != nil {
			return errors.Join(undo, err)
		}
	}
	if _, end := tx.exec(ctx, "RELEASE SAVEPOINT try", nil); end != nil {
		return errors.Join(end, err)
	}
	return err
}

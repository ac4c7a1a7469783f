package db

import (
	"context"
	"errors"
	"reflect"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// rowBefore is a row that the transaction locked to change it, as it was: an event can
// then say what was there before, and updated_at never goes back.
type rowBefore struct {
	row   id.ID
	value any // a pointer to a copy
}

// rememberRow keeps a copy of a row that is about to change. Only the first copy of a
// row counts: it is what was there before the transaction.
func (t *layout) rememberRow(tx *Tx, row reflect.Value) {
	if !tx.writable {
		return
	}
	key := id.ID(t.columnText(row, "id"))
	tx.lastChange = max(tx.lastChange, clock.Time(t.mapping.fieldValue(row, t.fieldForColumn("updated_at")).Int()))
	if tx.RowBefore(key) == nil {
		was := reflect.New(t.rowType)
		was.Elem().Set(row)
		tx.rowsBefore = append(tx.rowsBefore, rowBefore{key, was.Interface()})
		t.traceVersion(tx, row, key)
	}
}

// RowBefore is a pointer to a row as it was when this transaction locked it, or nil.
func (tx *Tx) RowBefore(row id.ID) any {
	for _, f := range tx.rowsBefore {
		if f.row == row {
			return f.value
		}
	}
	return nil
}

// rowBefore is the table's row as it was when this transaction locked it, if it did.
func (t *layout) rowBefore(tx *Tx, row reflect.Value) (was reflect.Value, locked bool) {
	before := reflect.ValueOf(tx.RowBefore(id.ID(t.columnText(row, "id"))))
	if !before.IsValid() || before.Type().Elem() != t.rowType {
		return was, false
	}
	return before.Elem(), true
}

// TimeAfterLocked is now, or a moment after the last change of all rows that this
// transaction has locked. Whoever waited for a row, or has a slower clock, may come
// with a time before that change, and events must stay in order.
func (tx *Tx) TimeAfterLocked(now clock.Time) clock.Time { return max(now, tx.lastChange+1) }

// advanceUpdatedAt keeps updated_at from going backwards.
func (t *layout) advanceUpdatedAt(tx *Tx, row reflect.Value) {
	was, locked := t.rowBefore(tx, row)
	if !locked {
		return
	}
	f := t.fieldForColumn("updated_at")
	now, before := t.mapping.fieldValue(row, f), t.mapping.fieldValue(was, f).Int()
	if now.Int() < before {
		now.SetInt(before + 1)
	}
}

// rowGuard is a check that a write must pass once it holds a row. It is how If-Match
// compares the version that a caller saw with the row that is locked now.
type rowGuard struct {
	row   id.ID
	check func(context.Context) error
}

// GuardRow has check run once, as soon as the transaction has locked a row, before
// anything is changed.
func (tx *Tx) GuardRow(row id.ID, check func(context.Context) error) {
	tx.guard = &rowGuard{row, check}
}

// GuardPending reports whether a guard has not run yet.
func (tx *Tx) GuardPending() bool { return tx.guard != nil }

// checkGuard runs the guard of a row that was just locked, if there is one.
func (tx *Tx) checkGuard(ctx context.Context, row id.ID) error {
	if tx.guard == nil || tx.guard.row != row {
		return nil
	}
	check := tx.guard.check
	tx.guard = nil
	return check(ctx)
}

// RunInSavepoint runs fn inside a write so that its error undoes what fn did, and nothing
// else. Without the savepoint PostgreSQL would refuse every statement that follows
// a failed one.
func (tx *Tx) RunInSavepoint(ctx context.Context, fn func(context.Context) error) error {
	if _, err := tx.execStatement(ctx, "SAVEPOINT try", nil); err != nil {
		return err
	}
	// What would happen at the commit, and what was traced, is undone too.
	index, after, told := len(tx.indexChanges), len(tx.afterCommit), tx.trace.entryCount()
	err := fn(ctx)
	if err != nil {
		tx.indexChanges, tx.afterCommit = tx.indexChanges[:index], tx.afterCommit[:after]
		tx.trace.truncateEntries(told)
		if _, undo := tx.execStatement(ctx, "ROLLBACK TO SAVEPOINT try", nil); undo != nil {
			return errors.Join(undo, err)
		}
	}
	if _, end := tx.execStatement(ctx, "RELEASE SAVEPOINT try", nil); end != nil {
		return errors.Join(end, err)
	}
	return err
}

package transfer

import (
	"context"
	"math"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// WriteSpan is the span of time in which an import wrote records. An import that
// has not ended has no upper bound yet.
func WriteSpan(ctx context.Context, tx *db.Tx, org, row id.ID) (from, to clock.Time, err error) {
	v, err := imports.Get(ctx, tx, org, row)
	if err != nil {
		return 0, 0, err
	}
	if v.CompletedAt == nil {
		return v.CreatedAt, math.MaxInt64, nil
	}
	return v.CreatedAt, *v.CompletedAt, nil
}

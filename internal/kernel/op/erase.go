package op

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strconv"
	"time"

	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
)

var _ = db.Declare("idempotency", db.Life{
	Refs: []db.Ref{db.RefTo("attempt_id", "", db.Keeps)},
	Expire: db.Expiry{
		After: func(r config.Retention) time.Duration { return r.Idempotency },
		Where: ExpiredCondition,
	},
	// A claim without an answer stays: a retry needs it to find out what happened outside.
	Erase: life.WholeRow.OnlyWhere("status IS NOT NULL").AlsoFind(findStoredAnswers),
	Sealed: []db.Sealed{{Column: "body", Place: "'idempotency/' || organization_id || '/' || key",
		Where: "sealed"}},
	Unexported: []string{"step"},
})

var uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// findStoredAnswers finds the stored answers to delete when a person is erased: those that mention the person or a row
// about them, and those of automations' steps whose execution is erased. A sealed answer cannot be searched, so all
// sealed answers of operations on the person's own table are deleted.
func findStoredAnswers(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	const stored = "organization_id = $1 AND status IS NOT NULL"
	mentions := tx.BytesContainSQL("body") + " OR sealed AND operation LIKE '" + e.Table + ".%'"
	if err := e.ScanEach(ctx, tx, "idempotency", stored+" AND ("+mentions+")", e.PersonIDs()); err != nil {
		return err
	}
	// A step's key is the prefix and the id of its execution, 36 characters, and more.
	execution := "substr(key, " + strconv.Itoa(len(StepKeyPrefix)+1) + ", 36)"
	steps := stored + " AND key LIKE '" + StepKeyPrefix + "%' AND " + execution + " = ANY($2)"
	if err := e.ScanAny(ctx, tx, "idempotency", steps, e.TracedIDs()); err != nil {
		return err
	}
	return findAnswersNamingIDs(ctx, tx, e)
}

// findAnswersNamingIDs finds the answers that have one of the erased rows' ids, among those of operations on the same
// tables. There may be very many ids, so each answer is read once and the ids in it are looked up, and not the other
// way round.
func findAnswersNamingIDs(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	type answer struct {
		Seq  int64  `db:"seq"`
		Body []byte `db:"body"`
	}
	for _, table := range e.TopLevelTables() {
		operations := table + ".%"
		err := e.ScanWith(ctx, tx, life.Scan{Table: "idempotency", Name: operations, Values: tracedIDs(e)},
			func(after int64, values []string) ([]int64, error) {
				wanted := map[string]bool{}
				for _, v := range values {
					wanted[v] = true
				}
				answers, err := db.QueryAll[answer](ctx, tx, `
				SELECT seq, body FROM idempotency
				WHERE organization_id = $1 AND status IS NOT NULL AND NOT sealed AND operation LIKE $2 AND seq > $3`,
					e.Organization, operations, after)
				var found []int64
				for _, a := range answers {
					if mentionsAnyID(a.Body, wanted) {
						found = append(found, a.Seq)
					}
				}
				return found, err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// tracedIDs are the ids of all rows that are erased, as text.
func tracedIDs(e *life.Erasure) []string {
	traced := e.TracedIDs()
	out := make([]string, len(traced))
	for i, v := range traced {
		out[i] = string(v)
	}
	return out
}

// mentionsAnyID reports whether a text has one of the ids.
func mentionsAnyID(body []byte, wanted map[string]bool) bool {
	return slices.ContainsFunc(uuidPattern.FindAll(bytes.ToLower(body), -1),
		func(b []byte) bool { return wanted[string(b)] })
}

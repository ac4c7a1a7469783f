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
)

var _ = db.Declare("idempotency", db.Life{
	Refs: []db.Ref{db.To("attempt_id", "", db.Keeps)},
	Expire: db.Expiry{
		After: func(r config.Retention) time.Duration { return r.Idempotency },
		Only:  Expired,
	},
	// A claim without an answer stays: a retry needs it to find out what happened outside.
	Erase:      db.WholeRow.Only("status IS NOT NULL").Find(findAnswers),
	Sealed:     []db.Sealed{{Column: "body", Place: "'idempotency/' || organization_id || '/' || key", Only: "sealed"}},
	Unexported: []string{"step"},
})

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// findAnswers finds the stored answers to delete when a person is erased: those that mention the person or a row
// about them, and those of automations' steps whose execution is erased. A sealed answer cannot be searched, so all
// sealed answers of operations on the person's own table are deleted.
func findAnswers(ctx context.Context, tx *db.Tx, e *db.Erasure) error {
	const stored = "organization_id = $1 AND status IS NOT NULL"
	mentions := tx.MentionsInBytes("body") + " OR sealed AND operation LIKE '" + e.Table + ".%'"
	if err := e.Each(ctx, tx, "idempotency", stored+" AND ("+mentions+")", e.Names()); err != nil {
		return err
	}
	// A step's key is the prefix and the id of its execution, 36 characters, and more.
	execution := "substr(key, " + strconv.Itoa(len(StepKeys)+1) + ", 36)"
	steps := stored + " AND key LIKE '" + StepKeys + "%' AND " + execution + " = ANY($2)"
	if err := e.Any(ctx, tx, "idempotency", steps, e.Traced()); err != nil {
		return err
	}
	return findMentions(ctx, tx, e)
}

// findMentions finds the answers that have one of the erased rows' ids, among those of operations on the same
// tables. There may be very many ids, so each answer is read once and the ids in it are looked up, and not the other
// way round.
func findMentions(ctx context.Context, tx *db.Tx, e *db.Erasure) error {
	type answer struct {
		Seq  int64  `db:"seq"`
		Body []byte `db:"body"`
	}
	for _, table := range e.Tables() {
		operations := table + ".%"
		err := e.Scan(ctx, tx, "idempotency", operations, ids(e), func(after int64, values []string) ([]int64, error) {
			wanted := map[string]bool{}
			for _, v := range values {
				wanted[v] = true
			}
			answers, err := db.All[answer](ctx, tx, `
				SELECT seq, body FROM idempotency
				WHERE organization_id = $1 AND status IS NOT NULL AND NOT sealed AND operation LIKE $2 AND seq > $3`,
				e.Organization, operations, after)
			var found []int64
			for _, a := range answers {
				if mentionsAny(a.Body, wanted) {
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

// ids are the ids of all rows that are erased, as text.
func ids(e *db.Erasure) []string {
	traced := e.Traced()
	out := make([]string, len(traced))
	for i, v := range traced {
		out[i] = string(v)
	}
	return out
}

// mentionsAny reports whether a text has one of the ids.
func mentionsAny(body []byte, wanted map[string]bool) bool {
	return slices.ContainsFunc(uuid.FindAll(bytes.ToLower(body), -1), func(b []byte) bool { return wanted[string(b)] })
}

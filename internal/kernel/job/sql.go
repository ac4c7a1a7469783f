package job

import (
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// insertText adds a job, unless the unique index finds one of the same kind and key
// that is ready or running.
const insertText = `
	INSERT INTO jobs (organization_id, lane, kind, unique_key, args, state, run_at, attempt, max_attempts,
		fence, created_at)
	VALUES ($1, $2, $3, $4, $5, 'ready', $6, 0, $7, 0, $8)
	ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL AND state IN ('ready', 'running') DO NOTHING
	RETURNING id`

// cancelText lacks the condition that says which job.
const cancelText = `
	UPDATE jobs SET state = 'cancelled', finished_at = $2, leased_until = NULL, holder = NULL
	WHERE state IN ('ready', 'running') AND `

// settleText and forgetText end a run. The state and the fence are in the WHERE, so
// that a worker which comes too late finds no row.
const (
	settleText = `
	UPDATE jobs SET state = $4, run_at = $5, attempt = $6, last_error = COALESCE($7, last_error), finished_at = $8,
		fence = fence + 1, leased_until = NULL, holder = NULL
	WHERE id = $1 AND fence = $2 AND state = $3`
	forgetText = `DELETE FROM jobs WHERE id = $1 AND fence = $2 AND state = $3`
)

// row is what a claim reads of a job.
type row struct {
	ID             ID         `db:"id"`
	OrganizationID *id.ID     `db:"organization_id"`
	Kind           string     `db:"kind"`
	UniqueKey      *string    `db:"unique_key"`
	Args           db.JSON    `db:"args"`
	RunAt          clock.Time `db:"run_at"`
	Attempt        int        `db:"attempt"`
	MaxAttempts    int        `db:"max_attempts"`
	Fence          int64      `db:"fence"`
	CreatedAt      clock.Time `db:"created_at"`
}

// statements are the texts that depend on the engine or on the declared kinds.
type statements struct {
	claim, claimExcept string // the next due job; and without some organizations
	// due jobs of organizations that were not served lately; and one of these
	findFresh, claimOne                 string
	peek                                string // when the next job is due
	lease, keep, renew                  string // take a lease; extend one; extend many
	lost, lostAll                       string // end leases that ran out; and all leases
	holders, lostBy                     string // the processes that have leases; end those of one
	strays, adopt                       string // lanes with ready jobs; move a lane's jobs to where they belong
	countDue, countRunning, countFailed string // figures
}

// statementTexts builds the statements once all kinds are declared. A process claims
// only kinds that it knows: a newer one that knows more may run beside it.
func (q *Queue) statementTexts() *statements {
	q.textsOnce.Do(func() {
		var kinds, lanes []string
		adopt := "CASE kind"
		for k, h := range q.handlers {
			kinds = append(kinds, "'"+k+"'")
			adopt += " WHEN '" + k + "' THEN '" + h.lane + "'"
		}
		for l := range q.lanes {
			lanes = append(lanes, "'"+l+"'")
		}
		slices.Sort(kinds)
		slices.Sort(lanes)
		// The names were checked against a pattern, so they need no quoting.
		known := "kind IN (" + strings.Join(kinds, ", ") + ")"
		now, lock := "CAST(unixepoch('subsec') * 1000000 AS INTEGER)", ""
		if q.db.Engine() == db.Postgres {
			now, lock = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)", " FOR UPDATE SKIP LOCKED"
		}
		next := `FROM jobs WHERE state = 'ready' AND lane = $1 AND ` + known
		columns := `
			SELECT id, organization_id, kind, unique_key, args, run_at, attempt, max_attempts, fence, created_at `
		claim := columns + next + ` AND run_at <= $2`
		first := ` ORDER BY run_at, id LIMIT 1`
		// A lost worker says little about the job, so the job gets a few more
		// tries than its attempts. A job that kills every process still ends.
		lost := `
	UPDATE jobs SET fence = fence + 1, leased_until = NULL, holder = NULL, last_error = 'the worker was lost',
		state = CASE WHEN attempt >= max_attempts + 5 THEN 'failed' ELSE 'ready' END,
		finished_at = CASE WHEN attempt >= max_attempts + 5 THEN $1 ELSE finished_at END
	WHERE id IN (SELECT id FROM jobs WHERE state = 'running' AND `
		q.texts = &statements{
			claim:       claim + first + lock,
			claimExcept: claim + ` AND (organization_id IS NULL OR organization_id <> ALL($3))` + first + lock,
			findFresh: `
				SELECT id FROM (SELECT id, organization_id, run_at ` + next + ` AND run_at <= $2
					ORDER BY run_at DESC, id DESC LIMIT 100) AS newest
				WHERE organization_id IS NOT NULL AND NOT (organization_id = ANY($3)) ORDER BY run_at, id LIMIT 8`,
			claimOne: columns + `FROM jobs WHERE id = $1 AND state = 'ready' AND run_at <= $2` + lock,
			peek:     `SELECT run_at ` + next + first,
			lease: `
				UPDATE jobs
				SET state = 'running', attempt = attempt + 1, fence = fence + 1, holder = $4,
					leased_until = ` + now + ` + $3
				WHERE id = $1 AND fence = $2 AND state = 'ready'`,
			keep: `UPDATE jobs SET leased_until = ` + now +
				` + $3 WHERE id = $1 AND fence = $2 AND state = 'running'`,
			renew: `
				UPDATE jobs SET leased_until = ` + now + ` + $3, holder = $4 WHERE id IN (
					SELECT id FROM jobs JOIN unnest($1::bigint[], $2::bigint[]) AS mine (job, held)
						ON id = job AND fence = held
					WHERE state = 'running' ORDER BY id FOR UPDATE OF jobs SKIP LOCKED)`,
			lost:    lost + `leased_until < ` + now + ` ORDER BY leased_until LIMIT 100` + lock + `)`,
			lostAll: lost + `leased_until IS NOT NULL ORDER BY leased_until LIMIT 100` + lock + `)`,
			holders: `SELECT DISTINCT holder FROM jobs WHERE state = 'running' AND holder IS NOT NULL`,
			lostBy:  lost + `holder = $2 ORDER BY leased_until LIMIT 100` + lock + `)`,
			strays:  `SELECT lane FROM jobs WHERE state = 'ready' AND lane > $1 ORDER BY lane LIMIT 1`,
			adopt: `UPDATE jobs SET lane = ` + adopt + ` END WHERE id IN
				(SELECT id FROM jobs WHERE state = 'ready' AND lane = $1 AND ` + known + ` LIMIT 500` + lock + `)`,
			countDue:     `SELECT count(*) FROM (SELECT 1 ` + next + ` AND run_at <= $2 LIMIT 10000) AS due`,
			countRunning: `SELECT count(*) FROM (SELECT 1 FROM jobs WHERE state = 'running' LIMIT 10000) AS running`,
			countFailed:  `SELECT count(*) FROM (SELECT 1 FROM jobs WHERE state = 'failed' LIMIT 10000) AS fails`,
		}
	})
	return q.texts
}

package grant

import (
	"context"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
)

// How long rows are kept. A client that was ever used is kept for more than a year
// after its last use: it remembers its id and cannot tell that the server forgot it.
const (
	expiredKept      = 24 * time.Hour
	sessionKept      = 90 * 24 * time.Hour
	unusedClientKept = 30 * 24 * time.Hour
	usedClientKept   = 400 * 24 * time.Hour
)

// purges delete expired rows, children before their parents, because of the foreign
// keys. $1 is the moment before which they expired, $2 how many to delete at once.
var purges = []struct {
	after     time.Duration
	statement string
}{
	{expiredKept, `
		DELETE FROM oauth_requests
		WHERE seq IN (SELECT seq FROM oauth_requests WHERE expires_at <= $1 LIMIT $2)`},
	{expiredKept, `
		DELETE
		FROM grant_tokens
		WHERE seq IN (SELECT seq FROM grant_tokens WHERE expires_at <= $1 LIMIT $2)`},
	{sessionKept, `
		DELETE FROM agent_sessions
		WHERE seq IN (SELECT seq FROM agent_sessions WHERE created_at <= $1 LIMIT $2)`},
	{expiredKept, deleteOfExpiredGrants("grant_codes")},
	{expiredKept, deleteOfExpiredGrants("grant_tokens")},
	{expiredKept, deleteOfExpiredGrants("agent_sessions")},
	{expiredKept, `
		DELETE
		FROM agent_grants
		WHERE seq IN (SELECT seq FROM agent_grants WHERE expires_at <= $1 LIMIT $2)`},
	{unusedClientKept, deleteIdleClients("c.used_at IS NULL AND c.created_at <= $1")},
	{usedClientKept, deleteIdleClients("c.created_at <= $1 AND c.used_at <= $1")},
}

// deleteOfExpiredGrants deletes the rows of a table that belong to expired grants.
func deleteOfExpiredGrants(table string) string {
	return "DELETE FROM " + table + " WHERE seq IN (SELECT r.seq FROM agent_grants g JOIN " + table +
		" r ON r.grant_id = g.id WHERE g.expires_at <= $1 LIMIT $2)"
}

// deleteIdleClients deletes the clients that meet a condition and have no grant.
func deleteIdleClients(idle string) string {
	return "DELETE FROM oauth_clients WHERE seq IN (SELECT c.seq FROM oauth_clients c WHERE " + idle +
		" AND NOT EXISTS (SELECT 1 FROM agent_grants g WHERE g.client_id = c.client_id) LIMIT $2)"
}

// PurgeExpired deletes a batch of expired rows and reports whether there may be more.
func PurgeExpired(ctx context.Context, tx *db.Tx, now clock.Time, batch int) (more bool, err error) {
	for _, p := range purges {
		n, err := db.Exec(ctx, tx, p.statement, now.Add(-p.after), batch)
		if err != nil || n == int64(batch) {
			return true, err
		}
	}
	return false, nil
}

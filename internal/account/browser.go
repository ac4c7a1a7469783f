package account

import (
	"context"
	"errors"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// A browser in which a user has signed in keeps its own token, which outlives
// its sessions. The token gives no access. It only gives the browser an
// allowance for wrong passwords that nobody else can use up (signin.go).

// BrowserPrefix begins the token of every known browser.
const BrowserPrefix = "fdb_"

const (
	// BrowserLifetime is how long a browser stays known after a sign-in, which is
	// as long as browsers keep a cookie.
	BrowserLifetime  = 400 * 24 * time.Hour
	maxKnownBrowsers = 20 // per user; the oldest is forgotten
)

// isKnownBrowser reports whether a user has signed in with the browser that has this token.
func isKnownBrowser(ctx context.Context, tx *db.Tx, user id.ID, browser string, now clock.Time) (bool, error) {
	if !secret.IsWellFormed(BrowserPrefix, browser) {
		return false, nil
	}
	hash := secret.HashToken(browser)
	_, err := db.QueryOne[int](ctx, tx,
		"SELECT 1 FROM known_browsers WHERE hash = $1 AND user_id = $2 AND expires_at > $3", hash[:], user, now)
	if errors.Is(err, db.ErrNoRow) {
		return false, nil
	}
	return err == nil, err
}

// rememberBrowser makes the browser known for a user who has signed in. Its token
// is new each time, so that a planted or copied one becomes worthless. All users
// of the browser share the token: those known by the old one stay known by the new.
func rememberBrowser(ctx context.Context, c *op.Call, user id.ID, old string) (token string, err error) {
	token = secret.NewToken(BrowserPrefix)
	hash, before := secret.HashToken(token), secret.HashToken(old)
	for _, s := range []struct {
		text string
		args []any
	}{
		{"DELETE FROM known_browsers WHERE expires_at <= $1", []any{c.Now}},
		{"UPDATE known_browsers SET hash = $1 WHERE hash = $2", []any{hash[:], before[:]}},
		{`
			INSERT INTO known_browsers (hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (hash, user_id) DO UPDATE SET expires_at = excluded.expires_at`,
			[]any{hash[:], user, c.Now, c.Now.Add(BrowserLifetime)}},
		{`
			DELETE FROM known_browsers WHERE user_id = $1 AND seq <=
				(SELECT seq FROM known_browsers WHERE user_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)`,
			[]any{user, maxKnownBrowsers}},
	} {
		if _, err := db.Exec(ctx, c.Tx, s.text, s.args...); err != nil {
			return "", err
		}
	}
	return token, nil
}

// forgetBrowsers forgets all browsers of a user except keep, which may be
// empty.
func forgetBrowsers(ctx context.Context, tx *db.Tx, user id.ID, keep string) error {
	hash := secret.HashToken(keep)
	_, err := db.Exec(ctx, tx, "DELETE FROM known_browsers WHERE user_id = $1 AND hash <> $2", user, hash[:])
	return err
}

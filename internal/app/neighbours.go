package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Several processes can serve one PostgreSQL. Each has a row and renews it, so that
// settings that do not match are noticed when a process starts, and not when a
// customer follows a link that leads nowhere.
var _ = db.Declare("processes", db.Life{Permanent: true})

const (
	processTimeout    = 20 * time.Second // a process that was not seen for this long is gone
	heartbeatInterval = 5 * time.Second  // how often a process renews its row
)

// sharedSettings are the settings that all processes over one database must share.
type sharedSettings struct {
	BaseURL string `json:"baseUrl"`
	MCPURL  string `json:"mcpUrl"`
	Files   string `json:"files"`   // what identifies the store
	FilesAt string `json:"filesAt"` // what people call it
	OIDC    string `json:"oidc"`    // how people sign in, without the secret
}

// differenceFrom says what does not fit another process's settings, or returns "".
func (a sharedSettings) differenceFrom(b sharedSettings) string {
	const mend = "; give all processes over one database the same"
	switch {
	case a.BaseURL != b.BaseURL:
		return fmt.Sprintf("another process has --base-url %s, this one %s%s", b.BaseURL, a.BaseURL, mend)
	case a.MCPURL != b.MCPURL:
		return fmt.Sprintf("another process has --mcp-url %s, this one %s%s", b.MCPURL, a.MCPURL, mend)
	case a.OIDC != b.OIDC:
		return "another process has other --oidc settings" + mend
	case a.Files != b.Files:
		return fmt.Sprintf("another process keeps its files in %s, this one in %s, so that each would miss the "+
			"other's; use a bucket (--files-s3-bucket) or one shared folder for all", b.FilesAt, a.FilesAt)
	}
	return ""
}

// joinProcesses makes this process known to those that serve the same database, and fails if
// its settings do not fit theirs. leave ends it. On SQLite it does nothing: one process
// owns the file.
func (a *App) joinProcesses(ctx context.Context) (leave func(context.Context) error, err error) {
	if a.DB.Engine() == db.SQLite {
		return func(context.Context) error { return nil }, nil
	}
	mine, err := a.readSharedSettings()
	if err != nil {
		return nil, err
	}
	me := id.New()
	seen := func(ctx context.Context) error { return a.writeHeartbeat(ctx, me, mine) }
	forget := func(ctx context.Context) error {
		return a.DB.Write(db.WithReservedPool(ctx), func(ctx context.Context, tx *db.Tx) error {
			_, err := db.Exec(ctx, tx, "DELETE FROM processes WHERE id = $1", me)
			return err
		})
	}
	// Its own row comes first, so that of two that start together one sees the other.
	if err := errors.Join(seen(ctx), a.checkOtherProcesses(ctx, me, mine)); err != nil {
		return nil, errors.Join(err, forget(context.WithoutCancel(ctx)))
	}
	beating, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-beating.Done():
				return
			case <-time.After(heartbeatInterval):
			}
			if err := seen(beating); err != nil && beating.Err() == nil {
				a.Log.WarnContext(beating, "other processes were not told that this one is there", "err", err)
			}
		}
	}()
	return func(ctx context.Context) error { cancel(); <-done; return forget(ctx) }, nil
}

// writeHeartbeat writes the row of a process, and removes those of processes that are long gone.
func (a *App) writeHeartbeat(ctx context.Context, me id.ID, mine sharedSettings) error {
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	return a.DB.Write(db.WithReservedPool(db.WithoutOutcome(ctx)), func(ctx context.Context, tx *db.Tx) error {
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := db.Exec(ctx, tx, `
			INSERT INTO processes (id, seen_at, settings) VALUES ($1, $2, $3)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, me, now, db.JSON(text)); err != nil {
			return err
		}
		_, err = db.Exec(ctx, tx, "DELETE FROM processes WHERE seen_at < $1", now.Add(-10*processTimeout))
		return err
	})
}

// checkOtherProcesses compares this process's settings with those of all that live.
func (a *App) checkOtherProcesses(ctx context.Context, me id.ID, mine sharedSettings) error {
	return a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		now, err := db.ReadClock(ctx, tx)
		if err != nil {
			return err
		}
		others, err := db.QueryAll[db.JSON](ctx, tx, "SELECT settings FROM processes WHERE id <> $1 AND seen_at > $2",
			me, now.Add(-processTimeout))
		if err != nil {
			return err
		}
		for _, text := range others {
			var theirs sharedSettings
			if err := json.Unmarshal(text, &theirs); err != nil {
				return err
			}
			if d := mine.differenceFrom(theirs); d != "" {
				return errors.New(d)
			}
		}
		return nil
	})
}

// readSharedSettings returns this process's settings. A folder for files is identified by a file in
// it: every process that shares the folder sees the same, wherever it is mounted.
func (a *App) readSharedSettings() (sharedSettings, error) {
	s := &a.Settings
	out := sharedSettings{BaseURL: s.BaseURL, MCPURL: s.MCPURL, Files: describeBlobStore(s),
		FilesAt: describeBlobStore(s)}
	if s.OIDC.Issuer != "" {
		shown := s.OIDC
		shown.ClientSecret = ""
		out.OIDC = fmt.Sprintf("%+v", shown)
	}
	if s.Files.S3.Bucket != "" {
		return out, nil
	}
	mine, shared := filepath.Join(s.FilesPath(), "."+string(id.New())), filepath.Join(s.FilesPath(), ".folder-id")
	if err := os.WriteFile(mine, []byte(id.New()), 0o600); err != nil {
		return out, err
	}
	// A link appears with its content or not at all, and only one process makes it.
	if err := os.Link(mine, shared); err != nil && !errors.Is(err, os.ErrExist) {
		return out, errors.Join(err, os.Remove(mine))
	}
	name, err := os.ReadFile(shared)
	out.Files = string(name)
	return out, errors.Join(err, os.Remove(mine))
}

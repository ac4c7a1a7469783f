package app

import (
	"context"
	"encoding/json"
	"errors"

	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// What the operator's tasks take, as the command sends it. Paths are absolute:
// the server may have been started elsewhere.
type (
	BackupTask struct {
		Path string `json:"path"`
	}
	ExportTask struct {
		ID  id.ID  `json:"id"`
		Out string `json:"out"`
	}
	RotateTask struct {
		Retire bool `json:"retire"`
	}
)

// tasks are what the operator's commands have the server do, besides operations. They
// run long, and tell how far they are.
func (a *App) tasks() map[string]admin.Task {
	return map[string]admin.Task{
		"backup": taskWith(func(ctx context.Context, in BackupTask, say db.Say) (any, error) {
			sum, err := a.backup(ctx, in.Path, say)
			if err == nil {
				a.Log.InfoContext(ctx, "backup written", "file", sum.File, "rows", sum.Rows, "bytes", sum.Bytes,
					"files", sum.Files,
					"file_bytes", sum.FileBytes)
			}
			return sum, err
		}),
		"backup.send": taskWith(func(ctx context.Context, _ struct{}, say db.Say) (any, error) {
			return a.sendBackup(ctx, say)
		}),
		"domains.zone": taskWith(func(ctx context.Context, in ZoneTask, _ db.Say) (any, error) {
			return a.zoneFile(ctx, in.Name)
		}),
		"organizations.export": taskWith(func(ctx context.Context, in ExportTask, say db.Say) (any, error) {
			return a.export(ctx, in.ID, in.Out, say)
		}),
		"mail.dns": taskWith(func(ctx context.Context, _ struct{}, _ db.Say) (any, error) {
			return a.mailRecords(ctx)
		}),
		"setup.link": taskWith(func(ctx context.Context, _ struct{}, _ db.Say) (any, error) {
			link, err := a.Accounts.SetupLink(ctx)
			if err == nil && link == "" {
				err = errors.New("this server is already set up; add people by an invitation in the console, or with " +
					"frontdesk admin user create")
			}
			return map[string]string{"url": link}, err
		}),
		"secrets.rotate": taskWith(func(ctx context.Context, in RotateTask, say db.Say) (any, error) {
			return a.rotate(ctx, in.Retire, say)
		}),
	}
}

// taskWith makes a task from a function that takes its input as a Go value.
func taskWith[In any](fn func(context.Context, In, db.Say) (any, error)) admin.Task {
	return func(ctx context.Context, input json.RawMessage, say func(string)) (any, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		return fn(ctx, in, say)
	}
}

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

// adminTasks are what the operator's commands have the server do, besides operations. They
// run long, and tell how far they are.
func (a *App) adminTasks() map[string]admin.Task {
	return map[string]admin.Task{
		"backup": taskWithInput(func(ctx context.Context, in BackupTask, say db.ProgressFunc) (any, error) {
			sum, err := a.writeBackup(ctx, in.Path, say)
			if err == nil {
				a.Log.InfoContext(ctx, "backup written", "file", sum.File, "rows", sum.Rows, "bytes", sum.Bytes,
					"files", sum.Files,
					"file_bytes", sum.FileBytes)
			}
			return sum, err
		}),
		"backup.send": taskWithInput(func(ctx context.Context, _ struct{}, say db.ProgressFunc) (any, error) {
			return a.sendBackup(ctx, say)
		}),
		"domains.zone": taskWithInput(func(ctx context.Context, in ZoneTask, _ db.ProgressFunc) (any, error) {
			return a.zoneFile(ctx, in.Name)
		}),
		"organizations.export": taskWithInput(func(ctx context.Context, in ExportTask, say db.ProgressFunc) (any,
			error) {
			return a.exportOrganization(ctx, in.ID, in.Out, say)
		}),
		"mail.dns": taskWithInput(func(ctx context.Context, _ struct{}, _ db.ProgressFunc) (any, error) {
			return a.mailRecords(ctx)
		}),
		"setup.link": taskWithInput(func(ctx context.Context, _ struct{}, _ db.ProgressFunc) (any, error) {
			link, err := a.Accounts.CreateSetupLink(ctx)
			if err == nil && link == "" {
				err = errors.New("this server is already set up; add people by an invitation in the console, or with " +
					"frontdesk admin user create")
			}
			return map[string]string{"url": link}, err
		}),
		"secrets.rotate": taskWithInput(func(ctx context.Context, in RotateTask, say db.ProgressFunc) (any, error) {
			return a.rotateSealingKey(ctx, in.Retire, say)
		}),
	}
}

// taskWithInput makes a task from a function that takes its input as a Go value.
func taskWithInput[In any](fn func(context.Context, In, db.ProgressFunc) (any, error)) admin.Task {
	return func(ctx context.Context, input json.RawMessage, say func(string)) (any, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		return fn(ctx, in, say)
	}
}

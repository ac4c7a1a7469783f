package file

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Folder holds files and other folders.
type Folder struct {
	op.Record
	folderFields
}

// folderFields are what callers set of a folder.
type folderFields struct {
	Name           string `json:"name" min:"1"`
	ParentFolderID *id.ID `json:"parentFolderId" ref:"files"`
}

var folders = db.NewTable[Folder]("folders", db.Life{
	Noun:         "folder",
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("parent_folder_id", "folders", db.Keeps)}, // only an empty folder can be deleted
})

// The refusals of folders.
var (
	Cycle    = fault.DefineKind("FOLDER_CYCLE", 409, "A folder cannot be moved into itself or a folder below it.")
	NotEmpty = fault.DefineKind("FOLDER_NOT_EMPTY", 409, "The folder is not empty. Move or delete its contents first.")
)

func folderOperations() []*op.Op {
	const ref = `"id": "b1f0a8d2-3c64-4e7b-9a15-60d7c2e84f93"`
	return []*op.Op{
		op.ListRows(op.Spec{Name: "folders.list",
			NounWords: "directory, drawer, binder, subfolder", Resource: "files"}, folders,
			func(in *folderList, w *db.Where) { db.FilterEqualOrNone(w, "parent_folder_id", in.ParentFolderID) }),
		op.Write(op.Spec{
			Name:     "folders.create",
			Route:    "POST /v1/folders",
			Resource: "files",
			Summary:  "Create a folder.",
			Events:   []string{"folder.created"},
			Example:  `{"name": "Contracts"}`,
		}, createFolder),
		op.GetRow(op.Spec{Name: "folders.get", Resource: "files"}, folders),
		op.Write(op.Spec{
			Name:        "folders.update",
			Words:       "rename",
			Route:       "PATCH /v1/folders/{id}",
			Resource:    "files",
			Summary:     "Rename a folder or move it into another.",
			Description: "A null parentFolderId moves it to the top level.",
			Errors:      []*fault.Kind{Cycle},
			Events:      []string{"folder.updated"},
			Example:     `{` + ref + `, "name": "Signed contracts"}`,
		}, updateFolder),
		op.Write(op.Spec{
			Name:     "folders.delete",
			Route:    "DELETE /v1/folders/{id}",
			Resource: "files",
			Summary:  "Delete an empty folder.",
			Errors:   []*fault.Kind{NotEmpty},
			Events:   []string{"folder.deleted"},
			Example:  `{` + ref + `}`,
		}, deleteFolder),
		op.RestoreRow("folders", "files", folders, nil),
	}
}

type folderRef struct {
	ID id.ID `path:"id" doc:"the folder"`
}

type folderList struct {
	op.Browse
	SortBy         string  `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	ParentFolderID *string `query:"parentFolderId" format:"id-or-none" doc:"none for the root"`
}

func createFolder(ctx context.Context, c *op.Call, in folderFields) (*Folder, error) {
	if err := lockFolder(ctx, c, "parentFolderId", in.ParentFolderID); err != nil {
		return nil, err
	}
	v := &Folder{Record: c.NewRecord(), folderFields: in}
	if err := folders.Insert(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("folder.created", v.ID, v)
}

type folderUpdate struct {
	folderRef
	op.Changes[folderFields]
}

// updateFolder renames or moves a folder, and refuses a move that would create a
// cycle.
func updateFolder(ctx context.Context, c *op.Call, in folderUpdate) (*Folder, error) {
	// Two moves at once, neither of which creates a cycle alone, may create one together. So moves take turns,
	// by the lock of the organization.
	if in.Has("parentFolderId") {
		if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
			return nil, db.AsNotFound(err, "folder")
		}
	}
	v, err := folders.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	was := v.ParentFolderID
	if !op.Apply(v, &in) {
		return v, nil
	}
	if to := v.ParentFolderID; to != nil && (was == nil || *was != *to) {
		if err := lockFolder(ctx, c, "parentFolderId", to); err != nil {
			return nil, err
		}
		below, err := isWithinFolder(ctx, c, *to, v.ID)
		if err != nil {
			return nil, err
		}
		if below {
			return nil, Cycle.New()
		}
	}
	v.UpdatedAt = c.Now
	if err := folders.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("folder.updated", v.ID, v)
}

// isWithinFolder reports whether folder is other or lies anywhere below it.
func isWithinFolder(ctx context.Context, c *op.Call, folder, other id.ID) (bool, error) {
	n, err := db.QueryOne[int](ctx, c.Tx, `
		WITH RECURSIVE above (id, parent_folder_id) AS (
			SELECT id, parent_folder_id FROM folders WHERE organization_id = $1 AND id = $2
			UNION
			SELECT f.id, f.parent_folder_id
			FROM folders f
			JOIN above a ON f.id = a.parent_folder_id
			WHERE f.organization_id = $1
		)
		SELECT count(*) FROM above WHERE id = $3`, c.Org, folder, other)
	return n > 0, err
}

func deleteFolder(ctx context.Context, c *op.Call, in folderRef) (op.Nothing, error) {
	// Whatever is put into a folder locks it first (lockFolder), so it stays empty once it is found empty.
	if _, err := folders.Lock(ctx, c.Tx, c.Org, in.ID); err != nil {
		return op.Nothing{}, err
	}
	for _, inside := range []string{`
		SELECT 1
		FROM files
		WHERE organization_id = $1 AND folder_id = $2 AND deleted_at IS NULL LIMIT 1`,
		"SELECT 1 FROM folders WHERE organization_id = $1 AND parent_folder_id = $2 AND deleted_at IS NULL LIMIT 1"} {
		found, err := db.QueryAll[int](ctx, c.Tx, inside, c.Org, in.ID)
		if err != nil {
			return op.Nothing{}, err
		}
		if len(found) > 0 {
			return op.Nothing{}, NotEmpty.New()
		}
	}
	v, err := folders.SoftDelete(ctx, c.Tx, c.Org, in.ID, c.Now)
	if err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("folder.deleted", v.ID, v)
}

// lockFolder locks the folder that a field names, if any, so that it cannot be
// deleted while something enters it.
func lockFolder(ctx context.Context, c *op.Call, field string, folder *id.ID) error {
	if folder == nil {
		return nil
	}
	_, err := folders.Lock(ctx, c.Tx, c.Org, *folder)
	if fault.IsKind(err, fault.NotFound) {
		return op.NoSuchReference(field)
	}
	return err
}

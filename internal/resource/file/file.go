// Package file holds files, their folders, and the links by which others can
// fetch them.
//
// Start reading at Store (store.go): it keeps a file's bytes and its row
// together, for this package's operations and for other resources. The bytes are
// behind the interface Blobs, which adapters implement. An upload first writes a
// row in stray_blobs, then the bytes, and then replaces that row by a row of
// files in one transaction; whatever is left in stray_blobs is removed by
// sweep.go. storage.go holds organizations to the storage of their plan, name.go
// cleans file names and detects types, and upload.go, create.go, folder.go and
// link.go have the operations.
//
// Nothing here holds a whole file in memory or trusts what a client says about
// one.
package file

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// File is bytes with a name. The bytes never change.
type File struct {
	op.Record
	Name        string `json:"name"`
	ContentType string `json:"contentType" doc:"detected from the bytes"`
	SizeBytes   int64  `json:"sizeBytes"`
	SHA256      string `json:"sha256" db:"sha256" doc:"of the bytes, in hex"`
	FolderID    *id.ID `json:"folderId" doc:"null for none"`

	Seq    int64  `json:"-" db:"seq"`
	Key    string `json:"-" db:"blob_key"`
	Search string `json:"-" db:"search"`
}

var files = db.NewTable[File]("files", db.Life{
	Noun:         "file",
	ExternalText: []string{"name"},
	Refs:         []db.Ref{db.RefTo("folder_id", "folders", db.Keeps)},
	// The bytes cannot be deleted inside a transaction. This leaves them to the sweep, which deletes them after the
	// commit.
	BeforePurge: `
		INSERT INTO stray_blobs (organization_id, blob_key, remove_at, claimed)
		SELECT organization_id, blob_key, deleted_at, FALSE FROM files
		WHERE seq IN (ROWS)
		ON CONFLICT DO NOTHING`,
	// deleted_at = 1 is 1970: so long ago that the next purge removes the row, and with it the bytes.
	Erase:         life.BlankColumns("name = 'erased', search = '', deleted_at = 1"),
	StorageColumn: "size_bytes",
	Unexported:    []string{"blob_key"},
})

// searchWords are the text that a search finds a file by.
func (f *File) searchWords() string { return db.SearchText(&f.Name) }

const exampleID = `"id": "2a6d1c7e-95b0-4f3a-8c4d-71e2b9a05f36"`

// Operations lists everything that can be done with files.
func (s *Store) Operations() []*op.Op {
	return append(append([]*op.Op{
		op.ListRows(op.Spec{
			Name: "files.list",
			NounWords: "document, drawing, picture, photo, scan, pdf, contract, paper, image, video, brochure, " +
				"spreadsheet",
			Words:   "somewhere, where is",
			Example: `{"query": "invoice", "limit": 20}`,
		}, files, func(in *fileList, w *db.Where) { db.FilterEqualOrNone(w, "folder_id", in.FolderID) }),
		op.Bytes(op.Spec{
			Name:    "files.upload",
			Doors:   op.RESTDoor | op.ConsoleDoor,
			Route:   "POST /v1/files",
			Summary: "Upload a file.",
			Description: "The body is a form with the part file, and optionally name and folderId, in any order. The " +
				"name is by default that of the part, without its path; the content type is detected from the bytes. " +
				"Idempotency keys do not apply.",
			Errors:  []*fault.Kind{LimitReached},
			Events:  []string{"file.created"},
			Example: `{"file": "(the bytes)", "name": "letter.pdf"}`,
		}, s.uploadFile),
		s.createOperation(),
		op.GetRow(op.Spec{Name: "files.get", Summary: "Get a file's metadata."}, files),
		op.Write(op.Spec{
			Name:        "files.update",
			Words:       "rename, move, into folder, in folder",
			Route:       "PATCH /v1/files/{id}",
			Summary:     "Rename a file or move it to another folder.",
			Events:      []string{"file.updated"},
			Description: "A null folderId takes it out of its folder.",
			Example:     `{` + exampleID + `, "name": "letter-signed.pdf"}`,
		}, updateFile),
		op.DeleteRow(op.Spec{
			Name:        "files.delete",
			Description: "Its access links stop working at once.",
		}, files),
		op.RestoreRow("files", "files", files, nil),
		op.Bytes(op.Spec{
			Name:    "files.download",
			Doors:   op.RESTDoor | op.ConsoleDoor,
			Route:   "GET /v1/files/{id}/content",
			Summary: "Get the bytes of a file.",
			Description: "Answers with the file's own content type, always as an attachment. Supports Range, and " +
				"If-None-Match with the ETag.",
			Example: `{` + exampleID + `}`,
		}, s.downloadFile),
	}, s.linkOperations()...), folderOperations()...)
}

type fileRef struct {
	ID id.ID `path:"id" doc:"the file"`
}

type fileList struct {
	op.Browse
	SortBy   string  `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	FolderID *string `query:"folderId" format:"id-or-none" doc:"none for the root"`
	Query    *string `query:"query" max:"200" doc:"part of a name; 1-2 letters match word starts"`
}

// Find returns a live file, or a 404.
func Find(ctx context.Context, tx *db.Tx, org, ref id.ID) (*File, error) {
	return files.Get(ctx, tx, org, ref)
}

type fileUpdate struct {
	fileRef
	Name     op.Optional[string] `json:"name" min:"1"`
	FolderID op.Nullable[id.ID]  `json:"folderId" ref:"files"`
}

func (in *fileUpdate) Prepare(context.Context, *op.Call) (err error) {
	if in.Name.Set {
		in.Name.Value, err = CleanName("name", in.Name.Value)
	}
	return err
}

func updateFile(ctx context.Context, c *op.Call, in fileUpdate) (*File, error) {
	// The target folder is locked as well, so that it cannot be deleted meanwhile. The order, file then folder,
	// cannot deadlock: nobody locks a file while holding a folder.
	v, err := files.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	was := v.FolderID
	if !op.Apply(v, &in) {
		return v, nil
	}
	if was == nil || v.FolderID == nil || *was != *v.FolderID {
		if err := lockFolder(ctx, c, "folderId", v.FolderID); err != nil {
			return nil, err
		}
	}
	v.UpdatedAt = c.Now
	v.Search = v.searchWords()
	if err := files.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	return v, c.Emit("file.updated", v.ID, v)
}

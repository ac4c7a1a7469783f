package file

import (
	"context"
	"io"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

type fileUpload struct {
	File     op.Upload `json:"file" doc:"the bytes, with a file name"`
	Name     *string   `json:"name" min:"1" doc:"by default the part's file name"`
	FolderID *id.ID    `json:"folderId" ref:"files"`
}

// formOverhead is the size allowed for a form besides the file: its fields and the
// boundaries between parts.
const formOverhead = 1 << 20

// uploadFile stores the bytes as they arrive and turns them into a file at the
// end.
func (s *Store) uploadFile(ctx context.Context, c *op.Call, in fileUpload, stream *op.Stream) (*File, error) {
	var saved *Saved
	defer func() { saved.Discard(ctx) }()
	err := c.Form(stream, &in, s.config.MaxBytes+formOverhead, func(name string, r io.Reader) (err error) {
		saved, err = s.Save(ctx, c.Org, name, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if in.Name != nil {
		if saved.Name, err = CleanName("name", *in.Name); err != nil {
			return nil, err
		}
		saved.ContentType = refineContentType(saved.ContentType, saved.Name)
	}
	f, err := s.finishUpload(ctx, c, saved, in.FolderID)
	if err != nil {
		return nil, err
	}
	saved = nil
	return f, nil
}

// finishUpload turns stored bytes into a file in a folder, or in none.
func (s *Store) finishUpload(ctx context.Context, c *op.Call, saved *Saved, folder *id.ID) (*File, error) {
	c.Now = s.clock.Now() // the file is created now, not when its first byte arrived
	return op.Finish(ctx, c, func(ctx context.Context) (*File, error) {
		if err := lockFolder(ctx, c, "folderId", folder); err != nil {
			return nil, err
		}
		f, err := saved.Insert(ctx, c.Tx, c.Now, folder)
		if err != nil {
			return nil, err
		}
		return f, c.Emit("file.created", f.ID, f)
	})
}

func (s *Store) downloadFile(ctx context.Context, c *op.Call, in fileRef, _ *op.Stream) (*op.Content, error) {
	f, bytes, err := s.Open(ctx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	return downloadContent(f, bytes), nil
}

func downloadContent(f *File, bytes io.ReadSeekCloser) *op.Content {
	return &op.Content{Name: f.Name, Type: f.ContentType, ETag: `"` + f.SHA256 + `"`, Modified: f.CreatedAt.Std(),
		ReadSeekCloser: bytes}
}

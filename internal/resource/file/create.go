package file

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// maxWrittenBytes is how large a file can be that comes inside of a call and not as an upload.
const maxWrittenBytes = 1 << 20

// createOperation writes a file from text in a call: agents and automations have no uploads.
func (s *Store) createOperation() *op.Op {
	return op.Flow(op.Spec{
		Name:  "files.create",
		Doors: op.AgentDoor | op.AutomationDoor | op.ConsoleDoor, // there people approve it
		// REST uploads instead, so nobody serves this route. It says that the operation creates, and takes a key.
		Route:           "POST /v1/files/content",
		Summary:         "Write a file of up to 1 MiB.",
		Description:     "The type follows from the bytes and the ending of the name.",
		Errors:          []*fault.Kind{LimitReached},
		Events:          []string{"file.created"},
		Rehearses:       true,
		FieldExceptions: []string{"content", "encoding"}, // the bytes never change, and files.read shows them
		Example:         `{"name": "prices.csv", "content": "item,price\nengine,100\n"}`,
	}, s.createFile)
}

type fileCreate struct {
	Name     string `json:"name" min:"1"`
	Content  string `json:"content" max:"1500000" doc:"text or base64"`
	Encoding string `json:"encoding" default:"text" enum:"text,base64"`
	FolderID *id.ID `json:"folderId" ref:"files"`

	bytes []byte
}

func (in *fileCreate) Prepare(context.Context, *op.Call) (err error) {
	if in.Name, err = CleanName("name", in.Name); err != nil {
		return err
	}
	in.bytes = []byte(in.Content)
	if in.Encoding == "base64" {
		if in.bytes, err = base64.StdEncoding.DecodeString(strings.TrimSpace(in.Content)); err != nil {
			return fault.Field("content", "Not base64; send the standard alphabet with padding, or encoding text")
		}
	}
	if len(in.bytes) > maxWrittenBytes {
		return fault.Field("content", "Too long: a file written like this has at most 1 MiB. Have a person upload it")
	}
	return nil
}

// createFile stores the bytes and turns them into a file, as an upload does.
func (s *Store) createFile(ctx context.Context, c *op.Call, in fileCreate) (*File, error) {
	if c.Rehearsing() {
		if err := lockFolder(ctx, c, "folderId", in.FolderID); err != nil {
			return nil, err
		}
		f, err := InsertRehearsed(ctx, c, in.Name, detectContentType(in.bytes, in.Name))
		if err != nil {
			return nil, err
		}
		return f, c.Emit("file.created", f.ID, f)
	}
	saved, err := s.Save(ctx, c.Org, in.Name, bytes.NewReader(in.bytes))
	if err != nil {
		return nil, err
	}
	defer saved.Discard(ctx) // does nothing once it is a file
	return s.finishUpload(ctx, c, saved, in.FolderID)
}

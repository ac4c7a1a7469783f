package message

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
)

// Many mail systems refuse more than 25 MB, and base64 makes an attachment a
// third longer in transit.
const (
	maxAttachedBytes = 18 << 20 // bytes of all attachments
	maxAttachments   = 100
)

// MessageAttachment is a file that is sent with a message, or came with it.
type MessageAttachment struct {
	op.Record
	MessageID   id.ID  `json:"messageId"`
	FileID      *id.ID `json:"fileId" doc:"null once the file is purged"`
	FileName    string `json:"fileName"`
	ContentType string `json:"contentType"`
	SizeBytes   int64  `json:"sizeBytes"`
}

var messageAttachments = op.NewNested[MessageAttachment]("message_attachments", db.Life{
	Noun:         "attachment",
	ExternalText: []string{"file_name"},
	Parent:       db.RefTo("message_id", "messages", db.EndsAtPurge),
	// The reference survives the file's deletion until the purge, so that sending a draft can name the files that
	// were deleted (checkFilesExist).
	Refs:  []db.Ref{db.RefTo("file_id", "files", db.ClearsAtPurge)},
	Erase: life.BlankColumns("file_name = 'attachment'").FoundBy("message_id"),
})

func (m *Messages) attachmentOperations() []*op.Op {
	const ref = exampleID + `, "attachmentId": "0c7f4a92-3b1e-4d85-9a6f-5e2d8c1b7f43"`
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "messages.attachments.list",
			NounWords: "attach, attachment, enclose, came with",
			Words:     "which files, came with, attach"}, messageAttachments),
		op.Write(op.Spec{
			Name:        "messages.attachments.create",
			Words:       "attach to",
			Route:       "POST /v1/messages/{id}/attachments",
			Summary:     "Attach a file to a draft.",
			Description: "The attachments of a message may have 18 MiB in total.",
			Errors:      []*fault.Kind{NotDraft, TooLarge},
			Events:      []string{"message.attachment.created"},
			Example:     `{` + exampleID + `, "fileId": "2a6d1c7e-95b0-4f3a-8c4d-71e2b9a05f36"}`,
		}, addAttachment),
		op.GetChild(op.Spec{
			Name:        "messages.attachments.get",
			Description: "Fetch the bytes through its file.",
		}, messageAttachments),
		op.Write(op.Spec{
			Name:        "messages.attachments.delete",
			Route:       "DELETE /v1/messages/{id}/attachments/{attachmentId}",
			Summary:     "Remove an attachment from a draft.",
			Description: "The file stays.",
			Errors:      []*fault.Kind{NotDraft},
			Events:      []string{"message.attachment.deleted"},
			Example:     `{` + ref + `}`,
		}, removeAttachment),
	}
}

type attachmentRef struct {
	messageRef
	AttachmentID id.ID `path:"attachmentId"`
}

type attachmentAdd struct {
	messageRef
	FileID   id.ID   `json:"fileId" ref:"files"`
	FileName *string `json:"fileName" min:"1" doc:"what the recipient sees; by default the file's name"`
}

func (in *attachmentAdd) Prepare(context.Context, *op.Call) error {
	if in.FileName == nil {
		return nil
	}
	name, err := file.CleanName("fileName", *in.FileName)
	in.FileName = &name
	return err
}

// addAttachment attaches a file to a draft. The draft is locked, so that the bound on
// all attachments holds when two are added at once.
func addAttachment(ctx context.Context, c *op.Call, in attachmentAdd) (*MessageAttachment, error) {
	v, err := lockDraft(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	f, err := file.Find(ctx, c.Tx, c.Org, in.FileID)
	if fault.IsKind(err, fault.NotFound) {
		return nil, op.NoSuchReference("fileId")
	}
	if err != nil {
		return nil, err
	}
	size, err := db.QueryOne[int64](ctx, c.Tx, `
		SELECT coalesce(sum(size_bytes), 0)
		FROM message_attachments
		WHERE organization_id = $1 AND message_id = $2 AND deleted_at IS NULL`,
		c.Org, v.ID)
	if err != nil {
		return nil, err
	}
	if err := checkAttachmentSize(v.Attachments+1, size+f.SizeBytes); err != nil {
		return nil, err
	}
	row := newAttachment(v, f)
	row.CreatedAt, row.UpdatedAt = c.Now, c.Now
	if in.FileName != nil {
		row.FileName = *in.FileName
	}
	if err := messageAttachments.Rows.Insert(ctx, c.Tx, row); err != nil {
		return nil, err
	}
	if err := adjustAttachmentCount(ctx, c, v, 1); err != nil {
		return nil, err
	}
	return row, c.Emit("message.attachment.created", row.ID, row)
}

// removeAttachment takes an attachment off a draft. It looks for the attachment before
// it looks at the status: a wrong id is a 404 whatever the status.
func removeAttachment(ctx context.Context, c *op.Call, in attachmentRef) (op.Nothing, error) {
	v, err := messages.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return op.Nothing{}, err
	}
	if _, err := messageAttachments.Get(ctx, c, in.ID, in.AttachmentID); err != nil {
		return op.Nothing{}, err
	}
	if v.Status != Draft {
		return op.Nothing{}, NotDraft.New()
	}
	row, err := messageAttachments.Remove(ctx, c, in.ID, in.AttachmentID)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := adjustAttachmentCount(ctx, c, v, -1); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("message.attachment.deleted", row.ID, row)
}

// adjustAttachmentCount keeps the number of attachments on the message's own row, so
// that lists need not look for files of messages without any.
func adjustAttachmentCount(ctx context.Context, c *op.Call, v *Message, by int) error {
	v.Attachments += by
	v.UpdatedAt = c.Now
	return messages.Save(ctx, c.Tx, v)
}

// checkAttachmentSize refuses more than a mail can carry.
func checkAttachmentSize(n int, size int64) error {
	if n > maxAttachments {
		return TooLarge.Say("A message can have %d attachments. Combine the files, or send a link to them.",
			maxAttachments)
	}
	if size > maxAttachedBytes {
		return TooLarge.Say("The attachments have %d bytes in total; at most %d are possible. "+
			"Send a link to the file instead.", size, int64(maxAttachedBytes))
	}
	return nil
}

// newAttachment makes the row by which a message carries a file. Name, type and
// size are copied: they stay what they were when it was sent.
func newAttachment(v *Message, f *file.File) *MessageAttachment {
	return &MessageAttachment{
		Record:      v.newChildRecord(),
		MessageID:   v.ID,
		FileID:      &f.ID,
		FileName:    f.Name,
		ContentType: f.ContentType,
		SizeBytes:   f.SizeBytes,
	}
}

// newChildRecord makes the record of a row under the message. Its times are those
// of the message's last change.
func (v *Message) newChildRecord() op.Record {
	return op.Record{ID: id.New(), CreatedAt: v.UpdatedAt, UpdatedAt: v.UpdatedAt, OrganizationID: v.OrganizationID}
}

// findNamedFiles looks up the files that a caller names in fileIds. A repeated id
// counts once.
func findNamedFiles(ctx context.Context, c *op.Call, ids []id.ID) (out []*file.File, err error) {
	var tree *fault.Tree
	seen := map[id.ID]bool{}
	for i, ref := range ids {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		f, err := file.Find(ctx, c.Tx, c.Org, ref)
		if fault.IsKind(err, fault.NotFound) {
			tree = tree.At([]any{"fileIds", i}, "There is no such record in this organization")
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, tree.Fault(fault.Invalid)
}

// insertAttachments adds files to a message that has none yet.
func insertAttachments(ctx context.Context, tx *db.Tx, v *Message, files []*file.File) error {
	v.FileIDs = []id.ID{}
	size := int64(0)
	for _, f := range files {
		size += f.SizeBytes
		if err := messageAttachments.Rows.Insert(ctx, tx, newAttachment(v, f)); err != nil {
			return err
		}
		v.FileIDs = append(v.FileIDs, f.ID)
	}
	return checkAttachmentSize(len(files), size)
}

// replaceAttachments replaces the attachments with the files that a message now names.
func replaceAttachments(ctx context.Context, c *op.Call, v *Message) error {
	files, err := findNamedFiles(ctx, c, v.FileIDs)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, c.Tx, `
		UPDATE message_attachments
		SET deleted_at = $3, updated_at = $3
		WHERE organization_id = $1 AND message_id = $2 AND deleted_at IS NULL`,
		c.Org, v.ID, c.Now)
	if err != nil {
		return err
	}
	v.Attachments, v.UpdatedAt = len(files), c.Now
	return insertAttachments(ctx, c.Tx, v, files)
}

// listAttachments lists a message's attachments, in the order they were attached.
func listAttachments(ctx context.Context, tx *db.Tx, org, message id.ID) ([]MessageAttachment, error) {
	page := db.Page{Limit: maxAttachments, Ascending: true}
	return messageAttachments.Rows.List(ctx, tx, db.InOrganization(org).And("message_id = ?", message), page)
}

// checkFilesExist refuses to send a draft with files that were deleted after they
// were attached, and names them.
func (v *Message) checkFilesExist(ctx context.Context, c *op.Call) error {
	all, err := listAttachments(ctx, c.Tx, c.Org, v.ID)
	if err != nil {
		return err
	}
	var names []string
	for _, a := range all {
		if a.FileID != nil {
			_, err = file.Find(ctx, c.Tx, c.Org, *a.FileID)
		}
		switch {
		case a.FileID == nil || fault.IsKind(err, fault.NotFound):
			names = append(names, a.FileName)
		case err != nil:
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	f := FileMissing.Say("These files were deleted after they were attached: %s. "+
		"Remove them from the draft, or attach others.", strings.Join(names, ", "))
	f.Details = map[string][]string{"fileNames": names}
	return f
}

// fillFileIDs fills in FileIDs, by one statement for all messages that have
// attachments.
func fillFileIDs(ctx context.Context, tx *db.Tx, org id.ID, rows []Message) error {
	var with []id.ID
	at := map[id.ID]*Message{}
	for i := range rows {
		v := &rows[i]
		v.FileIDs = []id.ID{}
		if at[v.ID] = v; v.Attachments > 0 {
			with = append(with, v.ID)
		}
	}
	if len(with) == 0 {
		return nil
	}
	type row struct {
		MessageID id.ID `db:"message_id"`
		FileID    id.ID `db:"file_id"`
	}
	found, err := db.QueryAll[row](ctx, tx, `
		SELECT message_id, file_id
		FROM message_attachments
		WHERE organization_id = $1 AND message_id = ANY($2) AND file_id IS NOT NULL AND deleted_at IS NULL
		ORDER BY seq`,
		org, with)
	for _, r := range found {
		at[r.MessageID].FileIDs = append(at[r.MessageID].FileIDs, r.FileID)
	}
	return err
}

func fillMessageFileIDs(ctx context.Context, tx *db.Tx, v *Message) error {
	rows := []Message{*v}
	err := fillFileIDs(ctx, tx, v.OrganizationID, rows)
	v.FileIDs = rows[0].FileIDs
	return err
}

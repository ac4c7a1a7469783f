package template

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/file"
)

// The logo is enclosed in the mail. One that is fetched from a server would tell
// the sender who reads the mail, and many mail programs do not fetch any.
const (
	LogoID    = "logo" // its Content-ID
	LogoBytes = 256 << 10
)

// LogoTypes are the picture formats that every mail program shows, and the file
// names for them.
var LogoTypes = map[string]string{"image/png": "logo.png", "image/jpeg": "logo.jpg", "image/gif": "logo.gif"}

// LoadLayout loads the layout of a business's mail, or returns db.ErrNoRow. A logo
// of another type, or larger than LogoBytes, is left out.
func LoadLayout(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Layout, error) {
	head, err := business.LetterheadOf(ctx, tx, org, ref)
	if err != nil {
		return nil, err
	}
	l := &Layout{Business: head.Name, Locale: head.Locale}
	if name := business.SenderName(head.Name); name != nil {
		l.Business = *name
	}
	if head.Accent != nil {
		l.Accent = head.Accent.String()
	}
	if head.Address != nil {
		l.Address = *head.Address
	}
	if head.LogoFileID == nil {
		return l, nil
	}
	f, err := file.Find(ctx, tx, org, *head.LogoFileID)
	if fault.IsKind(err, fault.NotFound) {
		return l, nil
	}
	if err == nil && LogoTypes[f.ContentType] != "" && f.SizeBytes <= LogoBytes {
		l.Logo, l.LogoFileID = LogoID, &f.ID
	}
	return l, err
}

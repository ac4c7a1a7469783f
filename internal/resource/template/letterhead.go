package template

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/file"
)

// The logo travels with the mail: one that is fetched would tell the sender who
// reads it, and many programs fetch none.
const (
	LogoID    = "logo" // its Content-ID
	LogoBytes = 256 << 10
)

// LogoTypes are the pictures that every mail program shows, and their names.
var LogoTypes = map[string]string{"image/png": "logo.png", "image/jpeg": "logo.jpg", "image/gif": "logo.gif"}

// LayoutOf is the layout of a business's mail, or db.ErrNone. It has a logo if
// the business has one that fits.
func LayoutOf(ctx context.Context, tx *db.Tx, org, ref id.ID) (*Layout, error) {
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
	if fault.Has(err, fault.NotFound) {
		return l, nil
	}
	if err == nil && LogoTypes[f.ContentType] != "" && f.SizeBytes <= LogoBytes {
		l.Logo, l.LogoFileID = LogoID, &f.ID
	}
	return l, err
}

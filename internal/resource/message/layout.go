package message

import (
	"context"
	"errors"
	"io"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/template"

	"github.com/wneessen/go-mail"
)

// AsSent is the HTML and the text of a message that was written and not sent yet, as its readers
// will get them, with the letterhead around them. The logo is named by its file. Every reader
// of marketing mail gets an own link to unsubscribe; here it leads nowhere.
func AsSent(ctx context.Context, tx *db.Tx, org, ref id.ID) (html, text *string, err error) {
	v, err := messages.Get(ctx, tx, org, ref)
	if err != nil || v.HTML == nil || !v.Layout || v.BusinessID == nil {
		return nil, nil, err
	}
	return v.asSent(ctx, tx)
}

// asSent puts the letterhead around the HTML and the text of a message that has one.
func (v *Message) asSent(ctx context.Context, tx *db.Tx) (html, text *string, err error) {
	frame, err := template.LoadLayout(ctx, tx, v.OrganizationID, *v.BusinessID)
	if errors.Is(err, db.ErrNoRow) {
		return v.HTML, v.Text, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if frame.Button = v.Button; v.Purpose == Marketing {
		frame.Unsubscribe = "#"
	}
	if frame.LogoFileID != nil {
		frame.Logo = string(*frame.LogoFileID)
	}
	made, err := frame.HTML(v.Subject, *v.HTML)
	if v.Text != nil {
		whole := frame.Text(*v.Text)
		text = &whole
	}
	return &made, text, err
}

type storedPreview struct {
	ID id.ID `json:"id" ref:"messages" doc:"the message"`
}

func previewStored(ctx context.Context, c *op.Call, in storedPreview) (*Preview, error) {
	v, err := messages.Get(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	html, text, err := AsSent(ctx, c.Tx, c.Org, in.ID)
	if html == nil { // nothing is put around it
		html, text = v.HTML, v.Text
	}
	return &Preview{HTML: html, Text: text}, err
}

// renderBodies makes the text and the HTML of the letter, and the pictures inside it.
// Without a layout, because the author designed the HTML, both stay as they are.
func (l *letter) renderBodies(ctx context.Context, files *file.Store) (text string, html *string, embeds []*mail.File,
	err error) {
	v := l.message
	if v.Text != nil {
		text = *v.Text
	}
	if v.HTML == nil || l.layout == nil {
		return text, v.HTML, nil, nil
	}
	frame := *l.layout
	frame.Button, frame.Unsubscribe = v.Button, l.unsubscribe
	logo, err := l.loadLogo(ctx, files)
	if err != nil {
		return "", nil, nil, err
	}
	if logo != nil {
		embeds = []*mail.File{logo}
	} else {
		frame.Logo = ""
	}
	made, err := frame.HTML(v.Subject, *v.HTML)
	return frame.Text(text), &made, embeds, err
}

// loadLogo reads the picture of the layout, or returns nil if there is none or its
// file was deleted.
func (l *letter) loadLogo(ctx context.Context, files *file.Store) (*mail.File, error) {
	if l.layout.LogoFileID == nil {
		return nil, nil
	}
	f, content, err := files.Open(ctx, l.message.OrganizationID, *l.layout.LogoFileID)
	if fault.IsKind(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer content.Close()
	picture, err := io.ReadAll(io.LimitReader(content, template.LogoBytes))
	if err != nil {
		return nil, err // it may be readable at the next attempt
	}
	return &mail.File{
		Name:        template.LogoTypes[f.ContentType],
		ContentType: mail.ContentType(f.ContentType),
		Header:      map[string][]string{"Content-Id": {"<" + template.LogoID + ">"}},
		Writer: func(w io.Writer) (int64, error) {
			n, err := w.Write(picture)
			return int64(n), err
		},
	}, nil
}

package message

import (
	"context"
	"io"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/template"

	"github.com/wneessen/go-mail"
)

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

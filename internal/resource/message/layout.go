package message

import (
	"context"
	"io"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/template"

	"github.com/wneessen/go-mail"
)

// The logo travels with the mail: one that is fetched would tell the sender who
// reads it, and many programs fetch none.
const (
	logoID    = "logo"
	logoBytes = 256 << 10
)

// logoTypes are the pictures that every mail program shows.
var logoTypes = map[string]string{"image/png": "logo.png", "image/jpeg": "logo.jpg", "image/gif": "logo.gif"}

// bodies are the text and the HTML of the letter, and the pictures inside it.
// HTML that its author designed stays as it is.
func (l *letter) bodies(ctx context.Context, files *file.Store) (text string, html *string, embeds []*mail.File,
	err error) {
	v := l.message
	if v.Text != nil {
		text = *v.Text
	}
	if v.HTML == nil || !v.Layout || l.head == nil {
		return text, v.HTML, nil, nil
	}
	frame := &template.Layout{
		Business:    l.head.Name,
		Locale:      l.head.Locale,
		Button:      v.Button,
		Unsubscribe: l.unsubscribe,
	}
	if l.head.Accent != nil {
		frame.Accent = l.head.Accent.String()
	}
	if name := displayName(l.head.Name); name != nil {
		frame.Business = *name
	}
	if l.head.Address != nil {
		frame.Address = *l.head.Address
	}
	logo, err := l.logo(ctx, files)
	if err != nil {
		return "", nil, nil, err
	}
	if logo != nil {
		frame.Logo, embeds = logoID, []*mail.File{logo}
	}
	made, err := frame.HTML(v.Subject, *v.HTML)
	return frame.Text(text), &made, embeds, err
}

// logo is the business's picture, or nil where there is none that fits.
func (l *letter) logo(ctx context.Context, files *file.Store) (*mail.File, error) {
	if l.head.LogoFileID == nil {
		return nil, nil
	}
	f, content, err := files.Open(ctx, l.message.OrganizationID, *l.head.LogoFileID)
	if fault.Has(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer content.Close()
	name := logoTypes[f.ContentType]
	if name == "" || f.SizeBytes > logoBytes {
		return nil, nil
	}
	picture, err := io.ReadAll(io.LimitReader(content, logoBytes))
	if err != nil {
		return nil, err // it may be readable at the next attempt
	}
	return &mail.File{
		Name:        name,
		ContentType: mail.ContentType(f.ContentType),
		Header:      map[string][]string{"Content-Id": {"<" + logoID + ">"}},
		Writer: func(w io.Writer) (int64, error) {
			n, err := w.Write(picture)
			return int64(n), err
		},
	}, nil
}

package invoice

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // logos are JPEG or PNG
	"image/png"
	"io"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"

	"codeberg.org/go-pdf/fpdf"
)

// What a logo may be. A small file may unpack to a picture that fills the memory,
// so its dimensions are read before its pixels are.
const (
	maxLogoBytes  = 2 << 20
	maxLogoPixels = 4_000_000
	logoHeight    = 16.0 // millimetres, at most
	logoWidth     = 60.0
)

// addLogo reads the logo of a business into its letterhead. A file that is gone, no picture,
// or too large is left out: a document without a logo is better than none.
func (s *Service) addLogo(ctx context.Context, org id.ID, from *business.Letterhead) error {
	if from.LogoFileID == nil {
		return nil
	}
	_, content, err := s.files.Open(ctx, org, *from.LogoFileID)
	if fault.IsKind(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(content, maxLogoBytes+1))
	if err = errors.Join(err, content.Close()); err != nil {
		return err
	}
	if len(text) <= maxLogoBytes {
		from.Logo = flattenToPNG(text)
	}
	return nil
}

// flattenToPNG converts a picture to a PNG on white, without transparency, which every PDF reader
// shows. It is nil for a file that is no picture, or has too many pixels.
func flattenToPNG(text []byte) []byte {
	size, _, err := image.DecodeConfig(bytes.NewReader(text))
	if err != nil || size.Width < 1 || size.Height < 1 || size.Width > maxLogoPixels/size.Height {
		return nil
	}
	picture, _, err := image.Decode(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	flat := image.NewRGBA(picture.Bounds())
	draw.Draw(flat, flat.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), picture, picture.Bounds().Min, draw.Over)
	var out bytes.Buffer
	if err := png.Encode(&out, flat); err != nil {
		return nil
	}
	return out.Bytes()
}

// drawLogo draws the logo at the top and returns where it ends.
func (d *document) drawLogo() float64 {
	if d.from.Logo == nil {
		return margin
	}
	options := fpdf.ImageOptions{ImageType: "PNG"}
	info := d.pdf.RegisterImageOptionsReader("logo", options, bytes.NewReader(d.from.Logo))
	if info == nil || info.Width() <= 0 || info.Height() <= 0 {
		return margin
	}
	scale := min(logoHeight/info.Height(), logoWidth/info.Width())
	d.pdf.ImageOptions("logo", margin, margin, info.Width()*scale, info.Height()*scale, false, options, 0, "")
	return margin + info.Height()*scale + 4
}

// Package dejavu holds the fonts of the documents that the service writes:
// DejaVu Sans, under the licence beside this file. They are packed, which makes
// the binary smaller by 0.7 MB.
package dejavu

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the fonts
	"io"
	"sync"
)

// Sans is DejaVu Sans, a TrueType font. Nobody changes it.
var Sans = sync.OnceValue(func() []byte { return unpack(sans) })

// SansBold is DejaVu Sans Bold, a TrueType font. Nobody changes it.
var SansBold = sync.OnceValue(func() []byte { return unpack(sansBold) })

//go:embed DejaVuSans.ttf.gz
var sans []byte

//go:embed DejaVuSans-Bold.ttf.gz
var sansBold []byte

func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // it was packed when the binary was built
	}
	font, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return font
}

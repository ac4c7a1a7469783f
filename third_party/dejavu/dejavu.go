// Package dejavu holds the fonts of the documents that the service writes:
// DejaVu Sans, under the licence beside this file.
package dejavu

import _ "embed" // the fonts

// Sans is DejaVu Sans, a TrueType font.
//
//go:embed DejaVuSans.ttf
var Sans []byte

// SansBold is DejaVu Sans Bold, a TrueType font.
//
//go:embed DejaVuSans-Bold.ttf
var SansBold []byte

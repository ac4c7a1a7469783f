// Package inter is the variable font Inter (weights 100 to 900) as woff2, in two
// parts: Latin, and the letters of the other languages that use the Latin
// alphabet. The SIL Open Font License is in LICENSE.
package inter

import _ "embed" // the fonts

// Latin is what English and western Europe need.
//
//go:embed inter-latin.woff2
var Latin []byte

// LatinExt has the other Latin letters, of Polish or Turkish for one.
//
//go:embed inter-latin-ext.woff2
var LatinExt []byte

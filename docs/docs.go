// Package docs holds the guide, the contract and the list of codes as they are
// read in the repository, so that a server can show them.
package docs

import "embed"

// Pages are guide/*.md with their pictures, contract.md and codes.md.
//
//go:embed guide/*.md guide/pictures/*.svg contract.md codes.md
var Pages embed.FS

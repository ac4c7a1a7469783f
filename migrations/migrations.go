// Package migrations holds the schema: numbered texts, one for both engines.
// The words in capitals (ID, TIME, SEQ, …) are types; internal/kernel/db
// expands them. A release only adds, so that two versions can run side by side.
package migrations

import "embed"

// FS holds the numbered files.
//
//go:embed *.sql
var FS embed.FS

package console

import (
	_ "embed" // the style sheet and the script

	"frontdesk/internal/door/desk"
)

//go:embed console.css
var stylesheet []byte

//go:embed console.js
var script []byte

//go:embed passkeys.js
var passkeys []byte

// The pages without the frame (sign-in, consent) and those of the settings have a
// sheet of their own.
var _ = desk.AddAsset("console.css", "text/css; charset=utf-8", stylesheet) &&
	desk.AddAsset("console.js", "text/javascript; charset=utf-8", script) &&
	desk.AddAsset("passkeys.js", "text/javascript; charset=utf-8", passkeys)

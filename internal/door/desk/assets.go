package desk

import (
	"crypto/sha256"
	_ "embed" // the style sheet and the script
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"

	"frontdesk/third_party/inter"
)

// The style sheet and the script are written in several files and served as one, so that
// a page asks for few.
var (
	//go:embed desk.css
	deskStyle []byte
	//go:embed pages.css
	pageStyle []byte

	//go:embed desk.js
	deskScript []byte
	//go:embed forms.js
	formScript []byte
	//go:embed rows.js
	rowScript []byte
	//go:embed bell.js
	bellScript []byte
)

//go:embed icon.svg
var icon []byte

type asset struct {
	kind    string
	text    []byte
	address string
}

var assets = map[string]*asset{}

// AddAsset adds a file that pages load.
func AddAsset(name, kind string, text []byte) bool {
	sum := sha256.Sum256(text)
	assets[name] = &asset{kind, text, "/assets/" + name + "?v=" + hex.EncodeToString(sum[:6])}
	return true
}

// AddScript adds a script that pages load.
func AddScript(name string, text []byte) bool {
	return AddAsset(name, "text/javascript; charset=utf-8", text)
}

// styleComments are the comments of a style sheet; scriptComments are the lines of a script that are nothing else.
var (
	styleComments  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	scriptComments = regexp.MustCompile(`(?m)^\s*//.*$`)
	indents        = regexp.MustCompile(`(?m)^\s+`)
)

// serve joins what was written in several files and leaves out what only its readers need. So no text of a script
// may go over several lines.
func serve(comments *regexp.Regexp, files ...[]byte) []byte {
	return indents.ReplaceAll(comments.ReplaceAll(slices.Concat(files...), nil), nil)
}

var _ = AddAsset("desk.css", "text/css; charset=utf-8", serve(styleComments, deskStyle, pageStyle)) &&
	AddScript("desk.js", serve(scriptComments, deskScript, formScript, rowScript, bellScript)) &&
	AddAsset("icon.svg", "image/svg+xml", icon) &&
	AddAsset("inter-latin.woff2", "font/woff2", inter.Latin) &&
	AddAsset("inter-latin-ext.woff2", "font/woff2", inter.LatinExt)

// AssetURL names an asset by its content, so that a browser keeps it until it
// changes.
func AssetURL(name string) string {
	if a := assets[name]; a != nil {
		return a.address
	}
	panic("desk: there is no asset " + name)
}

// ServeAsset answers with an asset.
func ServeAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assets[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	if r.URL.RequestURI() == a.address || a.kind == "font/woff2" {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Write(a.text) //nolint:errcheck // the reader is gone
}

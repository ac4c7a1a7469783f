package desk

import (
	"crypto/sha256"
	_ "embed" // the style sheet and the script
	"encoding/hex"
	"net/http"

	"frontdesk/third_party/inter"
)

//go:embed desk.css
var stylesheet []byte

//go:embed desk.js
var script []byte

//go:embed forms.js
var forms []byte

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

// AddScript adds a script that some pages load.
func AddScript(name string, text []byte) bool {
	return AddAsset(name, "text/javascript; charset=utf-8", text)
}

var _ = AddAsset("desk.css", "text/css; charset=utf-8", stylesheet) &&
	AddAsset("desk.js", "text/javascript; charset=utf-8", script) &&
	AddAsset("forms.js", "text/javascript; charset=utf-8", forms) &&
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

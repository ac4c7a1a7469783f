package console

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
)

//go:embed console.css
var stylesheet []byte

//go:embed console.js
var script []byte

//go:embed icon.svg
var icon []byte

type asset struct {
	kind string
	text []byte
}

var assets = map[string]asset{
	"console.css": {"text/css; charset=utf-8", stylesheet},
	"console.js":  {"text/javascript; charset=utf-8", script},
	"icon.svg":    {"image/svg+xml", icon},
}

// assetURL names an asset by its content, so that a browser keeps it until it
// changes.
func assetURL(name string) string {
	sum := sha256.Sum256(assets[name].text)
	return "/assets/" + name + "?v=" + hex.EncodeToString(sum[:6])
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := assets[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	if r.URL.RequestURI() == assetURL(r.PathValue("name")) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Write(a.text) //nolint:errcheck // the reader is gone
}

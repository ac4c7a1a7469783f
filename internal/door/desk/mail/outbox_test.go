package mail

import (
	"strings"
	"testing"
)

// A picture appears where a mail names it, and a mail that names a large one a
// thousand times does not become a thousand times as large.
func TestInline(t *testing.T) {
	if got := inline(`<img src="cid:a"><img src="cid:a">`, "cid:a", "data:x"); got !=
		`<img src="data:x"><img src="data:x">` {
		t.Error(got)
	}
	picture := strings.Repeat("x", 1<<20)
	if got := len(inline(strings.Repeat("cid:a ", 1000), "cid:a", picture)); got > maxEmbedded+10_000 {
		t.Errorf("a page of %d bytes", got)
	}
	if got := len(inline("cid:a cid:a", "cid:a", strings.Repeat("x", 2*maxEmbedded))); got > 2*maxEmbedded+100 {
		t.Errorf("a page of %d bytes", got)
	}
}

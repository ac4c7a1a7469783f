package op

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// The version of a resource is a hash of what GET answers: two answers with the same bytes have the same version. So
// everything that the answer contains counts, whichever table stores it, and no column has to keep a number.

// Version is the version of the resource in an answer's body, for ETag and If-Match; empty when it has none.
func (o *Op) Version(body []byte) string {
	if !o.version || body == nil {
		return ""
	}
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// match is the condition of a request with If-Match: the resource has one of these versions.
type match struct {
	versions []string
	row      id.ID    // locked before the versions are compared
	getter   *Op      // the operation whose answer has the version
	path     []string // the values of its path
}

// Matches reports whether the operation honours If-Match: it changes what a versioned GET at the same path shows.
func (o *Op) Matches() bool {
	return o.getter != nil && o.getter.shape == readShape && o.getter.version && o.shape == writeShape
}

// Versioned reports whether the answer has a version, which is sent as ETag.
func (o *Op) Versioned() bool { return o.version && o.Method != http.MethodDelete }

// matching reads If-Match: tags in quotes with commas between them, or * for any version. It returns nil where
// there is nothing to compare.
func (o *Op) matching(q Request) (*match, error) {
	if strings.TrimSpace(q.Match) == "*" {
		return nil, nil //nolint:nilnil // any version will do, and none is a 404
	}
	if !o.Matches() {
		return nil, fault.VersionMismatch.Say("This cannot be changed by version. Send the request without If-Match.")
	}
	row, ok := id.Parse(q.Path[0])
	if !ok {
		return nil, nil //nolint:nilnil // refused when the path is read
	}
	m := &match{row: row, getter: o.getter, path: q.Path}
	for _, tag := range strings.Split(q.Match, ",") {
		m.versions = append(m.versions, strings.Trim(strings.TrimSpace(tag), `"`))
	}
	return m, nil
}

// check compares the versions with what GET answers now. The transaction calls it as soon as it has locked the
// row, so that nobody else can change it after the comparison.
func (m *match) check(ctx context.Context, c *Call) error {
	in := m.getter.fresh()
	if err := m.getter.bind(in, m.path, nil); err != nil {
		return err
	}
	getting := &Call{Caller: c.Caller, Org: c.Org, Now: c.Now, Door: c.Door, RequestID: c.RequestID, Tx: c.Tx,
		op: m.getter, runner: c.runner}
	out, err := m.getter.call(ctx, getting, in, nil)
	if err != nil {
		return err
	}
	body, _, err := m.getter.encode(out)
	if err != nil || slices.Contains(m.versions, m.getter.Version(body)) {
		return err
	}
	return fault.VersionMismatch.New()
}

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
	if !o.isVersioned || body == nil {
		return ""
	}
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// versionMatch is the condition of a request with If-Match: the resource has one of these versions.
type versionMatch struct {
	versions []string
	row      id.ID    // locked before the versions are compared
	getter   *Op      // the operation whose answer has the version
	path     []string // the values of its path
}

// TakesIfMatch reports whether the operation honours If-Match: it changes what a versioned GET at the same path shows.
func (o *Op) TakesIfMatch() bool {
	return o.getter != nil && o.getter.shape == readShape && o.getter.isVersioned && o.shape == writeShape
}

// AnswersVersion reports whether the answer has a version, which is sent as ETag.
func (o *Op) AnswersVersion() bool { return o.isVersioned && o.Method != http.MethodDelete }

// parseIfMatch reads If-Match: tags in quotes with commas between them, or * for any version. It returns nil where
// there is nothing to compare.
func (o *Op) parseIfMatch(q Request) (*versionMatch, error) {
	if strings.TrimSpace(q.IfMatch) == "*" {
		return nil, nil //nolint:nilnil // any version will do, and none is a 404
	}
	if !o.TakesIfMatch() {
		return nil, fault.VersionMismatch.Say("This cannot be changed by version. Send the request without If-Match.")
	}
	row, ok := id.Parse(q.Path[0])
	if !ok {
		return nil, nil //nolint:nilnil // refused when the path is read
	}
	m := &versionMatch{row: row, getter: o.getter, path: q.Path}
	for _, tag := range strings.Split(q.IfMatch, ",") {
		m.versions = append(m.versions, strings.Trim(strings.TrimSpace(tag), `"`))
	}
	return m, nil
}

// checkVersion compares the versions with what GET answers now. The transaction calls it as soon as it has locked the
// row, so that nobody else can change it after the comparison.
func (m *versionMatch) checkVersion(ctx context.Context, c *Call) error {
	in := m.getter.newBlankInput()
	if err := m.getter.bindPathAndQuery(in, m.path, nil); err != nil {
		return err
	}
	getting := &Call{Caller: c.Caller, Org: c.Org, Now: c.Now, Door: c.Door, RequestID: c.RequestID, Tx: c.Tx,
		op: m.getter, runner: c.runner}
	out, err := m.getter.invoke(ctx, getting, in, nil)
	if err != nil {
		return err
	}
	body, _, err := m.getter.encodeAnswer(out)
	if err != nil || slices.Contains(m.versions, m.getter.Version(body)) {
		return err
	}
	return fault.VersionMismatch.New()
}

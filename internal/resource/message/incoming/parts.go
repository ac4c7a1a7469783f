package incoming

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jhillyerd/enmime/v2"
	"github.com/jhillyerd/enmime/v2/mediatype"
)

const (
	maxMultiparts = 10   // nested parts; real mail has about three
	maxMediaType  = 2000 // bytes of a Content-Type; the parser takes quadratic time
	maxBoundary   = 200  // bytes; RFC 2046 §5.1.1 allows 70
	parseTime     = 20 * time.Second
)

// parseParts takes a mail apart. If that fails, or if the parser panics, root is nil
// and unread says why. An error is the reader's own.
func parseParts(r io.Reader) (root *enmime.Part, unread string, err error) {
	in := &deadlineReader{r: r, until: time.Now().Add(parseTime)} //nolint:forbidigo // a duration, not a time
	defer func() {
		if p := recover(); p != nil {
			root, unread, err = nil, fmt.Sprintf("it cannot be parsed: %v", p), nil
		}
	}()
	seen := &partLimiter{}
	parser := enmime.NewParser(
		enmime.SkipMalformedParts(true),
		enmime.MultipartWOBoundaryAsSinglePart(true),
		enmime.MaxStoredPartErrors(4),
		enmime.DisableTextConversion(true),
		enmime.DisableCharacterDetection(true),
		enmime.SetCustomParseMediaType(seen.parseMediaType),
		enmime.SetReadPartErrorPolicy(enmime.AllowCorruptTextPartErrorPolicy),
	)
	root, err = parser.ReadParts(in)
	switch {
	case in.err != nil:
		return nil, "", in.err
	case err != nil:
		return nil, "it cannot be parsed: " + BoundedLine(err.Error(), maxName), nil
	case seen.cut:
		unread = "it has too many parts in parts"
	case hasSevereErrors(root):
		unread = "part of it cannot be decoded"
	}
	return root, unread, nil
}

// partLimiter bounds how deep the parser goes. It stands in for the parser's own
// reading of Content-Type, and takes the boundary away from a multipart that is
// too much: a part without a boundary has no children.
type partLimiter struct {
	boundaries map[string]bool
	cut        bool
}

// parseMediaType parses a Content-Type for the parser. One that is malformed or too much
// becomes an attachment of unknown type.
func (c *partLimiter) parseMediaType(text string) (string, map[string]string, []string, error) {
	if len(text) > maxMediaType {
		c.cut = true
		return "application/octet-stream", map[string]string{}, nil, nil
	}
	t, params, invalid, err := mediatype.Parse(text)
	if err != nil {
		return "application/octet-stream", map[string]string{}, nil, nil
	}
	b := params["boundary"]
	if b == "" || c.boundaries[b] {
		return t, params, invalid, nil
	}
	if len(b) > maxBoundary || len(c.boundaries) == maxMultiparts {
		c.cut = true
		delete(params, "boundary")
		return "application/octet-stream", params, invalid, nil
	}
	if c.boundaries == nil {
		c.boundaries = map[string]bool{}
	}
	c.boundaries[b] = true
	return t, params, invalid, nil
}

// hasSevereErrors reports whether the parser could not decode some part.
func hasSevereErrors(root *enmime.Part) bool {
	for p := range allParts(root) {
		for _, e := range p.Errors {
			if e.Severe {
				return true
			}
		}
	}
	return false
}

// allParts iterates over a part and everything in it, without recursion.
func allParts(root *enmime.Part) func(func(*enmime.Part) bool) {
	return func(yield func(*enmime.Part) bool) {
		waiting := []*enmime.Part{root}
		for len(waiting) > 0 {
			p := waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			if !yield(p) {
				return
			}
			for child := p.FirstChild; child != nil; child = child.NextSibling {
				waiting = append(waiting, child)
			}
		}
	}
}

// deadlineReader stops the parser when a mail takes too long: its next read fails. It
// keeps an error of the underlying reader, which the parser would report as a
// broken mail.
type deadlineReader struct {
	r     io.Reader
	until time.Time
	err   error
}

func (b *deadlineReader) Read(p []byte) (int, error) {
	if time.Now().After(b.until) { //nolint:forbidigo // as above
		return 0, os.ErrDeadlineExceeded
	}
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

package incoming

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// The parser keeps every part and header line in memory, and is slow on nested
// parts. So mail with far more of them than any person sends is noticed before
// it reaches the parser.
const (
	maxLines     = 500_000 // of the whole mail
	maxDashes    = 10_000  // lines that may separate parts
	maxHeaders   = 1 << 20 // bytes of the headers of the mail
	maxBeginning = 64 << 10
)

// overview is the result of one quick pass over a mail.
type overview struct {
	header     string // the mail's own headers
	beginning  string // of what follows the headers
	unparsable string // why it must not be parsed, or empty
}

// rawExcerpt is what is shown of a mail that cannot be taken apart: the beginning of
// its body, or of its headers if there is no body.
func (o *overview) rawExcerpt() string {
	if o.beginning == "" {
		return truncateRunes(o.header, maxBeginning)
	}
	return truncateRunes(o.beginning, maxBeginning)
}

// scanMail scans a mail line by line.
func scanMail(r io.Reader) (*overview, error) {
	var header, beginning strings.Builder
	in := bufio.NewReaderSize(r, 64<<10)
	o := &overview{}
	lines, dashes, inHeader, whole := 0, 0, true, true
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if bytes.Contains(line, []byte("--")) {
			dashes++
		}
		switch {
		case inHeader && whole && len(bytes.Trim(line, "\r\n")) == 0:
			inHeader = false
		case inHeader && header.Len()+len(line) <= maxHeaders:
			header.Write(line)
		case inHeader:
			o.unparsable = "its headers are too long"
		case beginning.Len()+len(line) <= maxBeginning:
			beginning.Write(line)
		}
		if whole = err == nil; whole {
			lines++
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	switch {
	case lines > maxLines:
		o.unparsable = "it has too many lines"
	case dashes > maxDashes:
		o.unparsable = "it may have too many parts"
	}
	o.header, o.beginning = header.String(), beginning.String()
	return o, nil
}

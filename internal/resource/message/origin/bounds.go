package origin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
)

// What the headers of a mail may have to be judged. The DKIM library searches
// all fields for every name that a signature lists, so the work grows with the
// product of both, and both are bounded. Real mail has some fifty fields, and
// signatures of less than 2 KB.
const (
	maxHeader    = 256 << 10 // bytes
	maxFields    = 500
	maxSignature = 4 << 10 // bytes of a signature's field
)

// readBoundedHeader reads the headers, and reports whether they are within bounds.
func readBoundedHeader(r io.ReadSeeker) (header string, sane bool, err error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return "", false, err
	}
	var b strings.Builder
	fields, signature := 0, -1 // bytes of the signature that is read, or -1
	in := bufio.NewReaderSize(io.LimitReader(r, maxHeader+1), 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
			return "", false, nil // the headers do not end within bounds, or a line is longer than the buffer
		}
		if err != nil {
			return "", false, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return b.String(), true, nil
		}
		if line[0] != ' ' && line[0] != '\t' {
			name, _, _ := bytes.Cut(line, []byte(":"))
			if fields++; bytes.EqualFold(bytes.TrimSpace(name), []byte("DKIM-Signature")) {
				signature = 0
			} else {
				signature = -1
			}
		}
		if signature >= 0 {
			signature += len(line)
		}
		if fields > maxFields || signature > maxSignature {
			return "", false, nil
		}
		b.Write(line)
	}
}

// boundedResolver is a resolver for one mail: it answers at most maxLookups questions,
// and gives each lookupTime.
type boundedResolver struct {
	Resolver
	asked atomic.Int32
}

// errTooMany is temporary: it says nothing about the name.
var errTooMany = &net.DNSError{Err: "too many lookups for one mail", IsTemporary: true}

// maxTXTBytes is the longest TXT record that is used, in bytes. The longest key that
// anybody uses has 8192 bits, or 1400 characters; a key ten times as long would
// take a second to verify with.
const maxTXTBytes = 4 << 10

// lookupBounded makes one lookup within the bounds.
func lookupBounded[T any](
	ctx context.Context, b *boundedResolver, name string, find func(context.Context, string) (T, error),
) (found T, err error) {
	if b.asked.Add(1) > maxLookups {
		return found, errTooMany
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	return find(ctx, name)
}

// fullyQualified adds the final dot to a name, so that the resolver does not append the
// machine's search domains.
func fullyQualified(name string) string { return strings.TrimSuffix(name, ".") + "." }

// LookupTXT leaves out records that are too long, as if they did not exist.
func (b *boundedResolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	found, err := lookupBounded(ctx, b, fullyQualified(name), b.Resolver.LookupTXT)
	var short []string
	for _, s := range found {
		if len(s) <= maxTXTBytes {
			short = append(short, s)
		}
	}
	if err == nil && len(short) == 0 {
		err = &net.DNSError{Err: "no such record", Name: name, IsNotFound: true}
	}
	return short, err
}

func (b *boundedResolver) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return lookupBounded(ctx, b, fullyQualified(name), b.Resolver.LookupMX)
}

func (b *boundedResolver) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return lookupBounded(ctx, b, fullyQualified(host), b.Resolver.LookupIPAddr)
}

func (b *boundedResolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	return lookupBounded(ctx, b, addr, b.Resolver.LookupAddr)
}

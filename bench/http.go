package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// response is what one request came to. Body is there only when it was asked
// for, or when the status is not 2xx.
type response struct {
	status int
	size   int
	body   []byte
}

// readResponse reads one HTTP/1.1 response of known length or in chunks. It
// is our own because net/http's client costs as much as the server under test,
// on the same two cores.
func readResponse(br *bufio.Reader, keep bool) (r response, err error) {
	line, err := br.ReadSlice('\n')
	if err != nil {
		return r, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return r, fmt.Errorf("bad status line %q", line)
	}
	if r.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return r, fmt.Errorf("bad status line %q", line)
	}
	keep = keep || r.status/100 != 2
	length, chunked := -1, false
	for {
		if line, err = br.ReadSlice('\n'); err != nil {
			return r, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return r, err
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = bytes.Contains(value, []byte("chunked"))
		}
	}
	if !chunked {
		if length < 0 {
			return r, fmt.Errorf("status %d without a length", r.status)
		}
		return r, r.take(br, length, keep)
	}
	for {
		if line, err = br.ReadSlice('\n'); err != nil {
			return r, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return r, err
		}
		if err := r.take(br, int(n), keep); err != nil {
			return r, err
		}
		if _, err := br.Discard(2); err != nil || n == 0 {
			return r, err
		}
	}
}

func (r *response) take(br *bufio.Reader, n int, keep bool) error {
	r.size += n
	if !keep {
		_, err := br.Discard(n)
		return err
	}
	at := len(r.body)
	r.body = append(r.body, make([]byte, n)...)
	_, err := io.ReadFull(br, r.body[at:])
	return err
}

// appendRequest writes a whole request to b. path is the part below that of the contacts, and headers are
// those besides the credentials.
func (a *api) appendRequest(b []byte, method, path, headers string, body []byte) []byte {
	b = append(b, method...)
	b = append(b, ' ')
	b = append(b, a.path...)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, a.addr...)
	b = append(b, "\r\n"...)
	b = append(b, a.headers...)
	b = append(b, headers...)
	if body != nil {
		b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	return append(b, body...)
}

package main

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// syncBuffer is written by a process and read by the test.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// drain reads an answer to its end.
func drain(res *http.Response) {
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body) //nolint:errcheck // only the status counts
}

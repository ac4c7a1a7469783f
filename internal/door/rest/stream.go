package rest

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

// A stream may take as long as it likes while it makes progress: the
// connection's deadline is renewed for every paceBytes. A stream that is
// slower, or stalls, ends.
const (
	defaultPace = 60 * time.Second
	paceBytes   = 64 << 10
)

func (d *Door) paceInterval() time.Duration {
	if d.Pace > 0 {
		return d.Pace
	}
	return defaultPace
}

// pace renews a deadline as bytes pass.
type pace struct {
	extend     func(time.Time) error
	time       time.Duration // from one renewal to the deadline
	bytesSince int           // bytes since the last renewal
	begun      bool          // the deadline was set at least once
}

// extendDeadline is called before each read and write. It renews the deadline at the start and
// after every paceBytes.
func (p *pace) extendDeadline() error {
	if p.begun && p.bytesSince < paceBytes {
		return nil
	}
	p.begun, p.bytesSince = true, 0
	err := p.extend(time.Now().Add(p.time))
	if errors.Is(err, http.ErrNotSupported) { // a test without a connection
		return nil
	}
	return err
}

// pacedReader is the body of an upload.
type pacedReader struct {
	io.Reader
	pace
}

func (d *Door) newPacedReader(w http.ResponseWriter, r *http.Request) *pacedReader {
	c := http.NewResponseController(w)
	// The server's own write deadline would pass during a long upload, and the answer
	// could not be written.
	c.SetWriteDeadline(time.Time{}) //nolint:errcheck // a test has no connection
	return &pacedReader{r.Body, pace{extend: c.SetReadDeadline, time: d.paceInterval()}}
}

func (p *pacedReader) Read(b []byte) (int, error) {
	if err := p.extendDeadline(); err != nil {
		return 0, err
	}
	n, err := p.Reader.Read(b)
	p.bytesSince += n
	return n, err
}

// pacedWriter is the answer of a download. It keeps the status for the metrics.
type pacedWriter struct {
	http.ResponseWriter
	pace
	status int
}

func (d *Door) newPacedWriter(w http.ResponseWriter) *pacedWriter {
	return &pacedWriter{w, pace{extend: http.NewResponseController(w).SetWriteDeadline, time: d.paceInterval()},
		http.StatusOK}
}

// WriteHeader holds back the status 416 of net/http, whose body is plain text. The
// range is then refused with the usual error envelope.
func (p *pacedWriter) WriteHeader(status int) {
	p.status = status
	if !p.isRangeRefusal() {
		p.ResponseWriter.WriteHeader(status)
	}
}

func (p *pacedWriter) isRangeRefusal() bool {
	return p.status == http.StatusRequestedRangeNotSatisfiable
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	if p.isRangeRefusal() {
		return len(b), nil
	}
	if err := p.extendDeadline(); err != nil {
		return 0, err
	}
	n, err := p.ResponseWriter.Write(b)
	p.bytesSince += n
	return n, err
}

// clearDeadline clears the deadline for the next answer on the connection.
func (p *pacedWriter) clearDeadline() {
	p.extend(time.Time{}) //nolint:errcheck // the connection is gone
}

// serveContent answers with bytes: partially when the client asks for a range, and
// with headers that keep a browser from running what others uploaded.
func (d *Door) serveContent(w http.ResponseWriter, r *http.Request, request string, c *op.Content) int {
	if c.Write == nil {
		defer c.Close()
	}
	h := w.Header()
	h.Set("Content-Type", c.Type)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": c.Name}))
	h.Set("Cache-Control", "private, no-cache") // cached, but revalidated each time
	if c.ETag != "" {
		h.Set("ETag", c.ETag)
	}
	out := d.newPacedWriter(w)
	defer out.clearDeadline()
	if c.Write != nil {
		return d.writeStreamed(out, r, request, c)
	}
	from := &errorKeepingReader{ReadSeeker: c}
	c.Serve(out, r, from)
	if out.isRangeRefusal() {
		h.Del("Content-Disposition")
		return d.writeRefusal(w, r, request, fault.BadRange.New())
	}
	if from.err != nil && r.Context().Err() == nil {
		d.abortConnection(r, request, from.err)
	}
	return out.status
}

// writeStreamed answers with content that is produced while it is sent, such as an
// export. Its length is not known beforehand, so there are no ranges.
func (d *Door) writeStreamed(w *pacedWriter, r *http.Request, request string, c *op.Content) int {
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return w.status
	}
	if err := c.Write(r.Context(), w); err != nil {
		d.abortConnection(r, request, err)
	}
	return w.status
}

// abortConnection ends the connection after an error in the middle of an answer: the client must
// not take the part for the whole.
func (d *Door) abortConnection(r *http.Request, request string, err error) {
	if r.Context().Err() == nil {
		d.Log.ErrorContext(r.Context(), "an answer was cut off", "trace_id", request, "path", redactPath(r.URL.Path),
			"err", err)
	}
	panic(http.ErrAbortHandler)
}

// errorKeepingReader keeps the read error that http.ServeContent does not report.
type errorKeepingReader struct {
	io.ReadSeeker
	err error
}

func (w *errorKeepingReader) Read(b []byte) (int, error) {
	n, err := w.ReadSeeker.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

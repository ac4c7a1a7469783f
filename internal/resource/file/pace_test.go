package file_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// A stream that makes progress may take longer than any other request. One that
// stalls ends and leaves nothing behind.
func TestPace(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	const pace = 3 * time.Second
	a.REST.Pace = 20 * time.Second // a busy machine may stand still
	server := httptest.NewUnstartedServer(a.Handler())
	server.Config.ReadTimeout = 2 * time.Second
	server.Start()
	t.Cleanup(server.Close)
	dial := func() *net.TCPConn {
		t.Helper()
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn.(*net.TCPConn)
	}
	body, kind := apptest.BuildForm(t, file("slow.bin", strings.Repeat("x", 1<<20)))
	begin := func(conn net.Conn) {
		fmt.Fprintf(conn,
			"POST /v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: "+
				"%d\r\n\r\n",
			a.Key, kind, len(body))
	}
	answer := func(conn net.Conn) int {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(time.Minute)) //nolint:errcheck // it is a TCP connection
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.StatusCode
	}

	slow, began := dial(), time.Now()
	begin(slow)
	for rest := body; rest != ""; {
		n := min(64<<10, len(rest))
		if _, err := io.WriteString(slow, rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		time.Sleep(300 * time.Millisecond)
	}
	if status := answer(slow); status != 201 || time.Since(began) < 2*server.Config.ReadTimeout {
		t.Errorf("a slow upload: %d after %v", status, time.Since(began))
	}

	a.REST.Pace = pace
	still := dial()
	begin(still)
	if _, err := io.WriteString(still, body[:len(body)/2]); err != nil {
		t.Fatal(err)
	}
	if status := answer(still); status != 400 {
		t.Errorf("an upload that stands still: %d", status)
	}
	if n := blobs(t, a); n != 1 || count(t, a, "stray_blobs") != 0 {
		t.Errorf("%d blobs, %d strays", n, count(t, a, "stray_blobs"))
	}

	large := upload(t, a, file("large.bin", strings.Repeat("x", int(a.Settings.Files.MaxBytes)))).OK(t, 201)
	idle := dial()
	if err := idle.SetReadBuffer(256 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(idle, "GET /v1/files/%s/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
		large.Text("id"),
		a.Key)
	time.Sleep(2*pace + pace/2)
	res, err := http.ReadResponse(bufio.NewReader(idle), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) && !strings.Contains(fmt.Sprint(err), "reset") {
		t.Errorf("a download that nobody reads: %d bytes, %v", n, err)
	}
	// The next request on a connection has no stale deadline.
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	download := func() (int64, error) {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet,
			server.URL+"/v1/files/"+large.Text("id")+"/content", nil)
		if err != nil {
			return 0, err
		}
		req.Header.Set("Authorization", "Bearer "+a.Key)
		res, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		return io.Copy(io.Discard, res.Body)
	}
	for i := range 2 {
		if n, err := download(); err != nil || n != a.Settings.Files.MaxBytes {
			t.Errorf("download %d: %d bytes, %v", i, n, err)
		}
		time.Sleep(pace + 200*time.Millisecond)
	}
}

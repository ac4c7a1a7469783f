package fault_test

import (
	"io"
	"mime/multipart"
	"net"
	"testing"
	"time"

	"frontdesk/internal/kernel/fault"
)

// A caller whose time ran out tries again; one whose body is broken is told so.
func TestBroken(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	a.SetReadDeadline(time.Now()) //nolint:errcheck // a pipe has one
	_, late := multipart.NewReader(a, "x").NextPart()
	if f := fault.Broken(late, "Broken."); !fault.Has(f, fault.Unavailable) {
		t.Errorf("%v became %+v", late, f)
	}
	if f := fault.Broken(io.ErrUnexpectedEOF, "Broken."); !fault.Has(f, fault.BadInput) || f.Text != "Broken." {
		t.Errorf("%+v", f)
	}
}

package message

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message/incoming"

	"golang.org/x/sync/semaphore"
)

// Arrived is a mail as it came in.
type Arrived struct {
	Sender     string   // where it comes back to; empty for a report
	Recipients []string // that Takes took
	Content    io.ReadSeeker
	Size       int64
}

// Inbox takes mail from the outside.
type Inbox struct {
	*Messages
	hosts []Hosts
	room  *semaphore.Weighted
}

// parseRoom is how many bytes of mail are taken apart at a time. It needs some
// ten times as much memory.
const parseRoom = 32 << 20

// RepetitionTime is how long a mail is known when it comes again. Senders try
// for some five days (RFC 5321 §4.5.4.1).
const RepetitionTime = 30 * 24 * time.Hour

// NewInbox takes mail for those domains.
func NewInbox(m *Messages, hosts ...Hosts) *Inbox {
	return &Inbox{Messages: m, hosts: hosts, room: semaphore.NewWeighted(parseRoom)}
}

// Takes tells whether anybody receives mail at an address: ErrNotHosted,
// ErrNobody, ErrClosed and ErrFull say why not.
func (in *Inbox) Takes(ctx context.Context, address string) error {
	var box Mailbox
	err := in.db.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		box, err = in.mailbox(ctx, tx, address)
		return err
	})
	if err != nil || box.Organization == "" {
		return err
	}
	return full(in.files.Room(ctx, box.Organization))
}

// full says in the inbox's words that there is no room.
func full(err error) error {
	if fault.Has(err, file.LimitReached) {
		return ErrFull
	}
	return err
}

// mailbox asks each host in turn.
func (in *Inbox) mailbox(ctx context.Context, tx *db.Tx, address string) (Mailbox, error) {
	address = onTheWire(address)
	at := strings.LastIndexByte(address, '@')
	if at < 1 || len(address) > 254 {
		return Mailbox{}, ErrNotHosted
	}
	for _, h := range in.hosts {
		box, err := h.Host(ctx, tx, address[:at], DomainOf(address))
		if errors.Is(err, ErrNotHosted) {
			continue
		}
		if err == nil && box.Organization != "" {
			err = open(ctx, tx, box.Organization)
		}
		return box, err
	}
	return Mailbox{}, ErrNotHosted
}

// Receive stores a mail for every organization that it is addressed to, once
// however often it comes. Without an error it is committed. ErrFull says that
// one of them has no room for it; the others have it, and have it once when it
// comes again.
func (in *Inbox) Receive(ctx context.Context, m Arrived) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, m.Content); err != nil {
		return err
	}
	if _, err := m.Content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	weight := min(max(m.Size, 64<<10), parseRoom)
	if err := in.room.Acquire(ctx, weight); err != nil {
		return err
	}
	defer in.room.Release(weight)
	l, err := incoming.Read(m.Content)
	if err != nil {
		return err
	}
	to, err := in.destinations(ctx, l, m.Recipients)
	if err != nil {
		return err
	}
	var lacking error
	for _, d := range to {
		a := &arrival{Inbox: in, destination: d, mail: &m, letter: l, digest: hex.EncodeToString(sum.Sum(nil))}
		if err := full(a.store(ctx)); errors.Is(err, ErrFull) {
			lacking = err
		} else if err != nil {
			return err
		}
	}
	return lacking
}

// destination is an organization that a mail goes to, and by which of its
// recipients.
type destination struct {
	Mailbox
	recipients []string
}

// destinations has each organization once.
func (in *Inbox) destinations(ctx context.Context, l *incoming.Letter, recipients []string) (out []destination, err error) {
	err = in.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		out = nil
		for _, address := range recipients {
			box, err := in.mailbox(ctx, tx, address)
			if err == nil && box.Organization == "" {
				box, err = answered(ctx, tx, l)
			}
			if errors.Is(err, ErrNobody) {
				continue // others may have it
			}
			if err != nil {
				return err
			}
			at := slices.IndexFunc(out, func(d destination) bool { return d.Organization == box.Organization })
			if at < 0 {
				at, out = len(out), append(out, destination{Mailbox: box})
			}
			d := &out[at]
			d.recipients = append(d.recipients, address)
			if d.Answers == nil || box.Returned != nil {
				d.Answers, d.Returned = box.Answers, box.Returned
			}
		}
		if len(out) == 0 {
			return ErrNobody
		}
		return nil
	})
	return out, err
}

// answered finds who wrote what a mail answers. Our Message-IDs begin with the
// message's id, which is unique over all organizations.
func answered(ctx context.Context, tx *db.Tx, l *incoming.Letter) (Mailbox, error) {
	for _, name := range l.References {
		ref, ok := idOf(name)
		if !ok {
			continue
		}
		org, err := owner(ctx, tx, "SELECT organization_id FROM messages WHERE id = $1 AND internet_id = $2 AND direction = 'outbound'", ref, name)
		if errors.Is(err, ErrNobody) {
			continue
		}
		if err == nil {
			err = open(ctx, tx, org)
		}
		return Mailbox{Organization: org, Answers: &ref}, err
	}
	return Mailbox{}, ErrNobody
}

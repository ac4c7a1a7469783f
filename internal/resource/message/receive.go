package message

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"slices"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/mailhost"
	"frontdesk/internal/resource/message/incoming"
	"frontdesk/internal/resource/message/origin"
)

// ReceivedMail is a mail as it came in.
type ReceivedMail struct {
	Peer       netip.Addr // the server that delivered it; the zero value if it came another way
	Helo       string     // how that server named itself
	Sender     string     // the return path; empty for a report
	Recipients []Mailbox  // as Messages.FindMailbox found them
	Content    io.ReadSeeker
	Size       int64
}

// maxParsingBytes bounds how many bytes of mail are parsed at the same time in this
// process. Parsing needs some ten times as much memory.
const maxParsingBytes = 32 << 20

// RepetitionTime is how long a mail is remembered, to recognize a repetition.
// Senders try for about five days (RFC 5321 §4.5.4.1).
const RepetitionTime = 30 * 24 * time.Hour

// Receive stores a mail for every organization that it is addressed to, once
// however often it comes. Without an error it is committed everywhere. ErrFull
// means that one organization has no room for it; the others have stored it, and
// recognize it when the sender tries again.
func (m *Messages) Receive(ctx context.Context, mail ReceivedMail) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, mail.Content); err != nil {
		return err
	}
	if _, err := mail.Content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	// DNS may be slow, so this comes before the semaphore that other mail waits for.
	judged, err := origin.JudgeOrigin(ctx, m.dns, origin.Evidence{
		Peer:    mail.Peer,
		Helo:    mail.Helo,
		Sender:  mail.Sender,
		Content: mail.Content,
	})
	if err != nil {
		return err
	}
	if _, err := mail.Content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	weight := min(max(mail.Size, 64<<10), maxParsingBytes)
	if err := m.parsing.Acquire(ctx, weight); err != nil {
		return err
	}
	defer m.parsing.Release(weight)
	letter, err := incoming.ReadLetter(mail.Content)
	if err != nil {
		return err
	}
	arrivals, err := m.groupByOrganization(ctx, mail, letter)
	if err != nil {
		return err
	}
	var full error
	for _, a := range arrivals {
		a.digest, a.authentication = hex.EncodeToString(sum.Sum(nil)), judged
		if err := asErrFull(a.storeIfNew(ctx)); errors.Is(err, ErrFull) {
			full = err
		} else if err != nil {
			return err
		}
	}
	return full
}

// groupByOrganization lists each organization that a mail goes to, once.
func (m *Messages) groupByOrganization(ctx context.Context, mail ReceivedMail, l *incoming.Letter) ([]*arrival, error) {
	var out []*arrival
	for _, box := range mail.Recipients {
		if box.Organization == "" {
			err := m.db.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
				return box.findByReferences(ctx, tx, l)
			})
			if errors.Is(err, mailhost.ErrNobody) {
				continue // others may receive it
			}
			if err != nil {
				return nil, err
			}
		}
		at := slices.IndexFunc(out, func(a *arrival) bool { return a.organization == box.Organization })
		if at < 0 {
			at = len(out)
			out = append(out, &arrival{messages: m, organization: box.Organization, mail: &mail, letter: l})
		}
		out[at].addMailbox(box)
	}
	if len(out) == 0 {
		return nil, mailhost.ErrNobody
	}
	return out, nil
}

// arrival is one mail for one organization.
type arrival struct {
	messages       *Messages
	organization   id.ID
	recipients     []string // the addresses of the organization that it came to
	answers        *id.ID   // as Mailbox.Answers
	bounced        *id.ID   // as Mailbox.Bounced
	mail           *ReceivedMail
	letter         *incoming.Letter
	digest         string // of the whole mail
	authentication origin.Authentication
}

// addMailbox notes another address that the mail came to. A bounce address says most
// about the mail, so it takes precedence over any other.
func (a *arrival) addMailbox(box Mailbox) {
	a.recipients = append(a.recipients, box.Address)
	if a.answers == nil || box.Bounced != nil {
		a.answers, a.bounced = box.Answers, box.Bounced
	}
}

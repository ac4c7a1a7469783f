package message

import (
	"context"

	"frontdesk/internal/kernel/id"
)

// Mailer hands mail to a mail system. Every adapter passes the suite in
// messagetest.
type Mailer interface {
	// Send hands over one mail. Without an error, it was accepted for all
	// recipients except those it returns as refused. An error means that nobody
	// gets it: a *Refusal says whether it is temporary, and any other error may
	// be retried. The same key means the same mail for the same recipients: an
	// adapter that can accepts it only once.
	Send(ctx context.Context, mail *Mail) ([]Refusal, error)
	// Check tests whether mail could be handed over, without doing so.
	Check(ctx context.Context) error
}

// Mail is a message as it is transmitted.
type Mail struct {
	Key          string // the same in every attempt
	Organization id.ID
	Message      id.ID
	From         string   // the return path
	To           []string // who gets it, whatever its headers say
	Content      []byte   // headers and body, RFC 5322
}

// Refusal is the answer of a mail system that does not accept a mail, or not
// for one of its recipients.
type Refusal struct {
	Recipient string // empty for the whole mail
	Temporary bool   // it may be accepted later
	Reason    string // the mail system's own words
}

func (r *Refusal) Error() string { return r.Reason }

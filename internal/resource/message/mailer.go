package message

import (
	"context"

	"frontdesk/internal/kernel/id"
)

// Mailer hands mail to whoever carries it on. Every adapter passes the suite
// in messagetest.
type Mailer interface {
	// Send hands over one mail. Without an error it was taken for all
	// recipients but those that were refused. An error says that nobody gets
	// it: a *Refusal tells for how long, and whatever else it is, it may be
	// tried again. The same key means the same mail for the same recipients:
	// an adapter that can takes it only once.
	Send(ctx context.Context, mail *Mail) ([]Refusal, error)
	// Check tries whether mail could be handed over, without doing so.
	Check(ctx context.Context) error
}

// Mail is a message as it travels.
type Mail struct {
	Key          string // stable over attempts
	Organization id.ID
	Message      id.ID
	From         string   // where it comes back to
	To           []string // who gets it, whatever its headers say
	Content      []byte   // headers and body, RFC 5322
}

// Refusal is the answer of a mail system that does not take a mail, or not for
// one of its recipients.
type Refusal struct {
	Recipient string // empty for the whole mail
	Temporary bool   // it may be taken later
	Reason    string // its own words
}

func (r *Refusal) Error() string { return r.Reason }

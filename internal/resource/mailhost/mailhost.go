// Package mailhost knows which mail domains are hosted here: who may send from an
// address, which keys sign the mail, and who receives mail to an address. There is
// the service's own domain, which all organizations share, and there are the
// domains of organizations, which the package domain keeps. The messages
// themselves are in the package message.
//
// On the service's own domain every organization may send from one address,
// no-reply. Answers and bounces find their way back by addresses that name one
// message or one recipient (target.go). signing_key.go has the DKIM keys: an
// organization's own where it has hosted email, the service's otherwise.
// address.go brings addresses into the form that DNS knows.
//
// Start reading at Service. Service.FindTarget says whom mail to an address is
// for, Service.SigningKeys what signs mail from one. An organization must never
// get to choose an address of the service's domain: it could pass for another
// organization.
package mailhost

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"
	"frontdesk/internal/resource/domain"
)

// Config is what a Service needs. All fields but TakesMail are required.
type Config struct {
	Domain    string // the service's own, lower-case ASCII
	Host      string // by which people know the service, in the names of senders; by default Domain
	TakesMail bool   // the service runs a mail server, so answers can arrive
	DB        *db.DB
	Clock     *clock.Clock
	Seal      op.Sealer
	Email     *domain.Email // the domains of organizations
}

// Service answers for the service's own mail domain and for those of organizations.
type Service struct {
	domain    string
	host      string
	takesMail bool
	db        *db.DB
	clock     *clock.Clock
	seal      op.Sealer
	email     *domain.Email
	own       ownKeys
}

// New panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "Domain", "DB", "Clock", "Seal", "Email")
	return &Service{
		domain:    c.Domain,
		host:      cmp.Or(c.Host, c.Domain),
		takesMail: c.TakesMail,
		db:        c.DB,
		clock:     c.Clock,
		seal:      c.Seal,
		email:     c.Email,
	}
}

// DefaultAddress is the address that every organization may send from. The
// other addresses of the service's domain belong to nobody: whoever could
// choose one could pass for another organization.
func (s *Service) DefaultAddress() string { return noReply + "@" + s.domain }

// IsDefault reports whether an address is the one that every organization may send
// from.
func (s *Service) IsDefault(address string) bool { return db.FoldText(address) == s.DefaultAddress() }

// SenderName is the name beside the default address: the business's, cut so that " via " and
// the service's host fit behind it. A business cannot leave that out and so pass for the
// service itself.
func (s *Service) SenderName(name *string) *string {
	if name == nil {
		return nil
	}
	via := " via " + s.host
	room := business.MaxSenderName - utf8.RuneCountInString(via)
	out := strings.TrimSpace(cut.Runes(*name, max(1, room))) + via
	return &out
}

// MaySendFrom reports whether an address is on an active domain of the
// organization, or is the service's default address.
func (s *Service) MaySendFrom(ctx context.Context, tx *db.Tx, org id.ID, address string) (bool, error) {
	sends, _, err := s.email.CanSendFrom(ctx, tx, org, DomainOf(address))
	return sends || s.IsDefault(address), err
}

// ReplyAddresses says where answers to a message go. replyTo is empty when that is the address
// the message is sent from, or when no answer can be received. bounceDomain is the domain of
// the addresses that bounces come back to, or empty when nobody accepts any.
func (s *Service) ReplyAddresses(
	ctx context.Context, tx *db.Tx, org id.ID, from, messageID string,
) (replyTo, bounceDomain string, err error) {
	name := DomainOf(from)
	_, receives, err := s.email.CanSendFrom(ctx, tx, org, name)
	switch {
	case err != nil:
		return "", "", err
	case receives:
		return "", name, nil
	case !s.takesMail:
		return "", "", nil
	}
	// Everybody sends from the same address, so the reply address names the message.
	local, _, _ := strings.Cut(messageID, "@")
	return replyPrefix + local + "@" + s.domain, s.domain, nil
}

package invoice

import (
	"log/slog"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	store "frontdesk/internal/resource/file"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/optin"
)

// Config is what invoices need. All of it is required.
type Config struct {
	DB       *db.DB
	Clock    *clock.Clock
	Log      *slog.Logger
	Jobs     *job.Queue
	Events   *event.Log
	Files    *store.Store
	Messages *message.Messages
	Links    *optin.Links // signs the links to the pages of invoices
}

// Service draws invoices, mails them to customers and sends reminders.
type Service struct {
	db       *db.DB
	clock    *clock.Clock
	log      *slog.Logger
	jobs     *job.Queue
	events   *event.Log
	files    *store.Store
	messages *message.Messages
	links    *optin.Links
}

// New panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "DB", "Clock", "Log", "Jobs", "Events", "Files", "Messages", "Links")
	return &Service{
		db:       c.DB,
		clock:    c.Clock,
		log:      c.Log,
		jobs:     c.Jobs,
		events:   c.Events,
		files:    c.Files,
		messages: c.Messages,
		links:    c.Links,
	}
}

// Operations lists everything that can be done with invoices.
func (s *Service) Operations() []*op.Op {
	return slices.Concat(
		op.WithExport(invoiceOperations()), moveOperations(), s.sendOperations(), paymentOperations(),
		refundOperations(),
		creditNoteOperations(), s.pdfOperations(), s.statementOperations(), reminderOperations(), s.publicOperations())
}

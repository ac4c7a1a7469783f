// Package mailbox is the message.Mailer of a service that has no relay: it keeps what
// would have been sent in the database, and nothing leaves the machine. Two operations
// show it in the console. Rows end with the retention of deleted data, and are erased
// with the person they are about. Start reading at Mailbox.Send.
package mailbox

import (
	"context"
	"errors"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/message"

	"github.com/go-json-experiment/json"
)

var _ = db.Declare("mailbox_mails", db.Life{
	Refs:   []db.Ref{db.RefTo("message_id", "messages", db.EndsAtPurge)},
	Expire: db.Expiry{After: func(r config.Retention) time.Duration { return r.Deleted }},
	Erase:  life.WholeRow,
})

// Mailbox keeps mail in the database, one row for each key.
type Mailbox struct {
	db    *db.DB
	clock *clock.Clock
}

var _ message.Mailer = (*Mailbox)(nil)

// New makes a mailbox.
func New(d *db.DB, c *clock.Clock) *Mailbox { return &Mailbox{d, c} }

// maxContentBytes is how many bytes of a mail are kept. What is beyond it are attachments,
// which the organization has as files anyway.
const maxContentBytes = 1 << 20

// Send keeps the mail.
func (m *Mailbox) Send(ctx context.Context, mail *message.Mail) ([]message.Refusal, error) {
	to, err := json.Marshal(mail.To)
	if err != nil {
		return nil, err
	}
	return nil, m.db.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_,
			err := db.Exec(ctx, tx,
			`
				INSERT INTO mailbox_mails (id, organization_id, created_at, mail_key, message_id, sender, recipients,
					size_bytes, content)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (organization_id, mail_key) DO NOTHING`,
			id.New(), mail.Organization, m.clock.Now(), mail.Key, mail.Message, mail.From, db.JSON(to),
			len(mail.Content),
			mail.Content[:min(len(mail.Content), maxContentBytes)])
		return err
	})
}

// Check always succeeds: there is no server that could fail.
func (m *Mailbox) Check(context.Context) error { return nil }

// MailboxMail is a mail that would have been sent.
type MailboxMail struct {
	ID         id.ID      `json:"id"`
	CreatedAt  clock.Time `json:"createdAt"`
	MessageID  id.ID      `json:"messageId"`
	Sender     string     `json:"sender"`
	Recipients []string   `json:"recipients" max:"1000"`
	SizeBytes  int64      `json:"sizeBytes"`
}

// MailboxContent is a mail with its content.
type MailboxContent struct {
	MailboxMail
	Content string `json:"content" max:"-1" doc:"headers and body as they would have been sent; at most the first MiB"`
}

// Operations lists the operations that show the mailbox, in the desk and to the admin command.
func Operations() []*op.Op {
	const doors = op.ConsoleDoor | op.AdminDoor
	return []*op.Op{
		op.Read(op.Spec{
			Name:     "mailbox.list",
			Summary:  "List what would have been sent, newest first.",
			Resource: "messages",
			Doors:    doors,
			Example:  `{"limit": 20}`,
		}, listMailboxMails),
		op.Read(op.Spec{
			Name:     "mailbox.get",
			Summary:  "Get a mail that would have been sent.",
			Resource: "messages",
			Doors:    doors,
			Example:  `{"id": "7b2d9c41-5e8f-4a06-8d13-9f4b6e2a1c75"}`,
		}, getMailboxMail),
	}
}

const mailColumns = "id, created_at, message_id, sender, recipients, size_bytes"

var mails = db.PermanentTable[MailboxMail]{Name: "mailbox_mails", Columns: mailColumns}

type mailList struct {
	op.Page
	MessageID *id.ID `query:"messageId" doc:"the mails that a message became"`
}

func listMailboxMails(ctx context.Context, c *op.Call, in mailList) (*op.List[MailboxMail], error) {
	w := db.InOrganization(c.Org)
	db.FilterEqual(w, "message_id", in.MessageID)
	rows, err := mails.List(ctx, c.Tx, w, in.ToDBPage())
	return op.NewList(in.Page, rows), err
}

type mailRef struct {
	ID id.ID `json:"id"`
}

func getMailboxMail(ctx context.Context, c *op.Call, in mailRef) (*MailboxContent, error) {
	type row struct {
		MailboxMail
		Content []byte `db:"content"`
	}
	v, err := db.QueryOne[row](ctx, c.Tx,
		"SELECT "+mailColumns+", content FROM mailbox_mails WHERE organization_id = $1 AND id = $2", c.Org, in.ID)
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.NotFound.Say("There is no such mail.")
	}
	return &MailboxContent{v.MailboxMail, strings.ToValidUTF8(string(v.Content), "\uFFFD")}, err
}

package mailbox_test

import (
	"context"
	"fmt"
	"testing"

	"frontdesk/internal/adapter/mailbox"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/admin"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/message/messagetest"
)

type kept struct {
	Sender     string   `db:"sender"`
	Recipients []string `db:"recipients"`
	Content    []byte   `db:"content"`
}

func TestMailbox(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		messagetest.CheckMailer(t, func(t *testing.T) (message.Mailer, id.ID,
			func(t *testing.T) []messagetest.AcceptedMail) {
			a := apptest.Start(t, e)
			return mailbox.New(a.DB, a.Clock), a.Org, func(t *testing.T) (out []messagetest.AcceptedMail) {
				err := a.DB.Read(t.Context(), func(ctx context.Context, tx *db.Tx) error {
					rows, err := db.QueryAll[kept](ctx, tx, `
						SELECT sender, recipients, content
						FROM mailbox_mails
						WHERE organization_id = $1
						ORDER BY seq`, a.Org)
					for _, r := range rows {
						out = append(out, messagetest.AcceptedMail{From: r.Sender, To: r.Recipients,
							Content: r.Content})
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
		})
	})
}

// A mail that is handed over twice is there once, and only for its organization.
func TestMailboxOnce(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		m := mailbox.New(a.DB, a.Clock)
		mail := &message.Mail{Key: "k", Organization: a.Org, Message: id.New(), From: "no-reply@frontdesk.example",
			To: []string{"ada@example.com"}, Content: make([]byte, 2<<20)}
		for range 3 {
			if _, err := m.Send(t.Context(), mail); err != nil {
				t.Fatal(err)
			}
		}
		list := a.AsOperator(t, "mailbox.list", "organization", a.Org, `{}`)
		if list.Len() != 1 {
			t.Fatalf("%d mails: %s", list.Len(), list)
		}
		list.Same("0.sizeBytes", 2<<20)
		list.Same("0.recipients.0", "ada@example.com")
		input := fmt.Sprintf(`{"id": %q}`, list.Text("0.id"))
		if got := a.AsOperator(t, "mailbox.get", "organization", a.Org, input).Text("content"); len(got) != 1<<20 {
			t.Errorf("%d bytes are kept", len(got))
		}
		other := a.NewTenant(t, "free")
		if a.AsOperator(t, "mailbox.list", "organization", other.Org, `{}`).Len() != 0 {
			t.Error("another organization sees it")
		}
		_, err := a.Admin.Do(t.Context(),
			admin.Request{Operation: "mailbox.get", Noun: "organization", Ref: string(other.Org), Input: []byte(input)})
		if !fault.IsKind(err, fault.NotFound) {
			t.Errorf("another organization: %v", err)
		}
	})
}

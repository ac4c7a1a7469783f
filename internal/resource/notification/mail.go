package notification

import (
	"context"
	"fmt"
	"slices"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
)

const (
	mailJob = "notifications.mail"
	// mailInterval is how long notifications are gathered, so that a hundred of them are one mail.
	mailInterval = 15 * time.Minute
	mailLines    = 20 // how many of them a mail says; the desk has the rest
)

type mailArgs struct {
	Organization id.ID `json:"organization"`
	User         id.ID `json:"user"`
}

// enqueueMail has a notification mailed with whatever else comes within the interval.
func (s *Service) enqueueMail(ctx context.Context, tx *db.Tx, n *Notification) error {
	_, err := s.cfg.Jobs.Enqueue(ctx, tx, mailJob, mailArgs{n.OrganizationID, n.UserID},
		job.UniqueKey(string(n.OrganizationID)+"/"+string(n.UserID)), job.RunAt(s.cfg.Clock.Now().Add(mailInterval)),
		job.ForOrganization(n.OrganizationID))
	return err
}

// mailUnread is the job that mails a person what is due and still unread. The rows are no longer due once the mail is
// written, in one transaction: it is written once.
func (s *Service) mailUnread(ctx context.Context, tx *db.Tx, _ job.Job, a mailArgs) error {
	rows, err := db.QueryAll[Notification](ctx, tx, "SELECT "+notifications.Columns()+` FROM notifications
		WHERE organization_id = $1 AND user_id = $2 AND mail_due AND deleted_at IS NULL
		ORDER BY created_at, seq`, a.Organization, a.User)
	if err != nil || len(rows) == 0 {
		return err
	}
	if _, err := db.Exec(ctx, tx, `
		UPDATE notifications SET mail_due = FALSE
		WHERE organization_id = $1 AND user_id = $2 AND mail_due`, a.Organization, a.User); err != nil {
		return err
	}
	m, err := account.FindActiveMember(ctx, tx, a.Organization, a.User)
	if err != nil || m == nil {
		return err // a member who left is told nothing
	}
	may := readable(m.Allowed())
	rows = slices.DeleteFunc(rows, func(n Notification) bool {
		return n.ReadAt != nil || !slices.Contains(may, n.Permission)
	})
	if len(rows) == 0 {
		return nil
	}
	return s.cfg.Mail(ctx, tx, a.Organization, m.Email, s.noticeOf(rows))
}

// noticeOf is the mail about notifications.
func (s *Service) noticeOf(rows []Notification) account.Notice {
	n := account.Notice{Subject: mailWords(&rows[0])}
	if len(rows) > 1 {
		n.Subject = fmt.Sprintf("%d notices for you", len(rows))
	}
	for i := range rows[:min(len(rows), mailLines)] {
		n.Text = append(n.Text, mailWords(&rows[i])+": "+s.link(&rows[i]))
	}
	if more := len(rows) - mailLines; more > 0 {
		n.Text = append(n.Text, fmt.Sprintf("And %d more: %s/notifications", more, s.cfg.BaseURL))
	}
	return n
}

// link leads to what a notification is about.
func (s *Service) link(n *Notification) string {
	return s.cfg.BaseURL + "/notifications/" + string(n.ID)
}

// mailWords are a notification in a mail. The organization's mails can be read by everybody who may read messages, so
// they do not name what others may not be allowed to see.
func mailWords(n *Notification) string {
	if n.Permission == "messages" {
		return n.Words().String()
	}
	unnamed := *n
	unnamed.Subject = map[string]string{"contact": "a note about a contact", "task": "a task",
		"proposal": "look at a proposal", "invoice": "An invoice", "webhook": "see the settings"}[n.ResourceType]
	if unnamed.Subject == "" {
		unnamed.Subject = infoOf(n.Kind).Label
	}
	return unnamed.Words().String()
}

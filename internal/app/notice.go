package app

import (
	"context"
	"html"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/template"
)

// ownersPerMail is how many owners are addressed in one mail at most.
const ownersPerMail = 50

// notifyOwners mails a notice to the owners of an organization. It is one of the
// organization's messages, written with the change that it reports and
// delivered by the same job as any other.
func (a *App) notifyOwners(ctx context.Context, tx *db.Tx, org id.ID, n account.Notice) error {
	owners, err := account.OwnerEmails(ctx, tx, org)
	if err != nil {
		return err
	}
	owners = slices.DeleteFunc(owners, func(address string) bool { return !op.IsEmailAddress(address) })
	if len(owners) == 0 {
		a.Log.WarnContext(ctx, "no owner could be notified", "organization", org, "subject", n.Subject)
	}
	content, err := renderNotice(n.Subject, n.Text, a.Settings.BaseURL, "you are an owner of the organization")
	if err != nil {
		return err
	}
	for some := range slices.Chunk(owners, ownersPerMail) {
		cause := event.Event{Organization: org, At: a.Clock.Now()}.BySystem()
		if _, err := a.Messages.Post(ctx, tx, cause, message.Outgoing{To: some, Content: content}); err != nil {
			return err
		}
	}
	return nil
}

// notifyUser mails a notice to a user about their own account.
func (a *App) notifyUser(ctx context.Context, tx *db.Tx, org id.ID, email string, n account.Notice) error {
	if !op.IsEmailAddress(email) {
		a.Log.WarnContext(ctx, "a user could not be notified", "organization", org, "subject", n.Subject)
		return nil
	}
	content, err := renderNotice(n.Subject, n.Text, a.Settings.BaseURL, "it is about your account")
	if err != nil {
		return err
	}
	cause := event.Event{Organization: org, At: a.Clock.Now()}.BySystem()
	_, err = a.Messages.Post(ctx, tx, cause, message.Outgoing{To: []string{email}, Content: content, Closed: true})
	return err
}

// renderNotice is a notice as the content of a mail.
func renderNotice(subject string, text []string, console, because string) (*template.Rendered, error) {
	var b strings.Builder
	for _, p := range append([]string{"Hello,"}, text...) {
		b.WriteString("<p>" + html.EscapeString(p) + "</p>\n")
	}
	link := html.EscapeString(console)
	b.WriteString(`<p>The console is at <a href="` + link + `">` + link + "</a>. " +
		"You get this mail because " + because + ".</p>\n")
	out, err := template.CleanHTML(b.String())
	if err != nil {
		return nil, err
	}
	out.Subject = subject
	return out, nil
}

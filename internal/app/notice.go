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
	"frontdesk/internal/resource/notification"
	"frontdesk/internal/resource/template"
)

// ownersPerMail is how many owners are addressed in one mail at most.
const ownersPerMail = 50

// notifyOwners tells the owners of an organization what failed or will end: at the desk, and by mail unless they want
// none. The mail is one of the organization's messages, written with the change that it reports and delivered by the
// same job as any other. It does not wait for others, as those of notifications do.
func (a *App) notifyOwners(ctx context.Context, tx *db.Tx, about notification.News, n account.Notice) error {
	org := about.Cause.Organization
	about.Cause, about.Subject, about.Mailed = about.Cause.BySystem(), n.Subject, true
	if len(n.Text) > 0 {
		about.Text = n.Text[0]
	}
	owners, err := a.Notifications.TellOwners(ctx, tx, about)
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
	return a.mailUser(ctx, tx, org, email, n, "it is about your account")
}

// mailNotifications mails a member what they have not read at the desk.
func (a *App) mailNotifications(ctx context.Context, tx *db.Tx, org id.ID, email string, n account.Notice) error {
	return a.mailUser(ctx, tx, org, email, n, "you want notices by mail; Settings, Notices has the switches")
}

// mailUser mails a notice to one person, to which no answer is expected.
func (a *App) mailUser(ctx context.Context, tx *db.Tx, org id.ID, email string, n account.Notice,
	because string) error {
	if !op.IsEmailAddress(email) {
		a.Log.WarnContext(ctx, "a user could not be notified", "organization", org, "subject", n.Subject)
		return nil
	}
	content, err := renderNotice(n.Subject, n.Text, a.Settings.BaseURL, because)
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

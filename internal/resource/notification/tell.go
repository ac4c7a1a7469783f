package notification

import (
	"cmp"
	"context"
	"slices"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Lengths at which words are cut off.
const (
	maxSubject   = 200
	maxActorName = 100
	maxText      = 300
)

// News is something to tell people.
type News struct {
	Kind         Kind
	ResourceType string
	ResourceID   id.ID
	Subject      string
	Text         string // empty for none
	// Cause is the event, or at least the organization and who did it. Its id makes that each person is told once.
	Cause event.Event
	// ActorName is who did it, where that is no caller of ours; the name is looked up otherwise.
	ActorName string
	// Permission is the resource that one must be allowed to read; by default that of the kind.
	Permission string
	External   bool // outsiders wrote some of the words
	Mailed     bool // a mail of its own has been written
}

// TellOwners tells the owners of an organization, except for those who did it themselves. It returns the addresses of
// those who want a mail about it.
func (s *Service) TellOwners(ctx context.Context, tx *db.Tx, n News) ([]string, error) {
	members, err := account.ActiveMembers(ctx, tx, n.Cause.Organization)
	if err != nil {
		return nil, err
	}
	owners := slices.DeleteFunc(members, func(m account.Colleague) bool { return m.Role != "owner" })
	chosen, err := s.tell(ctx, tx, n, owners)
	var out []string
	for _, m := range slices.Backward(owners) { // the first owner first
		if chosen.wants(m.ID, n.Kind, Mail) {
			out = append(out, m.Email)
		}
	}
	return out, err
}

// tell writes the notification of each of these people who may read it and did not do it themselves, and has it sent
// by mail and push as they want it.
func (s *Service) tell(ctx context.Context, tx *db.Tx, n News, to []account.Colleague) (choices, error) {
	if n.Permission == "" {
		n.Permission = infoOf(n.Kind).permission
	}
	people := make([]id.ID, len(to))
	for i := range to {
		people[i] = to[i].ID
	}
	chosen, err := loadChoices(ctx, tx, n.Cause.Organization, people...)
	if err != nil || len(to) == 0 {
		return chosen, err
	}
	if n.ActorName == "" {
		if n.ActorName, err = account.ActorName(ctx, tx, n.Cause.Organization, n.Cause.ActorID); err != nil {
			return chosen, err
		}
	}
	if !n.External && tx.Author() == db.AuthorJob { // or every word that a job passes on would count as a stranger's
		tx.SetAuthor(db.AuthorOrganization)
		defer tx.SetAuthor(db.AuthorJob)
	}
	for _, m := range to {
		if isOwnDoing(n.Cause, m.ID) || !m.Allowed().Allow(n.Permission, op.ActionRead) {
			continue
		}
		if err := s.tellOne(ctx, tx, n, m.ID, chosen); err != nil {
			return chosen, err
		}
	}
	return chosen, nil
}

// isOwnDoing reports whether a person did what is told, or approved it.
func isOwnDoing(e event.Event, person id.ID) bool {
	did := e.ActorKind == string(op.UserActor) && e.ActorID != nil && *e.ActorID == person
	return did || e.ApprovedBy != nil && *e.ApprovedBy == person
}

func (s *Service) tellOne(ctx context.Context, tx *db.Tx, n News, person id.ID, chosen choices) error {
	// Events are passed on in any order. The time is that of the event, so that the list has theirs.
	now := s.cfg.Clock.Now()
	at := cmp.Or(n.Cause.At, now)
	row := &Notification{
		Record: op.Record{ID: id.New(), CreatedAt: at, UpdatedAt: now, OrganizationID: n.Cause.Organization,
			External: n.External},
		Kind:         n.Kind,
		ResourceType: n.ResourceType,
		ResourceID:   n.ResourceID,
		ActorKind:    n.Cause.ActorKind,
		ActorID:      n.Cause.ActorID,
		ActorName:    textOrNil(cut.Ellipsis(n.ActorName, maxActorName)),
		Subject:      cut.Ellipsis(n.Subject, maxSubject),
		Text:         textOrNil(cut.Ellipsis(n.Text, maxText)),
		UserID:       person,
		Permission:   n.Permission,
		EventID:      op.IDOrNil(n.Cause.ID),
		InDesk:       infoOf(n.Kind).Problem || chosen.wants(person, n.Kind, Desk),
		MailDue:      !n.Mailed && chosen.wants(person, n.Kind, Mail),
	}
	pushes := chosen.wants(person, n.Kind, Push)
	if !row.InDesk && !row.MailDue && !pushes {
		return nil
	}
	fresh, err := notifications.TryInsert(ctx, tx, row)
	if err != nil || !fresh {
		return err // told before
	}
	if row.MailDue {
		if err := s.enqueueMail(ctx, tx, row); err != nil {
			return err
		}
	}
	if !pushes {
		return nil
	}
	return s.enqueuePushes(ctx, tx, row)
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

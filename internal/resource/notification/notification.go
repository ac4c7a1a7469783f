// Package notification tells people what concerns them: that somebody named them in a note or gave them work, that an
// agent asks, that money came or something failed. A notification belongs to one person; nobody else sees it, and it
// is not in the event log, which it is made from.
//
// Start reading at Notification. follow.go hears events and decides whom to tell, mention.go finds names in texts,
// tell.go writes a notification at most once per event and person. From there it goes three ways: the desk lists the
// rows, mail.go sends what is unread together, push.go and webpush.go send it to browsers. choice.go keeps what each
// person wants; kind.go has the kinds and their words.
//
// Nobody is told of what they did themselves or may not read. That is asked when a notification is made, again before
// it leaves by mail or push, and again when it is listed.
package notification

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/outbound"
)

// Notification is something that a person is told.
type Notification struct {
	op.Record
	Kind         Kind        `json:"kind" enum:"mentioned,assigned,answered,proposal,invoice_paid,payment_failed,mail_failed,backup_failed,domain,webhook"`
	ResourceType string      `json:"resourceType" doc:"what it is about, for example thread"`
	ResourceID   id.ID       `json:"resourceId"`
	ActorKind    string      `json:"actorKind" enum:"user,agent,api,automation,system" doc:"who did it"`
	ActorID      *id.ID      `json:"actorId"`
	ActorName    *string     `json:"actorName" max:"1000"`
	Subject      string      `json:"subject" max:"1000" doc:"the name of what it is about, or what failed"`
	Text         *string     `json:"text" max:"2000" doc:"what was written, or why it failed"`
	ReadAt       *clock.Time `json:"readAt" doc:"null while it is unread"`

	UserID     id.ID  `json:"-" db:"user_id"`
	Permission string `json:"-" db:"permission"` // the resource that its reader must be allowed to read
	EventID    *id.ID `json:"-" db:"event_id"`
	InDesk     bool   `json:"-" db:"in_desk"`  // false if the person wants only mail or push
	MailDue    bool   `json:"-" db:"mail_due"` // the next mail tells it, unless it is read before
	Seq        int64  `json:"-" db:"seq"`
}

var notifications = db.NewTable[Notification]("notifications", db.Life{
	Noun:         "notification",
	ExternalText: []string{"actor_name", "subject", "text"},
	Refs: []db.Ref{
		db.RefTo("user_id", "users", db.Keeps),
		db.RefTo("resource_id", "", db.Keeps),
		db.RefTo("actor_id", "", db.Keeps),
		db.RefTo("event_id", "", db.Keeps),
	},
	Expire:     db.Expiry{After: func(r config.Retention) time.Duration { return r.Events }},
	Erase:      life.WholeRow.AlsoFind(findAboutPerson),
	Unexported: []string{"in_desk", "mail_due"},
})

// findAboutPerson finds the notifications about rows of a person, and those whose words name an address of theirs.
func findAboutPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	err := e.ScanAny(ctx, tx, "notifications", "organization_id = $1 AND resource_id = ANY($2)", e.TracedIDs())
	if err != nil {
		return err
	}
	return e.ScanEach(ctx, tx, "notifications", "organization_id = $1 AND ("+tx.ContainsSQL("actor_name")+" OR "+
		tx.ContainsSQL("subject")+" OR "+tx.ContainsSQL("text")+")", append(e.PersonIDs(), e.Addresses...))
}

// MailFunc writes a mail to a member, in the transaction of the caller.
type MailFunc func(ctx context.Context, tx *db.Tx, org id.ID, email string, n account.Notice) error

// Config is what notifications need. All fields but Insecure are required.
type Config struct {
	DB       *db.DB
	Clock    *clock.Clock
	Log      *slog.Logger
	Jobs     *job.Queue
	Events   *event.Log
	Seal     op.Sealer
	Mail     MailFunc
	PushKey  func(purpose string) []byte // a secret of the server from which the key for Web Push is derived
	BaseURL  string
	Insecure bool // allows push services on this machine, and over http
}

// Service tells people what happens.
type Service struct {
	cfg    Config
	client *outbound.Client
}

// New panics when a required field is missing. Nobody is told anything before Handle.
func New(c Config) *Service {
	config.RequireFields(c, "DB", "Clock", "Log", "Jobs", "Events", "Seal", "Mail", "PushKey", "BaseURL")
	return &Service{cfg: c, client: outbound.New(outbound.Options{
		Timeout:       pushTimeout,
		MaxBytes:      4 << 10,
		TruncateBody:  true,
		MaxConcurrent: 2 * pushWorkers,
		AllowInsecure: c.Insecure,
	})}
}

// Handle declares the jobs and starts listening for events.
func (s *Service) Handle() {
	s.cfg.Events.OnAll(concernsPeople, s.hear)
	job.HandleTx(s.cfg.Jobs, mailJob, s.mailUnread, job.ForgetWhenDone())
	job.HandleFlow(s.cfg.Jobs, pushJob, s.push, job.ForgetWhenDone(), job.InLane("push", pushWorkers),
		job.RunTimeout(2*pushTimeout), job.Attempts(pushAttempts))
}

// Operations lists what can be done with notifications.
func (s *Service) Operations() []*op.Op {
	own := func(status int, name, summary, example string, events ...string) op.Spec {
		return op.Spec{Name: name, Status: status, Summary: summary, Resource: op.Unrestricted, Doors: op.ConsoleDoor,
			Example: example, Events: events}
	}
	return []*op.Op{
		op.Read(op.Spec{
			Name:        "notifications.list",
			NounWords:   "notice, news, alert, bell",
			Words:       "what new, new for me, missed",
			Route:       "GET /v1/notifications",
			Resource:    op.Unrestricted,
			Summary:     "List your notifications, newest first.",
			Description: "A key or an agent reads those of its maker, and of these what it may read itself.",
			Example:     `{"unread": true, "limit": 20}`,
		}, listNotifications),
		op.Write(op.Spec{
			Name:        "notifications.read",
			Route:       "POST /v1/notifications/read",
			Resource:    op.Unrestricted,
			Status:      http.StatusOK,
			Doors:       op.RESTDoor | op.ConsoleDoor, // what a person has read is not for agents to say
			Summary:     "Mark notifications as read.",
			Description: "Without ids, all of them.",
			Example:     `{}`,
		}, readNotifications),
		op.Read(own(http.StatusOK, "notifications.count", "Count what you have not read, by kind.", `{}`), countUnread),
		op.Read(own(http.StatusOK, "notifications.get", "Get one of your notifications.",
			`{"id": "2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a64"}`), getNotification),
		op.Read(own(http.StatusOK, "notifications.choices", "Show what you are told, and how.", `{}`), s.getChoices),
		op.Write(own(http.StatusNoContent, "notifications.choose", "Choose what you are told, and how.",
			`{"choices": [{"kind": "assigned", "channel": "mail", "wanted": true}]}`, choicesEvent), choose),
		op.Write(own(http.StatusOK, "notifications.subscribe", "Send push messages to this browser.",
			`{"endpoint": "https://push.example/8f3a", "key": "BA", "auth": "c2VjcmV0", "label": "Firefox"}`,
			subscribedEvent), s.subscribe),
		op.Write(own(http.StatusNoContent, "notifications.unsubscribe", "Send no more push messages to a browser.",
			`{"id": "2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a64"}`, unsubscribedEvent), unsubscribe),
		op.Write(own(http.StatusOK, "notifications.test", "Send yourself a test.", `{}`), s.tellTest),
	}
}

// What a person changes of their own account is on record. That they read something is not.
const (
	choicesEvent      = "user.notices_changed"
	subscribedEvent   = "user.push_added"
	unsubscribedEvent = "user.push_removed"
)

type notificationList struct {
	op.CursorPage
	Unread bool   `query:"unread" default:"false" doc:"only those that are not read yet"`
	Kind   []Kind `query:"kind" max:"10" enum:"mentioned,assigned,answered,proposal,invoice_paid,payment_failed,mail_failed,backup_failed,domain,webhook" doc:"only of these kinds"`
}

func listNotifications(ctx context.Context, c *op.Call, in notificationList) (*op.List[Notification], error) {
	w := shownTo(c)
	if in.Unread {
		w.And("read_at IS NULL")
	}
	if len(in.Kind) > 0 {
		w.And("kind = ANY(?)", in.Kind)
	}
	return op.BrowseRows(ctx, c, notifications, op.ListQuery{Browse: op.Browse{CursorPage: in.CursorPage},
		SortBy: "createdAt"}, w)
}

// shownTo is the notifications of the person whom the caller acts for, as far as the caller may read what they are
// about.
func shownTo(c *op.Call) *db.Where {
	return db.InOrganization(c.Org).And("user_id = ?", c.Caller.UserIDOrNil()).And("in_desk").
		And("permission = ANY(?)", readableBy(c.Caller))
}

// readableBy lists the resources that a caller may read. What needs no permission is told to the person alone, not to
// an agent that acts for them.
func readableBy(c *op.Caller) []string {
	out := readable(c.Permissions)
	if c.Kind == op.AgentActor {
		out = out[1:]
	}
	return out
}

// readable lists the resources that a person with these permissions may read, what needs none before the others.
func readable(p op.Permissions) []string {
	out := []string{op.Unrestricted}
	for _, r := range op.Resources() {
		if p.Allow(r, op.ActionRead) {
			out = append(out, r)
		}
	}
	return out
}

type notificationRef struct {
	ID id.ID `json:"id" ref:"-"`
}

func getNotification(ctx context.Context, c *op.Call, in notificationRef) (*Notification, error) {
	return notifications.Find(ctx, c.Tx, shownTo(c).And("id = ?", in.ID))
}

type readInput struct {
	IDs *[]id.ID `json:"ids" ref:"-" max:"1000" doc:"others than your own are ignored"`
}

// Unread is how many notifications are not read yet.
type Unread struct {
	Unread int          `json:"unread"`
	ByKind map[Kind]int `json:"byKind" doc:"kinds without any are left out"`

	op.NoExternalText
}

func readNotifications(ctx context.Context, c *op.Call, in readInput) (*Unread, error) {
	text := `
		UPDATE notifications SET read_at = $3, updated_at = $3
		WHERE organization_id = $1 AND user_id = $2 AND read_at IS NULL AND permission = ANY($4)`
	args := []any{c.Org, c.Caller.UserIDOrNil(), c.Now, readableBy(c.Caller)}
	if in.IDs != nil {
		text, args = text+" AND id = ANY($5)", append(args, *in.IDs)
	}
	if _, err := db.Exec(ctx, c.Tx, text, args...); err != nil {
		return nil, err
	}
	return countUnread(ctx, c, struct{}{})
}

func countUnread(ctx context.Context, c *op.Call, _ struct{}) (*Unread, error) {
	return CountUnread(ctx, c.Tx, c.Caller)
}

// CountUnread counts what the person whom a caller acts for has not read yet.
func CountUnread(ctx context.Context, tx *db.Tx, c *op.Caller) (*Unread, error) {
	type row struct {
		Kind Kind `db:"kind"`
		N    int  `db:"n"`
	}
	rows, err := db.QueryAll[row](ctx, tx, `
		SELECT kind, count(*) AS n FROM notifications
		WHERE organization_id = $1 AND user_id = $2 AND read_at IS NULL AND in_desk AND deleted_at IS NULL
			AND permission = ANY($3)
		GROUP BY kind`, c.Organization, c.UserIDOrNil(), readableBy(c))
	out := &Unread{ByKind: map[Kind]int{}}
	for _, r := range rows {
		out.ByKind[r.Kind] = r.N
		out.Unread += r.N
	}
	return out, err
}

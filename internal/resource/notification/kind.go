package notification

import (
	"frontdesk/internal/account"
	"frontdesk/internal/kernel/op"
)

// Kind is what a notification is about. People choose by kind what they are told, and how.
type Kind string

// The kinds.
const (
	Mentioned     Kind = "mentioned"      // somebody wrote @Name of the person
	Assigned      Kind = "assigned"       // a thread or a task is theirs now
	Answered      Kind = "answered"       // mail came in for a thread that is theirs
	Proposed      Kind = "proposal"       // a proposal waits for a decision
	InvoicePaid   Kind = "invoice_paid"   // all of an invoice was paid
	PaymentFailed Kind = "payment_failed" // the organization's card was refused
	MailFailed    Kind = "mail_failed"    // a mail was not sent, or came back
	BackupFailed  Kind = "backup_failed"  // the server could not send its backup away
	DomainAtRisk  Kind = "domain"         // a domain ends soon, or is no longer verified
	WebhookDead   Kind = "webhook"        // a webhook was switched off
)

// Group is a heading under which kinds are shown together.
type Group string

// The groups.
const (
	ForYou    Group = "For you"
	ToDecide  Group = "To decide"
	AboutIn   Group = "Money"
	OfService Group = "The house"
)

// Channel is a way in which somebody is told.
type Channel string

// The channels.
const (
	Desk Channel = "desk"
	Mail Channel = "mail"
	Push Channel = "push"
)

// Channels are all channels, in the order in which they are shown.
var Channels = []Channel{Desk, Mail, Push}

// KindInfo describes a kind for people, and says how it is told to those who chose nothing.
type KindInfo struct {
	Kind  Kind
	Group Group
	Label string // "Somebody names you"
	Hint  string // "in a note or a comment"
	// Problem is something that nobody would know otherwise: the desk always tells it.
	Problem    bool
	Mail, Push bool // whether it is told so by default

	permission string // the resource that a person must be allowed to read
}

// Kinds are all kinds, in the order in which they are shown.
var Kinds = []KindInfo{
	{Kind: Mentioned, Group: ForYou, Label: "Somebody names you", Hint: "in a note or a comment", Mail: true,
		Push: true},
	{Kind: Assigned, Group: ForYou, Label: "Something is given to you", Hint: "a conversation, a task", Push: true},
	{Kind: Answered, Group: ForYou, Label: "A customer answers", Hint: "in a conversation that is yours",
		permission: "messages"},
	{Kind: Proposed, Group: ToDecide, Label: "An agent asks", Hint: "a proposal, at once", Push: true,
		permission: account.Proposals},
	{Kind: InvoicePaid, Group: AboutIn, Label: "An invoice is paid", permission: "invoices"},
	{Kind: PaymentFailed, Group: AboutIn, Label: "A payment failed", Hint: "your card was refused, or an order failed",
		Problem: true, Mail: true, Push: true, permission: "domains"},
	{Kind: MailFailed, Group: OfService, Label: "A mail could not be delivered", Problem: true, Push: true,
		permission: "messages"},
	{Kind: BackupFailed, Group: OfService, Label: "A backup failed", Problem: true, Mail: true, Push: true,
		permission: op.Unrestricted},
	{Kind: DomainAtRisk, Group: OfService, Label: "A domain is about to end, or mail would stop",
		Hint: "30, 7 and 1 days before", Problem: true, Mail: true, permission: "domains"},
	{Kind: WebhookDead, Group: OfService, Label: "A webhook was switched off", Hint: "nothing could be delivered to it",
		Problem: true, Mail: true, permission: "webhooks"},
}

func infoOf(k Kind) *KindInfo {
	for i := range Kinds {
		if Kinds[i].Kind == k {
			return &Kinds[i]
		}
	}
	panic("notification: there is no kind " + string(k))
}

// byDefault reports whether somebody who chose nothing is told so.
func (k *KindInfo) byDefault(c Channel) bool {
	switch c {
	case Mail:
		return k.Mail
	case Push:
		return k.Push
	}
	return true
}

// Words are a notification as a sentence. Who and What stand out in it.
type Words struct{ Who, Verb, What, After string }

func (w Words) String() string {
	out := w.Who
	for _, s := range []string{w.Verb, w.What} {
		if out != "" && s != "" {
			out += " "
		}
		out += s
	}
	return out + w.After
}

// Words say what happened.
func (n *Notification) Words() Words {
	who := n.actorWord()
	switch n.Kind {
	case Mentioned:
		return Words{Who: who, Verb: "named you in", What: n.Subject}
	case Assigned:
		return Words{Who: who, Verb: "gave you", What: n.Subject}
	case Answered:
		return Words{Who: who, Verb: "answered in", What: n.Subject}
	case Proposed:
		return Words{Who: who, Verb: "asks:", What: n.Subject}
	case InvoicePaid:
		return Words{What: n.Subject, After: " is paid"}
	case MailFailed:
		return Words{Verb: "A mail could not be delivered:", What: n.Subject}
	case WebhookDead:
		return Words{Verb: "A webhook was switched off:", What: n.Subject}
	}
	return Words{What: n.Subject} // a problem, which is a sentence already
}

// actorWord is who did it.
func (n *Notification) actorWord() string {
	if n.ActorName != nil && *n.ActorName != "" {
		return *n.ActorName
	}
	switch op.ActorKind(n.ActorKind) {
	case op.UserActor:
		return "A former member"
	case op.AgentActor:
		return "An agent"
	case op.APIActor:
		return "An API key"
	case op.AutomationActor:
		return "An automation"
	}
	return "Frontdesk"
}

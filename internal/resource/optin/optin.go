// Package optin holds who agreed to marketing mail and who wants none: one row
// per address and organization.
//
// Start reading at EmailOptIn in this file, with the operations by which an
// organization records consent. links.go creates the signed link that every
// marketing mail carries, and unsubscribe.go is what following the link does.
// erase.go finds the rows of a person who is to be erased.
//
// An address without a row has not agreed. Whoever sends marketing mail asks
// NotOptedIn first, both when the mail is written and when it is sent. A link
// must work without signing in, and may end mail to one address only.
package optin

import (
	"context"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Status is what the holder of an address said about marketing mail.
type Status string

const (
	pending  Status = "pending"
	optedIn  Status = "opted_in"
	optedOut Status = "opted_out"
)

// Fields are what callers set of an opt-in.
type Fields struct {
	Email     string  `json:"email" format:"email"`
	ContactID *id.ID  `json:"contactId" ref:"contacts"`
	Status    Status  `json:"status" default:"pending" enum:"pending,opted_in,opted_out"`
	Source    *string `json:"source" doc:"where the consent came from"`
}

// EmailOptIn says whether one address wants marketing mail.
type EmailOptIn struct {
	op.Record
	Fields
	Folded     string      `json:"-" db:"email_folded"`
	OptedInAt  *clock.Time `json:"optedInAt" doc:"the last opt-in; kept when the address opts out"`
	OptedOutAt *clock.Time `json:"optedOutAt" doc:"null unless opted_out"`
	LinkID     id.ID       `json:"-" db:"link_id"`

	Seq    int64  `json:"-" db:"seq"`
	Search string `json:"-" db:"search"`
}

var optIns = db.NewTable[EmailOptIn]("email_opt_ins", db.Life{
	Noun:         "email opt-in",
	ExternalText: db.NoExternalText,
	Refs: []db.Ref{
		db.RefTo("contact_id", "contacts"),
		db.RefTo("link_id", "", db.Keeps),
	},
	Erase:      life.WholeRow.AlsoFind(findOptInsOfPerson), // an address without a row gets no marketing mail
	Unexported: []string{"link_id"},
})

// Exists refuses a second row for the same address.
var Exists = fault.DefineKind("EMAIL_OPT_IN_EXISTS", 409, "This address already has an opt-in. Change that one.")

// Operations lists everything that can be done with opt-ins.
func (l *Links) Operations() []*op.Op {
	const ref = `"id": "0c7a9d84-3e51-4f6b-a2d8-5b1e7f90c4a3"`
	return append(op.WithExport(op.WithBatch([]*op.Op{
		op.ListRows(op.Spec{
			Name: "email_opt_ins.list",
			NounWords: "newsletter, marketing, subscribe, subscription, subscriber, consent, agree, advertising, " +
				"opt-in, mailing list, promotion",
			Words:   "allow, who agreed, who may",
			Example: `{"status": ["opted_in"], "limit": 20}`,
		}, optIns, filterOptIns),
		op.Write(op.Spec{
			Name:    "email_opt_ins.create",
			Words:   "sign up, signed up, subscribe",
			Route:   "POST /v1/email-opt-ins",
			Summary: "Record whether an address wants marketing mail.",
			Description: "For an import, optedInAt and optedOutAt say when it happened; otherwise it is now. " +
				"Addresses are compared ignoring case.",
			Errors:          []*fault.Kind{Exists},
			Events:          []string{"email_opt_in.created"},
			Example:         `{"email": "ada@example.com", "status": "opted_in", "source": "Web shop"}`,
			FieldExceptions: []string{"optedInAt", "optedOutAt"}, // afterwards a change of status sets them
		}, l.createOptIn),
		op.GetRow(op.Spec{Name: "email_opt_ins.get"}, optIns),
		op.Write(op.Spec{
			Name:        "email_opt_ins.update",
			Words:       "unsubscribe, not want, opt-out, no more, stop newsletter",
			Route:       "PATCH /v1/email-opt-ins/{id}",
			Summary:     "Change an email opt-in.",
			Description: "A new status sets optedInAt or optedOutAt to now.",
			Errors:      []*fault.Kind{Exists},
			Events:      []string{"email_opt_in.updated"},
			Example:     `{` + ref + `, "status": "opted_out"}`,
		}, l.updateOptIn),
		op.DeleteRow(op.Spec{
			Name:    "email_opt_ins.delete",
			Words:   "unsubscribe",
			Summary: "Delete an email opt-in; the address no longer gets marketing mail.",
		}, optIns),
		op.RestoreRow("email-opt-ins", "email_opt_ins", optIns, nil),
	})), l.unsubscribeOperations()...)
}

type optInList struct {
	op.Browse
	SortBy    string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,email"`
	Status    []Status `query:"status" enum:"pending,opted_in,opted_out"`
	Email     *string  `query:"email" doc:"the exact address, ignoring case"`
	ContactID *id.ID   `query:"contactId"`
	Query     *string  `query:"query" max:"200" doc:"part of an address or a source; 1-2 letters match word starts"`
}

func filterOptIns(in *optInList, w *db.Where) {
	if in.Email != nil {
		folded := db.FoldText(*in.Email)
		db.FilterEqual(w, "email_folded", &folded)
	}
	db.FilterEqual(w, "contact_id", in.ContactID)
	db.FilterOneOf(w, "status", in.Status)
}

type optInCreate struct {
	Fields
	OptedInAt  *clock.Time `json:"optedInAt" doc:"when it opted in; by default now, for opted_in"`
	OptedOutAt *clock.Time `json:"optedOutAt" doc:"when it opted out; by default now, for opted_out"`
}

// Prepare refuses times that do not fit the status or are in the future.
func (in *optInCreate) Prepare(_ context.Context, c *op.Call) error {
	var tree *fault.Tree
	for _, f := range []struct {
		name string
		at   *clock.Time
		fits bool
		only string
	}{{"optedInAt", in.OptedInAt, in.Status != pending, "opted_in or opted_out"},
		{"optedOutAt", in.OptedOutAt, in.Status == optedOut, "opted_out"}} {
		switch {
		case f.at == nil:
		case !f.fits:
			tree = tree.At([]any{f.name}, "Only with the status "+f.only)
		case *f.at > c.Now:
			tree = tree.At([]any{f.name}, "Must not be in the future")
		}
	}
	return tree.Fault(fault.Invalid)
}

func (l *Links) createOptIn(ctx context.Context, c *op.Call, in optInCreate) (*EmailOptIn, error) {
	// updateOptIn checks with a SELECT whether an address is free, since an UPDATE has no ON CONFLICT. The lock keeps
	// the address from being taken between its check and its UPDATE.
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	v := &EmailOptIn{Record: c.NewRecord(), Fields: in.Fields, Folded: db.FoldText(in.Email)}
	v.setStatus(in.Status, c.Now)
	if in.OptedInAt != nil {
		v.OptedInAt = in.OptedInAt
	}
	if in.OptedOutAt != nil {
		v.OptedOutAt = in.OptedOutAt
	}
	if err := op.LockReferences(ctx, c, v.contactRef()); err != nil {
		return nil, err
	}
	if err := l.assignLinkID(ctx, c, v); err != nil {
		return nil, err
	}
	v.Search = v.searchWords()
	free, err := optIns.TryInsert(ctx, c.Tx, v)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, Exists.New()
	}
	return v, c.Emit("email_opt_in.created", v.ID, v)
}

// setStatus sets the status and when it was reached. Opting in again, or pending,
// clears the earlier times: the event log has the history.
func (v *EmailOptIn) setStatus(status Status, now clock.Time) {
	v.Status = status
	switch status {
	case pending:
		v.OptedInAt, v.OptedOutAt = nil, nil
	case optedIn:
		v.OptedInAt, v.OptedOutAt = &now, nil
	case optedOut:
		v.OptedOutAt = &now
	}
}

func (v *EmailOptIn) contactRef() op.FieldRef {
	return op.FieldRef{Field: "contactId", Table: "contacts", ID: v.ContactID}
}

// searchWords are the text that a search finds an opt-in by.
func (v *EmailOptIn) searchWords() string { return db.SearchText(&v.Email, v.Source) }

type optInUpdate struct {
	ID id.ID `path:"id" doc:"the email opt-in"`
	op.Changes[Fields]
}

// updateOptIn changes a row. A new address gets the link of that address, and its
// consent starts over unless the caller says otherwise.
func (l *Links) updateOptIn(ctx context.Context, c *op.Call, in optInUpdate) (*EmailOptIn, error) {
	if in.Has("email") {
		if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
			return nil, err
		}
	}
	v, err := optIns.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	before := *v
	if !op.Apply(v, &in) {
		return v, nil
	}
	contact := v.contactRef()
	contact.Stored = before.ContactID
	if err := op.LockReferences(ctx, c, contact); err != nil {
		return nil, err
	}
	if v.Folded = db.FoldText(v.Email); v.Folded != before.Folded {
		taken, err := db.QueryAll[id.ID](ctx, c.Tx, `
			SELECT id
			FROM email_opt_ins
			WHERE organization_id = $1 AND email_folded = $2 AND deleted_at IS NULL`, c.Org, v.Folded)
		if err != nil {
			return nil, err
		}
		if len(taken) > 0 {
			return nil, Exists.New()
		}
		if err := l.assignLinkID(ctx, c, v); err != nil {
			return nil, err
		}
		if !in.Has("status") { // nobody at the new address has agreed to anything
			v.Status = pending
		}
	}
	if v.Status != before.Status {
		v.setStatus(v.Status, c.Now)
	}
	return v, v.saveAndEmit(ctx, c)
}

// saveAndEmit writes a changed row and emits its event.
func (v *EmailOptIn) saveAndEmit(ctx context.Context, c *op.Call) error {
	v.UpdatedAt = c.Now
	v.Search = v.searchWords()
	if err := optIns.Save(ctx, c.Tx, v); err != nil {
		return err
	}
	return c.Emit("email_opt_in.updated", v.ID, v)
}

// NotOptedIn lists the addresses, as given, that marketing mail must not go to:
// all that are not opted in.
func NotOptedIn(ctx context.Context, tx *db.Tx, org id.ID, addresses []string) ([]string, error) {
	folded := make([]string, len(addresses))
	for i, a := range addresses {
		folded[i] = db.FoldText(a)
	}
	rows, err := db.QueryAll[string](ctx, tx, `
		SELECT email_folded
		FROM email_opt_ins
		WHERE organization_id = $1 AND email_folded = ANY($2) AND status = 'opted_in' AND deleted_at IS NULL`, org,
		folded)
	if err != nil {
		return nil, err
	}
	agreed := map[string]bool{}
	for _, r := range rows {
		agreed[r] = true
	}
	var refused []string
	for i, f := range folded {
		if !agreed[f] {
			refused = append(refused, addresses[i])
		}
	}
	return refused, nil
}

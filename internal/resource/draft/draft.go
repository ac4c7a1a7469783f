// Package draft keeps what people have typed into a form of the desk and not sent yet,
// so that leaving the page, a crash or the end of a session loses nothing, and another
// device has it too. A draft belongs to one person and one place, the address that the
// form is sent to; nobody else sees it, and it is not in the event log. It goes when
// the form is sent, when the person discards it, and with age.
package draft

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/life"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
)

var _ = db.Declare("drafts", db.Life{
	Refs:       []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
	Permanent:  true,
	Expire:     db.Expiry{After: func(r config.Retention) time.Duration { return r.Deleted }},
	Erase:      life.WholeRow.AlsoFind(findDraftsAboutPerson),
	Unexported: []string{"created_at", "fields", "place", "saved_at", "user_id"},
})

// mostDrafts is how many a person has; a further one replaces the oldest.
const mostDrafts = 100

// mostText is how long a draft may be that was typed in two places.
const mostText = 520_000

// Draft is what was typed.
type Draft struct {
	Place   string     `json:"place" max:"500"`
	Fields  string     `json:"fields" max:"260000" doc:"by name, as a form encodes them"`
	SavedAt clock.Time `json:"savedAt"`
}

// Operations are those of drafts. They are the desk's alone: a program has nothing to
// type.
func Operations() []*op.Op {
	spec := func(status int, name, summary, example string) op.Spec {
		return op.Spec{Name: name, Status: status, Summary: summary, Resource: op.Unrestricted, Doors: op.ConsoleDoor,
			Example: example}
	}
	return []*op.Op{
		op.Write(spec(http.StatusOK, "drafts.save", "Keep what you have typed into a form.",
			`{"place": "/contacts/new", "fields": "firstName=Ada", "version": "a1"}`), saveDraft),
		op.Read(spec(http.StatusOK, "drafts.get", "Read what you typed into a form.", `{"place": "/contacts/new"}`),
			getDraft),
		op.Read(spec(http.StatusOK, "drafts.places", "List the forms that you have begun.", `{}`), listPlaces),
		op.Write(spec(http.StatusNoContent, "drafts.discard", "Forget what you typed into a form.",
			`{"place": "/contacts/new"}`), discardDraft),
	}
}

type place struct {
	Place string `json:"place" min:"1" max:"500" doc:"the address that the form is sent to"`
}

type draftInput struct {
	place
	Fields  string   `json:"fields" max:"260000" doc:"by name, as a form encodes them"`
	Added   string   `json:"added,omitzero" max:"260000" doc:"typed before the form had its draft back"`
	Version string   `json:"version" max:"40" doc:"names this state of the form"`
	Texts   []string `json:"texts,omitzero" max:"1000" doc:"the fields that hold text"`
	From    []string `json:"from,omitzero" max:"100" doc:"the versions that this one goes on from"`
}

// saveDraft keeps a draft in place of the one before. If that is not one that the form goes on from, another tab or
// device has typed into the same form meanwhile: then nothing of either is lost.
func saveDraft(ctx context.Context, c *op.Call, in draftInput) (*Draft, error) {
	before, err := db.QueryOne[string](ctx, c.Tx, `
		INSERT INTO drafts (organization_id, created_at, user_id, place, fields, saved_at)
		VALUES ($1, $2, $3, $4, '', $2)
		ON CONFLICT (organization_id, user_id, place) DO UPDATE
		SET saved_at = excluded.saved_at, created_at = excluded.created_at
		RETURNING fields`,
		c.Org, c.Now, c.Caller.User, in.Place)
	if err != nil {
		return nil, err
	}
	fields, err := in.goOnFrom(before)
	if err != nil {
		return nil, err
	}
	d := &Draft{Place: in.Place, Fields: fields, SavedAt: c.Now}
	if _, err := db.Exec(ctx, c.Tx,
		"UPDATE drafts SET fields = $4 WHERE organization_id = $1 AND user_id = $2 AND place = $3",
		c.Org, c.Caller.User, in.Place, fields); err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, c.Tx, `
		DELETE FROM drafts WHERE organization_id = $1 AND user_id = $2 AND seq NOT IN
			(SELECT seq FROM drafts WHERE organization_id = $1 AND user_id = $2
			ORDER BY saved_at DESC, seq DESC LIMIT $3)`,
		c.Org, c.Caller.User, mostDrafts)
	return d, err
}

func getDraft(ctx context.Context, c *op.Call, in place) (*Draft, error) {
	d, err := db.QueryOne[Draft](ctx, c.Tx,
		"SELECT place, fields, saved_at FROM drafts WHERE organization_id = $1 AND user_id = $2 AND place = $3",
		c.Org, c.Caller.User, in.Place)
	if errors.Is(err, db.ErrNoRow) {
		return nil, fault.NotFound.New()
	}
	return &d, err
}

// Places are the forms that somebody has begun, the last one first.
type Places struct {
	Places []string `json:"places"`
}

func listPlaces(ctx context.Context, c *op.Call, _ struct{}) (*Places, error) {
	rows, err := db.QueryAll[string](ctx, c.Tx, `
		SELECT place FROM drafts WHERE organization_id = $1 AND user_id = $2 ORDER BY saved_at DESC, seq DESC LIMIT $3`,
		c.Org, c.Caller.User, mostDrafts)
	return &Places{rows}, err
}

func discardDraft(ctx context.Context, c *op.Call, in place) (op.Nothing, error) {
	_, err := db.Exec(ctx, c.Tx, "DELETE FROM drafts WHERE organization_id = $1 AND user_id = $2 AND place = $3",
		c.Org, c.Caller.User, in.Place)
	return op.Nothing{}, err
}

// findDraftsAboutPerson finds the drafts that name the person, or are of a form on one
// of their pages.
func findDraftsAboutPerson(ctx context.Context, tx *db.Tx, e *life.Erasure) error {
	values := append(e.PersonIDs(), e.Addresses...)
	for _, address := range e.Addresses { // as a form encodes it
		values = append(values, url.QueryEscape(address))
	}
	return e.ScanEach(ctx, tx, "drafts", "organization_id = $1 AND ("+tx.ContainsSQL("place")+" OR "+
		tx.ContainsSQL("fields")+")", values)
}

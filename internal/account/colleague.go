package account

import (
	"context"
	"slices"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// Colleague is a member as callers see one who assign tasks. It has less than Member:
// no dates and no status.
type Colleague struct {
	ID    id.ID  `json:"id" doc:"the user"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Role  string `json:"role" enum:"owner,admin,member"`
	Rights

	op.NoExternalText
}

// Allowed is what the member may do.
func (v *Colleague) Allowed() op.Permissions { return v.permissionsForRole(v.Role) }

const colleagueQuery = `
	SELECT u.id, u.name, u.email, m.role, ` + RightsColumns + `
	FROM memberships m JOIN users u ON u.id = m.user_id
	WHERE m.organization_id = $1 AND m.deleted_at IS NULL AND u.status = 'active'`

// ActiveMembers lists the members of an organization who can act, the newest first.
func ActiveMembers(ctx context.Context, tx *db.Tx, org id.ID) ([]Colleague, error) {
	return db.QueryAll[Colleague](ctx, tx, colleagueQuery+" ORDER BY m.created_at DESC, m.seq DESC LIMIT $2", org,
		maxColleagues)
}

// FindActiveMember finds a member who can act; nil if there is none.
func FindActiveMember(ctx context.Context, tx *db.Tx, org, user id.ID) (*Colleague, error) {
	rows, err := db.QueryAll[Colleague](ctx, tx, colleagueQuery+" AND u.id = $2", org, user)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

func colleagueFromMember(m *Member) *Colleague {
	return &Colleague{ID: m.ID, Name: m.Name, Email: m.Email, Role: m.Role, Rights: m.Rights}
}

func (a *Accounts) colleagueOperations() []*op.Op {
	return []*op.Op{
		op.Read(op.Spec{
			Name:        "members.list",
			NounWords:   "staff, team, colleague, employee, coworker, user, worker",
			Words:       "who works, works here",
			Route:       "GET /v1/members",
			Summary:     "List the members of the organization, to find whom to assign a task to.",
			Description: "The newest come first. Disabled users are left out, as they cannot be assigned.",
			Resource:    "tasks",
			Example:     `{"query": "ada"}`,
		}, listColleagues),
		WriteByManager(op.Spec{
			Name:    "members.update",
			Route:   "PATCH /v1/members/{id}",
			Summary: "Set what a member may do: spend, decide what agents propose, and the permissions.",
			Description: "For owners and admins, and for API keys with the permission * that one of them made. " +
				"Owners and admins always may do everything, so nothing can be set for them.",
			Resource: op.Account,
			Doors:    op.RESTDoor | op.ConsoleDoor | op.AdminDoor,
			Events:   []string{"user.rights_changed"},
			Example:  `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "maySpend": true}`,
		}, a.updateMember),
	}
}

type colleagueList struct {
	op.Page
	Query *string `query:"query" max:"200" doc:"parts of a name or an email, in any order"`
}

// maxColleagues bounds how many members one call looks through.
const maxColleagues = 10_000

// listColleagues reads all members and filters them here: there are few, and no index
// ignores case and accents as db.SearchText does.
func listColleagues(ctx context.Context, c *op.Call, in colleagueList) (*op.List[Colleague], error) {
	rows, err := ActiveMembers(ctx, c.Tx, c.Org)
	if err != nil {
		return nil, err
	}
	if in.Query != nil {
		rows = slices.DeleteFunc(rows, func(v Colleague) bool { return !v.matchesQuery(*in.Query) })
	}
	if in.SortOrder == "asc" {
		slices.Reverse(rows)
	}
	total := len(rows)
	rows = rows[min(in.Offset, total):]
	return op.NewCountedList(in.Page, rows[:min(in.Limit, len(rows))], total), nil
}

// matchesQuery reports whether every word is part of the name or the email.
func (v *Colleague) matchesQuery(query string) bool {
	text := db.SearchText(&v.Name, &v.Email)
	for _, word := range strings.Fields(db.SearchText(&query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

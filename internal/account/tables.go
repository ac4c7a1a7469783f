package account

import "frontdesk/internal/kernel/db"

// The lives of the tables that have no db.Table. Organizations, users and their
// memberships stay, because everything else refers to them. The short-lived rows
// (sessions, sign-ins, challenges, visits and links) are swept by whoever inserts the
// next one.
var (
	_ = db.Declare("organizations", db.Life{
		Noun:         "organization",
		Permanent:    true,
		BelongsWhere: "id = $1",
	})
	_ = db.Declare("users", db.Life{
		Noun:         "user",
		Refs:         []db.Ref{db.RefTo("confined_to", "organizations", db.Keeps)},
		Permanent:    true,
		Unexported:   []string{"password_hash"},
		BelongsWhere: "id IN (SELECT user_id FROM memberships WHERE organization_id = $1)",
	})
	_ = db.Declare("memberships", db.Life{
		Noun:      "member",
		Refs:      []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
		Permanent: true,
	})
	_ = db.Declare("sessions", db.Life{
		Refs:       []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
		Unexported: []string{"user_agent", "address"},
	})
	_ = db.Declare("passkeys", db.Life{Refs: []db.Ref{db.RefTo("user_id", "users", db.Keeps)}})
	_ = db.Declare("code_secrets", db.Life{
		Refs:   []db.Ref{db.RefTo("user_id", "users", db.Keeps)},
		Sealed: []db.Sealed{{Column: "secret", Place: "'code_secrets/' || user_id"}},
	})
	_ = db.Declare("recovery_codes", db.Life{Refs: []db.Ref{db.RefTo("user_id", "users", db.Keeps)}})
	_ = db.Declare("sign_ins", db.Life{Refs: []db.Ref{db.RefTo("user_id", "users", db.Keeps)}})
	_ = db.Declare("passkey_challenges", db.Life{Refs: []db.Ref{db.RefTo("user_id", "users", db.Keeps)}})
	_ = db.Declare("identities", db.Life{Refs: []db.Ref{db.RefTo("user_id", "users", db.Keeps)}})
	_ = db.Declare("provider_visits", db.Life{})
	_ = db.Declare("setup_links", db.Life{})
	_ = db.Declare("password_links", db.Life{Refs: []db.Ref{db.RefTo("user_id", "users", db.Keeps)}})
	_ = db.Declare("known_browsers", db.Life{Refs: []db.Ref{db.RefTo("user_id", "users", db.Keeps)}})
)

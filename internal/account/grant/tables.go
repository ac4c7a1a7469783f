package grant

import "frontdesk/internal/kernel/db"

// The lives of the tables of this package. Their rows end in purge.go.
var (
	_ = db.Declare("oauth_clients", db.Life{})
	_ = db.Declare("oauth_requests", db.Life{})
	_ = db.Declare("agent_grants", db.Life{
		Refs: []db.Ref{
			db.RefTo("agent_id", "agents", db.Keeps),
			db.RefTo("user_id", "users", db.Keeps),
		},
	})
	_ = db.Declare("grant_codes", db.Life{Parent: db.RefTo("grant_id", "agent_grants")})
	_ = db.Declare("grant_tokens", db.Life{Parent: db.RefTo("grant_id", "agent_grants")})
	_ = db.Declare("agent_sessions", db.Life{Parent: db.RefTo("grant_id", "agent_grants")})
)

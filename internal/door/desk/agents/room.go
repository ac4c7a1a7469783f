// Package agents is the room of AI agents: what each may do, what waits for a
// person, which clients are connected as it, and the page on which a person lets a
// client act as one.
package agents

import (
	"context"
	"embed"

	"frontdesk/internal/account/grant"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
)

//go:embed pages/*.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "pages/*.html")

// Room is what its pages need beside operations.
type Room struct{ Grants Grants }

// Grants is what the pages need from the authorization server: the requests
// that wait for consent, and the connected clients.
type Grants interface {
	Request(ctx context.Context, request id.ID) (*grant.Request, error)
	ApproveRequest(ctx context.Context, request, user, agent id.ID) (redirectURL string, err error)
	DeclineRequest(ctx context.Context, request id.ID) (redirectURL string, err error)
	ListConnections(ctx context.Context, org id.ID) ([]grant.Connection, error)
	Disconnect(ctx context.Context, org, connection, user id.ID) error
}

// Join adds the room to the desk.
func (room *Room) Join(d *desk.Desk) {
	d.Add(
		desk.Route{Pattern: "GET /consent/{id}", Show: room.consentPage},
		desk.Route{Pattern: "POST /consent/{id}", Show: room.answerConsent, SeenFirst: true},
	)
	d.AddPages(desk.Managers, desk.Pages{
		"GET /agents":     room.agentsPage,
		"GET /agents/new": newAgentPage, "POST /agents/new": createAgent,
		"GET /agents/{id}": room.agentPage, "POST /agents/{id}": room.saveAgent,
		"POST /agents/{id}/name":      room.renameAgent,
		"POST /agents/{id}/undo":      room.undoAgent,
		"POST /agents/{id}/asking":    room.saveAsking,
		"POST /agents/{id}/activate":  activateAgent,
		"GET /agents/{id}/deactivate": room.deactivateAgentPage, "POST /agents/{id}/deactivate": deactivateAgent,
		"GET /agents/{id}/delete": room.deleteAgentPage, "POST /agents/{id}/delete": deleteAgent,
		"GET /agents/{id}/clients/{client}/disconnect":  room.disconnectPage,
		"POST /agents/{id}/clients/{client}/disconnect": room.disconnect,
	})
}

var _ = desk.AddDoneTexts(map[string]string{
	"renamed":     "Renamed.",
	"activated":   "Activated. Clients that were connected before must reconnect.",
	"deactivated": "Deactivated. Its clients are disconnected.", "disconnected": "Disconnected.",
})

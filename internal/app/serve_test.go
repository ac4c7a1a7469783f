package app_test

import (
	"log/slog"
	"testing"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
)

// The service runs without the agent connection.
func TestStartsWithoutAgents(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	s.MCPListen, s.MCPURL = "", ""
	a, err := app.Open(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

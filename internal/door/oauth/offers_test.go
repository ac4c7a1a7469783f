package oauth_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official client gets prompts, reads records by their link, and hears of a call that takes longer than two
// seconds.
func TestOfficialClientOffers(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	var progress atomic.Int32
	c, err := connectWith(t, a, false, &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { progress.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	prompts, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 10 {
		t.Fatalf("prompts: %v, %v", prompts, err)
	}
	got, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "brief_me",
		Arguments: map[string]string{"who": "Ada"}})
	if err != nil || !strings.Contains(got.Messages[0].Content.(*sdk.TextContent).Text, "talk to Ada") {
		t.Errorf("prompt: %v, %v", got, err)
	}
	ada := a.SendREST(t, a.Key, "POST", "/v1/contacts", `{"firstName": "Ada"}`).OK(t, 201).Text("id")
	r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "frontdesk://contacts/" + ada})
	if err != nil || !strings.Contains(r.Contents[0].Text, `"firstName":"Ada"`) {
		t.Errorf("resource: %v, %v", r, err)
	}
	plan, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "proposals_create", Arguments: map[string]any{
		"title": "x", "steps": []any{map[string]any{"operation": "tasks.create",
			"input": map[string]any{"title": "T"}}}}})
	if err != nil || plan.IsError {
		t.Fatalf("plan: %v, %v", plan, err)
	}
	ref := plan.StructuredContent.(map[string]any)["data"].(map[string]any)["id"]
	wait := &sdk.CallToolParams{Name: "proposals_get", Arguments: map[string]any{"id": ref, "waitSeconds": 3}}
	wait.SetProgressToken("p")
	if end, err := c.CallTool(t.Context(), wait); err != nil || end.IsError {
		t.Errorf("wait: %v, %v", end, err)
	}
	if progress.Load() == 0 {
		t.Error("no progress")
	}
}

package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

// asks has the official client call what a person must decide. The person approves
// on the page that the answer names. A client that can show a person an address gets
// it that way.
func asks(t *testing.T, s *screen, service *service, session *mcp.ClientSession, tokens *tokenKeeper) {
	t.Helper()
	call := func(session *mcp.ClientSession, name string, arguments map[string]any, out any) error {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			return err
		}
		text, ok := r.Content[0].(*mcp.TextContent)
		if r.IsError || !ok || json.Unmarshal([]byte(text.Text), out) != nil {
			t.Fatalf("%s: %+v", name, r)
		}
		return nil
	}
	must := func(session *mcp.ClientSession, name string, arguments map[string]any, out any) {
		t.Helper()
		if err := call(session, name, arguments, out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var me struct{ Data struct{ ActorID string } }
	must(session, "me_get", nil, &me)
	operate(t, service, "", "admin", "agent", "set", me.Data.ActorID, "askMode=propose", "contacts.delete=ask")
	create := func() map[string]any {
		t.Helper()
		var made struct{ Data struct{ ID string } }
		must(session, "contacts_create", map[string]any{"firstName": "Ada"}, &made)
		return map[string]any{"id": made.Data.ID}
	}
	approve := func(address string) {
		t.Helper()
		s.visit(address)
		s.has("Delete the contact", "Goes", "Comes back if you want")
		s.press("#approve")
		s.has("Done, exactly as it was shown")
	}
	var waiting struct{ Status, ProposalID, ApprovalURL, Next string }
	ada := create()
	must(session, "contacts_delete", ada, &waiting)
	if waiting.Status != "pending_approval" || !strings.Contains(waiting.Next, "proposals_get") {
		t.Fatalf("%+v", waiting)
	}
	approve(waiting.ApprovalURL)
	var decided struct{ Data struct{ Status string } }
	must(session, "proposals_get", map[string]any{"id": waiting.ProposalID, "waitSeconds": 40}, &decided)
	if decided.Data.Status != "executed" {
		t.Fatalf("%+v", decided)
	}
	again := map[string]any{}
	if must(session, "contacts_delete", ada, &again); len(again) != 0 {
		t.Errorf("the same call answers with %v", again)
	}

	// A mail is shown as one, and rejected.
	operate(t, service, "", "admin", "agent", "set", me.Data.ActorID, "messages.create=ask")
	must(session, "messages_create", map[string]any{"to": "ada@example.com", "subject": "Our offer",
		"html": "<h1>Dear Ada</h1><p>Ten nanoseconds for the price of nine.</p>"}, &waiting)
	s.visit(waiting.ApprovalURL)
	s.has("Send a mail to ada@example.com", "Our offer", "Approve")
	s.inspect("proposal")
	s.visit(service.URL + "/review")
	s.inspect("review")
	s.visit(waiting.ApprovalURL)
	s.press("#reject")
	s.has("rejected")
	s.inspect("proposal-rejected")

	shown := ""
	client := mcp.NewClient(&mcp.Implementation{Name: "judge that shows", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			shown = r.Params.URL
			approve(shown)
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	})
	showing, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: service.AgentURL + "/mcp",
		HTTPClient: &http.Client{Transport: &oauth2.Transport{Source: tokens}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer showing.Close()
	eve := create()
	err = call(showing, "contacts_delete", eve, &again)
	var required *jsonrpc.Error
	if errors.As(err, &required) && required.Code == mcp.CodeURLElicitationRequired { // with a session it is an error
		var data struct{ Elicitations []struct{ Mode, URL string } }
		if json.Unmarshal(required.Data, &data) != nil || len(data.Elicitations) != 1 {
			t.Fatalf("%s", required.Data)
		}
		shown = data.Elicitations[0].URL
		approve(shown)
		err = call(showing, "contacts_delete", eve, &again)
	}
	if err != nil || !strings.HasPrefix(shown, service.URL+"/review/") || len(again) != 0 {
		t.Errorf("%v: shown %q, answered %v", err, shown, again)
	}
	t.Logf("asked and approved, by result and by address, in %s", showing.InitializeResult().ProtocolVersion)
}

package message_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// A tenant sends as "Frontdesk Security" from the service's own signed address.
func TestAttackServiceName(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		own := a.MailHosts.DefaultAddress()
		send := func(method, path, body string) apptest.Result { return a.SendREST(t, a.Key, method, path, body) }
		const via = " via 127.0.0.1"
		message := func(from string) string {
			return fmt.Sprintf(`{"to": "ada@example.com", "from": %q, "subject": "S", "text": "x", "draft": true}`,
				from)
		}
		for _, from := range []string{`"Frontdesk Security" <` + own + `>`, own, strings.ToUpper(own),
			`"Support" <` + strings.ToUpper(own[:1]) + own[1:] + `>`} {
			m := send(http.MethodPost, "/v1/messages", message(from)).OK(t, 201)
			m.Same("fromName", "Test"+via)
			id := m.Text("id")
			send(http.MethodPatch, "/v1/messages/"+id, `{"from": "\"Frontdesk Security\" <`+own+`>"}`).OK(t, 200).
				Same("fromName", "Test"+via)
			send(http.MethodPost, "/v1/messages/"+id+"/send", "").OK(t, 200).Same("fromName", "Test"+via)
		}
		send(http.MethodPost, "/v1/messages", `{"to": "ada@example.com", "subject": "S", "text": "x"}`).OK(t, 201).
			Same("fromName", "Test"+via)

		// The business's own name cannot end the header, quote its way out or look like an address.
		name := "Evil\\\" <ceo@bank.example>\r\nBcc: all@example.com\u202e " + strings.Repeat("x", 200)
		send(http.MethodPatch, "/v1/businesses/"+string(a.Business), fmt.Sprintf(`{"name": %q}`, name))
		got := send(http.MethodPost, "/v1/messages", message(own)).OK(t, 201).Text("fromName")
		if strings.ContainsAny(got, "@<>\r\n\u202e") || !strings.HasSuffix(got, via) || len([]rune(got)) > 100 {
			t.Errorf("%q", got)
		}
	})
}

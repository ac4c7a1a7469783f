package oidc_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"frontdesk/internal/adapter/oidc"
	"frontdesk/internal/kernel/config"
)

// A provider that does not answer, or with a document that cannot be used, is not asked again at once.
func TestPauseAfterFailure(t *testing.T) {
	for name, document := range map[string]string{
		"no document":       ``,
		"another issuer":    `{"issuer": "https://other.example"}`,
		"no endpoints":      `{"issuer": %q}`,
		"an unusable claim": `{"issuer": %q, "token_endpoint_auth_methods_supported": 7}`,
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			var issuer string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, document, issuer)
			}))
			defer server.Close()
			issuer = server.URL
			c := oidc.New(oidc.Config{Settings: config.OIDC{Issuer: issuer, ClientID: "desk"},
				Return: "https://desk.example/back", Log: slog.New(slog.DiscardHandler)})
			for range 3 {
				if err := c.Check(t.Context()); err == nil {
					t.Error("it is taken")
				}
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("the provider was asked %d times", n)
			}
		})
	}
}

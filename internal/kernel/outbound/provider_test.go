package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/outbound"
)

func TestProvider(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/api/echo":
			fmt.Fprint(w, `{"said": "`+r.Method+" "+r.Header.Get("X-API-Key")+" "+r.Header.Get("Content-Type")+" "+
				strings.ReplaceAll(string(body), `"`, "")+`"}`)
		case "/api/no":
			w.WriteHeader(422)
			fmt.Fprint(w, `{"error": "not so", "n": 1}`)
		case "/api/away":
			http.Redirect(w, r, "/api/echo", http.StatusFound)
		case "/api/endless":
			for range 40 {
				fmt.Fprint(w, strings.Repeat(" ", 1<<20))
			}
		default:
			fmt.Fprint(w, "<html>")
		}
	}))
	defer s.Close()
	p := outbound.NewProvider(outbound.ProviderConfig{
		Name: "theirs", URL: s.URL + "/api/", Headers: map[string]string{"X-API-Key": "secret"},
	})
	ctx := context.Background()
	var out struct {
		Said string `json:"said"`
	}
	if err := p.Call(ctx, "POST", "/echo", map[string]int{"a": 1}, &out); err != nil ||
		out.Said != "POST secret application/json {a:1}" {
		t.Errorf("%q, %v", out.Said, err)
	}
	form := url.Values{"a": {"1 2"}}
	err := p.WithHeader("X-API-Key", "another").Call(ctx, "POST", "/echo", form, &out)
	if err != nil || out.Said != "POST another application/x-www-form-urlencoded a=1+2" {
		t.Errorf("a form: %q, %v", out.Said, err)
	}
	if err := p.Call(ctx, "GET", "/echo", nil, &out); err != nil || out.Said != "GET secret  " {
		t.Errorf("%q, %v", out.Said, err)
	}
	if err := p.Call(ctx, "GET", "/echo", nil, nil); err != nil {
		t.Error(err)
	}
	var refused *outbound.StatusError
	if err := p.Call(ctx, "GET", "/no", nil, &out); !errors.As(err, &refused) || refused.Status != 422 ||
		refused.Field("error") != "not so" || refused.Field("n") != "Unprocessable Entity" {
		t.Errorf("%v", err)
	}
	if err := p.Call(ctx, "GET", "/away", nil, &out); !errors.As(err, &refused) || refused.Status != 302 {
		t.Errorf("a redirect: %v", err)
	}
	if err := p.Call(ctx, "GET", "/endless", nil, &out); !errors.Is(err, outbound.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	refused = nil
	if err := p.Call(ctx, "GET", "/page", nil, &out); err == nil || errors.As(err, &refused) {
		t.Errorf("no JSON: %v", err)
	}
	s.Close()
	if err := p.Call(ctx, "GET", "/echo", nil, &out); err == nil || errors.As(err, &refused) ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("nobody there: %v", err)
	}
	err = dbtest.Open(t, db.SQLite).Read(ctx, func(ctx context.Context, _ *db.Tx) error {
		defer func() {
			if recover() == nil {
				t.Error("a call inside a transaction")
			}
		}()
		return p.Call(ctx, "GET", "/echo", nil, nil)
	})
	if err != nil {
		t.Error(err)
	}
}

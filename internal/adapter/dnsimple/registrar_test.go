package dnsimple

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/domain/domaintest"
)

// fixture answers as the published description of the API says, keeps state,
// and insists on what a request must have.
type fixture struct {
	t        *testing.T
	mu       sync.Mutex
	domains  map[string]*held
	contacts int
	orders   map[string]int // how often an order was looked at
	posts    []string
	lose     string // the answer to this request is lost once, after the work
}

type held struct {
	expires, created time.Time
	state            string
	locked           bool
}

func start(t *testing.T) (*fixture, *Client) {
	f := &fixture{t: t, domains: map[string]*held{}, orders: map[string]int{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c := New(s.URL, "1010", "token", []string{"com", "io"})
	c.pollInterval = time.Millisecond
	return f, c
}

var route = regexp.MustCompile(`^/v2/1010/(contacts|domains/([^/]+)|registrar/registrant_changes|` +
	`registrar/domains/([^/]+)/([a-z_]+)(?:/(\d+))?)$`)

func (f *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer token" {
		f.answer(w, 401, `{"message": "Authentication failed"}`)
		return
	}
	m := route.FindStringSubmatch(r.URL.Path)
	if m == nil {
		f.t.Errorf("%s %s", r.Method, r.URL.Path)
		return
	}
	in := map[string]any{}
	if r.Method == http.MethodPost {
		f.posts = append(f.posts, r.URL.Path)
		if r.ContentLength > 0 {
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil ||
				r.Header.Get("Content-Type") != "application/json" {
				f.t.Errorf("%s: %v", r.URL.Path, err)
			}
		}
	}
	status, body := f.work(r.Method, m, in)
	if f.lose != "" && strings.HasSuffix(r.URL.Path, f.lose) && r.Method == http.MethodPost {
		f.lose = ""
		panic(http.ErrAbortHandler)
	}
	f.answer(w, status, body)
}

func (f *fixture) answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

func (f *fixture) needs(in map[string]any, fields ...string) bool {
	return !slices.ContainsFunc(fields, func(s string) bool { return in[s] == nil || in[s] == "" })
}

const missing = `{"message": "Domain not found"}`

func (f *fixture) work(method string, m []string, in map[string]any) (int, string) {
	switch m[1] {
	case "contacts":
		if !f.needs(in, "first_name", "last_name", "email", "phone", "address1", "city", "state_province",
			"postal_code",
			"country") || in["organization_name"] != nil && in["job_title"] == nil {
			return 400, `{"message": "Validation failed", "errors": {"address1": ["can't be blank"]}}`
		}
		f.contacts++
		return 201, fmt.Sprintf(`{"data": {"id": %d}}`, f.contacts)
	case "registrar/registrant_changes":
		if !f.needs(in, "domain_id", "contact_id") || f.domains[in["domain_id"].(string)] == nil {
			return 400, `{"message": "Validation failed"}`
		}
		return 202, `{"data": {"id": 1, "state": "pending"}}`
	}
	name := m[2] + m[3]
	d := f.domains[name]
	switch what := m[4]; {
	case what == "check":
		return 200, fmt.Sprintf(`{"data": {"domain": %q, "available": %t, "premium": false, "trustee": false}}`, name,
			d == nil && !strings.HasPrefix(name, "taken"))
	case what == "prices":
		return 200,
			fmt.Sprintf(`{"data": {"domain": %q, "premium": %t, "registration_price": 14.99, "renewal_price": 15.5, `+
				`"restore_price": 25.0}}`, name, strings.HasPrefix(name, "premium"))
	case what == "registrations" && method == http.MethodPost:
		if d != nil || strings.HasPrefix(name, "taken") {
			return 400, `{"message": "The domain is not available"}`
		}
		if !f.needs(in, "registrant_id") || in["whois_privacy"] != true || in["auto_renew"] != false {
			f.t.Errorf("the registration: %v", in)
		}
		if strings.HasPrefix(name, "rejected") {
			return 201, `{"data": {"id": 7, "state": "failed"}}`
		}
		now := time.Now().UTC().Truncate(time.Second)
		f.domains[name] = &held{created: now, expires: now.AddDate(1, 0, 0), state: "registered"}
		return 201, `{"data": {"id": 7, "state": "new"}}`
	case d == nil:
		return 404, missing
	case what == "registrations":
		f.orders[name]++
		return 200, fmt.Sprintf(`{"data": {"id": 7, "state": %q}}`,
			[]string{"registering", "registered"}[min(f.orders[name]-1, 1)])
	case what == "renewals" && method == http.MethodPost && strings.HasPrefix(name, "young"):
		return 400, `{"message": "The domain cannot be renewed yet"}`
	case what == "renewals" && method == http.MethodPost:
		d.expires = d.expires.AddDate(int(in["period"].(float64)), 0, 0)
		return 201, `{"data": {"id": 8, "state": "renewed"}}`
	case what == "transfer_lock":
		d.locked = method == http.MethodPost
		return map[bool]int{true: 201, false: 200}[d.locked], fmt.Sprintf(`{"data": {"enabled": %t}}`, d.locked)
	case what == "authorize_transfer_out":
		return 204, ""
	}
	text, _ := json.Marshal(map[string]any{"data": map[string]any{"id": 1, "name": name, "state": d.state,
		"expires_at": d.expires, "created_at": d.created}})
	return 200, string(text)
}

func TestConformance(t *testing.T) {
	_, c := start(t)
	domaintest.ExerciseRegistrar(t, c, domaintest.TestNames{Free: "free.com", Taken: "taken.com",
		Unoffered: "free.xyz"})
	offer, err := c.Check(t.Context(), "premium.io")
	if err != nil || !offer.Premium || offer.FirstYearPrice != 1499 || offer.RenewalPrice != 1550 {
		t.Errorf("prices: %+v, %v", offer, err)
	}
}

// A registration or renewal whose answer was lost is found, not made again.
func TestLostAnswer(t *testing.T) {
	f, c := start(t)
	a := domain.RegistrationRequest{Name: "lost.com", Years: 1, Registrant: domaintest.Registrant()}
	f.lose = "/registrations"
	var no *domain.Refusal
	if _, err := c.Register(t.Context(), "k", a); err == nil || errors.As(err, &no) {
		t.Fatalf("a lost answer: %v", err)
	}
	held, err := c.Registered(t.Context(), "k", a)
	if err != nil {
		t.Fatal(err)
	}
	f.lose = "/renewals"
	if _, err := c.Renew(t.Context(), "r", "lost.com", 1, held.ExpiresAt); err == nil || errors.As(err, &no) {
		t.Fatalf("a lost answer: %v", err)
	}
	longer, err := c.Renew(t.Context(), "r", "lost.com", 1, held.ExpiresAt)
	if err != nil || longer.ExpiresAt.Std() != held.ExpiresAt.Std().AddDate(1, 0, 0) {
		t.Errorf("again: %+v, %v", longer, err)
	}
	n := 0
	for _, p := range f.posts {
		if strings.HasSuffix(p, "/registrations") || strings.HasSuffix(p, "/renewals") {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d orders: %v", n, f.posts)
	}
	// A name that is in the account but not registered is left alone.
	f.domains["lost.com"].state = "hosted"
	if _, err := c.Register(t.Context(), "k2", a); err == nil || errors.As(err, &no) ||
		errors.Is(err, domain.ErrUnknownToProvider) {
		t.Errorf("a name under way: %v", err)
	}
}

// A name that was registered for a year, and whose further years are refused,
// is not refused: its money must not go back as if there were no registration.
func TestFurtherYearsRefused(t *testing.T) {
	f, c := start(t)
	a := domain.RegistrationRequest{Name: "young.com", Years: 2, Registrant: domaintest.Registrant()}
	for range 2 { // also when it is taken up again
		var no *domain.Refusal
		if _, err := c.Register(t.Context(), "k", a); err == nil || errors.As(err, &no) ||
			!strings.Contains(err.Error(), "cannot be renewed yet") {
			t.Errorf("registered for a year of two: %v", err)
		}
	}
	n := 0
	for _, p := range f.posts {
		if strings.HasSuffix(p, "/registrations") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d registrations: %v", n, f.posts)
	}
}

func TestRefusals(t *testing.T) {
	f, c := start(t)
	for name, want := range map[string]string{"taken.com": "not available", "rejected.com": "rejected"} {
		var no *domain.Refusal
		if _, err := c.Register(t.Context(), "k",
			domain.RegistrationRequest{Name: name, Years: 1,
				Registrant: domaintest.Registrant()}); !errors.As(err, &no) || !strings.Contains(no.Message, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var no *domain.Refusal
	if _, err := c.Register(t.Context(), "k", domain.RegistrationRequest{Name: "a.com", Years: 1}); !errors.As(err,
		&no) || !strings.Contains(no.Message, "address1") {
		t.Errorf("an empty registrant: %v", err)
	}
	var cannot *domain.UnsupportedError
	if err := c.ChangeContact(t.Context(), "nobody.com", domaintest.Registrant()); !errors.As(err, &cannot) {
		t.Errorf("a change that they refuse: %v", err)
	}
	if left, err := c.Left(t.Context(), "nobody.com"); !left || err != nil {
		t.Errorf("what is not in the account has left: %t, %v", left, err)
	}
	// A name that left keeps its zone in the account.
	if _, err := c.Register(t.Context(), "k",
		domain.RegistrationRequest{Name: "leaving.com", Years: 1, Registrant: domaintest.Registrant()}); err != nil {
		t.Fatal(err)
	}
	if left, err := c.Left(t.Context(), "leaving.com"); left || err != nil {
		t.Errorf("a name that is there: %t, %v", left, err)
	}
	f.domains["leaving.com"].state = "hosted"
	if left, err := c.Left(t.Context(), "leaving.com"); !left || err != nil {
		t.Errorf("a name of which only the zone is there: %t, %v", left, err)
	}
	c.api = c.api.WithHeader("Authorization", "Bearer wrong")
	if _, err := c.Check(t.Context(), "a.com"); err == nil || errors.As(err, &no) {
		t.Errorf("a wrong token: %v", err)
	}
}

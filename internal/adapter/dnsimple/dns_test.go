package dnsimple_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"frontdesk/internal/adapter/dnsimple"
	"frontdesk/internal/resource/zone/zonetest"
)

// fixtureRecord has the fields that the description requires of ZoneRecord.
type fixtureRecord struct {
	ID        int64    `json:"id"`
	ZoneID    string   `json:"zone_id"`
	ParentID  *int64   `json:"parent_id"`
	Name      string   `json:"name"`
	Content   string   `json:"content"`
	TTL       int      `json:"ttl"`
	Priority  *int     `json:"priority"`
	Type      string   `json:"type"`
	Regions   []string `json:"regions"`
	System    bool     `json:"system_record"`
	CreatedAt string   `json:"created_at"`
	UpdatedAt string   `json:"updated_at"`
}

// fixture behaves as the description of zones and their records says, and is
// as strict as it: unknown fields and a missing token are refused.
type fixture struct {
	mu    sync.Mutex
	next  int64
	zones map[string][]fixtureRecord
}

type wanted struct {
	ID       int64   `json:"id"`
	Name     *string `json:"name"`
	Type     *string `json:"type"`
	Content  *string `json:"content"`
	TTL      *int    `json:"ttl"`
	Priority *int    `json:"priority"`
}

func (f *fixture) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/1010/zones", func(w http.ResponseWriter, _ *http.Request) { say(w, 200, []string{}) })
	mux.HandleFunc("POST /v2/1010/domains", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Name string `json:"name"`
		}
		if !read(w, r, &in) {
			return
		}
		if f.zones[in.Name] != nil {
			refuse(w, 400, "Validation failed")
			return
		}
		f.zones[in.Name] = []fixtureRecord{}
		f.add(in.Name, fixtureRecord{Type: "SOA",
			Content: "ns1.dnsimple.com admin.dnsimple.com 1458642070 86400 7200 604800 300", TTL: 3600, System: true})
		f.add(in.Name, fixtureRecord{Type: "NS", Content: "ns1.dnsimple.com", TTL: 3600, System: true})
		f.add(in.Name, fixtureRecord{Type: "NS", Content: "ns2.dnsimple.com", TTL: 3600, System: true})
		say(w, 201, map[string]any{"id": 1, "name": in.Name})
	})
	mux.HandleFunc("DELETE /v2/1010/domains/{zone}", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := f.zone(w, r); ok {
			delete(f.zones, r.PathValue("zone"))
			w.WriteHeader(204)
		}
	})
	mux.HandleFunc("GET /v2/1010/zones/{zone}", func(w http.ResponseWriter, r *http.Request) {
		if _, ok := f.zone(w, r); ok {
			say(w, 200, map[string]any{"name": r.PathValue("zone")})
		}
	})
	mux.HandleFunc("GET /v2/1010/zones/{zone}/records", f.list)
	mux.HandleFunc("POST /v2/1010/zones/{zone}/records", func(w http.ResponseWriter, r *http.Request) {
		var in wanted
		if _, ok := f.zone(w, r); ok && read(w, r, &in) {
			if made, ok := f.create(w, r.PathValue("zone"), in); ok {
				say(w, 201, made)
			}
		}
	})
	mux.HandleFunc("PATCH /v2/1010/zones/{zone}/records/{record}", func(w http.ResponseWriter, r *http.Request) {
		var in wanted
		if i, ok := f.record(w, r); ok && read(w, r, &in) {
			if in.Type != nil {
				refuse(w, 400, "type cannot be changed")
				return
			}
			say(w, 200, f.zones[r.PathValue("zone")][i].with(in))
		}
	})
	mux.HandleFunc("DELETE /v2/1010/zones/{zone}/records/{record}", func(w http.ResponseWriter, r *http.Request) {
		if i, ok := f.record(w, r); ok {
			z := r.PathValue("zone")
			f.zones[z] = slices.Delete(f.zones[z], i, i+1)
			w.WriteHeader(204)
		}
	})
	mux.HandleFunc("POST /v2/1010/zones/{zone}/batch", f.batch)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer token" {
			refuse(w, 401, "Authentication failed")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (f *fixture) batch(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Creates []wanted `json:"creates"`
		Deletes []wanted `json:"deletes"`
	}
	rows, ok := f.zone(w, r)
	if !ok || !read(w, r, &in) {
		return
	}
	z := r.PathValue("zone")
	before := slices.Clone(rows)
	for _, d := range in.Deletes {
		f.zones[z] = slices.DeleteFunc(f.zones[z], func(r fixtureRecord) bool { return r.ID == d.ID })
	}
	for _, c := range in.Creates {
		if _, ok := f.create(w, z, c); !ok {
			f.zones[z] = before
			return
		}
	}
	say(w, 200, map[string]any{"creates": []any{}, "updates": []any{}, "deletes": []any{}})
}

func (f *fixture) list(w http.ResponseWriter, r *http.Request) {
	rows, ok := f.zone(w, r)
	if !ok {
		return
	}
	q := r.URL.Query()
	var found []fixtureRecord
	for _, row := range rows {
		if (!q.Has("name") || row.Name == q.Get("name")) && (!q.Has("type") || row.Type == q.Get("type")) {
			if row.Type == "TXT" { // as in a zone file
				row.Content = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(row.Content) + `"`
			}
			found = append(found, row)
		}
	}
	const most = 5 // so that the suite turns pages
	page, _ := strconv.Atoi(q.Get("page"))
	from := min((page-1)*most, len(found))
	send(w, 200, map[string]any{"data": append([]fixtureRecord{}, found[from:min(from+most, len(found))]...),
		"pagination": map[string]int{"current_page": page, "per_page": most, "total_entries": len(found),
			"total_pages": max(1, (len(found)+most-1)/most)}})
}

func (f *fixture) create(w http.ResponseWriter, zone string, in wanted) (*fixtureRecord, bool) {
	if in.Name == nil || in.Type == nil || in.Content == nil {
		refuse(w, 400, "Validation failed")
		return nil, false
	}
	for _, row := range f.zones[zone] {
		if row.Name == *in.Name && (row.Type == "CNAME") != (*in.Type == "CNAME") {
			refuse(w, 400, "Validation failed")
			return nil, false
		}
	}
	row := fixtureRecord{Type: *in.Type, TTL: 3600}
	row.with(in)
	return f.add(zone, row), true
}

func (f *fixture) add(zone string, row fixtureRecord) *fixtureRecord {
	f.next++
	row.ID, row.ZoneID, row.Regions, row.CreatedAt, row.UpdatedAt = f.next, zone, []string{"global"},
		"2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
	f.zones[zone] = append(f.zones[zone], row)
	return &row
}

func (r *fixtureRecord) with(in wanted) *fixtureRecord {
	if in.Name != nil {
		r.Name = *in.Name
	}
	if in.Content != nil {
		r.Content = *in.Content
	}
	if in.TTL != nil {
		r.TTL = *in.TTL
	}
	if in.Priority != nil {
		r.Priority = in.Priority
	}
	return r
}

func (f *fixture) zone(w http.ResponseWriter, r *http.Request) ([]fixtureRecord, bool) {
	rows, ok := f.zones[r.PathValue("zone")]
	if !ok {
		refuse(w, 404, fmt.Sprintf("Zone `%s` not found", r.PathValue("zone")))
	}
	return rows, ok
}

func (f *fixture) record(w http.ResponseWriter, r *http.Request) (int, bool) {
	rows, ok := f.zone(w, r)
	if !ok {
		return 0, false
	}
	i := slices.IndexFunc(rows, func(row fixtureRecord) bool { return fmt.Sprint(row.ID) == r.PathValue("record") })
	if i < 0 {
		refuse(w, 404, "Record not found")
	}
	return i, i >= 0
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || r.Header.Get("Content-Type") != "application/json" {
		refuse(w, 400, fmt.Sprint(err))
		return false
	}
	return true
}

func say(w http.ResponseWriter, status int, data any) { send(w, status, map[string]any{"data": data}) }

func refuse(w http.ResponseWriter, status int, message string) {
	send(w, status, map[string]string{"message": message})
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "%s", text)
}

func TestDNS(t *testing.T) {
	s := httptest.NewServer((&fixture{zones: map[string][]fixtureRecord{}}).mux())
	defer s.Close()
	d := dnsimple.NewDNS(s.URL, "1010", "token")
	zonetest.Exercise(t, d)
	if _, err := d.Ping(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := dnsimple.NewDNS(s.URL, "1010", "wrong").Ping(context.Background()); err == nil ||
		err.Error() != "dns: 401: Authentication failed" {
		t.Errorf("with a wrong token: %v", err)
	}
}

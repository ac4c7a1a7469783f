package id_test

import (
	"regexp"
	"sync"
	"testing"

	"frontdesk/internal/kernel/id"
)

var v4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// Ids are UUIDs v4, no two alike whoever makes them at once; neighbours share
// a beginning and nothing else, and the beginning changes.
func TestNew(t *testing.T) {
	var mu sync.Mutex
	made, beginnings := map[id.ID]bool{}, map[id.ID]int{}
	ends := map[id.ID]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5000 {
				v := id.New()
				mu.Lock()
				made[v], ends[v[9:]] = true, true
				beginnings[v[:8]]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(made) != 40_000 || len(ends) != 40_000 {
		t.Errorf("%d ids and %d ends differ of 40000", len(made), len(ends))
	}
	for v := range made {
		if !v4.MatchString(string(v)) {
			t.Fatalf("%s is no UUID v4", v)
		}
	}
	for v, n := range beginnings {
		if n > 256 {
			t.Errorf("%d ids begin with %s", n, v)
		}
	}
}

func TestParse(t *testing.T) {
	v := id.New()
	for text, want := range map[string]id.ID{
		string(v):                              v,
		"2B9E6F0C-41D7-4D0B-8A55-7C3F1E9D2A64": "2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a64",
		"":                                     "",
		"2b9e6f0c41d74d0b8a557c3f1e9d2a64":     "",
		"2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a6g": "",
		"2b9e6f0c_41d7-4d0b-8a55-7c3f1e9d2a64": "",
		" 2b9e6f0c-41d7-4d0b-8a55-7c3f1e9d2a6": "",
	} {
		if got, ok := id.Parse(text); got != want || ok != (want != "") {
			t.Errorf("%q is read as %q, %v", text, got, ok)
		}
	}
}

package app

import (
	"context"
	"slices"
	"sync"

	"frontdesk/internal/resource/domain"
)

// openDNS is whoever answers for zones.
func (a *App) openDNS() domain.DNS { return &zones{} }

// zones keeps zones in memory.
type zones struct {
	mu    sync.Mutex
	zones map[string][]domain.Record
}

func missing(what string) error {
	return &domain.DNSError{Status: 404, Message: "There is no such " + what + "."}
}

func (z *zones) CreateZone(_ context.Context, zone string) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.zones == nil {
		z.zones = map[string][]domain.Record{}
	}
	if z.zones[zone] == nil {
		z.zones[zone] = []domain.Record{{Type: "NS", Name: "@", Content: "ns1." + zone, TTL: 3600, BuiltIn: true}}
	}
	return nil
}

func (z *zones) DeleteZone(_ context.Context, zone string) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	delete(z.zones, zone)
	return nil
}

func (z *zones) Records(_ context.Context, zone string) ([]domain.Record, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.zones[zone] == nil {
		return nil, missing("zone")
	}
	return slices.Clone(z.zones[zone]), nil
}

func (z *zones) change(zone string, old, r *domain.Record) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	rows := z.zones[zone]
	if rows == nil {
		return missing("zone")
	}
	if old != nil {
		i := slices.IndexFunc(rows, func(x domain.Record) bool {
			return x.Type == old.Type && x.Name == old.Name && x.Content == old.Content
		})
		if i < 0 {
			return missing("record")
		}
		rows = slices.Delete(rows, i, i+1)
	}
	if r != nil {
		rows = append(rows, *r)
	}
	z.zones[zone] = rows
	return nil
}

func (z *zones) Add(_ context.Context, zone string, r domain.Record) error {
	return z.change(zone, nil, &r)
}

func (z *zones) Replace(_ context.Context, zone string, old, r domain.Record) error {
	return z.change(zone, &old, &r)
}

func (z *zones) Remove(_ context.Context, zone string, r domain.Record) error {
	return z.change(zone, &r, nil)
}

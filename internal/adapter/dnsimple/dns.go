package dnsimple

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"frontdesk/internal/kernel/outbound"
	"frontdesk/internal/resource/zone"
)

// How many records a page has, and how many pages of a zone are read at most.
const (
	dnsPage     = 100
	dnsMaxPages = 100
)

// DNS keeps zones at DNSimple. A domain of the account and its zone come and
// go together there.
type DNS struct{ api *outbound.Provider }

var _ zone.Provider = (*DNS)(nil)

// NewDNS prepares a client for the API at address, such as
// https://api.dnsimple.com, with a token of the account.
func NewDNS(address, account, token string) *DNS {
	return &DNS{newProvider(address, account, token, 10*time.Second)}
}

type zoneRecord struct {
	ID       int64  `json:"id,omitzero"`
	Name     string `json:"name"` // empty at the apex
	Type     string `json:"type,omitzero"`
	Content  string `json:"content"`
	TTL      int    `json:"ttl"`
	Priority *int   `json:"priority,omitzero"`
	System   bool   `json:"system_record,omitzero"`
}

// toRecord converts a record of DNSimple's, to the canonical form if it has one.
func (r zoneRecord) toRecord(name string) zone.Record {
	v := zone.Record{Type: r.Type, Name: r.Name, Content: r.Content, TTL: r.TTL}
	v.BuiltIn = r.System && (r.Type == "SOA" || r.Type == "NS")
	if r.Type == "MX" || r.Type == "SRV" {
		v.Priority = r.Priority
	}
	// Canonical also refuses a TTL outside our bounds, which are narrower than
	// DNSimple's, so it is asked with a TTL that it accepts. What it refuses for another
	// reason, such as an NS record at the apex, stays as DNSimple has it.
	probe := v
	probe.TTL = zone.DefaultTTL
	if c, tree := probe.Canonical(name); tree == nil {
		v.Name, v.Content = c.Name, c.Content
	} else if v.Name == "" {
		v.Name = "@"
	}
	return v
}

// toZoneRecord converts a record to DNSimple's form, in which the apex has an empty name.
func toZoneRecord(r zone.Record) zoneRecord {
	out := zoneRecord{Name: r.Name, Type: r.Type, Content: r.Content, TTL: r.TTL, Priority: r.Priority}
	if out.Name == "@" {
		out.Name = ""
	}
	return out
}

// CreateZone adds the domain to the account, unless its zone exists.
func (d *DNS) CreateZone(ctx context.Context, name string) error {
	err := d.callAPI(ctx, http.MethodGet, "/zones/"+url.PathEscape(name), nil, nil)
	if zone.ProviderStatus(err) != http.StatusNotFound {
		return err
	}
	return d.callAPI(ctx, http.MethodPost, "/domains", map[string]string{"name": name}, nil)
}

// EmptyZone removes the records one by one, because removing the domain from the
// account would remove its registration too. Records that DNSimple manages cannot
// be removed.
func (d *DNS) EmptyZone(ctx context.Context, name string) error {
	if err := d.CreateZone(ctx, name); err != nil {
		return err
	}
	rows, err := d.listRecords(ctx, name, url.Values{})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.System {
			continue
		}
		err := d.callAPI(ctx, http.MethodDelete, recordsPath(name)+"/"+fmt.Sprint(r.ID), nil, nil)
		if err != nil && zone.ProviderStatus(err) != http.StatusNotFound {
			return err
		}
	}
	return nil
}

// DeleteZone removes the domain from the account, and with it the zone.
func (d *DNS) DeleteZone(ctx context.Context, name string) error {
	err := d.callAPI(ctx, http.MethodDelete, "/domains/"+url.PathEscape(name), nil, nil)
	if zone.ProviderStatus(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// Records lists a zone.
func (d *DNS) Records(ctx context.Context, name string) ([]zone.Record, error) {
	rows, err := d.listRecords(ctx, name, url.Values{})
	out := make([]zone.Record, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.toRecord(name))
	}
	return out, err
}

func (d *DNS) listRecords(ctx context.Context, name string, query url.Values) (out []zoneRecord, err error) {
	query.Set("per_page", fmt.Sprint(dnsPage))
	for page := 1; page <= dnsMaxPages; page++ {
		query.Set("page", fmt.Sprint(page))
		var answer struct {
			Data       []zoneRecord `json:"data"`
			Pagination struct {
				Pages int `json:"total_pages"`
			} `json:"pagination"`
		}
		if err := d.callAPI(ctx, http.MethodGet, recordsPath(name)+"?"+query.Encode(), nil, &answer); err != nil {
			return nil, err
		}
		out = append(out, answer.Data...)
		if page >= answer.Pagination.Pages {
			return out, nil
		}
	}
	return nil, fmt.Errorf("dnsimple: the zone %s has more than %d records", name, dnsPage*dnsMaxPages)
}

// findRecordID looks for a record among those of its name and type, and returns DNSimple's id
// of it, or 0.
func (d *DNS) findRecordID(ctx context.Context, name string, r zone.Record) (int64, error) {
	rows, err := d.listRecords(ctx, name, url.Values{"name": {toZoneRecord(r).Name}, "type": {r.Type}})
	for _, row := range rows {
		if row.toRecord(name).Same(r) {
			return row.ID, nil
		}
	}
	return 0, err
}

// requireRecordID is findRecordID for a record that must exist.
func (d *DNS) requireRecordID(ctx context.Context, name string, r zone.Record) (int64, error) {
	number, err := d.findRecordID(ctx, name, r)
	if err == nil && number == 0 {
		err = zone.RecordNotFound(name, r)
	}
	return number, err
}

// Add puts a record into a zone. DNSimple has no idempotency keys, so it looks for the
// record first; if it is there, only its TTL is set.
func (d *DNS) Add(ctx context.Context, name string, r zone.Record) error {
	number, err := d.findRecordID(ctx, name, r)
	switch {
	case err != nil:
		return err
	case number != 0:
		return d.callAPI(ctx, http.MethodPatch, fmt.Sprint(recordsPath(name), "/", number),
			map[string]int{"ttl": r.TTL}, nil)
	}
	return d.callAPI(ctx, http.MethodPost, recordsPath(name), toZoneRecord(r), nil)
}

// Replace changes a record in its place. DNSimple cannot change a record's type, so a
// new type is a deletion and a creation in one batch, which happens whole or not at all.
func (d *DNS) Replace(ctx context.Context, name string, old, r zone.Record) error {
	number, err := d.requireRecordID(ctx, name, old)
	if err != nil {
		return err
	}
	row := toZoneRecord(r)
	if old.Type == r.Type {
		row.Type = ""
		return d.callAPI(ctx, http.MethodPatch, fmt.Sprint(recordsPath(name), "/", number), row, nil)
	}
	return d.callAPI(ctx, http.MethodPost, "/zones/"+url.PathEscape(name)+"/batch", struct {
		Deletes []map[string]int64 `json:"deletes"`
		Creates []zoneRecord       `json:"creates"`
	}{[]map[string]int64{{"id": number}}, []zoneRecord{row}}, nil)
}

// Remove takes a record out.
func (d *DNS) Remove(ctx context.Context, name string, r zone.Record) error {
	number, err := d.requireRecordID(ctx, name, r)
	if err != nil {
		return err
	}
	return d.callAPI(ctx, http.MethodDelete, fmt.Sprint(recordsPath(name), "/", number), nil, nil)
}

// Ping asks for the account's zones, for the doctor, and tells who answered.
func (d *DNS) Ping(ctx context.Context) (string, error) {
	return "DNSimple", d.callAPI(ctx, http.MethodGet, "/zones?per_page=1", nil, nil)
}

func recordsPath(name string) string { return "/zones/" + url.PathEscape(name) + "/records" }

func (d *DNS) callAPI(ctx context.Context, method, path string, in, out any) error {
	err := d.api.Call(ctx, method, path, in, out)
	var refused *outbound.StatusError
	if errors.As(err, &refused) {
		return &zone.ProviderError{Status: refused.Status, Message: refused.Field("message")}
	}
	return err
}

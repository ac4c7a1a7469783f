// Package powerdns keeps zones in a PowerDNS Authoritative Server, through its
// HTTP API, version 4.7 or newer. It is a zone.Provider. The server alone knows what
// is in a zone; nothing is cached here.
//
// PowerDNS replaces whole sets of records, those of one name and type. So a
// change reads the set (loadSet), changes it and writes it back (patchSets). Changes
// of one zone by this process take turns, and the caller must see to it that only one
// process changes a zone at a time. What another program changes in the same set in
// between is overwritten.
//
// Start reading at Client.Add.
package powerdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"frontdesk/internal/kernel/outbound"
	"frontdesk/internal/resource/zone"

	"github.com/miekg/dns"
)

// Client speaks to one server.
type Client struct {
	api         *outbound.Provider
	nameservers []string
	zones       sync.Map // name → *sync.Mutex, held while a zone is changed
}

var _ zone.Provider = (*Client)(nil)

// New prepares a client for the API at address, such as
// http://127.0.0.1:8081. New zones get the name servers.
func New(address, key string, nameservers []string) *Client {
	c := &Client{api: outbound.NewProvider(outbound.ProviderConfig{
		Name:    "powerdns",
		URL:     strings.TrimSuffix(address, "/") + "/api/v1/servers/localhost",
		Headers: map[string]string{"X-API-Key": key},
	})}
	for _, host := range nameservers {
		c.nameservers = append(c.nameservers, dns.Fqdn(host))
	}
	return c
}

// recordSet is an RRset of the API: the records of one name and type.
type recordSet struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	TTL        int             `json:"ttl"`
	ChangeType string          `json:"changetype,omitzero"`
	Records    []recordContent `json:"records"`
}

type recordContent struct {
	Content  string `json:"content"`
	Disabled bool   `json:"disabled"`
}

// CreateZone creates a zone. An existing zone stays as it is.
func (c *Client) CreateZone(ctx context.Context, name string) error {
	err := c.callAPI(ctx, http.MethodPost, "/zones", struct {
		Name        string   `json:"name"`
		Kind        string   `json:"kind"`
		Nameservers []string `json:"nameservers"`
	}{dns.Fqdn(name), "Native", c.nameservers}, nil)
	if zone.ProviderStatus(err) == http.StatusConflict {
		return nil
	}
	return err
}

// EmptyZone deletes a zone and creates it again.
func (c *Client) EmptyZone(ctx context.Context, name string) error {
	if err := c.DeleteZone(ctx, name); err != nil {
		return err
	}
	return c.CreateZone(ctx, name)
}

// DeleteZone removes a zone with its records.
func (c *Client) DeleteZone(ctx context.Context, name string) error {
	err := c.callAPI(ctx, http.MethodDelete, zonePath(name), nil, nil)
	if zone.ProviderStatus(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// Records lists a zone.
func (c *Client) Records(ctx context.Context, name string) ([]zone.Record, error) {
	sets, err := c.loadSets(ctx, name, "")
	if err != nil {
		return nil, err
	}
	var out []zone.Record
	for _, s := range sets {
		out = append(out, s.servedRecords(name)...)
	}
	return out, nil
}

// Ping asks the server, for the doctor, and tells who answered.
func (c *Client) Ping(ctx context.Context) (who string, err error) {
	var about struct {
		Version string `json:"version"`
	}
	err = c.callAPI(ctx, http.MethodGet, "", nil, &about)
	return "PowerDNS " + about.Version, err
}

// Add puts a record into its set. The TTL is the whole set's.
func (c *Client) Add(ctx context.Context, name string, r zone.Record) error {
	return c.changeSet(ctx, name, r, func(s *recordSet, mine recordContent) error {
		s.removeRecord(mine)
		s.Records, s.TTL = append(s.Records, mine), r.TTL
		return nil
	})
}

// Remove takes a record out of its set.
func (c *Client) Remove(ctx context.Context, name string, r zone.Record) error {
	return c.changeSet(ctx, name, r, func(s *recordSet, mine recordContent) error {
		if !s.removeRecord(mine) {
			return zone.RecordNotFound(name, r)
		}
		return nil
	})
}

// Replace puts one record in the place of another. If they are of different sets, both
// sets are changed in one request, which PowerDNS carries out whole or not at all.
func (c *Client) Replace(ctx context.Context, name string, old, r zone.Record) error {
	if old.Type == r.Type && old.Name == r.Name {
		was := contentForAPI(name, old)
		return c.changeSet(ctx, name, r, func(s *recordSet, mine recordContent) error {
			if !s.removeRecord(was) {
				return zone.RecordNotFound(name, old)
			}
			s.removeRecord(mine)
			s.Records, s.TTL = append(s.Records, mine), r.TTL
			return nil
		})
	}
	unlock := c.lockZone(name)
	defer unlock()
	from, was, err := c.loadSet(ctx, name, old)
	if err != nil {
		return err
	}
	to, mine, err := c.loadSet(ctx, name, r)
	if err != nil {
		return err
	}
	if !from.removeRecord(was) {
		return zone.RecordNotFound(name, old)
	}
	to.removeRecord(mine)
	to.Records, to.TTL = append(to.Records, mine), r.TTL
	return c.patchSets(ctx, name, from, to)
}

// changeSet reads the set of a record, lets fn change it and writes it back. fn also gets
// the record's content as the API writes it.
func (c *Client) changeSet(ctx context.Context, name string, r zone.Record,
	fn func(*recordSet, recordContent) error) error {
	unlock := c.lockZone(name)
	defer unlock()
	s, mine, err := c.loadSet(ctx, name, r)
	if err != nil {
		return err
	}
	if err := fn(s, mine); err != nil {
		return err
	}
	return c.patchSets(ctx, name, s)
}

func (c *Client) lockZone(name string) (unlock func()) {
	m, _ := c.zones.LoadOrStore(name, new(sync.Mutex))
	m.(*sync.Mutex).Lock()
	return m.(*sync.Mutex).Unlock
}

// loadSet reads the set that a record belongs to, which may be empty, and returns the
// record's content as the API writes it.
func (c *Client) loadSet(ctx context.Context, name string, r zone.Record) (*recordSet, recordContent, error) {
	mine := contentForAPI(name, r)
	s := recordSet{Name: dns.Fqdn(r.Full(name)), Type: r.Type, TTL: r.TTL}
	sets, err := c.loadSets(ctx, name, "?rrset_name="+url.QueryEscape(s.Name)+"&rrset_type="+r.Type)
	for _, found := range sets {
		if strings.EqualFold(found.Name, s.Name) && found.Type == s.Type {
			s.TTL, s.Records = found.TTL, found.Records
		}
	}
	return &s, mine, err
}

func (c *Client) loadSets(ctx context.Context, name, query string) ([]recordSet, error) {
	var z struct {
		Sets []recordSet `json:"rrsets"`
	}
	err := c.callAPI(ctx, http.MethodGet, zonePath(name)+query, nil, &z)
	return z.Sets, err
}

// patchSets writes sets back. A set without records is deleted.
func (c *Client) patchSets(ctx context.Context, name string, sets ...*recordSet) error {
	for _, s := range sets {
		s.ChangeType = "REPLACE"
		if len(s.Records) == 0 {
			s.ChangeType, s.Records = "DELETE", []recordContent{}
		}
	}
	return c.callAPI(ctx, http.MethodPatch, zonePath(name), map[string]any{"rrsets": sets}, nil)
}

// removeRecord removes a record from the set and reports whether it was there.
func (s *recordSet) removeRecord(r recordContent) bool {
	for i, have := range s.Records {
		if !have.Disabled && sameContent(s.Type, have.Content, r.Content) {
			s.Records = append(s.Records[:i:i], s.Records[i+1:]...)
			return true
		}
	}
	return false
}

// sameContent compares two contents of a type by their meaning: another program may have
// written the same record in another case or with other quotes.
func sameContent(kind, a, b string) bool {
	if a == b {
		return true
	}
	x, err := parseRecord(".", kind, 0, a)
	y, err2 := parseRecord(".", kind, 0, b)
	return err == nil && err2 == nil && zone.RecordFromRR("", x).Same(zone.RecordFromRR("", y))
}

// servedRecords are those of the set that PowerDNS serves. One of a type that only PowerDNS
// knows, such as LUA, is passed on as it is.
func (s recordSet) servedRecords(name string) (out []zone.Record) {
	for _, r := range s.Records {
		if r.Disabled {
			continue
		}
		rr, err := parseRecord(s.Name, s.Type, s.TTL, r.Content)
		if err != nil {
			v := zone.RecordFromRR(name, &dns.RFC3597{Hdr: dns.RR_Header{Name: s.Name, Ttl: uint32(s.TTL)}})
			v.Type, v.Content = s.Type, r.Content
			out = append(out, v)
			continue
		}
		v := zone.RecordFromRR(name, rr)
		v.BuiltIn = v.Name == "@" && (v.Type == "SOA" || v.Type == "NS")
		out = append(out, v)
	}
	return out
}

func parseRecord(name, kind string, ttl int, data string) (dns.RR, error) {
	rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", name, ttl, kind, data))
	if err == nil && rr == nil {
		err = errors.New("it is empty")
	}
	return rr, err
}

// contentForAPI is a record's content as the API wants it.
func contentForAPI(name string, r zone.Record) recordContent {
	rr, err := r.ToRR(name)
	if err != nil {
		return recordContent{Content: r.Content} // a type that only PowerDNS knows
	}
	return recordContent{Content: zone.RRContent(rr)}
}

func zonePath(name string) string { return "/zones/" + url.PathEscape(dns.Fqdn(name)) }

func (c *Client) callAPI(ctx context.Context, method, path string, in, out any) error {
	err := c.api.Call(ctx, method, path, in, out)
	var refused *outbound.StatusError
	if errors.As(err, &refused) {
		return &zone.ProviderError{Status: refused.Status, Message: refused.Field("error")}
	}
	return err
}

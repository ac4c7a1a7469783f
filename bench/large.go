package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"time"
)

const (
	smallContacts = 1000
	turns         = 20 // alternations between the two databases
	perTurn       = 25 // first pages in each
	deepOffset    = 100_000
	slowTime      = 3 * time.Second // after which a slow request is not repeated
)

// largeLists compares lists on a small and a large organization, one request
// at a time.
func largeLists(ctx context.Context, o options, dir string, bins binaries, rep *report) error {
	var servers []*frontdesk
	for _, n := range []int{smallContacts, o.large} {
		f, err := setUpFrontdesk(ctx, bins, filepath.Join(dir, fmt.Sprintf("contacts-%d", n)), n)
		if err != nil {
			return err
		}
		servers = append(servers, f)
	}
	for _, f := range servers {
		if err := f.start(ctx); err != nil {
			return err
		}
		defer f.stop()
	}
	say("walking through %d contacts", o.large)
	end, err := walk(ctx, servers[1], o.large)
	if err != nil {
		return err
	}
	var both [2]*asker
	for i, f := range servers {
		a, err := newAsker(ctx, f)
		if err != nil {
			return err
		}
		defer a.close() //nolint:errcheck // only read from
		both[i] = a
	}
	small, large := both[0], both[1]
	r := &largeReport{Small: smallContacts, Large: o.large}
	rep.Large = r
	say("timing first and last pages")
	pages := []struct {
		of    *asker
		query string
	}{{small, "limit=10"}, {large, "limit=10"}, {large, "limit=10&cursor=" + url.QueryEscape(end)}}
	took := make([][]float64, len(pages))
	for turn := range turns {
		for i, p := range pages {
			t, err := p.of.times(p.query, perTurn, 10)
			if err != nil {
				return err
			}
			if turn > 0 { // the first one warms up
				took[i] = append(took[i], t...)
			}
		}
	}
	r.FirstPageSmallMs, r.FirstPageLargeMs, r.LastPageLargeMs = median(took[0]), median(took[1]), median(took[2])
	offset, deep := min(deepOffset, o.large-10), min(1000, o.large/100)
	asks := []struct {
		name, query string
		rows        int // that must come; -1: at least one
	}{
		{fmt.Sprintf("offset=%d", offset), fmt.Sprintf("limit=10&offset=%d", offset), 10},
		{"common word", "limit=10&query=" + commonWord, 10},
		{"rare word", "limit=10&query=" + rareWord, -1},
		{"missing word", "limit=10&query=" + missingWord, 0},
		{"missing, common parts", "limit=10&query=" + missingMix, 0},
		{"missing, two letters", "limit=10&query=" + missingPair, 0},
		{fmt.Sprintf("common, offset=%d", deep), fmt.Sprintf("limit=10&offset=%d&query=%s", deep, commonWord), 10},
	}
	for _, q := range asks {
		if _, err := large.times(q.query, 3, q.rows); err != nil {
			return fmt.Errorf("bench: %s: %w", q.name, err)
		}
		t, err := large.times(q.query, 40, q.rows)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", q.name, err)
		}
		a := ask{Name: q.name, MedianMs: median(t)}
		if q.rows != 10 {
			if t, err = small.times(q.query, 40, q.rows); err != nil {
				return fmt.Errorf("bench: %s: %w", q.name, err)
			}
			a.SmallMs = median(t)
		}
		r.Asks = append(r.Asks, a)
		say("%d contacts, %s: %.2f ms", o.large, q.name, a.MedianMs)
	}
	r.RssAnonMB, err = large.f.rssAnonMB()
	return err
}

// asker sends lists on one connection, one after another.
type asker struct {
	f     *frontdesk
	close func() error
	send  func(req []byte) (response, error)
}

func newAsker(ctx context.Context, f *frontdesk) (*asker, error) {
	c, br, err := dial(ctx, f.addr)
	if err != nil {
		return nil, err
	}
	return &asker{f, c.Close, func(req []byte) (response, error) {
		if err := ctx.Err(); err != nil {
			return response{}, err
		}
		if err := c.SetDeadline(time.Now().Add(slack)); err != nil {
			return response{}, err
		}
		if _, err := c.Write(req); err != nil {
			return response{}, err
		}
		return readResponse(br, true)
	}}, nil
}

// walkPage is how many contacts a page of a walk has.
const walkPage = 100

// walk goes through all contacts but the last hundred, and returns the cursor there.
func walk(ctx context.Context, f *frontdesk, contacts int) (string, error) {
	a, err := newAsker(ctx, f)
	if err != nil {
		return "", err
	}
	defer a.close() //nolint:errcheck // only read from
	cursor := "first"
	for range contacts/walkPage - 1 {
		query := fmt.Sprintf("limit=%d&cursor=%s", walkPage, url.QueryEscape(cursor))
		r, err := a.send(a.f.appendRequest(nil, "GET", "?"+query, "", nil))
		if err != nil {
			return "", err
		}
		var list struct {
			Meta struct {
				Pagination struct {
					NextCursor string `json:"nextCursor"`
				} `json:"pagination"`
			} `json:"meta"`
		}
		if err := json.Unmarshal(r.body, &list); err != nil || list.Meta.Pagination.NextCursor == "" {
			return "", fmt.Errorf("bench: a walk ended early: %v %.300s", err, r.body)
		}
		cursor = list.Meta.Pagination.NextCursor
	}
	return cursor, nil
}

// times asks n times, fewer when it is slow, and tells how long each took in
// milliseconds. Every answer must have so many rows, or some when rows is -1.
func (a *asker) times(query string, n, rows int) (out []float64, err error) {
	req := a.f.appendRequest(nil, "GET", "?"+query, "", nil)
	began := time.Now()
	for range n {
		sent := time.Now()
		r, err := a.send(req)
		if err != nil {
			return nil, err
		}
		out = append(out, ms(time.Since(sent)))
		if r.status != 200 {
			return nil, fmt.Errorf("status %d: %.300s", r.status, r.body)
		}
		var list struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := json.Unmarshal(r.body, &list); err != nil {
			return nil, err
		}
		if got := len(list.Data); got != rows && (rows >= 0 || got == 0) {
			return nil, fmt.Errorf("%d rows, want %d", got, rows)
		}
		if time.Since(began) > slowTime {
			break
		}
	}
	return out, nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// The workloads, as -only names them.
const (
	getOne      = "get"    // one contact by a random id
	listTen     = "list"   // the ten newest
	create      = "create" // one contact, with its event and search row on our side
	createKeyed = "keyed"  // the same under a new Idempotency-Key; the peer has no keys and creates plainly
	createLone  = "lone"   // create by one connection, so that no two can share a commit
	createBatch = "batch"  // rows of a batch of 500, by one connection; the peers are not asked
)

// batchSize is how many contacts a batch creates.
const batchSize = 500

func workloads(only []string) (out []string) {
	for _, w := range []string{getOne, listTen, create, createKeyed, createLone, createBatch} {
		if slices.Contains(only, w) {
			out = append(out, w)
		}
	}
	return out
}

func creates(load string) bool { return load != getOne && load != listTen }

// rowsOf is how many contacts a request creates or reads: what its figures are divided by.
func rowsOf(load string) int {
	if load == createBatch {
		return batchSize
	}
	return 1
}

// keys makes every Idempotency-Key of this run a new one.
var (
	keyPrefix = strconv.FormatInt(time.Now().UnixNano(), 36)
	keys      atomic.Int64
)

// api is how a server is asked, and where.
type api struct {
	addr    string
	headers string   // the credentials
	path    string   // of the contacts
	listing string   // the query of a list of ten
	ids     []string // of contacts that exist
	keyed   bool     // it takes Idempotency-Key
	rows    string   // the list's name in its answer
	created int      // acknowledged creates
}

func (a *api) address() string { return a.addr }

// request appends a request to b, and tells a text that the answer must hold.
func (a *api) request(load string, b []byte, r *rand.Rand) (req []byte, want string) {
	switch load {
	case getOne:
		id := a.ids[r.IntN(len(a.ids))]
		return a.appendRequest(b, "GET", "/"+id, "", nil), id
	case listTen:
		return a.appendRequest(b, "GET", a.listing, "", nil), ""
	}
	if load == createBatch {
		body := []byte(`{"rows": [`)
		for i := range batchSize {
			if i > 0 {
				body = append(body, ',')
			}
			body = newPerson(r).appendJSON(body)
		}
		return a.appendRequest(b, "POST", "/batch", "", append(body, "]}"...)), ""
	}
	p := newPerson(r)
	headers := ""
	if load == createKeyed && a.keyed {
		headers = "Idempotency-Key: bench-" + keyPrefix + "-" + strconv.FormatInt(keys.Add(1), 10) + "\r\n"
	}
	var buf [512]byte
	return a.appendRequest(b, "POST", "", headers, p.appendJSON(buf[:0])), p.last
}

// check looks into an answer: it must be the contact that was asked for, ten
// contacts, the contact that was sent, or as many as were sent.
func (a *api) check(load, want string, body []byte) error {
	type contact struct {
		ID        string  `json:"id"`
		LastName  *string `json:"lastName"`
		FirstName *string `json:"firstName"`
	}
	if load == createBatch {
		var whole struct {
			Data []struct {
				Data contact `json:"data"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &whole); err != nil {
			return err
		}
		if n := len(whole.Data); n != batchSize || whole.Data[n-1].Data.ID == "" {
			return fmt.Errorf("%d contacts in a batch of %d, or one without an id", n, batchSize)
		}
		return nil
	}
	if load == listTen {
		var whole map[string]json.RawMessage
		var list []contact
		if err := json.Unmarshal(body, &whole); err != nil {
			return err
		}
		if err := json.Unmarshal(whole[a.rows], &list); err != nil {
			return err
		}
		if len(list) != 10 {
			return fmt.Errorf("%d contacts in a list of 10", len(list))
		}
		for _, c := range list {
			if c.ID == "" || c.FirstName == nil {
				return fmt.Errorf("a contact without an id or a name")
			}
		}
		return nil
	}
	// Ours is in an envelope, the peer's is not.
	var c struct {
		contact
		Data *contact `json:"data"`
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return err
	}
	if c.Data != nil {
		c.contact = *c.Data
	}
	if c.ID == "" || c.FirstName == nil || c.LastName == nil {
		return fmt.Errorf("not a contact")
	}
	if load == getOne && c.ID != want || creates(load) && *c.LastName != want {
		return fmt.Errorf("not the contact %s", want)
	}
	return nil
}

// count remembers how many contacts must be there at the end.
func (a *api) count(load string, answered int) {
	if creates(load) {
		a.created += answered * rowsOf(load)
	}
}

// once sends one request on a connection of its own and wants a 2xx.
func (a *api) once(ctx context.Context, req []byte) (response, error) {
	c, br, err := dial(ctx, a.addr)
	if err != nil {
		return response{}, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(slack)); err != nil {
		return response{}, err
	}
	if _, err := c.Write(req); err != nil {
		return response{}, err
	}
	r, err := readResponse(br, true)
	if err == nil && r.status/100 != 2 {
		err = fmt.Errorf("status %d: %.300s", r.status, r.body)
	}
	return r, err
}

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// bare is the limit: it gets the very requests that frontdesk gets, and its
// answers are as long.
type bare struct {
	api
	*process
}

func (*bare) name() string { return "bare" }

func setUpBare(ctx context.Context, bins binaries, fd *frontdesk) (*bare, error) {
	r := rand.New(rand.NewPCG(5, 6))
	size := map[string]int{}
	for _, load := range []string{getOne, listTen, create} {
		req, want := fd.request(load, nil, r)
		a, err := fd.once(ctx, req)
		if err == nil {
			err = fd.check(load, want, a.body)
		}
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", load, err)
		}
		fd.count(load, 1)
		size[load] = a.size
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	say("starting bare; answers of %d, %d and %d bytes", size[getOne], size[listTen], size[create])
	p, _, err := launch(ctx, addr, "/readyz", bins.bare, "-listen", addr,
		"-get", strconv.Itoa(size[getOne]), "-list", strconv.Itoa(size[listTen]), "-create", strconv.Itoa(size[create]))
	if err != nil {
		return nil, err
	}
	b := &bare{api: fd.api, process: p}
	b.addr = addr
	return b, nil
}

// check has nothing to look for: the answer is the same whatever is asked.
func (*bare) check(string, string, []byte) error { return nil }

func (*bare) verify(context.Context) error { return nil }

package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// side is one of the servers that are compared.
type side interface {
	name() string
	address() string
	// request appends a request of a workload, and tells what check wants to see.
	request(load string, b []byte, r *rand.Rand) (req []byte, want string)
	check(load, want string, body []byte) error
	// count notes how many requests of a workload were answered.
	count(load string, answered int)
	// verify stops the server and looks whether what it acknowledged is there.
	verify(ctx context.Context) error

	cpu() (time.Duration, error)
	// databaseCPU is that of a database in processes of its own.
	databaseCPU() (time.Duration, error)
	alive() error
}

var (
	_ side = (*bare)(nil)
	_ side = (*frontdesk)(nil)
	_ side = (*pocketbase)(nil)
	_ side = (*postgres)(nil)
)

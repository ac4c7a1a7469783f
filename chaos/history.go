package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// access is one use of a register (the notes of a contact) or of a ledger (what is
// paid of an invoice).
type access struct {
	ledger, write bool
	register      int
	value         string // written or read
	amount        int64  // paid, or read as the sum
}

// history is what the callers saw, for porcupine to judge.
type history struct {
	began time.Time

	mu   sync.Mutex
	last int
	all  []porcupine.Operation
}

// begin notes the start of an access. The returned function notes its end: one
// that was not done leaves no trace, and of one whose outcome is unknown nobody
// knows when it ended.
func (h *history) begin() func(access, outcome) {
	start := time.Since(h.began)
	return func(a access, o outcome) {
		end := time.Since(h.began)
		switch o {
		case notDone, refused:
			return
		case unknown:
			end = 1 << 60
		case done:
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last++
		h.all = append(h.all, porcupine.Operation{ClientId: h.last, Input: a, Call: int64(start), Output: nil,
			Return: int64(end)})
	}
}

// model is a set of registers and ledgers, each by itself.
var model = porcupine.Model{
	Partition: func(all []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := map[string][]porcupine.Operation{}
		for _, o := range all {
			a := o.Input.(access)
			k := fmt.Sprint(a.ledger, a.register)
			by[k] = append(by[k], o)
		}
		for _, p := range by {
			parts = append(parts, p)
		}
		return parts
	},
	Init: func() any { return access{value: "0"} },
	Step: func(state, input, _ any) (bool, any) {
		s, a := state.(access), input.(access)
		switch {
		case a.ledger && a.write:
			s.amount += a.amount
			return true, s
		case a.ledger:
			return s.amount == a.amount, s
		case a.write:
			s.value = a.value
			return true, s
		}
		return s.value == a.value, s
	},
	Equal: func(a, b any) bool { return a.(access) == b.(access) },
	Hash: func(s any) uint64 {
		a := s.(access)
		h := uint64(a.amount)
		for _, c := range a.value {
			h = h*31 + uint64(c)
		}
		return h
	},
}

// judge asks porcupine whether some order of the accesses explains what was seen.
func (h *history) judge(r *report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.add("accesses judged by porcupine", len(h.all))
	switch porcupine.CheckOperationsTimeout(model, h.all, 2*time.Minute) {
	case porcupine.Illegal:
		r.wrong("the history of registers and ledgers is not linearizable")
	case porcupine.Unknown:
		r.wrong("porcupine did not finish")
	case porcupine.Ok:
	}
}

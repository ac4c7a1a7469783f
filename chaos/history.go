package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// What is accessed: the notes of a contact, what is paid of an invoice, or the answer
// to requests with one Idempotency-Key.
const (
	register = "register"
	ledger   = "ledger"
	key      = "key"
)

// access is one use of a register, a ledger or a key.
type access struct {
	kind     string
	register int // which of them
	write    bool
	value    string // written or read, or the id that the answer named
	amount   int64  // paid, or read as the sum
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
			end = endless
		case done:
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last++
		h.all = append(h.all, porcupine.Operation{ClientId: h.last, Input: a, Call: int64(start), Output: nil,
			Return: int64(end)})
	}
}

// model is a set of registers, ledgers and keys, each by itself.
var model = porcupine.Model{
	Partition: func(all []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := map[string][]porcupine.Operation{}
		for _, o := range all {
			a := o.Input.(access)
			k := fmt.Sprint(a.kind, a.register)
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
		case a.kind == key && s.value == "0":
			s.value = a.value // the first answer is the one that stays
			return true, s
		case a.kind == ledger && a.write:
			s.amount += a.amount
			return true, s
		case a.kind == ledger:
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

// endless is the end of an access of which nobody knows when it ended.
const endless = 1 << 60

// bounded gives an end to writes of a register whose outcome is unknown, which are
// slow to judge: one that somebody saw was over when they had seen it. One that
// nobody saw explains nothing, and is left out.
func bounded(all []porcupine.Operation) (out []porcupine.Operation) {
	seen := map[access]int64{}
	for _, o := range all {
		if a := o.Input.(access); a.kind == register && !a.write {
			a.write = true
			if first, ok := seen[a]; !ok || o.Return < first {
				seen[a] = o.Return
			}
		}
	}
	for _, o := range all {
		a := o.Input.(access)
		if o.Return == endless && a.kind == register {
			end, ok := seen[a]
			if !ok {
				continue
			}
			o.Return = max(end, o.Call)
		}
		out = append(out, o)
	}
	return out
}

// judge asks porcupine whether some order of the accesses explains what was seen.
func (h *history) judge(r *report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := bounded(h.all)
	for _, kind := range []string{register, ledger, key} {
		var part []porcupine.Operation
		for _, o := range all {
			if o.Input.(access).kind == kind {
				part = append(part, o)
			}
		}
		verdict := porcupine.CheckOperationsTimeout(model, part, 2*time.Minute)
		r.add("accesses of "+kind+"s judged by porcupine: "+string(verdict), len(part))
		if verdict != porcupine.Ok {
			r.wrong("porcupine says of the history of %ss: %s", kind, verdict)
		}
	}
}

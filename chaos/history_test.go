package main

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// The judge must see what would be wrong.
func TestJudge(t *testing.T) {
	at := func(call, end int64, a access) porcupine.Operation {
		return porcupine.Operation{ClientId: int(call), Input: a, Call: call, Return: end}
	}
	write := func(value string) access { return access{kind: register, write: true, value: value} }
	read := func(value string) access { return access{kind: register, value: value} }
	pay := func(cents int64) access { return access{kind: ledger, write: true, amount: cents} }
	paid := func(cents int64) access { return access{kind: ledger, amount: cents} }
	answer := func(id string) access { return access{kind: key, value: id} }
	type history = []porcupine.Operation
	for name, c := range map[string]struct {
		history
		want porcupine.CheckResult
	}{
		"a write is read":          {history{at(1, 2, write("a")), at(3, 4, read("a"))}, porcupine.Ok},
		"a write is lost":          {history{at(1, 2, write("a")), at(3, 4, read("0"))}, porcupine.Illegal},
		"an unknown write is read": {history{at(1, endless, write("a")), at(3, 4, read("a"))}, porcupine.Ok},
		"an unknown write is not":  {history{at(1, endless, write("a")), at(3, 4, read("0"))}, porcupine.Ok},
		"a read of the future":     {history{at(5, endless, write("a")), at(3, 4, read("a"))}, porcupine.Illegal},
		"an unknown write goes again": {history{at(1, endless, write("a")), at(3, 4, read("a")), at(5, 6, read("0"))},
			porcupine.Illegal},
		"a payment counts once":  {history{at(1, 2, pay(5)), at(3, 4, paid(5))}, porcupine.Ok},
		"a payment counts twice": {history{at(1, 2, pay(5)), at(3, 4, paid(10))}, porcupine.Illegal},
		"one key, one answer":    {history{at(1, 4, answer("a")), at(2, 3, answer("a"))}, porcupine.Ok},
		"one key, two answers":   {history{at(1, 4, answer("a")), at(2, 3, answer("b"))}, porcupine.Illegal},
	} {
		if got := porcupine.CheckOperationsTimeout(model, bounded(c.history), 0); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

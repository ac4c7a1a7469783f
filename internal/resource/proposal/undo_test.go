package proposal_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// as calls an operation as an agent or a person does.
func as(t testing.TB, a *apptest.App, kind op.ActorKind, who id.ID, operation, input string) apptest.Result {
	t.Helper()
	door := op.AgentDoor
	if kind == op.UserActor {
		door = op.ConsoleDoor
	}
	c := &op.Caller{Kind: kind, ID: who, User: a.OwnerID, Organization: a.Org, Business: a.Business, Plan: "enterprise",
		Permissions: op.Everything(), MaySpend: true, MayApprove: true}
	answer, err := a.Runner.Do(context.Background(), a.Catalog.Named(operation), op.Request{Caller: c, Door: door,
		ID: string(id.New()), Body: func() ([]byte, error) { return []byte(input), nil }})
	return apptest.ResultOf(t, answer, err)
}

// model is a task as it should be.
type model struct {
	id      id.ID
	alive   bool
	byAgent bool // the agent created it
	touched bool // by a person, after the agent's last change
	agent   bool // the agent changed it at all
	deleted bool // by the agent
	history map[string][]write
}

type write struct {
	agent bool
	value string
}

// undoneValue is a field without the agent's last writes.
func undoneValue(h []write) string {
	i := len(h) - 1
	for i > 0 && h[i].agent {
		i--
	}
	return h[i].value
}

// After an undo every field that nobody touched later is as before, every other is
// untouched and named; undoing the undo gives the agent's state again.
func TestUndoHistories(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		histories := 1000
		if testing.Short() || a.DB.Engine() == db.Postgres {
			histories = 100
		}
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 1))
		for n := range histories {
			if !undoHistory(t, a, r) {
				t.Fatalf("history %d of seed %d", n, seed)
			}
		}
	})
}

func undoHistory(t *testing.T, a *apptest.App, r *rand.Rand) bool {
	agent, n := id.New(), 0
	value := func() string { n++; return fmt.Sprintf("v%d", n) }
	var tasks []*model
	create := func(byAgent bool) {
		kind, who := op.UserActor, a.OwnerID
		if byAgent {
			kind, who = op.AgentActor, agent
		}
		m := &model{alive: true, byAgent: byAgent, agent: byAgent, history: map[string][]write{}}
		title, text := value(), value()
		m.history["title"] = []write{{byAgent, title}}
		m.history["description"] = []write{{byAgent, text}}
		m.id = as(t, a, kind, who, "tasks.create", fmt.Sprintf(`{"title": %q, "description": %q}`, title, text)).
			OK(t, 201).ID("id")
		tasks = append(tasks, m)
	}
	create(false)
	create(r.IntN(2) == 0)
	for range 3 + r.IntN(6) {
		m := tasks[r.IntN(len(tasks))]
		byAgent := r.IntN(2) == 0
		kind, who := op.UserActor, a.OwnerID
		if byAgent {
			kind, who = op.AgentActor, agent
		}
		switch {
		case !m.alive:
		case byAgent && r.IntN(6) == 0:
			as(t, a, kind, who, "tasks.delete", fmt.Sprintf(`{"id": %q}`, m.id)).OK(t, 204)
			m.alive, m.deleted, m.agent, m.touched = false, true, true, false
		default:
			field, v := []string{"title", "description"}[r.IntN(2)], value()
			as(t, a, kind, who, "tasks.update", fmt.Sprintf(`{"id": %q, %q: %q}`, m.id, field, v)).OK(t, 200)
			m.history[field] = append(m.history[field], write{byAgent, v})
			m.agent, m.touched = m.agent || byAgent, !byAgent
		}
	}
	before := map[id.ID]string{}
	state := func(m *model) string {
		g := as(t, a, op.UserActor, a.OwnerID, "tasks.get", fmt.Sprintf(`{"id": %q}`, m.id))
		if g.Status == 404 {
			return "gone"
		}
		v := g.OK(t, 200)
		return v.Text("title") + " " + v.Text("description")
	}
	for _, m := range tasks {
		before[m.id] = state(m)
	}
	p := as(t, a, op.UserActor, a.OwnerID, "undo.create", fmt.Sprintf(`{"agentId": %q}`, agent))
	if p.Code() == "NOTHING_TO_UNDO" {
		return true
	}
	undo := p.OK(t, 201)
	if undo.At("steps").Len() == 0 {
		return true
	}
	as(t, a, op.UserActor, a.OwnerID, "proposals.execute", fmt.Sprintf(`{"id": %q}`, undo.ID("id"))).OK(t, 200)
	ok := true
	for _, m := range tasks {
		want := undoneValue(m.history["title"]) + " " + undoneValue(m.history["description"])
		switch {
		case m.byAgent && m.deleted:
			want = "gone"
		case m.byAgent && m.touched:
			want = before[m.id]
		case m.byAgent:
			want = "gone"
		}
		if got := state(m); got != want {
			t.Errorf("after the undo %q, want %q: %+v\n%s", got, want, m, undo)
			ok = false
		}
	}
	again := as(t, a, op.UserActor, a.OwnerID, "undo.create", fmt.Sprintf(`{"proposalId": %q}`, undo.ID("id"))).OK(t,
		201)
	as(t, a, op.UserActor, a.OwnerID, "proposals.execute", fmt.Sprintf(`{"id": %q}`, again.ID("id"))).OK(t, 200)
	for _, m := range tasks {
		if got := state(m); got != before[m.id] {
			t.Errorf("after undoing the undo %q, want %q: %+v\n%s", got, before[m.id], m, again)
			ok = false
		}
	}
	return ok
}

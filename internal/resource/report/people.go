package report

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/account/agent"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/message"
	"frontdesk/internal/resource/proposal"
)

// mail is how mail was answered, and by whom. What was written by an agent, an
// automation or a program is that of nobody in particular.
func mail(ctx context.Context, c *op.Call, q *question) (*Report, error) {
	answers, err := message.SumAnswers(ctx, c.Tx, c.Org, *q.from, q.to)
	if err != nil {
		return nil, err
	}
	sent := make([]id.ID, len(answers.Sent))
	for i, a := range answers.Sent {
		sent[i] = a.MessageID
	}
	authors, err := event.Authors(ctx, c.Tx, c.Org, "message.created", sent)
	if err != nil {
		return nil, err
	}
	people, err := account.MemberNames(ctx, c.Tx, c.Org)
	if err != nil {
		return nil, err
	}
	by := map[id.ID][]message.Answer{}
	for _, a := range answers.Sent {
		author := authors[a.MessageID]
		if _, ok := people[author]; !ok {
			author = ""
		}
		by[author] = append(by[author], a)
	}
	r := &Report{}
	for author, theirs := range by {
		row := answeredRow(theirs)
		name := "Agents, automations and programs"
		if author != "" {
			name, row.Group = people[author], new(string(author))
		}
		row.Name = &name
		r.Rows = append(r.Rows, row)
	}
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(*b.Answered, *a.Answered), cmp.Compare(*a.Name, *b.Name))
	})
	total := answeredRow(answers.Sent)
	total.Count, total.Waiting = answers.Received, &answers.Waiting
	r.Totals = []Row{total}
	return r, nil
}

// answeredRow is how many mails were answered, and how quickly.
func answeredRow(answers []message.Answer) Row {
	n, minutes := 0, []int{}
	for _, a := range answers {
		n += a.Answered
		minutes = append(minutes, int(a.At.Sub(a.Since)/time.Minute))
	}
	r := Row{Answered: &n}
	if slices.Sort(minutes); len(minutes) > 0 {
		r.MedianMinutes = &minutes[len(minutes)/2]
	}
	return r
}

// agents is what agents did.
func agents(ctx context.Context, c *op.Call, q *question) (*Report, error) {
	names, err := account.AgentNames(ctx, c.Tx, c.Org)
	if err != nil {
		return nil, err
	}
	doings, err := event.SumDoings(ctx, c.Tx, c.Org, *q.from, q.to, string(op.AgentActor))
	if err != nil {
		return nil, err
	}
	asked, err := proposal.CountByAgent(ctx, c.Tx, c.Org, *q.from, q.to)
	if err != nil {
		return nil, err
	}
	used, err := agent.SumUse(ctx, c.Tx, c.Org, *q.from, q.to)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	total := Row{Changes: new(int), Proposals: new(int), Approved: new(int), Rejected: new(int), Used: &account.Use{}}
	for ref, name := range names {
		did, p, u := doings[ref], asked[ref], used[ref]
		r.Rows = append(r.Rows, Row{Group: new(string(ref)), Name: &name, Count: did.Requests, Changes: &did.Events,
			Proposals: &p.Made, Approved: &p.Approved, Rejected: &p.Rejected, Used: &u})
		total.Count += did.Requests
		*total.Changes += did.Events
		*total.Proposals += p.Made
		*total.Approved += p.Approved
		*total.Rejected += p.Rejected
		total.Used.Add(u)
	}
	slices.SortFunc(r.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(*a.Name, *b.Name))
	})
	r.Totals = []Row{total}
	return r, nil
}

// The columns of the files.
var (
	mailColumns = []column{groupColumn, nameColumn,
		numberColumn("answered", func(r *Row) *int { return r.Answered }),
		numberColumn("medianMinutes", func(r *Row) *int { return r.MedianMinutes })}
	agentColumns = []column{groupColumn, nameColumn, countColumn,
		numberColumn("changes", func(r *Row) *int { return r.Changes }),
		numberColumn("proposals", func(r *Row) *int { return r.Proposals }),
		numberColumn("approved", func(r *Row) *int { return r.Approved }),
		numberColumn("rejected", func(r *Row) *int { return r.Rejected }),
		amountColumn("spendCents", func(r *Row) *int64 { return &r.Used.SpendCents }),
		amountColumn("messages", func(r *Row) *int64 { return &r.Used.Messages })}
)

func numberColumn(name string, of func(r *Row) *int) column {
	return column{name, func(r *Row) string {
		if n := of(r); n != nil {
			return strconv.Itoa(*n)
		}
		return ""
	}}
}

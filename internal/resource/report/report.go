// Package report adds up what happened over time: money, mail and the doings of
// agents. It stores nothing. Each package sums up its own tables (invoice.SumOver,
// message.SumAnswers, …), and a report puts names and periods to the sums. Amounts of
// different currencies are never added.
//
// Start reading at Report, then money.go.
package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/invoice"
)

// Report is the answer to every question. Rows and totals have the figures that the
// report is about, and none of the others.
type Report struct {
	Name    string      `json:"name"`
	From    *clock.Time `json:"from" doc:"null for all of time"`
	To      clock.Time  `json:"to"`
	GroupBy string      `json:"groupBy"`
	Rows    []Row       `json:"rows" max:"10000" doc:"one for each group and currency, at most limit"`
	Totals  []Row       `json:"totals" max:"10000" doc:"one for each currency, over all rows"`
	HasMore bool        `json:"hasMore" doc:"whether rows were left out; totals count them"`

	op.ExternalMark // of the names in it
}

// Row is one group of a report.
type Row struct {
	Group    *string `json:"group" max:"300" doc:"like 2026-03, 2026-W12 or 2026-Q1, an id, an age; null in totals"`
	Name     *string `json:"name" max:"300" doc:"what people call it"`
	Currency string  `json:"currency,omitzero"`
	Rate     *string `json:"rate,omitzero" doc:"of a tax, in per cent"`

	Count int `json:"count,omitzero" doc:"invoices; of mail, mails received; of agents, calls that changed something"`

	InvoicedCents    *int64 `json:"invoicedCents,omitzero" doc:"of taxes, without the tax"`
	ReceivedCents    *int64 `json:"receivedCents,omitzero" doc:"of taxes, without the tax"`
	CreditedCents    *int64 `json:"creditedCents,omitzero" doc:"of taxes, without the tax"`
	AmountDueCents   *int64 `json:"amountDueCents,omitzero"`
	OverdueCents     *int64 `json:"overdueCents,omitzero"`
	TaxCents         *int64 `json:"taxCents,omitzero" doc:"invoiced, less credited"`
	ReceivedTaxCents *int64 `json:"receivedTaxCents,omitzero" doc:"the tax in what was received"`

	OldestDueAt *clock.Time `json:"oldestDueAt,omitzero"`

	Answered      *int `json:"answered,omitzero" doc:"mails that were answered"`
	Waiting       *int `json:"waiting,omitzero" doc:"threads that wait for an answer now"`
	MedianMinutes *int `json:"medianMinutes,omitzero" doc:"half of the answers took less"`

	Changes   *int         `json:"changes,omitzero"`
	Proposals *int         `json:"proposals,omitzero"`
	Approved  *int         `json:"approved,omitzero"`
	Rejected  *int         `json:"rejected,omitzero"`
	Used      *account.Use `json:"used,omitzero" doc:"of the daily limits, over the time"`
}

// kind is one of the reports.
type kind struct {
	name     string
	groupBy  []string // the first is the default
	resource string   // the caller must be able to read it; empty for owners and admins alone
	lasts    int      // days that it is about by default; 0 for twelve months
	make     func(ctx context.Context, c *op.Call, q *question) (*Report, error)
	columns  []column
}

func kinds() []kind {
	return []kind{
		{"revenue", []string{"month", "week", "quarter", "customer", "offering"}, "invoices", 0, revenue,
			revenueColumns},
		{"receivables", []string{"age", "customer"}, "invoices", 0, receivables, receivableColumns},
		{"taxes", []string{"quarter", "month"}, "invoices", 0, taxes, taxColumns},
		{"mail", []string{"member"}, "messages", 30, mail, mailColumns},
		{"agents", []string{"agent"}, "", 30, agents, agentColumns},
	}
}

var refusals = []*fault.Kind{fault.Forbidden, fault.NotFound}

// Operations lists the reports: one operation that answers, and each as a file.
func Operations() []*op.Op {
	ops := []*op.Op{op.Read(op.Spec{
		Name: "reports.get",
		NounWords: "statistic, figures, revenue, turnover, income, earn, take in, earnings, sales, profit, tax, " +
			"vat, receivables",
		Words:    "how much, quarter, month, year, compare, how fast, how old, debt, top, owe, agent did, per month",
		Route:    "GET /v1/reports/{name}",
		Resource: op.Unrestricted,
		Summary:  "Add up money, mail or agents' doings over time.",
		Description: "revenue: invoiced, received and credited by month, week, quarter, customer or offering. " +
			"receivables: " +
			"what is owed now by age or customer; from and to bound the day of issue. taxes: by rate and quarter or " +
			"month. mail: received, answered, waiting, by member. agents: by agent, for owners and admins. Void " +
			"invoices and payments do not count, and a refund lowers its payment.",
		Errors:  refusals,
		Example: `{"name": "revenue", "from": "2026-01-01", "to": "2026-03-31", "groupBy": "customer"}`,
	}, getReport)}
	for _, k := range kinds() {
		ops = append(ops, op.Bytes(op.Spec{
			Name:      "reports." + k.name + ".export",
			Route:     "GET /v1/reports/" + k.name + ".csv",
			Resource:  op.Unrestricted,
			Doors:     op.RESTDoor | op.ConsoleDoor,
			Summary:   "Get the report " + k.name + " as CSV.",
			MediaType: "text/csv",
			Errors:    refusals,
			Example:   `{"from": "2026-01-01"}`,
		}, func(ctx context.Context, c *op.Call, in filter, s *op.Stream) (*op.Content, error) {
			return export(ctx, c, named{k.name, in})
		}))
	}
	return ops
}

// filter is what a report is asked about.
type filter struct {
	From       *string `query:"from" max:"40" doc:"a day in the business's time zone, or a time"`
	To         *string `query:"to" max:"40" doc:"a day, which counts, or a time, which does not; by default now"`
	BusinessID *id.ID  `query:"businessId"`
	Currency   *string `query:"currency" format:"currency"`
	GroupBy    *string `query:"groupBy" enum:"month,week,quarter,customer,offering,age,member,agent"`
	Limit      int     `query:"limit" min:"1" max:"10000" default:"500" doc:"the most rows; totals count all"`
}

type named struct {
	Name string `path:"name" enum:"revenue,receivables,taxes,mail,agents"`
	filter
}

// question is a filter that has been read.
type question struct {
	kind
	filter
	groupBy string
	from    *clock.Time // nil for all of time
	to      clock.Time
	zone    *time.Location
}

func getReport(ctx context.Context, c *op.Call, in named) (*Report, error) {
	q, err := in.read(ctx, c)
	if err != nil {
		return nil, err
	}
	all, err := q.answer(ctx, c, in.Limit)
	if err != nil {
		return nil, err
	}
	cut := *all
	cut.HasMore = len(all.Rows) > in.Limit
	cut.Rows = all.Rows[:min(len(all.Rows), in.Limit)]
	return &cut, nil
}

// read checks who asks, and for what.
func (in *named) read(ctx context.Context, c *op.Call) (*question, error) {
	q := &question{filter: in.filter, to: c.Now}
	all := kinds()
	q.kind = all[slices.IndexFunc(all, func(k kind) bool { return k.name == in.Name })]
	if err := q.permit(c); err != nil {
		return nil, err
	}
	q.groupBy = q.kind.groupBy[0]
	if in.GroupBy != nil {
		q.groupBy = *in.GroupBy
	}
	if !slices.Contains(q.kind.groupBy, q.groupBy) {
		var tree *fault.Tree
		return nil, tree.At([]any{"groupBy"}, "The report "+q.name+" is grouped by "+
			strings.Join(q.kind.groupBy, " or ")).Fault(fault.BadInput)
	}
	business := c.Caller.Business
	if in.BusinessID != nil {
		business = *in.BusinessID
	}
	b, err := account.LoadBusinessEvenDeleted(ctx, c.Tx, c.Org, business)
	if err != nil {
		return nil, db.AsNotFound(err, "business")
	}
	if q.zone, err = time.LoadLocation(b.Timezone); err != nil {
		q.zone = time.UTC
	}
	return q, q.readTimes()
}

func (q *question) permit(c *op.Call) error {
	switch {
	case q.resource != "":
		return c.RequirePermission(q.resource, op.ActionRead, "The report "+q.name)
	case c.Door == op.AdminDoor || c.Caller.Role == "owner" || c.Caller.Role == "admin" ||
		c.Caller.Permissions.Allow(op.Account, op.ActionUpdate) || isOperatorsKey(c.Caller):
		return nil
	}
	return fault.Forbidden.Say("The report %s is for owners and admins, and keys of theirs with all permissions.",
		q.name)
}

// isOperatorsKey reports whether a key was made by whoever runs the server, for everything.
func isOperatorsKey(c *op.Caller) bool {
	return c.Kind == op.APIActor && c.User == "" && !slices.ContainsFunc(op.Resources(), func(resource string) bool {
		return !c.Permissions.Allow(resource, op.ActionUpdate)
	})
}

// The most time that a report looks at in one answer: of money, and of mail and agents, which are counted one by one.
const (
	maxSpan       = 20 * 366 * 24 * time.Hour
	maxPeopleSpan = 400 * 24 * time.Hour
	maxWeeks      = 3 * 366 * 24 * time.Hour
)

func (q *question) readTimes() error {
	var tree *fault.Tree
	if q.To != nil {
		at, ok := readDay(*q.To, q.zone, 1)
		if !ok {
			tree = tree.At([]any{"to"}, timeIssue)
		}
		q.to = at
	}
	switch at, ok := clock.Time(0), false; {
	case q.From != nil:
		if at, ok = readDay(*q.From, q.zone, 0); !ok {
			tree = tree.At([]any{"from"}, timeIssue)
		}
		q.from = &at
	case q.name == "receivables":
	case q.lasts > 0:
		at = q.to.Add(-time.Duration(q.lasts) * 24 * time.Hour)
		q.from = &at
	default:
		t := q.to.Add(-1).Std().In(q.zone)
		at = clock.FromStd(time.Date(t.Year(), t.Month()-11, 1, 0, 0, 0, 0, q.zone))
		q.from = &at
	}
	if tree == nil && q.from != nil && *q.from >= q.to {
		tree = tree.At([]any{"from"}, "Must be before to")
	}
	switch {
	case tree != nil || q.from == nil:
	case q.lasts > 0 && q.to.Sub(*q.from) > maxPeopleSpan:
		tree = tree.At([]any{"from"}, "The report "+q.name+" spans at most 400 days; give a later from or an "+
			"earlier to")
	case q.groupBy == "week" && q.to.Sub(*q.from) > maxWeeks:
		tree = tree.At([]any{"from"}, "By week, a report spans at most three years; give a later from")
	case q.to.Sub(*q.from) > maxSpan:
		tree = tree.At([]any{"from"}, "A report spans at most 20 years; give a later from or an earlier to")
	}
	return tree.Fault(fault.BadInput)
}

const timeIssue = "Write a day like 2026-03-31, or a time like 2026-03-31T12:00:00Z"

// readDay reads a day in a time zone, or a time. A day is its beginning, some days later.
func readDay(text string, zone *time.Location, days int) (clock.Time, bool) {
	if t, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return clock.FromStd(t.AddDate(0, 0, days)), true
	}
	at, err := clock.ParseTime(text)
	return at, err == nil
}

// over says which money the question is about.
func (q *question) over(c *op.Call, spans []invoice.Span) *invoice.SumOver {
	return &invoice.SumOver{Organization: c.Org, Spans: spans, BusinessID: q.BusinessID, Currency: q.Currency}
}

// whole is the time of the question in one; nothing for all of time.
func (q *question) whole() []invoice.Span {
	switch {
	case q.from != nil:
		return []invoice.Span{{From: *q.from, To: q.to}}
	case q.To != nil:
		return []invoice.Span{{To: q.to}}
	}
	return nil
}

// kept are the reports that were asked for last, at most mostKeptRows of each.
var kept event.Memo[*Report]

const mostKeptRows = 1000

// answer adds up, unless it has just done so and nothing has happened since. It has more rows than limit if there are
// more, and not always all of them.
func (q *question) answer(ctx context.Context, c *op.Call, limit int) (*Report, error) {
	text := func(s *string) string { return *cmp.Or(s, new("")) }
	asked := strings.Join([]string{q.name, q.groupBy, text(q.From), text(q.To), q.zone.String(),
		string(*cmp.Or(q.BusinessID, new(id.ID))), text(q.Currency)}, "\x00")
	var all *Report
	r, err := kept.Recall(ctx, c.Tx, c.Org, c.Now, asked, func() (some *Report, keep bool, err error) {
		if all, err = q.addUp(ctx, c); err != nil {
			return nil, false, err
		}
		first := *all
		first.Rows = slices.Clone(all.Rows[:min(len(all.Rows), mostKeptRows)])
		return &first, true, nil
	})
	switch {
	case err != nil || all != nil:
		return all, err
	case len(r.Rows) == mostKeptRows && limit >= mostKeptRows: // there may be more
		return q.addUp(ctx, c)
	}
	return r, nil
}

func (q *question) addUp(ctx context.Context, c *op.Call) (*Report, error) {
	r, err := q.make(ctx, c, q)
	if err != nil {
		return nil, err
	}
	r.Name, r.GroupBy, r.From, r.To = q.name, q.groupBy, q.from, q.to
	r.Rows, r.Totals = append([]Row{}, r.Rows...), append([]Row{}, r.Totals...)
	return r, nil
}

// column is a column of a report's file.
type column struct {
	name string
	text func(r *Row) string
}

// export writes a report as CSV. It has all rows, and no totals: whoever opens it can add.
func export(ctx context.Context, c *op.Call, in named) (*op.Content, error) {
	var q *question
	var r *Report
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		c.Tx = tx
		defer func() { c.Tx = nil }()
		if q, err = in.read(ctx, c); err == nil {
			r, err = q.answer(ctx, c, math.MaxInt)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	out, cells := csv.NewWriter(&b), make([]string, len(q.columns))
	for i, col := range q.columns {
		cells[i] = col.name
	}
	out.Write(cells) //nolint:errcheck // a buffer takes everything
	for i := range r.Rows {
		for n, col := range q.columns {
			cells[n] = op.EscapeFormula(col.text(&r.Rows[i]))
		}
		out.Write(cells) //nolint:errcheck // as above
	}
	out.Flush()
	return &op.Content{Name: q.name + ".csv", Type: "text/csv; charset=utf-8",
		Write: func(_ context.Context, w io.Writer) error {
			_, err := w.Write(b.Bytes())
			return err
		}}, nil
}
